package modelscript

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Outcomes of requests.
const (
	OutcomeOpen         = "open"         // being answered
	OutcomeDone         = "done"         // answered whole
	OutcomeFailed       = "failed"       // a scripted or a real error was told
	OutcomeCut          = "cut"          // the server closed the connection, as scripted
	OutcomeDisconnected = "disconnected" // the client left
	OutcomeStopped      = "stopped"      // the server was closed
)

// Request is one model request that came.
type Request struct {
	N       int             `json:"n"` // 1, 2, 3 … in the order of arrival
	Wire    string          `json:"wire"`
	Path    string          `json:"path"`   // with the query
	Header  http.Header     `json:"header"` // without credentials
	Body    json.RawMessage `json:"body"`   // as it came; null where it is no JSON
	Time    time.Time       `json:"time"`
	Model   string          `json:"model,omitempty"`
	Outcome string          `json:"outcome"`

	blocks []Block
}

// Session returns the agent's own id of the conversation: the thread of codex
// 0.171.0 or the session of claude 2.1.332.
func (r Request) Session() string {
	if r.Wire == WireResponses {
		return r.Header.Get("Thread-Id")
	}
	return r.Header.Get("X-Claude-Code-Session-Id")
}

// Subagent says that a subagent asks: its id with claude 2.1.332, its kind
// ("collab_spawn") with codex 0.171.0, whose Session is then the child's own.
// It is "" for the agent itself.
func (r Request) Subagent() string {
	if r.Wire == WireResponses {
		return r.Header.Get("X-Openai-Subagent")
	}
	return r.Header.Get("X-Claude-Code-Agent-Id")
}

// Blocks returns all that the conversation holds, in order.
func (r Request) Blocks() []Block { return append([]Block(nil), r.blocks...) }

// Texts returns every text block in order, whoever made it.
func (r Request) Texts() []Block {
	return r.filter(func(b Block) bool { return b.Kind == KindText || b.Kind == KindFold })
}

// UserTexts returns what the user said, in order, without what agents add to
// it (see the package documentation).
func (r Request) UserTexts() []string {
	var out []string
	for _, b := range r.blocks {
		if s := b.Said(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// ModelTexts returns what the model said, in order.
func (r Request) ModelTexts() []string {
	var out []string
	for _, b := range r.filter(func(b Block) bool { return b.Role == RoleModel && b.Kind == KindText }) {
		out = append(out, b.Text)
	}
	return out
}

// ToolResults returns the results of tool calls, in order.
func (r Request) ToolResults() []Block {
	return r.filter(func(b Block) bool { return b.Kind == KindResult })
}

// Has counts the occurrences of text in everything that the model is told:
// system prompt, messages, thoughts, calls and results. A fold counts once.
func (r Request) Has(text string) int {
	n := 0
	for _, b := range r.blocks {
		if b.Kind != KindFold { // it lies inside the block before
			n += strings.Count(b.Text, text)
		}
	}
	return n
}

func (r Request) filter(keep func(Block) bool) []Block {
	var out []Block
	for _, b := range r.blocks {
		if keep(b) {
			out = append(out, b)
		}
	}
	return out
}
