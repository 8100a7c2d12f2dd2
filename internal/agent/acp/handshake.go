package acp

import (
	"encoding/json"
	"strings"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// Keys of deadlines.
const (
	deadlineHandshake = "handshake"
	deadlineQuiet     = "quiet"
)

func (m *machine) started() {
	if m.s.Stage != stageNew {
		return
	}
	m.s.Stage, m.s.Method = stageInitialize, "initialize"
	m.s.Asked = m.request("initialize", map[string]any{
		"protocolVersion": 1,
		"clientCapabilities": map[string]any{
			"fs":          map[string]any{"readTextFile": false, "writeTextFile": false},
			"terminal":    false,
			"elicitation": map[string]any{"form": map[string]any{}},
		},
		"clientInfo": map[string]any{"name": "baton", "title": "Baton", "version": orDev(m.s.Spec.ClientVersion)},
	})
	m.setDeadline(deadlineHandshake, HandshakeTimeout)
}

func orDev(version string) string {
	if version == "" {
		return "dev"
	}
	return version
}

// response takes an answer to one of our requests.
func (m *machine) response(msg jsonl.Message) {
	id, _ := msg.StringID()
	switch {
	case id != "" && id == m.s.Asked:
		m.s.Asked = ""
		if m.s.Stage == stageInitialize {
			m.initialized(msg)
		} else {
			m.opened(msg)
		}
	case m.s.Prompt != nil && id == m.s.Prompt.ID:
		m.promptAnswered(msg)
	default:
		m.bad("the agent answered a question that is not open: id %s", agent.Head(string(msg.ID), 100))
	}
}

func (m *machine) initialized(msg jsonl.Message) {
	if msg.Error != nil {
		m.fail(rpcError(msg.Error, baton.CodeStartFailed).WithHint("check the provider's command with `baton doctor`"))
		return
	}
	var r initializeResult
	if err := json.Unmarshal(msg.Result, &r); err != nil || r.ProtocolVersion != 1 {
		m.fail(baton.Errorf(baton.CodeStartFailed, "the agent does not speak ACP version 1").
			WithDetail("it answered %s", agent.Head(string(msg.Result), 300)).WithHint("update the agent, or check the provider's command"))
		return
	}
	m.s.Agent, m.s.Version = agent.Head(r.AgentInfo.Name, 100), agent.Head(r.AgentInfo.Version, 100)
	m.s.Load = r.AgentCapabilities.LoadSession
	m.s.Resume = claimed(r.AgentCapabilities.SessionCapabilities.Resume)
	for _, a := range r.AuthMethods {
		if len(m.s.Auth) < 5 {
			m.s.Auth = append(m.s.Auth, agent.Head(a.Name, 100))
		}
	}
	m.open()
}

// claimed says whether a capability object is there.
func claimed(raw json.RawMessage) bool {
	s := strings.TrimSpace(string(raw))
	return s != "" && s != "null" && s != "false"
}

// open asks for the conversation.
func (m *machine) open() {
	params := map[string]any{"cwd": m.s.Spec.Dir, "mcpServers": []any{}}
	if m.s.Spec.NativeID != "" {
		m.s.Session = m.s.Spec.NativeID
		params["sessionId"] = m.s.Session
	}
	switch {
	case m.s.Session == "":
		m.s.Method = "session/new"
	case m.s.Resume:
		m.s.Method = "session/resume"
	case m.s.Load:
		m.s.Method = "session/load"
	default:
		m.resumeFailed(baton.ResumeOther, "the agent can neither resume nor load a conversation")
		return
	}
	m.s.Stage = stageOpen
	m.s.Asked = m.request(m.s.Method, params)
}

func (m *machine) opened(msg jsonl.Message) {
	if e := msg.Error; e != nil {
		switch {
		case m.s.Method == "session/resume" && e.Code == -32601 && m.s.Load:
			m.s.Resume = false // claimed and not there: qwen-code 0.15.10
			m.open()
		case m.s.Method == "session/new" || e.Code == -32000:
			m.fail(m.authHint(rpcError(e, baton.CodeStartFailed)))
		default:
			m.resumeFailed(resumeClass(e), rpcText(e))
		}
		return
	}
	switch m.s.Method {
	case "session/new":
		var r struct {
			SessionID string `json:"sessionId"`
		}
		if err := json.Unmarshal(msg.Result, &r); err != nil || r.SessionID == "" || len(r.SessionID) > 1000 {
			m.fail(baton.Errorf(baton.CodeStartFailed, "the agent opened a conversation without an id").WithDetail("it answered %s", agent.Head(string(msg.Result), 300)))
			return
		}
		m.s.Session = r.SessionID
	case "session/load":
		if !m.s.Replayed {
			if m.s.Agent == "qwen-code" {
				// 0.15.10 "loads" an id that it doesn't know, as an empty conversation.
				m.resumeFailed(baton.ResumeNotFound, "the agent opened an empty conversation under that id")
				return
			}
			m.s.Stage = stageQuiet // gemini-cli 0.61.0 answers first and replays then
			m.setDeadline(deadlineQuiet, QuietAfterLoad)
			return
		}
	}
	m.ready()
}

func (m *machine) ready() {
	m.s.Stage, m.s.Method = stageReady, ""
	m.setDeadline(deadlineHandshake, 0)
	m.fact(baton.FactSessionReady{AgentVersion: m.s.Version, NativeID: m.s.Session, Strength: baton.Strong, Resumed: m.s.Spec.NativeID != ""})
}

func (m *machine) fail(err *baton.Error) {
	m.s.Stage, m.s.Asked = stageFailed, ""
	m.setDeadline(deadlineHandshake, 0)
	m.fact(baton.FactSessionFailed{Err: err})
}

func (m *machine) resumeFailed(class baton.ResumeFailure, detail string) {
	m.s.Stage, m.s.Asked = stageFailed, ""
	m.setDeadline(deadlineHandshake, 0)
	m.fact(baton.FactResumeFailed{Class: class, Detail: detail})
}

func (m *machine) deadline(key string) {
	switch {
	case key == deadlineQuiet && m.s.Stage == stageQuiet:
		m.ready()
	case key == deadlineHandshake && m.s.Stage != stageReady:
		m.fail(baton.Errorf(baton.CodeStartFailed, "the agent did not answer in time").
			WithDetail("no answer to %s within %s", m.s.Method, HandshakeTimeout).WithHint("try again, or check the agent with `baton doctor`"))
	}
}
