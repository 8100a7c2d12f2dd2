package codex

import (
	"bytes"
	"encoding/json"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

const stateVersion = 1

// phase is how far the handshake has come.
type phase string

const (
	phaseNew    phase = "new"
	phaseInit   phase = "initialize" // asked and not answered, as are the next two
	phaseConfig phase = "config"
	phaseOpen   phase = "open"
	phaseReady  phase = "ready"
	phaseFailed phase = "failed" // of no use; frames are ignored
)

// Bounds of what the state holds.
const (
	maxChildren = 64
	maxOpen     = 256
	maxRequests = 64
	maxProfile  = 8 << 10 // bytes of a permission profile that can be granted back
)

// state is all that a machine knows. Lists are in order of arrival, so that
// what is said when they are closed is the same each time.
type state struct {
	V        int             `json:"v"`
	Spec     agent.Spec      `json:"spec"`
	Phase    phase           `json:"phase"`
	Next     int             `json:"next"` // number of the newest request of ours
	Calls    map[string]call `json:"calls,omitempty"`
	Version  string          `json:"version,omitempty"`
	Thread   string          `json:"thread,omitempty"` // the root thread
	Own      ownConfig       `json:"own"`
	Applied  baton.Settings  `json:"applied"` // last given to the thread; see settings.go
	Model    string          `json:"model,omitempty"`
	Input    *input          `json:"input,omitempty"`
	Turns    []turn          `json:"turns,omitempty"` // open ones, of the root and of children
	Open     []openItem      `json:"open,omitempty"`
	Detached []detached      `json:"detached,omitempty"`
	Requests []request       `json:"requests,omitempty"`
	Children []child         `json:"children,omitempty"`
	Notices  agent.Told      `json:"notices,omitempty"` // how many of each class were given
	Total    *tokens         `json:"total,omitempty"`   // of the root thread, as last told
}

// callKind is what a request of ours asks.
type callKind string

const (
	callInitialize callKind = "initialize"
	callConfig     callKind = "config"
	callOpen       callKind = "open"
	callInject     callKind = "inject"
	callTurn       callKind = "turn"
	callInterrupt  callKind = "interrupt"
	callStopChild  callKind = "stop_child"
	callClean      callKind = "clean"
)

// call is a request of ours that has no answer yet.
type call struct {
	Kind     callKind         `json:"kind"`
	Delivery baton.DeliveryID `json:"delivery,omitempty"`
	Turn     string           `json:"turn,omitempty"`
}

// input is the delivery under way, from the intent until codex has the message.
type input struct {
	Message  baton.DeliveryID   `json:"message"`
	Handoffs []baton.DeliveryID `json:"handoffs,omitempty"` // those that codex has
	Waiting  int                `json:"waiting,omitempty"`  // injections without an answer
	// Text is kept while injections are under way, since turn/start must wait
	// for them; else empty.
	Text     string         `json:"text,omitempty"`
	Settings baton.Settings `json:"settings"`
	Failed   *baton.Error   `json:"failed,omitempty"`
	Turn     string         `json:"turn,omitempty"`     // as turn/start answered
	Absorbed bool           `json:"absorbed,omitempty"` // that turn was open before
}

// turn is an open turn of a thread.
type turn struct {
	ID     string      `json:"id"`
	Thread string      `json:"thread"`
	Items  int         `json:"items,omitempty"` // number given to the newest item
	Todo   string      `json:"todo,omitempty"`  // key of the open todo list
	Usage  baton.Usage `json:"usage"`
	Retry  bool        `json:"retry,omitempty"` // the model's response starts over
	Item   string      `json:"item,omitempty"`  // of a child: the subagent item
	Failed *turnError  `json:"failed,omitempty"`
}

// openItem is an item that codex has begun and not ended.
type openItem struct {
	Thread string         `json:"thread"`
	Turn   string         `json:"turn"`
	Native string         `json:"native"`
	Key    string         `json:"key"`
	Kind   baton.ItemKind `json:"kind"`
	Label  string         `json:"label,omitempty"` // of a command: what is shown when it lives on
}

// detached is a command that runs on after its turn.
type detached struct {
	Turn   string `json:"turn"`
	Native string `json:"native"`
	Key    string `json:"key,omitempty"` // empty once its item is closed for good
	Label  string `json:"label"`
}

// request is something that codex waits for, or has been answered about and
// has not confirmed.
type request struct {
	Key      string           `json:"key"`
	ID       json.RawMessage  `json:"id"` // codex's, a number
	Method   string           `json:"method"`
	Thread   string           `json:"thread"`
	Turn     string           `json:"turn"`
	Item     string           `json:"item,omitempty"`    // key of the item it is about
	Profile  json.RawMessage  `json:"profile,omitempty"` // of a permission request
	Answered baton.DeliveryID `json:"answered,omitempty"`
}

// child is a subagent's thread.
type child struct {
	Thread string `json:"thread"`
	Parent string `json:"parent,omitempty"` // thread that started it
	Title  string `json:"title,omitempty"`
}

// State encodes the state. HTML characters are not escaped, so that raw JSON
// in it comes back byte for byte.
func (m *machine) State() []byte { return bytes.TrimRight(jsonl.Line(m.s), "\n") }

func (s *state) turnOf(thread string) *turn {
	for i := range s.Turns {
		if s.Turns[i].Thread == thread {
			return &s.Turns[i]
		}
	}
	return nil
}

func (s *state) turnByID(id string) *turn {
	for i := range s.Turns {
		if s.Turns[i].ID == id {
			return &s.Turns[i]
		}
	}
	return nil
}

func (s *state) item(turn, native string) *openItem {
	for i := range s.Open {
		if s.Open[i].Turn == turn && s.Open[i].Native == native {
			return &s.Open[i]
		}
	}
	return nil
}
