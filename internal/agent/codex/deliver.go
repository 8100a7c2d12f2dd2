package codex

import (
	"slices"
	"strings"

	"baton"
	"baton/internal/jsonl"
)

// itemID is the id under which a handoff is put into codex's history. Codex
// keeps it in the rollout and does not send it to the model.
func itemID(d baton.DeliveryID) string { return "msg_" + baton.UUID(d) }

// deliver injects the handoffs. The message follows when codex has them all,
// so that a turn never starts without what it needs.
func (m *machine) deliver(i baton.IntentDeliver) {
	if err := m.refusesInput(i); err != nil {
		for _, h := range i.Handoffs {
			m.fact(baton.FactDeliveryDropped{Delivery: h.Delivery, Err: err})
		}
		m.fact(baton.FactDeliveryDropped{Delivery: i.Message.Delivery, Err: err})
		return
	}
	m.s.Input = &input{Message: i.Message.Delivery, Settings: i.Settings, Waiting: len(i.Handoffs)}
	for _, h := range i.Handoffs {
		m.call(call{Kind: callInject, Delivery: h.Delivery}, "thread/inject_items", map[string]any{
			"threadId": m.s.Thread,
			"items": []any{map[string]any{
				"type": "message", "role": "user", "id": itemID(h.Delivery),
				"content": []any{map[string]any{"type": "input_text", "text": h.Text}},
			}},
		}, h.Delivery)
	}
	if len(i.Handoffs) > 0 {
		m.s.Input.Text = i.Message.Text
		return
	}
	m.startTurn(i.Message.Text)
}

func (m *machine) refusesInput(i baton.IntentDeliver) *baton.Error {
	if m.s.Phase != phaseReady {
		return baton.Errorf(baton.CodeConflict, "the codex session is not ready").WithHint("send the message again")
	}
	if m.s.Input != nil {
		return baton.Errorf(baton.CodeConflict, "another message is on its way to codex").WithHint("send the message again")
	}
	return checkSettings(i.Settings)
}

func (m *machine) injected(c call, e *jsonl.RPCError) {
	if e == nil {
		m.fact(baton.FactDeliveryAccepted{Delivery: c.Delivery, Evidence: "answer to thread/inject_items"})
	} else {
		m.fact(baton.FactDeliveryDropped{Delivery: c.Delivery, Err: refused(*e)})
	}
	in := m.s.Input
	if in == nil {
		return
	}
	in.Waiting--
	if e != nil {
		in.Failed = refused(*e)
	} else {
		in.Handoffs = append(in.Handoffs, c.Delivery)
	}
	switch {
	case in.Waiting > 0:
	case in.Failed != nil:
		m.fact(baton.FactDeliveryDropped{Delivery: in.Message, Err: in.Failed})
		m.s.Input = nil
	default:
		text := in.Text
		in.Text = ""
		m.startTurn(text)
	}
}

func (m *machine) startTurn(text string) {
	params := map[string]any{
		"threadId": m.s.Thread, "clientUserMessageId": string(m.s.Input.Message),
		"input": []any{map[string]any{"type": "text", "text": text, "text_elements": []any{}}},
	}
	m.turnSettings(params, m.s.Input.Settings)
	m.call(call{Kind: callTurn}, "turn/start", params, m.s.Input.Message)
}

// turnAnswered notes the turn that takes the message: a new one, or the open
// one, into which codex folds a second turn/start.
func (m *machine) turnAnswered(msg jsonl.Message) {
	in := m.s.Input
	if in == nil {
		return
	}
	if msg.Error != nil {
		m.fact(baton.FactDeliveryDropped{Delivery: in.Message, Err: refused(*msg.Error)})
		m.s.Input = nil
		return
	}
	r := decode[struct {
		Turn struct {
			ID string `json:"id"`
		} `json:"turn"`
	}](msg.Result)
	in.Turn = r.Turn.ID
	in.Absorbed = m.s.turnByID(r.Turn.ID) != nil
}

// userMessage takes the proof that codex has a message: from this item on it
// survives the death of the process (15 of 15 kills, codex 0.171.0).
func (m *machine) userMessage(turnID string, it item) {
	in := m.s.Input
	if in == nil || it.ClientID != string(in.Message) {
		return
	}
	m.fact(baton.FactDeliveryAccepted{Delivery: in.Message, Evidence: "item/started userMessage"})
	for _, d := range slices.Concat(in.Handoffs, []baton.DeliveryID{in.Message}) {
		m.fact(baton.FactDeliveryConsumed{Delivery: d, TurnKey: turnID})
	}
	m.setDeadline(deadlineInput, 0)
	m.s.Input = nil
}

// ours says whether a user message carries an id that we gave.
func ours(it item) bool { return strings.HasPrefix(it.ClientID, baton.PrefixDelivery+"_") }

// inputEnded settles a message whose turn ended before codex had it.
func (m *machine) inputEnded(t turn, err *baton.Error) {
	in := m.s.Input
	if in == nil || in.Turn != t.ID {
		return
	}
	if in.Absorbed { // it may become the input of a turn that follows at once
		m.setDeadline(deadlineInput, answerTime)
		return
	}
	if err == nil {
		err = baton.Errorf(baton.CodeAgentFailed, "codex ended the turn before it took the message").WithHint("send the message again")
	}
	m.fact(baton.FactDeliveryDropped{Delivery: in.Message, Err: err})
	m.s.Input = nil
}
