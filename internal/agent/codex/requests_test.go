package codex

import (
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
)

func (b *bench) answer(key string, d baton.Decision) *bench {
	return b.step(agent.Input{Intent: baton.IntentAnswer{Delivery: msg1, Request: key, Decision: d}})
}

func TestApprovals(t *testing.T) {
	for _, method := range []string{askCommand, askFileChange} {
		for d, want := range map[baton.Decision]string{
			baton.ApproveOnce: "accept", baton.ApproveSession: "acceptForSession", baton.Decline: "decline", baton.CancelTurn: "cancel", "": "decline",
		} {
			b := ready(t).turn("T").asks(0, method, obj{})
			b.answer("request/0", d).writes(`{"id":0,"result":{"decision":"` + want + `"}}`)
			b.answer("request/0", d).facts(baton.FactDeliveryDropped{}) // once
		}
	}
}

func TestApprovalIsAbout(t *testing.T) {
	b := ready(t).turn("T").started(obj{"type": "fileChange", "id": "f", "changes": []obj{{"path": "a.txt"}, {"path": "b.txt"}}})
	key := want[baton.FactItemOpened](b).Key
	b.asks(0, askFileChange, obj{"itemId": "f", "reason": "why", "grantRoot": "/etc"})
	if r := want[baton.FactRequestOpened](b); r.Item != key || r.Title != "Change a.txt, b.txt" || !strings.HasPrefix(r.Detail, "why\n") || !strings.Contains(r.Detail, "/etc") || len(r.Options) != 4 {
		t.Errorf("%+v", r)
	}
	b.asks(1, askCommand, obj{"itemId": "c", "command": "rm -r x", "reason": "r"})
	if r := want[baton.FactRequestOpened](b); r.Kind != baton.RequestCommand || r.Title != "rm -r x" || r.Detail != "r" {
		t.Errorf("%+v", r)
	}
	b.asks(2, askCommand, obj{"networkApprovalContext": obj{"host": "example.org", "protocol": "https"}})
	if r := want[baton.FactRequestOpened](b); r.Kind != baton.RequestPermission || r.Title != "Reach example.org over https" {
		t.Errorf("%+v", r)
	}
	// Ended with their turn, or when codex says so; ours is confirmed.
	b.told("serverRequest/resolved", obj{"requestId": 1})
	if g := want[baton.FactRequestGone](b); g.Key != "request/1" {
		t.Errorf("%+v", g)
	}
	b.answer("request/2", baton.ApproveOnce).told("serverRequest/resolved", obj{"requestId": 2})
	if a := want[baton.FactDeliveryAccepted](b); a.Delivery != msg1 {
		t.Errorf("%+v", a)
	}
	b.turnEnds("T", "interrupted").facts(baton.FactItemClosed{}, baton.FactRequestGone{}, baton.FactTurnEnded{})
	b.told("serverRequest/resolved", obj{"requestId": 0}).facts()
	b.answer("request/0", baton.ApproveOnce)
	if d := want[baton.FactDeliveryDropped](b); d.Err.Code != baton.CodeNotResumable {
		t.Errorf("%+v", d)
	}
}

func TestReasonIsNotLostSilently(t *testing.T) {
	b := ready(t).turn("T").asks(0, askCommand, obj{})
	b.step(agent.Input{Intent: baton.IntentAnswer{Delivery: msg1, Request: "request/0", Decision: baton.Decline, Reason: "use make"}})
	if n := want[baton.FactNotice](b); n.Hint == "" {
		t.Errorf("%+v", n)
	}
}

func TestPermissions(t *testing.T) {
	profile := obj{"network": nil, "fileSystem": obj{"write": []string{"/a<b"}}}
	granted := `{"permissions":{"fileSystem":{"write":["/a<b"]}},"scope":`
	for d, want := range map[baton.Decision][]string{
		baton.ApproveOnce:    {granted + `"turn"}`},
		baton.ApproveSession: {granted + `"session"}`},
		baton.Decline:        {`{"permissions":{},"scope":"turn"}`},
		baton.CancelTurn:     {`{"permissions":{},"scope":"turn"}`, `"turn/interrupt","params":{"threadId":"` + root + `","turnId":"T"}`},
	} {
		b := ready(t).turn("T").asks(0, askPermissions, obj{"permissions": profile})
		b.answer("request/0", d).writes(want...)
	}
	b := ready(t).turn("T").asks(0, askPermissions, obj{"permissions": obj{"x": strings.Repeat("y", maxProfile)}})
	b.facts(baton.FactNotice{})
	b.writes(`"error"`)
}

func TestQuestions(t *testing.T) {
	ask := func(t *testing.T) *bench {
		return ready(t).turn("T").asks(0, askUser, obj{"questions": []obj{
			{"id": "a", "header": "H", "question": "Which?", "isOther": false, "options": []obj{{"label": "x", "description": "d"}}},
			{"id": "b", "question": "What?", "options": nil}}})
	}
	b := ask(t)
	r := want[baton.FactRequestOpened](b)
	if r.Title != "Which?" || len(r.Questions) != 2 || r.Questions[0].FreeText || !r.Questions[1].FreeText || r.Questions[0].Options[0].Description != "d" {
		t.Errorf("%+v", r)
	}
	b.step(agent.Input{Intent: baton.IntentAnswer{Delivery: msg1, Request: r.Key, Decision: baton.ApproveOnce, Answers: map[string][]string{"a": {"x"}, "b": {"y", "z"}}}})
	b.writes(`{"id":0,"result":{"answers":{"a":{"answers":["x"]},"b":{"answers":["y","z"]}}}}`)
	ask(t).answer("request/0", baton.Decline).writes(`{"id":0,"result":{"answers":{}}}`)
	ask(t).answer("request/0", baton.CancelTurn).writes(`{"id":0,"result":{"answers":{}}}`, `"turn/interrupt"`)
}

func TestUnknownRequests(t *testing.T) {
	b := ready(t).turn("T")
	for _, method := range []string{"mcpServer/elicitation/request", "item/tool/call", "execCommandApproval", "account/chatgptAuthTokens/refresh", "future/ask"} {
		b.asks(5, method, obj{})
		if n := want[baton.FactNotice](b); n.Code != baton.CodeUnsupported || !strings.Contains(n.Text, method) {
			t.Errorf("%+v", n)
		}
		b.writes(`"code":-32601`)
	}
	for range 20 {
		b.asks(6, "future/ask", obj{})
	}
	b.facts()
	b.writes(`"id":6`)
	for i := range maxRequests + 1 {
		b.asks(i, askCommand, obj{})
	}
	b.writes(`"error"`)
}
