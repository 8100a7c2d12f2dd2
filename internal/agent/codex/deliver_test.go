package codex

import (
	"slices"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
)

func TestDeliver(t *testing.T) {
	b := ready(t).deliver(msg1, hnd1, hnd2)
	b.facts()
	b.writes(`"id":"msg_01a22e96-9e0a-7571-a44e-00000000000a","role":"user"`, `"id":"msg_01a22e96-9e0a-7571-a44e-00000000000b"`)
	if !slices.Equal(b.out.Writes[0].Deliveries, []baton.DeliveryID{hnd1}) {
		t.Errorf("deliveries: %v", b.out.Writes[0].Deliveries)
	}
	b.result(5, obj{}).writes()
	if a := want[baton.FactDeliveryAccepted](b); a.Delivery != hnd2 {
		t.Errorf("%+v", a)
	}
	b.result(4, obj{}).writes(`"clientUserMessageId":"` + string(msg1) + `"`)
	b.facts(baton.FactDeliveryAccepted{})
	if strings.Contains(string(b.state), "text of") {
		t.Errorf("the state still holds the message: %s", b.state)
	}
	b.result(6, obj{"turn": obj{"id": "T"}}).facts()
	b.turn("T")
	if s := want[baton.FactTurnStarted](b); !slices.Equal(s.Deliveries, []baton.DeliveryID{hnd2, hnd1, msg1}) || s.Native.ID != "T" {
		t.Errorf("%+v", s)
	}
	b.started(obj{"type": "userMessage", "id": "u", "clientId": string(msg1)})
	b.facts(baton.FactDeliveryAccepted{}, baton.FactDeliveryConsumed{}, baton.FactDeliveryConsumed{}, baton.FactDeliveryConsumed{})
	b.completed(obj{"type": "userMessage", "id": "u", "clientId": string(msg1), "content": []any{obj{"type": "text", "text": "hi"}}}).facts()
	b.turnEnds("T", "completed").facts(baton.FactTurnEnded{})
}

func TestDeliverRefused(t *testing.T) {
	b := ready(t).deliver(msg1, hnd1, hnd2)
	b.deliver(msg2).facts(baton.FactDeliveryDropped{})
	b.refusal(4, -32600, "items[0] is not valid").facts(baton.FactDeliveryDropped{})
	b.result(5, obj{}).facts(baton.FactDeliveryAccepted{}, baton.FactDeliveryDropped{})
	b.writes() // no turn without what it needs
	b.deliver(msg2).writes(`"turn/start"`)
	b.line(obj{"id": "S-6", "error": obj{"code": -32602, "message": "too large", "data": obj{"input_error_code": "input_too_large"}}})
	if d := want[baton.FactDeliveryDropped](b); d.Delivery != msg2 || d.Err.Code != baton.CodeMessageTooLarge {
		t.Errorf("%+v", d)
	}
}

// A turn that ends before codex has taken its message does not have it.
func TestMessageNotTaken(t *testing.T) {
	b := ready(t).deliver(msg1).result(4, obj{"turn": obj{"id": "T"}}).turn("T").turnEnds("T", "interrupted")
	b.facts(baton.FactDeliveryDropped{}, baton.FactTurnEnded{})
	b.deliver(msg2).result(5, obj{"turn": obj{"id": "T2"}}).turnEnds("T2", "failed")
	b.facts(baton.FactTurnStarted{}, baton.FactDeliveryDropped{}, baton.FactTurnEnded{})
}

// Codex folds a message into a turn that is open: it answers with its id.
func TestAbsorbed(t *testing.T) {
	b := ready(t).turn("T")
	if s := want[baton.FactTurnStarted](b); len(s.Deliveries) != 0 {
		t.Errorf("%+v", s)
	}
	b.deliver(msg1).result(4, obj{"turn": obj{"id": "T"}}).facts()
	b.started(obj{"type": "userMessage", "id": "u", "clientId": string(msg1)})
	b.facts(baton.FactDeliveryAccepted{}, baton.FactDeliveryConsumed{})
	if c := want[baton.FactDeliveryConsumed](b); c.TurnKey != "T" {
		t.Errorf("%+v", c)
	}

	b = ready(t).turn("T").deliver(msg1).result(4, obj{"turn": obj{"id": "T"}}).turnEnds("T", "completed")
	b.facts(baton.FactTurnEnded{}) // it may become the input of the next
	if b.out.Deadlines[deadlineInput] != answerTime {
		t.Errorf("deadlines: %v", b.out.Deadlines)
	}
	b.step(agent.Input{Deadline: deadlineInput}).facts(baton.FactSessionFailed{})
}

func TestNoAnswer(t *testing.T) {
	b := ready(t).deliver(msg1, hnd1)
	if b.out.Deadlines["call S-4"] != answerTime {
		t.Errorf("deadlines: %v", b.out.Deadlines)
	}
	b.step(agent.Input{Deadline: "call S-4"})
	if e := wantFailed(b); e.Code != baton.CodeStartFailed || e.Hint == "" {
		t.Errorf("%+v", e)
	}
	b = ready(t).turn("T").step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: "T"}})
	b.writes(`"turn/interrupt"`)
	b.step(agent.Input{Deadline: "call S-4"}).facts(baton.FactNotice{})
	b.step(agent.Input{Deadline: "call S-4"}).facts()
	b.step(agent.Input{Deadline: "x"}).facts()
}

// A turn that codex begins by itself shows what it told itself.
func TestForeignMessage(t *testing.T) {
	b := ready(t).turn("T").completed(obj{"type": "userMessage", "id": "u", "content": []any{obj{"type": "text", "text": "go on"}}})
	if c := want[baton.FactItemClosed](b); c.Kind != baton.ItemUserMessage || c.Body.Text != "go on" || c.Body.Author != "codex" {
		t.Errorf("%+v", c)
	}
}

// Only in the wait for injections is a message kept; no text of the agent is.
func TestStateIsSmall(t *testing.T) {
	b := ready(t).turn("T")
	before := len(b.state)
	b.started(obj{"type": "agentMessage", "id": "m"})
	for range 50 {
		b.told("item/agentMessage/delta", obj{"itemId": "m", "delta": strings.Repeat("x", 10_000)})
	}
	if grown := len(b.state) - before; grown > 300 {
		t.Errorf("the state has grown by %d bytes", grown)
	}
}
