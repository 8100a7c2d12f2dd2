package shim

import (
	"fmt"
	"time"
)

// Kind says what a frame reports. The numbers are stored and never change.
type Kind uint8

// The kinds of frames.
const (
	KindStart     Kind = 1  // the agent was started; Data is a Start
	KindIn        Kind = 2  // a line of the agent's stdout, without its line break (LF or CRLF)
	KindErr       Kind = 3  // a line of the agent's stderr, likewise
	KindAccepted  Kind = 4  // a write is about to begin: ID, and in Data the bytes to be written
	KindWritten   Kind = 5  // the last byte of write ID is in the agent's pipe
	KindFailed    Kind = 6  // write ID was accepted but could not be finished; Data is a Failed
	KindExit      Kind = 7  // the agent has ended, and so has all that it started; Data is an Exit. The last frame
	KindBlocked   Kind = 8  // the cap is reached; the agent is not read until frames are acknowledged
	KindUnblocked Kind = 9  // the agent is read again
	KindOversize  Kind = 10 // a line longer than MaxFrame; Data is an Oversize in its place
)

var kindNames = [...]string{"", "start", "in", "err", "accepted", "written", "failed", "exit", "blocked", "unblocked", "oversize"}

func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Frame is one record of a spool.
type Frame struct {
	Seq     uint64    // 1, 2, 3 … without a gap
	Time    time.Time // when the shim spooled it, UTC
	Kind    Kind
	Partial bool   // in and err: the stream ended in the middle of this line
	ID      string // accepted, written, failed: the write
	Data    []byte // owned by whoever got the frame
}

// Start is the data of a start frame.
type Start struct {
	Agent Proc `json:"agent"`
}

// Failed is the data of a failed frame.
type Failed struct {
	Written int    `json:"written"` // bytes that went into the pipe; the agent may have read them
	Error   string `json:"error"`
}

// Oversize is the data of an oversize frame.
type Oversize struct {
	Stream string `json:"stream"` // "in" or "err"
	Length int64  `json:"length"` // bytes, without the line break
	SHA256 string `json:"sha256"` // of those bytes, in hex
	Head   []byte `json:"head"`   // the first 4 KB; base64 in JSON; may end inside a character
}

// Reason says why an agent ended.
type Reason string

// The reasons.
const (
	ReasonExited      Reason = "exited"       // by itself
	ReasonStopped     Reason = "stopped"      // Stop was asked for
	ReasonLease       Reason = "lease"        // no server came in time
	ReasonSignal      Reason = "signal"       // the shim was told to end (SIGTERM, SIGHUP, SIGINT)
	ReasonStartFailed Reason = "start_failed" // it never ran
)

// Exit is the data of an exit frame.
type Exit struct {
	Reason    Reason `json:"reason"`
	Code      int    `json:"code"`                // exit status; -1 when a signal ended it or it never ran
	Signal    string `json:"signal,omitempty"`    // such as "killed"
	Error     string `json:"error,omitempty"`     // start_failed: what went wrong, and with what
	Left      []Proc `json:"left,omitempty"`      // descendants that outlived the agent or the ladder and were killed
	Survivors []Proc `json:"survivors,omitempty"` // descendants that could not be killed in time
	Truncated bool   `json:"truncated,omitempty"` // output was still unread when the shim had to give up on it
}

// Proc names one process, also after its number was used again.
type Proc struct {
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"`     // opaque: the system's own count, compared for equality alone
	Name      string `json:"name,omitempty"` // for people; nothing is decided by it
}
