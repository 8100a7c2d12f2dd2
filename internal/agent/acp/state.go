package acp

import (
	"baton"
	"baton/internal/agent"
)

const stateVersion = 1

// stage is how far the session has come:
//
//	new → initialize → open → ready
//	                     └→ quiet ┘
//
// and from each of them to failed or gone, where nothing is heard any more.
type stage string

const (
	stageNew        stage = "new"
	stageInitialize stage = "initialize" // initialize is asked
	stageOpen       stage = "open"       // session/new, resume or load is asked
	stageQuiet      stage = "quiet"      // loaded; a replay may still come
	stageReady      stage = "ready"
	stageFailed     stage = "failed"
	stageGone       stage = "gone" // the process has ended
)

// state is what a machine stores. It holds no streamed text: of a call's
// output only how long it is and its hash.
type state struct {
	V     int        `json:"v"`
	Spec  agent.Spec `json:"spec"`
	Stage stage      `json:"stage"`

	Next   int    `json:"next,omitempty"`   // number of the last request of ours
	Asked  string `json:"asked,omitempty"`  // id of the handshake's open request
	Method string `json:"method,omitempty"` // and its method

	Agent    string   `json:"agent,omitempty"` // what the agent calls itself
	Version  string   `json:"version,omitempty"`
	Load     bool     `json:"load,omitempty"` // claims of the agent
	Resume   bool     `json:"resume,omitempty"`
	Auth     []string `json:"auth,omitempty"`     // names of its ways to sign in
	Replayed bool     `json:"replayed,omitempty"` // a load has replayed something
	Session  string   `json:"session,omitempty"`  // native id

	Turns    int       `json:"turns,omitempty"`
	Prompt   *turn     `json:"prompt,omitempty"` // the prompt that has not been answered
	Own      *turn     `json:"own,omitempty"`    // a turn that the agent began by itself
	Requests []request `json:"requests,omitempty"`
	Asks     int       `json:"asks,omitempty"`  // requests of the agent so far
	Stray    bool      `json:"stray,omitempty"` // an update outside of turns was shown
	Bad      int       `json:"bad,omitempty"`   // frames that made no sense
}

// turn is an open turn.
type turn struct {
	Key        string             `json:"key"`
	ID         string             `json:"id,omitempty"` // of our session/prompt
	Deliveries []baton.DeliveryID `json:"deliveries,omitempty"`
	Seen       bool               `json:"seen,omitempty"`      // the agent is known to have it
	Cancelled  bool               `json:"cancelled,omitempty"` // we sent session/cancel
	Items      int                `json:"items,omitempty"`
	Chunk      *chunk             `json:"chunk,omitempty"`
	Calls      []call             `json:"calls,omitempty"`
	Closed     []string           `json:"closed,omitempty"` // ids of the newest ended calls
	Todo       string             `json:"todo,omitempty"`   // key of the open todo list
	Usage      baton.Usage        `json:"usage,omitzero"`
}

// chunk is the message or thought that is being streamed.
type chunk struct {
	Key     string         `json:"key"`
	Kind    baton.ItemKind `json:"kind"`
	Parent  string         `json:"parent,omitempty"`
	Message string         `json:"message,omitempty"` // the agent's messageId
}

// call is a tool call that has not ended.
type call struct {
	ID       string         `json:"id"`
	Key      string         `json:"key"`
	Parent   string         `json:"parent,omitempty"`
	Kind     baton.ItemKind `json:"kind"`
	Open     bool           `json:"open,omitempty"` // an item of the timeline
	Declined bool           `json:"declined,omitempty"`
	Body     baton.ItemBody `json:"body"`          // what is known before it opens
	Len      int            `json:"len,omitempty"` // bytes of output streamed so far
	Hash     string         `json:"hash,omitempty"`
}

// request is something that the agent waits for.
type request struct {
	Key     string            `json:"key"`
	ID      string            `json:"id"`             // JSON text
	Call    string            `json:"call,omitempty"` // id of the tool call
	Options []permitOption    `json:"options,omitempty"`
	Fields  map[string]*field `json:"fields,omitempty"` // of an elicitation
	Form    bool              `json:"form,omitempty"`
}

// field is how an answer to a question goes back: its JSON type, and the value
// for each label that differs from it.
type field struct {
	Type   string            `json:"type"`
	Values map[string]string `json:"values,omitempty"`
}

// current returns the turn that an update belongs to, or nil.
func (s *state) current() *turn {
	if s.Own != nil {
		return s.Own
	}
	return s.Prompt
}
