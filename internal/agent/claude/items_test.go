package claude_test

import (
	"strings"
	"testing"

	"baton"
)

func TestStream(t *testing.T) {
	retry := `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":2,"error_status":529}`
	for name, c := range map[string]struct{ lines, want []string }{
		"text": {
			[]string{messageStart("m"), blockStart(0, "text"), textDelta(0, "a"), textDelta(0, ""), textDelta(1, "stray"), textDelta(0, "b"), said("ab"), event(`{"type":"content_block_stop"}`), event(`{"type":"message_stop"}`)},
			[]string{"open assistant_message text-3", "delta text-3 a", "delta text-3 b", "close assistant_message text-3 completed ab"}},
		"hidden thinking": {
			[]string{messageStart("m"), blockStart(0, "thinking"), `{"type":"assistant","message":{"content":[{"type":"thinking","thinking":""}]}}`, blockStart(1, "text"), said("ab")},
			[]string{"close assistant_message text-4 completed ab"}},
		"started over": {
			[]string{messageStart("m"), blockStart(0, "text"), textDelta(0, "a"), messageStart("n"), blockStart(0, "text"), textDelta(0, "b"), said("b")},
			[]string{"open assistant_message text-3", "delta text-3 a", "reset text-3", "delta text-3 b", "close assistant_message text-3 completed b"}},
		"retried with another kind": {
			[]string{messageStart("m"), blockStart(0, "thinking"), event(`{"type":"content_block_delta","delta":{"type":"thinking_delta","thinking":"h"}}`), retry, messageStart("n"), blockStart(0, "text"), textDelta(0, "b"), said("b")},
			[]string{"open reasoning text-3", "delta text-3 h", "reset text-3", "notice warning rate_limited", "close reasoning text-3 interrupted",
				"open assistant_message text-4", "delta text-4 b", "close assistant_message text-4 completed b"}},
		"retried without a stream": {
			[]string{messageStart("m"), blockStart(0, "text"), textDelta(0, "a"), retry, said("b")},
			[]string{"open assistant_message text-3", "delta text-3 a", "reset text-3", "notice warning rate_limited", "close assistant_message text-3 completed b"}},
		"cut off by an interrupt": {
			[]string{messageStart("m"), blockStart(0, "text"), textDelta(0, "a"), `{"type":"assistant","aborted":true,"message":{"content":[{"type":"text","text":"a"}]}}`},
			[]string{"open assistant_message text-3", "delta text-3 a", "close assistant_message text-3 interrupted a"}},
		"no whole": {
			[]string{messageStart("m"), blockStart(0, "text"), textDelta(0, "a"), event(`{"type":"message_stop"}`)},
			[]string{"open assistant_message text-3", "delta text-3 a", "close assistant_message text-3 completed"}},
		"left open": {
			[]string{messageStart("m"), blockStart(0, "text"), textDelta(0, "a"), over(aborted, u1)},
			[]string{"open assistant_message text-3", "delta text-3 a", "close assistant_message text-3 interrupted",
				"accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 interrupted"}},
		"not ours to show": {
			[]string{`{"type":"user","isSynthetic":true,"message":{"content":"go on"}}`, `{"type":"user","isReplay":true,"message":{"content":"x"}}`,
				`{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`, `{"type":"system","subtype":"status","status":"requesting"}`},
			nil},
		"compaction": {
			[]string{`{"type":"system","subtype":"compact_boundary"}`}, []string{"close compaction compact-3 completed"}},
		"told": {
			[]string{`{"type":"system","subtype":"informational","level":"warning","content":"look"}`, `{"type":"system","subtype":"permission_denied","tool_name":"Bash","message":"no"}`},
			[]string{"notice warning", "notice warning forbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			turn(t).frames(c.lines...).want(append([]string{isReady, "started turn-2 [dlv_u1]"}, c.want...)...)
		})
	}
}

