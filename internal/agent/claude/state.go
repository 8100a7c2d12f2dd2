package claude

import (
	"encoding/json"
	"strconv"

	"baton"
	"baton/internal/agent"
)

const stateVersion = 1

// The phases of a session.
const (
	phaseNew    = ""       // initialize is not answered yet
	phaseReady  = "ready"  // deliveries may be given
	phaseFailed = "failed" // of no use
)

// Bounds of what the state keeps.
const (
	maxInput   = 16 << 10 // of a question's input; above, it is rebuilt from the questions
	maxRules   = 8 << 10  // of the rules that an approval for the session would add
	maxTasks   = 100
	maxSubject = 200 // bytes of one task
)

// state is all that a machine remembers. It never holds text that streamed.
type state struct {
	V      int    `json:"v"`
	Phase  string `json:"phase,omitempty"`
	Native string `json:"native"` // id of the conversation
	Resume bool   `json:"resume,omitempty"`
	Model  string `json:"model,omitempty"`
	Mode   string `json:"mode,omitempty"`

	Next       int               `json:"next,omitempty"`  // last number given to a key or request
	Calls      map[string]string `json:"calls,omitempty"` // our control requests that are not answered: id to subtype
	Deliveries []delivery        `json:"deliveries,omitempty"`
	Turn       *turn             `json:"turn,omitempty"`
	Turns      int               `json:"turns,omitempty"` // that have begun
	Block      *block            `json:"block,omitempty"`
	Items      []openItem        `json:"items,omitempty"`
	Requests   []request         `json:"requests,omitempty"`
	Tasks      []task            `json:"tasks,omitempty"`
	Todo       string            `json:"todo,omitempty"` // key of the open todo list
	Background []string          `json:"background,omitempty"`
	Head       string            `json:"head,omitempty"` // uuid of the last line of the assistant
	Told       agent.Told        `json:"told,omitempty"` // notices given, by kind
}

// delivery is one that has been written and is not consumed or dropped yet.
type delivery struct {
	ID       baton.DeliveryID `json:"id"`
	Handoff  bool             `json:"handoff,omitempty"`
	Started  bool             `json:"started,omitempty"`
	Accepted bool             `json:"accepted,omitempty"`
	Turn     string           `json:"turn,omitempty"` // key of the turn that takes it
}

type turn struct {
	Key      string `json:"key"`
	Stopping bool   `json:"stopping,omitempty"` // an interrupt was asked
	Error    string `json:"error,omitempty"`    // of the last assistant line that reported a failure
	Context  int64  `json:"context,omitempty"`  // tokens of the last request and its response
}

// block is the block of text or thinking that streams now.
type block struct {
	Index int            `json:"index"`
	Kind  baton.ItemKind `json:"kind"`
	Key   string         `json:"key"`
	Open  bool           `json:"open,omitempty"` // its item is open
	Void  bool           `json:"void,omitempty"` // the agent starts over
}

// openItem is a call of a tool that has no result yet, or that lives on.
type openItem struct {
	ID       string         `json:"id"` // native: tool_use id
	Key      string         `json:"key"`
	Kind     baton.ItemKind `json:"kind"`
	Tool     string         `json:"tool"`
	Parent   string         `json:"parent,omitempty"` // native id of the subagent's call
	Live     bool           `json:"live,omitempty"`   // goes on in the background
	Detached bool           `json:"detached,omitempty"`
}

type request struct {
	ID    string          `json:"id"`
	Tool  string          `json:"tool"`
	Agent string          `json:"agent,omitempty"` // native id of the subagent that asks
	Rules json.RawMessage `json:"rules,omitempty"` // what an approval for the session adds
	Input json.RawMessage `json:"input,omitempty"` // of a question
}

type task struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Status string `json:"status"`
}

// key makes the next key with a prefix.
func (s *state) key(prefix string) string {
	s.Next++
	return prefix + strconv.Itoa(s.Next)
}

func (s *state) delivery(uuid string) *delivery {
	for i := range s.Deliveries {
		if baton.UUID(s.Deliveries[i].ID) == uuid {
			return &s.Deliveries[i]
		}
	}
	return nil
}

func (s *state) item(id string) *openItem {
	for i := range s.Items {
		if s.Items[i].ID == id {
			return &s.Items[i]
		}
	}
	return nil
}

// livesOn says whether an item is background work, or belongs to some.
func (s *state) livesOn(o *openItem) bool {
	for range s.Items { // a parent chain is no longer than the list
		if o == nil || o.Live {
			return o != nil
		}
		o = s.item(o.Parent)
	}
	return false
}

// keyOf returns the key of an open item, or "".
func (s *state) keyOf(id string) string {
	if o := s.item(id); o != nil {
		return o.Key
	}
	return ""
}
