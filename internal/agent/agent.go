// Package agent is the contract between Baton and the code that speaks one
// agent's protocol. A driver is a deterministic machine: given the same state
// and the same input it gives the same facts and the same writes. It does no
// I/O, reads no clock and draws no random number. Its state is stored in the
// same unit as what it said, so it can be reloaded between any two inputs and
// go on as if nothing had happened; every driver's tests do that at every
// frame of every recording.
//
// Nobody waits for an answer: an answer is a frame. No byte goes to an agent
// before the unit that wants it is durable.
package agent

import (
	"time"

	"baton"
)

// Driver makes machines for the sessions of one kind of agent. It is safe for
// concurrent use and holds no state of any session.
type Driver interface {
	// Name is the driver's name in the configuration: "codex", "claude", "acp", "script".
	Name() string

	// Capabilities is what the driver claims; a claim that fails is demoted for
	// the session by FactSessionReady or FactNotice.
	Capabilities() baton.Capabilities

	// MinVersion is the oldest agent version that the driver supports, such as
	// "0.171.0", or "" where any will do.
	MinVersion() string

	// VersionArgs are the arguments that make the agent's command print its
	// version, or nil where it can't.
	VersionArgs() []string

	// Launch says how to start the agent's process for spec. The command of the
	// provider comes first in its Argv.
	Launch(spec Spec) Launch

	// New makes the machine of a session that is about to start.
	New(spec Spec) Machine

	// Load restores a machine from what State returned. It fails with a
	// *baton.Error where the state can't be read.
	Load(state []byte) (Machine, error)
}

// Machine is one session's driver. It is used by one goroutine at a time. A
// machine that has taken an input whose unit could not be committed is thrown
// away and loaded again from the last committed state.
type Machine interface {
	// Step takes one input. It never fails: what can't be understood becomes a
	// FactNotice, and what is broken beyond use FactSessionFailed. The slices in
	// the result are the caller's.
	Step(in Input) Output

	// State returns the machine's state as versioned JSON, small (a few KB):
	// open calls, open items, the next request id, and never accumulated text.
	State() []byte
}

// Spec is what a driver needs to know of a session.
type Spec struct {
	Session  baton.SessionID `json:"session"`
	Command  []string        `json:"command"` // of the provider, never empty
	Dir      string          `json:"dir"`     // absolute working directory
	Settings baton.Settings  `json:"settings"`

	// NativeID names the conversation to resume. Empty asks for a new one.
	NativeID string `json:"native_id,omitempty"`
	// NewID is a UUID that a new conversation may take as its native id, for
	// agents that let their client choose.
	NewID string `json:"new_id"`
	// Trusted says that the person trusts the project, so its own agent
	// configuration (settings, hooks, .mcp.json) may be loaded.
	Trusted bool `json:"trusted,omitempty"`
	// ClientVersion is Baton's version, for the handshake.
	ClientVersion string `json:"client_version,omitempty"`
}

// Launch is how to start an agent's process. Its environment is built from
// nothing: an allow-list of the server's (HOME, PATH, USER, SHELL, LANG, LC_*,
// TZ, TMPDIR, XDG_*), then the provider's own `env`, then Env, then what the
// shim adds.
type Launch struct {
	Argv []string
	Env  map[string]string
	// Pass are names of further variables of the server's environment that this
	// agent needs, such as a key of its vendor.
	Pass []string
}

// Input is one thing that happens to a machine: exactly one field is set.
type Input struct {
	Started  bool         // the process runs and its pipes are open; comes first, once
	Frame    *Frame       // a line from the agent
	Intent   baton.Intent // a committed intention
	Written  *WriteRef    // the shim has given all bytes of one of our writes to the agent
	Deadline string       // a deadline that the machine set has come
	Exited   bool         // the process is gone and there are no more frames; close what is open
}

// Frame is a line of the agent's standard output, without its line break.
type Frame struct {
	Time time.Time // the shim's
	Data []byte    // the machine must not keep it
	// Oversize is set instead of Data for a line over the shim's limit.
	Oversize *Oversize
}

// Oversize stands for a line that was too long to be kept.
type Oversize struct {
	Length int64
	SHA256 string
	Head   []byte
}

// WriteRef names one of the machine's own writes.
type WriteRef struct{ Tag string }

// Output is what a step gives.
type Output struct {
	Facts  []baton.Fact
	Writes []Write
	// Deadlines to set (positive) or to clear (zero), by key, counted from the
	// input's time.
	Deadlines map[string]time.Duration
}

// Write is one line for the agent.
type Write struct {
	Data []byte // with its line break
	// Deliveries that these bytes carry: they are `written` once the shim has
	// begun with it.
	Deliveries []baton.DeliveryID
	// Tag comes back in Input.Written, for machines that need to know; may be empty.
	Tag string
}

// EvidenceFinder is the optional power to look up, where the agent keeps its
// conversations, whether it has a delivery. It does I/O and is called only
// while no process of the agent holds the conversation.
type EvidenceFinder interface {
	// FindEvidence looks for the delivery in the native conversation. has_not
	// must be as certain as has: a file that can't be found where it would have
	// to be is unknown, unless the conversation can't exist yet.
	FindEvidence(q EvidenceQuery) (baton.Verdict, string)
}

// EvidenceQuery says what to look for and where.
type EvidenceQuery struct {
	Delivery baton.DeliveryID
	NativeID string            // of the conversation
	Dir      string            // working directory of the session
	Env      map[string]string // the agent's environment as it was launched
	New      bool              // the conversation was opened by this very session
}

// ForeignFinder is the optional power to tell, where the agent keeps its
// conversations, whether somebody else has gone on with one of ours. It does I/O
// and is called before a conversation is resumed, while no process of ours holds
// it.
type ForeignFinder interface {
	// FindForeign counts the messages in the native conversation that were given
	// by somebody else than us. What the agent says by itself, such as a summary
	// or the end of its own work in the background, is no such message. An error
	// says that it can't be told.
	FindForeign(q ForeignQuery) (int, error)
}

// ForeignQuery says where to look, and what is ours.
type ForeignQuery struct {
	NativeID string            // of the conversation
	Dir      string            // working directory of the session
	Env      map[string]string // the agent's environment as it will be launched
	Ours     func(baton.DeliveryID) bool
}