func TestTools(t *testing.T) {
	bash := call("", "t1", "Bash", `{"command":"x"}`)
	for name, c := range map[string]struct{ lines, want []string }{
		"command": {
			[]string{bash, gave("t1", "out", false, `,"tool_use_result":{"stdout":"out","stderr":"err"}`), gave("t1", "again", false, "")},
			[]string{"open command tool-3", "close command tool-3 completed out\nerr"}},
		"failed": {
			[]string{bash, gave("t1", "Exit code 3\nbad", true, `,"tool_use_result":"Error: Exit code 3"`)},
			[]string{"open command tool-3", "close command tool-3 failed bad"}},
		"declined": {
			[]string{bash, gave("t1", "not today", true, `,"tool_result_meta":[{"id":"t1","permission_decision":{"source":"user_reject"}}]`)},
			[]string{"open command tool-3", "close command tool-3 cancelled"}},
		"no result": {
			[]string{bash, over(`"is_error":true`, u1)},
			[]string{"open command tool-3", "close command tool-3 failed", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 failed agent_failed"}},
		"unknown result":    {[]string{gave("t9", "x", false, "")}, nil},
		"another tool":      {[]string{call("", "t1", "mcp__a__b", `{}`), gave("t1", "x", false, "")}, []string{"open tool tool-3", "close tool tool-3 completed x"}},
		"search":            {[]string{call("", "t1", "Grep", `{"pattern":"p"}`), gave("t1", "x", false, "")}, []string{"open search tool-3", "close search tool-3 completed x"}},
		"question is quiet": {[]string{call("", "t1", "AskUserQuestion", `{}`), gave("t1", "x", false, "")}, nil},
		"a subagent's command": {
			[]string{call("", "t1", "Agent", `{"description":"d"}`), call("t1", "t2", "Bash", `{"command":"x"}`), gave("t2", "y", false, ""),
				gave("t1", "[hand-back]", false, `,"tool_use_result":{"content":[{"type":"text","text":"x"},{"type":"text","text":"report"}]}`)},
			[]string{"open subagent tool-3", "open command tool-4 < tool-3", "close command tool-4 completed y", "close subagent tool-3 completed report"}},
		"background": {
			[]string{bash, gave("t1", "running", false, `,"tool_use_result":{"stdout":"","backgroundTaskId":"b"}`), over(done, u1),
				`{"type":"system","subtype":"task_notification","tool_use_id":"t1","status":"failed","summary":"exit code 1"}`},
			[]string{"open command tool-3", "close command tool-3 detached", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 completed",
				"close command tool-3 failed exit code 1"}},
		"background subagent": {
			[]string{call("", "t1", "Agent", `{}`), `{"type":"system","subtype":"task_started","tool_use_id":"t1","is_backgrounded":true}`,
				gave("t1", "launched", false, `,"tool_use_result":{"isAsync":true}`), call("t1", "t2", "Bash", `{"command":"x"}`), over(done, u1),
				call("t1", "t3", "Read", `{}`), `{"type":"system","subtype":"task_notification","tool_use_id":"t1","status":"stopped","summary":"s"}`},
			[]string{"open subagent tool-3", "open command tool-4 < tool-3", "close subagent tool-3 detached", "close command tool-4 detached",
				"accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 completed",
				"open tool tool-5 < tool-3", "close command tool-4 interrupted", "close tool tool-5 interrupted", "close subagent tool-3 interrupted s"}},
		"todo": {
			[]string{call("", "t1", "TodoWrite", `{"todos":[{"content":"a","status":"pending"}]}`), gave("t1", "ok", false, ""), call("", "t2", "TodoWrite", `{"todos":[]}`), over(done, u1)},
			[]string{"open todo todo-4", "close todo todo-4 completed", "open todo todo-6", "close todo todo-6 completed", "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 completed"}},
		"a subagent's todo": {
			[]string{call("", "t1", "Agent", `{}`), call("t1", "t2", "TodoWrite", `{"todos":[]}`), gave("t2", "ok", false, "")},
			[]string{"open subagent tool-3", "open todo tool-4 < tool-3", "close todo tool-4 completed ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			u := turn(t).frames(c.lines...)
			for _, fault := range broken(u.facts) {
				t.Error(fault)
			}
			u.want(append([]string{isReady, "started turn-2 [dlv_u1]"}, c.want...)...)
		})
	}
}

func TestBodies(t *testing.T) {
	body := func(lines ...string) baton.ItemBody {
		u := turn(t).frames(lines...)
		return u.facts[len(u.facts)-1].(baton.FactItemClosed).Body
	}
	three, bash := 3, call("", "t1", "Bash", `{"command":"x"}`)
	if b := body(bash, gave("t1", "Exit code 3\nbad", true, "")); b.ExitCode == nil || *b.ExitCode != three || b.Output != "bad" {
		t.Errorf("failed command: %+v", b)
	}
	if b := body(bash, gave("t1", "", false, `,"tool_use_result":{"stdout":"","returnCodeInterpretation":"No matches found"}`)); b.ExitCode != nil {
		t.Errorf("a code that nobody told: %+v", b)
	}
	edit := call("", "t1", "Edit", `{"file_path":"/w/a"}`)
	b := body(edit, gave("t1", "ok", false, `,"tool_use_result":{"filePath":"/w/a","originalFile":"one\n","structuredPatch":[{"oldStart":1,"oldLines":2,"newStart":1,"newLines":2,"lines":[" one","-two","+TWO"]}]}`))
	want := baton.FileChange{Path: "/w/a", Change: "modify", Additions: 1, Deletions: 1, Diff: "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n"}
	if len(b.Files) != 1 || b.Files[0] != want {
		t.Errorf("edit: %+v", b.Files)
	}
	long := strings.Repeat("ü\\n", 50000)
	b = body(call("", "t1", "Write", `{"file_path":"/w/b","content":"x"}`), gave("t1", "ok", false, `,"tool_use_result":{"type":"create","filePath":"/w/b","content":"`+long+`","structuredPatch":[]}`))
	if f := b.Files[0]; f.Change != "add" || f.Additions != 50000 || len(f.Diff) > 33<<10 {
		t.Errorf("new file: %s +%d, diff of %d bytes", f.Change, f.Additions, len(f.Diff))
	}
}

func TestTasks(t *testing.T) {
	u := turn(t)
	steps := func(lines ...string) (s []string) {
		u.frames(lines...)
		for _, f := range u.facts {
			if o, ok := f.(baton.FactItemOpened); ok && o.Kind == baton.ItemTodo {
				s = nil
				for _, step := range o.Body.Steps {
					s = append(s, step.Text+" "+step.Status)
				}
			}
		}
		return s
	}
	result := func(id, tool, r string) []string {
		return []string{call("", id, tool, `{}`), gave(id, "ok", false, `,"tool_use_result":`+r)}
	}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{result("a", "TaskCreate", `{"task":{"id":"1","subject":"one"}}`), "one pending"},
		{result("b", "TaskCreate", `{"task":{"id":"2","subject":"two"}}`), "one pending,two pending"},
		{result("c", "TaskUpdate", `{"taskId":"1","statusChange":{"to":"completed"}}`), "one completed,two pending"},
		{result("d", "TaskUpdate", `{"taskId":"9","statusChange":{"to":"completed"}}`), "one completed,two pending"},
		{result("e", "TaskUpdate", `{"taskId":"1","statusChange":{"to":"deleted"}}`), "two pending"},
		{result("f", "TaskList", `{"tasks":[{"id":"7","subject":"seven","status":"in_progress"}]}`), "seven in_progress"},
	} {
		if got := strings.Join(steps(c.lines...), ","); got != c.want {
			t.Errorf("todo %q, want %q", got, c.want)
		}
	}
	for _, fault := range broken(u.frames(over(done, u1)).facts) {
		t.Error(fault)
	}
}
