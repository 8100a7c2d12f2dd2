package codex

import (
	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// Bounds of notices for one session; retries count anew in each turn.
const (
	maxRetryNotices = 5
	maxNotices      = 20
)

// told takes what codex says to whoever looks after it.
func (m *machine) told(msg jsonl.Message) {
	p := decode[struct {
		ThreadID  string    `json:"threadId"`
		TurnID    string    `json:"turnId"`
		Error     turnError `json:"error"`
		WillRetry bool      `json:"willRetry"`
		Message   string    `json:"message"`
		Summary   string    `json:"summary"`
		Details   string    `json:"details"`
		Name      string    `json:"name"`
		Status    string    `json:"status"`
		FromModel string    `json:"fromModel"`
		ToModel   string    `json:"toModel"`
	}](msg.Params)
	switch msg.Method {
	case "error":
		m.errorTold(p.TurnID, p.Error, p.WillRetry)
	case "warning", "guardianWarning":
		m.notice("told", maxNotices, baton.FactNotice{Level: "warning", Text: agent.Head(p.Message, 2000)})
	case "configWarning": // each session repeats them
		m.notice("told", maxNotices, baton.FactNotice{Level: "info", Code: baton.CodeConfig, Text: agent.Head(p.Summary, 2000), Hint: agent.Head(p.Details, 2000)})
	case "model/rerouted":
		m.notice("told", maxNotices, baton.FactNotice{Level: "warning", Text: "Codex went from the model " + p.FromModel + " to " + p.ToModel})
	case "mcpServer/startupStatus/updated":
		if p.Status != "failed" {
			return
		}
		e := decode[struct {
			Error string `json:"error"`
		}](msg.Params)
		m.notice("told", maxNotices, baton.FactNotice{Level: "warning", Code: baton.CodeStartFailed,
			Text: "Codex could not start the MCP server " + p.Name + ": " + agent.Head(e.Error, 1000), Hint: "correct it in codex's configuration"})
	}
}

// errorTold takes an error. One that is retried makes codex start the response
// over; a final one is told again by the turn's end.
func (m *machine) errorTold(turnID string, e turnError, retry bool) {
	t := m.s.turnByID(turnID)
	err := e.asError()
	if !retry && t != nil {
		t.Failed = &e
		return
	}
	if t != nil {
		t.Retry = true
	}
	level := "warning"
	if !retry {
		level = "error"
	}
	m.notice("retry", maxRetryNotices, baton.FactNotice{Level: level, Code: err.Code, Text: "Codex: " + agent.Head(err.Detail, 2000)})
}
