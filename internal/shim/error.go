package shim

import "errors"

// Code is the stable name of an error of this package.
type Code string

// The codes.
const (
	CodeStaleEpoch  Code = "stale_epoch"  // attach with an epoch that is not higher than the last one
	CodeEvicted     Code = "evicted"      // a higher epoch has attached; this connection is over
	CodeAgentGone   Code = "agent_gone"   // the agent has ended, or its stdin is closed
	CodeBusy        Code = "busy"         // too much waits to be written to the agent; nothing was taken
	CodeSpoolFull   Code = "spool_full"   // cap and reserve are used up, or the disk is full; nothing was taken
	CodeBadPosition Code = "bad_position" // attach or ack names a frame that never was, or one already deleted
	CodeForbidden   Code = "forbidden"    // the peer may not talk to this shim
	CodeProtocol    Code = "protocol"     // the peer does not speak this protocol
	CodeClosed      Code = "closed"       // the connection has ended
	CodeInvalid     Code = "invalid"      // an argument is not usable
	CodeInUse       Code = "in_use"       // the session directory holds, or held, a shim already
	CodeLaunch      Code = "launch"       // the shim did not come up
	CodeUnsupported Code = "unsupported"  // this system can't do it
)

// Error is what every function of this package returns, except for a
// context's own error.
type Error struct {
	Code   Code   `json:"code"`
	Detail string `json:"detail"` // what happened, and what to do next
}

func (e *Error) Error() string { return "shim: " + e.Detail + " (" + string(e.Code) + ")" }

// Is makes errors.Is compare codes.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// ErrorCode returns the code of err, or "" where it has none.
func ErrorCode(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
