package script

import (
	"encoding/json"
	"path/filepath"

	"baton/internal/jsonl"
)

// handle answers the requests that open conversations.
func (a *server) handle(msg jsonl.Message) (any, error) {
	var p struct {
		SessionID    string `json:"sessionId"`
		Cwd          string `json:"cwd"`
		Capabilities struct {
			Elicitation struct {
				Form json.RawMessage `json:"form"`
			} `json:"elicitation"`
		} `json:"clientCapabilities"`
	}
	if err := json.Unmarshal(msg.Params, &p); err != nil {
		return nil, rpcErr{Code: -32602, Message: "Invalid params: " + err.Error()}
	}
	switch msg.Method {
	case "initialize":
		a.mu.Lock()
		a.forms = len(p.Capabilities.Elicitation.Form) > 0 && string(p.Capabilities.Elicitation.Form) != "null"
		a.mu.Unlock()
		claims := map[string]any{"close": map[string]any{}}
		if a.env("BATON_SCRIPT_NO_RESUME") != "1" {
			claims["resume"] = map[string]any{}
		}
		return map[string]any{
			"protocolVersion":   1,
			"agentInfo":         map[string]any{"name": "baton-script", "title": "Baton script", "version": a.version},
			"agentCapabilities": map[string]any{"loadSession": true, "sessionCapabilities": claims},
			"authMethods":       []any{},
		}, nil
	case "session/new", "session/resume", "session/load":
		if !filepath.IsAbs(p.Cwd) {
			return nil, rpcErr{Code: -32602, Message: "Invalid params: cwd must be absolute"}
		}
		s, err := a.open(msg.Method, p.SessionID)
		if err != nil {
			return nil, err
		}
		s.cwd = p.Cwd
		if msg.Method == "session/load" {
			a.replay(s)
		}
		return map[string]any{"sessionId": s.id}, nil
	case "session/close":
		a.cancel(p.SessionID)
		a.mu.Lock()
		defer a.mu.Unlock()
		if s := a.sessions[p.SessionID]; s != nil {
			s.file.Close()
			delete(a.sessions, p.SessionID)
		}
		return map[string]any{}, nil
	case "authenticate":
		return map[string]any{}, nil
	}
	return nil, rpcErr{Code: -32601, Message: "Method not found: " + msg.Method}
}

func (a *server) open(method, id string) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	var s *session
	var err error
	if method == "session/new" {
		s, err = newSession(a.home)
	} else {
		s, err = loadSession(a.home, id)
	}
	if err != nil {
		return nil, err
	}
	a.sessions[s.id] = s
	return s, nil
}

// replay tells a client what the conversation holds, as a load must.
func (a *server) replay(s *session) {
	for _, e := range s.history() {
		kind := map[string]string{"user": "user_message_chunk", "assistant": "agent_message_chunk"}[e.Type]
		if kind != "" {
			a.update(s, map[string]any{"sessionUpdate": kind, "content": text(e.Text)})
		}
	}
}

func (a *server) update(s *session, u map[string]any) {
	a.notify("session/update", map[string]any{"sessionId": s.id, "update": u})
}

func text(s string) map[string]any { return map[string]any{"type": "text", "text": s} }
