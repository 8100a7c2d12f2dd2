package baton

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// Command asks one thread for something. ID is made by the client: the same id
// again returns the first answer, the same id for something else is a conflict.
type Command struct {
	ID     CommandID
	Thread ThreadID // of CreateThread: the id the new thread gets
	Actor  Actor
	Author string // who sends it, for messages and answers; may be empty
	Data   CommandData
}

// CommandData is one of the Command… structs.
type CommandData interface{ CommandType() string }

// The commands.
type (
	// CommandCreateThread makes a thread and nothing else: no process, no
	// provider thread.
	CommandCreateThread struct {
		Title    string    `json:"title,omitempty"`
		Project  ProjectID `json:"project_id,omitempty"`
		Dir      string    `json:"dir"` // absolute, existing, resolved
		Provider string    `json:"provider,omitempty"`
		Settings Settings  `json:"settings,omitzero"`
	}
	// CommandSend gives a message to the thread. On a thread with an active run
	// it is queued.
	CommandSend struct {
		Text     string   `json:"text"`
		Provider string   `json:"provider,omitempty"` // empty: the newest run's, else the thread's
		Settings Settings `json:"settings,omitzero"`
	}
	// CommandStop interrupts the active run, holds the queue and ends what the
	// agent left running.
	CommandStop struct{}
	// CommandResumeQueue frees a held queue.
	CommandResumeQueue struct{}
	// CommandAnswer answers a request: a decision for an approval, answers for
	// questions.
	CommandAnswer struct {
		Request  RequestID           `json:"request_id"`
		Decision Decision            `json:"decision,omitempty"`
		Reason   string              `json:"reason,omitempty"`
		Answers  map[string][]string `json:"answers,omitempty"`
	}
)

// CommandType names the commands in receipts.
func (CommandCreateThread) CommandType() string { return "thread.create" }

// CommandType names the command.
func (CommandSend) CommandType() string { return "message.send" }

// CommandType names the command.
func (CommandStop) CommandType() string { return "thread.stop" }

// CommandType names the command.
func (CommandResumeQueue) CommandType() string { return "queue.resume" }

// CommandType names the command.
func (CommandAnswer) CommandType() string { return "request.answer" }

// Hash returns the fingerprint of what the command asks of whom. A receipt is
// bound to it. The id of a thread that is to be made is not part of it, since
// it is minted anew at each try.
func (c Command) Hash() string {
	target := c.Thread
	if _, ok := c.Data.(CommandCreateThread); ok {
		target = ""
	}
	b, err := json.Marshal([]any{target, c.Data.CommandType(), c.Data, c.Author})
	if err != nil {
		panic("baton: a command is always JSON: " + err.Error())
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Reply is the answer to a command: the ids of what it made or touched.
type Reply struct {
	Thread  ThreadID  `json:"thread_id"`
	Message MessageID `json:"message_id,omitempty"`
	Run     RunID     `json:"run_id,omitempty"`
	Ordinal int       `json:"ordinal,omitempty"`
	Request RequestID `json:"request_id,omitempty"`
	Queued  bool      `json:"queued,omitempty"` // the message waits behind an active run
	Stopped []string  `json:"stopped,omitempty"`
}

// CheckMessage says whether text can be a message, with a typed error that
// leaves the text with its sender where it can't.
func CheckMessage(text string) error {
	switch {
	case len(text) > MaxMessage:
		return Errorf(CodeMessageTooLarge, "the message has %d bytes, the most is %d", len(text), MaxMessage).
			WithDetail("it was not sent and nothing was changed").
			WithHint("put the text into a file of the project and name the file in the message")
	case !utf8.ValidString(text):
		return Errorf(CodeMessageText, "the message is not valid UTF-8").
			WithDetail("it was not sent and nothing was changed").WithHint("convert it to UTF-8 and send it again")
	case strings.ContainsRune(text, 0):
		return Errorf(CodeMessageText, "the message holds a NUL character").
			WithDetail("it was not sent and nothing was changed").WithHint("remove the NUL character and send it again")
	case strings.TrimSpace(text) == "":
		return Errorf(CodeMessageEmpty, "the message is empty").WithHint("write what the agent is to do")
	}
	return nil
}
