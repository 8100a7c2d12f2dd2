package codex

import (
	"encoding/json"
	"testing"

	"baton"
	"baton/internal/agent"
)

func TestErrorCodes(t *testing.T) {
	for info, code := range map[string]baton.Code{
		`"usageLimitExceeded"`: baton.CodeRateLimited,
		`"rateLimitExceeded"`:  baton.CodeRateLimited,
		`{"responseTooManyFailedAttempts":{"httpStatusCode":429}}`:  baton.CodeRateLimited,
		`{"responseTooManyFailedAttempts":{"httpStatusCode":null}}`: baton.CodeModelUnreachable,
		`{"httpConnectionFailed":{"httpStatusCode":401}}`:           baton.CodeUnauthorized,
		`{"httpConnectionFailed":{"httpStatusCode":null}}`:          baton.CodeModelUnreachable,
		`{"responseStreamDisconnected":{"httpStatusCode":502}}`:     baton.CodeModelUnreachable,
		`"unauthorized"`:          baton.CodeUnauthorized,
		`"contextWindowExceeded"`: baton.CodeContextTooLong,
		`"internalServerError"`:   baton.CodeModelUnreachable,
		`"serverOverloaded"`:      baton.CodeModelUnreachable,
		`"badRequest"`:            baton.CodeAgentFailed,
		`"modelNotFound"`:         baton.CodeAgentFailed,
		`"other"`:                 baton.CodeAgentFailed,
		`null`:                    baton.CodeAgentFailed,
		`{"new":7}`:               baton.CodeAgentFailed,
	} {
		b := ready(t).turn("T")
		b.told("turn/completed", obj{"turn": obj{"id": "T", "status": "failed", "error": obj{"message": "m", "codexErrorInfo": json.RawMessage(info), "additionalDetails": "d"}}})
		if e := want[baton.FactTurnEnded](b); e.Status != baton.TurnFailed || e.Err.Code != code || e.Err.Hint == "" || e.Err.Detail != "m (d)" {
			t.Errorf("%s: %+v", info, e.Err)
		}
	}
	// The cause may stand in the error before the end alone.
	b := ready(t).turn("T").told("error", obj{"error": obj{"message": "stream disconnected before completion: x", "codexErrorInfo": "other"}, "willRetry": false})
	b.facts()
	b.turnEnds("T", "failed")
	if e := want[baton.FactTurnEnded](b); e.Err.Code != baton.CodeModelUnreachable {
		t.Errorf("%+v", e.Err)
	}
	b.told("error", obj{"error": obj{"message": "m"}, "willRetry": false}).facts(baton.FactNotice{}) // of no turn
}

func TestUsage(t *testing.T) {
	tell := func(b *bench, input, last int) {
		b.told("thread/tokenUsage/updated", obj{"tokenUsage": obj{"total": obj{"inputTokens": input, "outputTokens": input / 10},
			"last": obj{"inputTokens": last, "outputTokens": last / 10, "totalTokens": last}, "modelContextWindow": 1000}})
	}
	b := ready(t).turn("T")
	tell(b, 100, 100)
	tell(b, 300, 200)
	tell(b, 300, 200) // again, of a response that was retried
	b.turnEnds("T", "completed")
	if u := want[baton.FactTurnEnded](b).Usage; u != (baton.Usage{InputTokens: 300, OutputTokens: 30, ContextTokens: 200, ContextWindow: 1000}) {
		t.Errorf("%+v", u)
	}
	b.turn("T2").told("thread/tokenUsage/updated", obj{"turnId": "T2", "tokenUsage": obj{"total": obj{"inputTokens": 350}, "last": obj{"inputTokens": 50}}})
	b.turnEnds("T2", "completed")
	if u := want[baton.FactTurnEnded](b).Usage; u.InputTokens != 50 || u.OutputTokens != 0 {
		t.Errorf("%+v", u)
	}
	b = ready(t, resumes).turn("T")
	tell(b, 5000, 100) // with what earlier sessions used
	b.turnEnds("T", "completed")
	if u := want[baton.FactTurnEnded](b).Usage; u.InputTokens != 100 {
		t.Errorf("%+v", u)
	}
}

