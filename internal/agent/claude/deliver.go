package claude

import (
	"slices"
	"strings"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// userMessage is a message as claude 2.1.332 takes it.
type userMessage struct {
	Type     string  `json:"type"`
	Message  said    `json:"message"`
	Parent   *string `json:"parent_tool_use_id"`
	Session  string  `json:"session_id"`
	UUID     string  `json:"uuid"`
	Query    *bool   `json:"shouldQuery,omitempty"`
	Synth    bool    `json:"isSynthetic,omitempty"`
	Composed bool    `json:"client_composed,omitempty"`
}

type said struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// deliver writes settings that have changed, the handoffs and the message as
// one write: apart, a turn could come in between.
func (m *machine) deliver(i baton.IntentDeliver) {
	all := append(slices.Clone(i.Handoffs), i.Message)
	if m.s.Phase != phaseReady {
		for _, p := range all {
			m.fact(baton.FactDeliveryDropped{Delivery: p.Delivery, Err: baton.Errorf(baton.CodeStartFailed, "the session is not ready")})
		}
		return
	}
	w := agent.Write{Data: m.settings(i.Settings)}
	for n, p := range all {
		handoff := n < len(i.Handoffs)
		u := userMessage{Type: "user", Message: said{Role: "user", Content: p.Text}, UUID: baton.UUID(p.Delivery),
			Synth: handoff, Composed: handoff || reads(p.Text)}
		if handoff {
			u.Query = new(bool)
		}
		w.Data = append(w.Data, jsonl.Line(u)...)
		w.Deliveries = append(w.Deliveries, p.Delivery)
		m.s.Deliveries = append(m.s.Deliveries, delivery{ID: p.Delivery, Handoff: handoff})
	}
	m.write(w)
}

// reads says whether claude would read more into a text than it says: a command
// or the name of a file.
func reads(text string) bool {
	return strings.HasPrefix(strings.TrimSpace(text), "/") || strings.Contains(text, "@")
}

// settings asks for what differs from how the session runs.
func (m *machine) settings(s baton.Settings) (lines []byte) {
	if s.Model != "" && s.Model != m.s.Model {
		m.s.Model = s.Model
		lines = append(lines, m.call("set_model", map[string]any{"subtype": "set_model", "model": s.Model})...)
	}
	if want := mode(s.PermissionMode); s.PermissionMode != "" && want != m.s.Mode {
		m.s.Mode = want
		lines = append(lines, m.call("set_permission_mode", map[string]any{"subtype": "set_permission_mode", "mode": want})...)
	}
	return lines
}

// lifecycle follows one of our messages: queued, started, completed, cancelled.
func (m *machine) lifecycle(f frame) {
	d := m.s.delivery(f.Command)
	if d == nil {
		return
	}
	switch f.State {
	case "started":
		d.Started = true
		if t := m.s.Turn; t != nil && d.Turn == "" {
			d.Turn = t.Key // folded into it
		}
	case "completed":
		m.completed(d)
	case "cancelled":
		if d.Turn == "" {
			m.withdrawn(f.Command)
		}
	}
}

func (m *machine) completed(d *delivery) {
	switch {
	case d.Turn != "": // its turn's result says it
	case d.Handoff:
		m.accept(d, "command_lifecycle completed")
	case !d.Started:
		// It was in the conversation already: claude takes it as done and says no more.
		id, key := d.ID, m.s.key("turn-")
		m.fact(baton.FactTurnStarted{Key: key, Native: baton.NativeRef{Strength: baton.None}, Deliveries: []baton.DeliveryID{id}})
		d.Turn = key
		m.consume(id, "command_lifecycle completed")
		m.fact(baton.FactTurnEnded{Key: key, Status: baton.TurnFailed, Head: m.s.Head,
			Err: baton.Errorf(baton.CodeAgentFailed, "Claude Code had this message already and did not answer it again").
				WithHint("send it as a new message")})
	}
}

// withdrawn drops a message that no turn has taken.
func (m *machine) withdrawn(uuid string) {
	d := m.s.delivery(uuid)
	if d == nil || d.Turn != "" || d.Accepted {
		return
	}
	id := d.ID
	m.forget(id)
	m.fact(baton.FactDeliveryDropped{Delivery: id, Err: baton.Errorf(baton.CodeInterrupted, "the message was withdrawn before the agent took it")})
}

func (m *machine) accept(d *delivery, evidence string) {
	if d.Accepted {
		return
	}
	d.Accepted = true
	m.fact(baton.FactDeliveryAccepted{Delivery: d.ID, Evidence: evidence})
}

// consume says that the delivery's turn has taken it, for good.
func (m *machine) consume(id baton.DeliveryID, evidence string) {
	d := m.s.delivery(baton.UUID(id))
	m.accept(d, evidence)
	m.fact(baton.FactDeliveryConsumed{Delivery: id, TurnKey: d.Turn})
	m.forget(id)
}

func (m *machine) forget(id baton.DeliveryID) {
	m.s.Deliveries = slices.DeleteFunc(m.s.Deliveries, func(d delivery) bool { return d.ID == id })
}
