package codex

import (
	"encoding/json"
	"strings"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// turnError is the error of a turn or of an error notification.
type turnError struct {
	Message string          `json:"message"`
	Info    json.RawMessage `json:"codexErrorInfo"` // a name, or an object with the name as its key
	Details string          `json:"additionalDetails"`
}

func (e turnError) info() (name string, status int) {
	if json.Unmarshal(e.Info, &name) == nil {
		return name, 0
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(e.Info, &object) != nil {
		return "", 0
	}
	for k, v := range object {
		if name == "" || k < name {
			name = k
			status = decode[struct {
				HTTP int `json:"httpStatusCode"`
			}](v).HTTP
		}
	}
	return name, status
}

// asError maps what codex calls it (0.171.0) to our codes. An HTTP status says
// more than the name.
func (e turnError) asError() *baton.Error {
	name, status := e.info()
	out := &baton.Error{Code: baton.CodeAgentFailed, Title: "codex reported a failure", Detail: e.Message,
		Hint: "send the message again, or go on with another provider"}
	if e.Details != "" && !strings.Contains(e.Message, e.Details) {
		out.Detail += " (" + agent.Head(e.Details, 1000) + ")"
	}
	switch {
	case status == 401 || status == 403 || name == "unauthorized":
		out.Code, out.Title = baton.CodeUnauthorized, "the model's service refused codex"
		out.Hint = "sign in with codex login, or check the key in the provider's environment"
	case status == 429 || name == "rateLimitExceeded" || name == "usageLimitExceeded" || name == "sessionBudgetExceeded":
		out.Code, out.Title = baton.CodeRateLimited, "the model's service has reached a limit"
		out.Hint = "wait and send the message again, or go on with another provider"
	case name == "contextWindowExceeded":
		out.Code, out.Title = baton.CodeContextTooLong, "the conversation is too long for the model"
		out.Hint = "send the message again: codex shortens its conversation first; or go on with another provider"
	case status >= 500, name == "httpConnectionFailed", name == "responseStreamConnectionFailed", name == "responseStreamDisconnected",
		name == "responseTooManyFailedAttempts", name == "internalServerError", name == "serverOverloaded",
		strings.HasPrefix(e.Message, "stream disconnected"):
		out.Code, out.Title = baton.CodeModelUnreachable, "the model's service does not answer as it should"
		out.Hint = "check the network and send the message again, or go on with another provider"
	case name == "modelNotFound":
		out.Title, out.Hint = "the model's service does not have the model", "choose another model"
	}
	return out
}

// refused is what a person is told when codex refuses what was given to it.
func refused(e jsonl.RPCError) *baton.Error {
	data := decode[struct {
		Code string `json:"input_error_code"`
	}](e.Data)
	if data.Code == "input_too_large" {
		return baton.Errorf(baton.CodeMessageTooLarge, "the message is too large for codex").WithDetail("%s", e.Message).
			WithHint("shorten the message, or put it into a file and name that")
	}
	return baton.Errorf(baton.CodeAgentFailed, "codex refused the message").WithDetail("%s", e.Message).
		WithHint("send it again, or go on with another provider")
}