func TestLeftovers(t *testing.T) {
	run := func(t *testing.T) *bench {
		return ready(t).turn("T").started(obj{"type": "commandExecution", "id": "c", "command": "serve"})
	}
	b := run(t).turnEnds("T", "completed")
	b.facts(baton.FactItemClosed{}, baton.FactDetached{}, baton.FactTurnEnded{})
	if d := want[baton.FactDetached](b); len(d.Names) != 1 || d.Names[0] != "serve" || want[baton.FactItemClosed](b).Status != baton.NodeDetached {
		t.Errorf("%+v", b.out.Facts)
	}
	b.completed(obj{"type": "commandExecution", "id": "c", "status": "completed"}).facts(baton.FactItemClosed{}, baton.FactDetached{})
	b.completed(obj{"type": "commandExecution", "id": "c", "status": "completed"}).facts() // long gone
	checkFacts(t, b.all)

	b = run(t).turnEnds("T", "interrupted")
	b.writes(`"thread/backgroundTerminals/clean"`)
	b.completed(obj{"type": "commandExecution", "id": "c", "status": "failed"}).facts(baton.FactDetached{})
	b.result(4, obj{}).facts(baton.FactDetached{})

	b = run(t).turnEnds("T", "interrupted").refusal(4, -32600, "requires experimentalApi")
	b.facts(baton.FactNotice{})

	// One that waits for an approval has not begun.
	b = run(t).asks(0, askCommand, obj{"itemId": "c"}).turnEnds("T", "interrupted")
	b.facts(baton.FactItemClosed{}, baton.FactRequestGone{}, baton.FactTurnEnded{})
	b.writes()
}

func TestInterruptIntent(t *testing.T) {
	b := ready(t).step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: "T"}})
	b.writes() // no such turn
	b.deliver(msg1).result(4, obj{"turn": obj{"id": "T"}}).step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: "T"}})
	b.writes(`"turn/interrupt","params":{"threadId":"` + root + `","turnId":"T"}`)
	b.turn("T").refusal(5, -32600, "no active turn to interrupt").facts(baton.FactNotice{})
	b.step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: "T"}}).turnEnds("T", "completed").refusal(6, -32600, "no active turn to interrupt").facts()
}

func TestLostEnd(t *testing.T) {
	b := ready(t).turn("T").turn("T").turn("T2")
	b.facts(baton.FactTurnEnded{}, baton.FactTurnStarted{})
	b.turnEnds("T", "completed").facts()
	b.turnEnds("other", "completed").facts()
}

func TestChildren(t *testing.T) {
	b := ready(t).turn("T")
	child := func(method string, p obj) *bench {
		p["threadId"] = kid
		if p["turnId"] == nil {
			p["turnId"] = "K"
		}
		return b.told(method, p)
	}
	b.completed(obj{"type": "collabAgentToolCall", "id": "s", "tool": "spawnAgent", "prompt": "look", "receiverThreadIds": []string{kid}}).facts(baton.FactItemClosed{})
	child("turn/started", obj{"turn": obj{"id": "K"}})
	sub := want[baton.FactItemOpened](b)
	if sub.Kind != baton.ItemSubagent || sub.Body.Title != "look" || sub.Parent != "" {
		t.Errorf("%+v", sub)
	}
	child("item/started", obj{"item": obj{"type": "userMessage", "id": "u", "clientId": nil}}).facts()
	child("item/started", obj{"item": obj{"type": "commandExecution", "id": "c", "command": "ls"}})
	if o := want[baton.FactItemOpened](b); o.Parent != sub.Key {
		t.Errorf("%+v", o)
	}
	child("item/completed", obj{"item": obj{"type": "agentMessage", "id": "m", "text": "hi"}}).facts(baton.FactItemOpened{}, baton.FactItemClosed{})
	b.line(obj{"id": 0, "method": askCommand, "params": obj{"threadId": kid, "turnId": "K", "itemId": "c"}}).facts(baton.FactRequestOpened{})
	child("thread/tokenUsage/updated", obj{"tokenUsage": obj{"total": obj{"inputTokens": 9}}}).facts()
	// A child of the child.
	b.told("item/completed", obj{"threadId": kid, "turnId": "K", "item": obj{"type": "subAgentActivity", "id": "a", "agentThreadId": "G", "agentPath": "helper/g"}}).facts()
	b.told("turn/started", obj{"threadId": "G", "turn": obj{"id": "GT"}})
	if o := want[baton.FactItemOpened](b); o.Parent != sub.Key || o.Body.Title != "helper/g" {
		t.Errorf("%+v", o)
	}
	// The root's turn ends and they live on; an interrupt ends them too.
	b.turnEnds("T", "interrupted").facts(baton.FactDetached{}, baton.FactTurnEnded{})
	if d := want[baton.FactDetached](b); len(d.Names) != 2 || d.Names[0] != "look" {
		t.Errorf("%+v", d)
	}
	b.writes(`"threadId":"`+kid+`","turnId":"K"`, `"turnId":"GT"`)
	b.refusal(4, -32600, "no").facts()
	child("turn/completed", obj{"turn": obj{"id": "K", "status": "interrupted"}})
	// Its command was waiting for the answer that went with it.
	b.facts(baton.FactItemClosed{}, baton.FactRequestGone{}, baton.FactItemClosed{}, baton.FactDetached{})
	child("turn/started", obj{"turn": obj{"id": "K2"}}).facts(baton.FactItemOpened{}, baton.FactDetached{})
	b.step(agent.Input{Exited: true}).facts(baton.FactItemClosed{}, baton.FactItemClosed{}, baton.FactDetached{})
	checkFacts(t, b.all)
}

