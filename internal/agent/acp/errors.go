package acp

import (
	"encoding/json"
	"strings"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// rpcError turns an agent's error into ours. other is the code of those that
// say nothing of their cause. Gemini CLI 0.61.0 uses HTTP statuses as codes.
func rpcError(e *jsonl.RPCError, other baton.Code) *baton.Error {
	text := rpcText(e)
	low := strings.ToLower(text)
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(low, p) {
				return true
			}
		}
		return false
	}
	code, title, hint := other, "the agent reported a failure", ""
	switch {
	case e.Code == -32000 || e.Code == 401 || e.Code == 403:
		code, title, hint = baton.CodeUnauthorized, "the agent is not signed in", "sign in with the agent's own command, then send the message again"
	case e.Code == -32800:
		code, title = baton.CodeInterrupted, "the agent gave the request up"
	case e.Code == 429 || has("rate limit", "rate_limit", "too many requests", "quota exceeded"):
		code, title, hint = baton.CodeRateLimited, "the model refuses for now", "wait, or go on with another provider"
	case has("context_length", "context length", "context window", "prompt is too long"):
		code, title, hint = baton.CodeContextTooLong, "the conversation is too long for the model", "go on with a clean context"
	case e.Code >= 500 && e.Code < 600 || has("econnrefused", "enotfound", "fetch failed", "connection refused"):
		code, title, hint = baton.CodeModelUnreachable, "the model's service can't be reached", "check the network, then send the message again"
	}
	return &baton.Error{Code: code, Title: title, Detail: text, Hint: hint}
}

// rpcText is the message of an error with what its data tell beside it.
func rpcText(e *jsonl.RPCError) string {
	text := agent.Head(e.Message, 2000)
	var inner struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal([]byte(e.Message), &inner) == nil && inner.Error.Message != "" {
		text = agent.Head(inner.Error.Message, 2000) // gemini-cli 0.61.0 hands the model's answer on
	}
	var s string
	var d struct {
		Details   string `json:"details"`   // qwen-code 0.15.10
		ErrorName string `json:"errorName"` // opencode 1.18.33
	}
	if json.Unmarshal(e.Data, &s) != nil {
		_ = json.Unmarshal(e.Data, &d)
		s = strings.TrimSpace(d.Details + " " + d.ErrorName)
	}
	if s != "" && !strings.Contains(text, s) {
		text += " (" + agent.Head(s, 1000) + ")"
	}
	return text
}

func (m *machine) authHint(e *baton.Error) *baton.Error {
	if e.Code == baton.CodeUnauthorized && len(m.s.Auth) > 0 {
		return e.WithHint("sign in with the agent's own command (it offers: %s), then try again", strings.Join(m.s.Auth, ", "))
	}
	return e
}

// refusal says whether an error means that the prompt was not taken.
func refusal(e *jsonl.RPCError) bool {
	switch e.Code {
	case -32700, -32600, -32601, -32602, -32000, -32002:
		return true
	}
	return false
}

// resumeClass says why a conversation could not be opened. -32002 is the
// protocol's "not found" (Copilot CLI 1.0.102); the others only say so in words.
func resumeClass(e *jsonl.RPCError) baton.ResumeFailure {
	low := strings.ToLower(rpcText(e))
	switch {
	case e.Code == -32601:
		return baton.ResumeOther // "method not found"
	case e.Code == -32002 || strings.Contains(low, "not found") || strings.Contains(low, "invalid session identifier") || strings.Contains(low, "no previous sessions"):
		return baton.ResumeNotFound
	case strings.Contains(low, "in use"):
		return baton.ResumeInUse
	case strings.Contains(low, "damaged") || strings.Contains(low, "corrupt"):
		return baton.ResumeDamaged
	}
	return baton.ResumeOther
}
