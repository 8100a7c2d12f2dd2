package codex

import (
	"reflect"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
)

func TestBodies(t *testing.T) {
	three := 3
	for _, c := range []struct {
		name   string
		it     obj
		kind   baton.ItemKind
		status baton.NodeStatus
		body   baton.ItemBody
	}{
		{"message", obj{"type": "agentMessage", "text": "hi"}, baton.ItemAssistantMessage, baton.NodeCompleted, baton.ItemBody{Text: "hi"}},
		{"reasoning", obj{"type": "reasoning", "summary": []string{"a", "b"}}, baton.ItemReasoning, baton.NodeCompleted, baton.ItemBody{Text: "a\n\nb"}},
		{"open reasoning", obj{"type": "reasoning", "content": []string{"raw"}}, baton.ItemReasoning, baton.NodeCompleted, baton.ItemBody{Text: "raw"}},
		{"plan", obj{"type": "plan", "text": "# P\n"}, baton.ItemPlan, baton.NodeCompleted, baton.ItemBody{Text: "# P\n"}},
		{"failed command", obj{"type": "commandExecution", "command": "x", "cwd": "/w", "status": "failed", "aggregatedOutput": "o", "exitCode": 3},
			baton.ItemCommand, baton.NodeFailed, baton.ItemBody{Command: "x", Cwd: "/w", Output: "o", ExitCode: &three}},
		{"declined command", obj{"type": "commandExecution", "command": "x", "status": "declined"}, baton.ItemCommand, baton.NodeCancelled, baton.ItemBody{Command: "x"}},
		{"change", obj{"type": "fileChange", "status": "completed", "changes": []obj{
			{"path": "a", "kind": obj{"type": "add"}, "diff": "1\n2"},
			{"path": "b", "kind": obj{"type": "delete"}, "diff": "1\n\n"},
			{"path": "c", "kind": obj{"type": "update", "move_path": nil}, "diff": "--- c\n+++ c\n@@ -1 +1 @@\n-x\n+y\n"},
			{"path": "d", "kind": obj{"type": "update", "move_path": "e"}, "diff": "+z\n"},
		}}, baton.ItemFileChange, baton.NodeCompleted, baton.ItemBody{Files: []baton.FileChange{
			{Path: "a", Change: "add", Additions: 2, Diff: "+1\n+2"},
			{Path: "b", Change: "delete", Deletions: 2, Diff: "-1\n-\n"},
			{Path: "c", Change: "modify", Additions: 1, Deletions: 1, Diff: "--- c\n+++ c\n@@ -1 +1 @@\n-x\n+y\n"},
			{Path: "e", Change: "rename", Additions: 1, Diff: "+z\n"},
		}}},
		{"mcp", obj{"type": "mcpToolCall", "server": "s", "tool": "t", "arguments": obj{"a": 1}, "result": obj{"content": []obj{{"type": "text", "text": "r"}}}},
			baton.ItemTool, baton.NodeCompleted, baton.ItemBody{Tool: "s.t", Input: `{"a":1}`, Output: "r"}},
		{"failed mcp", obj{"type": "mcpToolCall", "server": "s", "tool": "t", "status": "failed", "error": obj{"message": "no"}},
			baton.ItemTool, baton.NodeFailed, baton.ItemBody{Tool: "s.t", Output: "no"}},
		{"dynamic", obj{"type": "dynamicToolCall", "namespace": "n", "tool": "t", "arguments": nil, "contentItems": []obj{{"type": "inputText", "text": "r"}}},
			baton.ItemTool, baton.NodeCompleted, baton.ItemBody{Tool: "n.t", Output: "r"}},
		{"wait", obj{"type": "collabAgentToolCall", "tool": "wait", "receiverThreadIds": []string{kid}, "agentsStates": obj{kid: obj{"status": "completed", "message": "r"}}},
			baton.ItemTool, baton.NodeCompleted, baton.ItemBody{Tool: "wait", Output: "r"}},
		{"search", obj{"type": "webSearch", "query": "q"}, baton.ItemSearch, baton.NodeCompleted, baton.ItemBody{Tool: "web_search", Title: "q"}},
		{"compaction", obj{"type": "contextCompaction"}, baton.ItemCompaction, baton.NodeCompleted, baton.ItemBody{}},
		{"review", obj{"type": "exitedReviewMode", "review": "fine"}, baton.ItemTool, baton.NodeCompleted, baton.ItemBody{Tool: "exitedReviewMode", Text: "fine"}},
		{"output", obj{"type": "functionCallOutput", "name": "f"}, baton.ItemTool, baton.NodeCompleted, baton.ItemBody{Tool: "f"}},
		{"image", obj{"type": "imageView", "path": "/p.png"}, baton.ItemTool, baton.NodeCompleted, baton.ItemBody{Tool: "imageView", Title: "/p.png"}},
		{"a newer one", obj{"type": "dream", "status": obj{"odd": true}, "text": 7}, baton.ItemTool, baton.NodeCompleted, baton.ItemBody{Tool: "dream"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.it["id"] = "i"
			b := ready(t).turn("T").completed(c.it)
			got := want[baton.FactItemClosed](b)
			if got.Kind != c.kind || got.Status != c.status || !reflect.DeepEqual(got.Body, c.body) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestLongTexts(t *testing.T) {
	long := strings.Repeat("é", maxDiff)
	b := ready(t).turn("T").completed(obj{"type": "fileChange", "id": "i", "changes": []obj{{"path": "a", "kind": obj{"type": "update"}, "diff": long}}})
	if d := want[baton.FactItemClosed](b).Body.Files[0].Diff; len(d) > maxDiff+3 || !strings.HasSuffix(d, "é…") {
		t.Errorf("%d bytes, ending in %q", len(d), d[len(d)-8:])
	}
}

func TestStreaming(t *testing.T) {
	b := ready(t).turn("T")
	b.started(obj{"type": "reasoning", "id": "r"}).facts()
	b.told("item/reasoning/summaryPartAdded", obj{"itemId": "r", "summaryIndex": 0}).facts()
	b.told("item/reasoning/summaryTextDelta", obj{"itemId": "r", "delta": "a"}).facts(baton.FactItemOpened{}, baton.FactItemDelta{})
	b.told("item/reasoning/summaryPartAdded", obj{"itemId": "r", "summaryIndex": 1}).facts(baton.FactItemDelta{})
	b.completed(obj{"type": "reasoning", "id": "r", "summary": []string{"a", "b"}}).facts(baton.FactItemClosed{})
	b.completed(obj{"type": "reasoning", "id": "r2", "summary": []string{}}).facts() // nothing to show
	b.told("item/commandExecution/outputDelta", obj{"itemId": "c", "delta": "early"}).facts()
	b.started(obj{"type": "commandExecution", "id": "c", "command": "x"}).facts(baton.FactItemOpened{})
	b.told("item/commandExecution/outputDelta", obj{"itemId": "c", "delta": "o"})
	if d := want[baton.FactItemDelta](b); !d.Output || d.Text != "o" {
		t.Errorf("%+v", d)
	}
	b.completed(obj{"type": "commandExecution", "id": "c", "command": "x"}).facts(baton.FactItemClosed{})
	b.told("item/agentMessage/delta", obj{"itemId": "m", "delta": "never begun"}).facts(baton.FactItemOpened{}, baton.FactItemDelta{})
	b.told("item/agentMessage/delta", obj{"itemId": "m", "turnId": "other", "delta": "of no turn"}).facts()
	b.turnEnds("T", "completed").facts(baton.FactItemClosed{}, baton.FactTurnEnded{})
	if c := b.out.Facts[0].(baton.FactItemClosed); c.Status != baton.NodeInterrupted {
		t.Errorf("%+v", c)
	}
}

// Native ids are what the model's service sends, and may repeat.
func TestRepeatedIDs(t *testing.T) {
	b := ready(t).turn("T")
	keys := map[string]bool{}
	for range 3 {
		b.started(obj{"type": "agentMessage", "id": "m"})
		key := want[baton.FactItemOpened](b).Key
		b.completed(obj{"type": "agentMessage", "id": "m", "text": "x"})
		if keys[key] || want[baton.FactItemClosed](b).Key != key {
			t.Errorf("key %s", key)
		}
		keys[key] = true
	}
	checkFacts(t, b.all)
}

func TestRetry_NewText(t *testing.T) {
	retry := obj{"error": obj{"message": "Reconnecting... 1/3", "codexErrorInfo": obj{"responseStreamDisconnected": obj{"httpStatusCode": nil}}}, "willRetry": true}
	for _, native := range []string{"m1", "m2"} {
		b := ready(t).turn("T").started(obj{"type": "agentMessage", "id": "m1"})
		key := want[baton.FactItemOpened](b).Key
		b.told("item/agentMessage/delta", obj{"itemId": "m1", "delta": "half"})
		b.told("error", retry)
		if n := want[baton.FactNotice](b); n.Code != baton.CodeModelUnreachable {
			t.Errorf("%+v", n)
		}
		b.started(obj{"type": "agentMessage", "id": native})
		if r := want[baton.FactItemReset](b); r.Key != key {
			t.Errorf("%+v", r)
		}
		b.completed(obj{"type": "agentMessage", "id": native, "text": "whole"})
		if c := want[baton.FactItemClosed](b); c.Key != key {
			t.Errorf("%+v", c)
		}
		b.turnEnds("T", "completed").facts(baton.FactTurnEnded{})
	}
	// Without a retry the text that was cut stands as it is.
	b := ready(t).turn("T").started(obj{"type": "agentMessage", "id": "m1"})
	b.started(obj{"type": "agentMessage", "id": "m2"}).facts(baton.FactItemClosed{}, baton.FactItemOpened{})
	// Retries are told a few times only, anew in each turn.
	for range 2 * maxRetryNotices {
		b.told("error", retry)
	}
	b.facts()
	b.turnEnds("T", "completed").turn("T2").told("error", retry).facts(baton.FactNotice{})
}

func TestTodo(t *testing.T) {
	b := ready(t).turn("T").told("turn/plan/updated", obj{"plan": []obj{{"step": "a", "status": "inProgress"}, {"step": "b", "status": "pending"}}})
	first := want[baton.FactItemOpened](b)
	if first.Kind != baton.ItemTodo || !reflect.DeepEqual(first.Body.Steps, []baton.TodoStep{{Text: "a", Status: "in_progress"}, {Text: "b", Status: "pending"}}) {
		t.Errorf("%+v", first)
	}
	b.told("turn/plan/updated", obj{"plan": []obj{{"step": "a", "status": "completed"}}}).facts(baton.FactItemClosed{}, baton.FactItemOpened{})
	if c := want[baton.FactItemClosed](b); c.Key != first.Key {
		t.Errorf("%+v", c)
	}
	b.turnEnds("T", "failed").facts(baton.FactItemClosed{}, baton.FactTurnEnded{})
	if c := want[baton.FactItemClosed](b); c.Status != baton.NodeFailed || c.Key == first.Key {
		t.Errorf("%+v", c)
	}
	b.told("turn/plan/updated", obj{"plan": []obj{}}).facts()
}

func TestOpenIsBounded(t *testing.T) {
	b := ready(t).turn("T")
	for i := range maxOpen + 10 {
		b.started(obj{"type": "imageView", "id": strings.Repeat("x", i+1)})
	}
	b.facts()
	b.completed(obj{"type": "imageView", "id": strings.Repeat("x", maxOpen+5)}).facts(baton.FactItemClosed{})
	b.turnEnds("T", "completed")
	if n := len(b.out.Facts); n != maxOpen+1 {
		t.Errorf("%d facts", n)
	}
	checkFacts(t, b.all)
}

func TestOversize(t *testing.T) {
	long := func(head string) agent.Input {
		return agent.Input{Frame: &agent.Frame{Oversize: &agent.Oversize{Length: 1 << 27, Head: []byte(head)}}}
	}
	b := ready(t).turn("T").started(obj{"type": "commandExecution", "id": "c"})
	b.step(long(`{"method":"item/completed","params":{"item":{"type":"commandExecution","pluginId":null,"id":"c","command":"`)).facts(baton.FactNotice{}, baton.FactItemClosed{})
	if c := want[baton.FactItemClosed](b); c.Status != baton.NodeFailed {
		t.Errorf("%+v", c)
	}
	b.step(long(`{"method":"item/completed","params":{"item":{"type":"commandExecution","id":"unknown","command":"`)).facts(baton.FactNotice{})
	b.step(long(`{"method":"item/tool/requestUserInput","id":7,"params":`)).facts(baton.FactNotice{})
	b.writes(`{"error":{"code":-32601,"message":"the request is too long"},"id":7}`)
	b.step(long(`garbage`)).facts(baton.FactNotice{})
	b.step(long(`{"method":"turn/completed","params":{"threadId":"t","turn":{"id":"T","items":[`)).facts(baton.FactNotice{}, baton.FactTurnEnded{})
	if e := want[baton.FactTurnEnded](b); e.Status != baton.TurnFailed || e.Err.Code != baton.CodeFrameRejected {
		t.Errorf("%+v", e)
	}
	b.deliver(msg1).step(long(`{"id":"S-4","result":{"turn":`)).facts(baton.FactNotice{}, baton.FactDeliveryDropped{})
	for range 2 * maxNotices {
		b.step(long("x"))
	}
	b.facts()
}