func TestChildrenAreBounded(t *testing.T) {
	b := ready(t).turn("T")
	for i := range 3 * maxChildren {
		id := string(rune('a'+i%26)) + string(rune('a'+i/26))
		b.told("turn/started", obj{"threadId": id, "turn": obj{"id": "turn-" + id}})
	}
	b.facts()
	if len(b.state) > 64<<10 {
		t.Errorf("the state has %d bytes", len(b.state))
	}
	b.told("turn/started", obj{"threadId": "x", "turn": obj{"id": ""}}).facts()
	b.turnEnds("T", "completed").facts(baton.FactDetached{}, baton.FactTurnEnded{})
}

func TestExited(t *testing.T) {
	b := ready(t).turn("T").started(obj{"type": "commandExecution", "id": "c"}).asks(0, askCommand, obj{})
	b.step(agent.Input{Exited: true}).facts(baton.FactItemClosed{}, baton.FactRequestGone{})
	checkFacts(t, b.all)
	b = ready(t).turn("T").started(obj{"type": "commandExecution", "id": "c"}).turnEnds("T", "completed").step(agent.Input{Exited: true})
	b.facts(baton.FactItemClosed{}, baton.FactDetached{})
	checkFacts(t, b.all)
}

func TestNotices(t *testing.T) {
	b := ready(t)
	b.step(agent.Input{Frame: &agent.Frame{Data: []byte("no JSON \xff")}}).facts(baton.FactNotice{})
	b.step(agent.Input{Frame: &agent.Frame{Data: []byte("[]")}}).facts() // said once
	b.line(obj{"id": 99, "result": obj{}}).facts()
	b.line(obj{"id": "S-99", "result": obj{}}).facts()
	b.line(obj{"method": "future/event", "params": 7}).facts()
	b.told("warning", obj{"message": "careful"}).facts(baton.FactNotice{})
	b.line(obj{"method": "configWarning", "params": obj{"summary": "s", "details": nil}})
	if n := want[baton.FactNotice](b); n.Level != "info" {
		t.Errorf("%+v", n)
	}
	b.told("model/rerouted", obj{"fromModel": "a", "toModel": "b"}).facts(baton.FactNotice{})
	b.told("mcpServer/startupStatus/updated", obj{"name": "x", "status": "ready"}).facts()
	b.told("mcpServer/startupStatus/updated", obj{"name": "x", "status": "failed", "error": "no such file"}).facts(baton.FactNotice{})
	for range 2 * maxNotices {
		b.told("warning", obj{"message": "careful"})
	}
	b.facts()
}
