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
		// CleanContext: into a new conversation of the agent, whatever it has.
		CleanContext bool `json:"clean_context,omitempty"`
		// HandoffDigest: only with the very handoff that was previewed. A message that
		// starts at once is refused where it is another one by now, one that is
		// queued is held.
		HandoffDigest string `json:"handoff_digest,omitempty"`
		// HandoffText takes the place of the handoff's text, as the person edited it.
		HandoffText string `json:"handoff_text,omitempty"`

		// Prepared is the handoff that the server has made for this very state of
		// the thread. It is no part of what a client asks.
		Prepared *Prepared `json:"-"`
	}
	// CommandRegenerateHandoff makes a handoff again: one that waits is superseded,
	// and of one that was used a draft is made for the next run into the same
	// conversation.
	CommandRegenerateHandoff struct {
		Handoff HandoffID `json:"handoff_id"`
		Source  string    `json:"source,omitempty"` // who writes it; empty and "local" are Baton itself

		// Used tells of a handoff that was used already what the thread's state does
		// not hold any more. The server fills it in; it never changes.
		Used *UsedHandoff `json:"-"`
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

// Prepared is a plan with its document, made at one version of the thread.
type Prepared struct {
	Version uint64
	Built   FactHandoffBuilt // none where the plan needs no handoff; its id is empty
	// Squeezed are the conversations that it did not fit into.
	Squeezed []ProviderThreadID
}

// UsedHandoff is what a new draft of a used handoff needs.
type UsedHandoff struct {
	Covered Intervals
	To      ProviderThreadID
}

// CommandType names the command.
func (CommandRegenerateHandoff) CommandType() string { return "handoff.regenerate" }

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
	Handoff HandoffID `json:"handoff_id,omitempty"`
	Queued  bool      `json:"queued,omitempty"` // the message waits behind an active run
	Stopped []string  `json:"stopped,omitempty"`
}

// MaxHandoff is the largest text, in bytes, that a person may put in the place of
// a handoff's.
const MaxHandoff = 256 << 10

// CheckHandoff says whether text can take the place of a handoff's; "" is none.
func CheckHandoff(text string) error {
	switch {
	case text == "":
		return nil
	case len(text) > MaxHandoff:
		return Errorf(CodeMessageTooLarge, "the handoff's text has %d bytes, the most is %d", len(text), MaxHandoff).
			WithDetail("the message was not sent and nothing was changed").WithHint("shorten it")
	case !utf8.ValidString(text), strings.ContainsRune(text, 0):
		return Errorf(CodeMessageText, "the handoff's text is not valid UTF-8 or holds a NUL character").
			WithDetail("the message was not sent and nothing was changed").WithHint("write it again as UTF-8 text")
	case strings.TrimSpace(text) == "":
		return Errorf(CodeMessageEmpty, "the handoff's text is empty").
			WithDetail("the message was not sent and nothing was changed").WithHint("leave it out to send Baton's own, or use a clean context")
	}
	return nil
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
