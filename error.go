package baton

import (
	"errors"
	"fmt"
)

// Code is the stable name of an error, for scripts and clients.
type Code string

// The codes. The exit code of the command line and the HTTP status follow from
// them (see Status), never from the text.
const (
	CodeInvalid           Code = "invalid"            // the input is malformed
	CodeNotFound          Code = "not_found"          // no such entity
	CodeConflict          Code = "conflict"           // it is used for something else, or the state has moved on
	CodeUnsupported       Code = "unsupported"        // the agent or the build can't do it
	CodeForbidden         Code = "forbidden"          // policy refuses it
	CodeSignedOut         Code = "signed_out"         // the browser was not let in, or is no more
	CodeForeignHost       Code = "foreign_host"       // the server was asked for by a name that is not its own
	CodeForeignOrigin     Code = "foreign_origin"     // another page asks, or it can't be told which
	CodeLinkOver          Code = "link_over"          // a one-time link that is used up or too old
	CodeNotResumable      Code = "not_resumable"      // whoever waited for the answer is gone
	CodeMessageTooLarge   Code = "message_too_large"  // over MaxMessage bytes
	CodeMessageEmpty      Code = "message_empty"      // nothing but space
	CodeMessageText       Code = "message_text"       // not UTF-8, or a NUL in it
	CodeUnknownProvider   Code = "unknown_provider"   // no such provider is configured or found
	CodeAgentMissing      Code = "agent_missing"      // the provider's command is not there
	CodeAgentTooOld       Code = "agent_too_old"      // older than the driver supports
	CodeDriverNotBuilt    Code = "driver_not_built"   // the driver is known but not in this build
	CodeConfig            Code = "config"             // a configuration error with file, line and key
	CodeArchived          Code = "archived"           // the thread is archived
	CodeDeleted           Code = "deleted"            // the thread is deleted
	CodeWorkspaceMissing  Code = "workspace_missing"  // the directory of the thread is not there
	CodeAgentFailed       Code = "agent_failed"       // the agent, or its model, reported a failure
	CodeAgentDied         Code = "agent_died"         // the agent's process ended in the middle of its work
	CodeSessionLost       Code = "session_lost"       // shim and agent are gone
	CodeStartFailed       Code = "start_failed"       // the agent could not be started or did not answer
	CodeResumeFailed      Code = "resume_failed"      // the native conversation could not be resumed
	CodeRateLimited       Code = "rate_limited"       // the model refuses for now
	CodeModelUnreachable  Code = "model_unreachable"  // the model's service can't be reached
	CodeContextTooLong    Code = "context_too_long"   // the model's context is exceeded
	CodeUnauthorized      Code = "unauthorized"       // the agent is not signed in
	CodeInterrupted       Code = "interrupted"        // a person stopped it
	CodeDeliveryUncertain Code = "delivery_uncertain" // whether the agent took it can't be proved
	CodeFrameRejected     Code = "frame_rejected"     // a frame could not be processed
	CodeDataLocked        Code = "data_locked"        // another server holds the data directory
	CodeDataNewer         Code = "data_newer"         // the database was written by a newer version
	CodeServerUnreachable Code = "server_unreachable" // no server answers and none could be started
	CodeTimedOut          Code = "timed_out"          // waited as long as asked
	CodeInternal          Code = "internal"           // a fault of ours
)

// MaxMessage is the largest message in bytes. Codex 0.171.0 takes 1,048,576
// characters, the least of the agents; the rest of the room is for a handoff.
const MaxMessage = 1 << 20

// Error is what a person or a client is told: what happened to their message
// or file, and what to do next. It is wrapped once with the operation, and
// returned rather than logged.
type Error struct {
	Code   Code   `json:"code"`
	Title  string `json:"title,omitempty"`  // one line, no full stop
	Detail string `json:"detail,omitempty"` // what happened, and to what
	Hint   string `json:"hint,omitempty"`   // what to do next
}

// Errorf makes an error with a formatted title.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Title: fmt.Sprintf(format, args...)}
}

// WithHint returns the error with the hint set.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// WithDetail returns the error with the detail set.
func (e *Error) WithDetail(format string, args ...any) *Error {
	c := *e
	c.Detail = fmt.Sprintf(format, args...)
	return &c
}

// Error gives title, detail and code; the hint is for the edge to show.
func (e *Error) Error() string {
	s := e.Title
	if s == "" {
		s = string(e.Code)
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

// Is makes errors.Is compare codes.
func (e *Error) Is(target error) bool {
	var t *Error
	return errors.As(target, &t) && t.Code == e.Code
}

// ErrorCode returns the code of err, or CodeInternal where it has none.
func ErrorCode(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}

// AsError returns err as an *Error, wrapping it as internal where it is none.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: CodeInternal, Title: "something went wrong inside Baton", Detail: err.Error(),
		Hint: "nothing that was accepted is lost; try again, and report this if it stays"}
}

// Status returns the HTTP status of a code.
func (c Code) Status() int {
	switch c {
	case CodeInvalid, CodeMessageEmpty, CodeMessageText, CodeConfig, CodeUnknownProvider:
		return 422
	case CodeMessageTooLarge:
		return 413
	case CodeNotFound:
		return 404
	case CodeConflict, CodeArchived, CodeDeleted, CodeNotResumable, CodeDataLocked, CodeWorkspaceMissing:
		return 409
	case CodeSignedOut:
		return 401
	case CodeForbidden, CodeForeignHost, CodeForeignOrigin:
		return 403
	case CodeLinkOver:
		return 410
	case CodeUnsupported, CodeDriverNotBuilt, CodeAgentMissing, CodeAgentTooOld:
		return 501
	case CodeTimedOut:
		return 504
	case CodeServerUnreachable:
		return 503
	default:
		return 500
	}
}
