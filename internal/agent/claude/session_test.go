package claude_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/claude"
)

func TestLaunch(t *testing.T) {
	for _, c := range []struct {
		spec        agent.Spec
		has, hasNot []string
	}{
		{agent.Spec{NewID: "n"}, []string{"--session-id n", "--permission-mode default", "--setting-sources=user --strict-mcp-config"}, []string{"--resume", "--model", "--effort"}},
		{agent.Spec{NewID: "n", NativeID: "old", Trusted: true}, []string{"--resume old"}, []string{"--session-id", "--setting-sources", "--strict-mcp-config"}},
		{agent.Spec{Settings: baton.Settings{Model: "m", Effort: "high", PermissionMode: "full-access"}}, []string{"--model m", "--effort high", "--permission-mode bypassPermissions"}, nil},
		{agent.Spec{Settings: baton.Settings{PermissionMode: "accept-edits"}}, []string{"--permission-mode acceptEdits"}, nil},
		{agent.Spec{Settings: baton.Settings{PermissionMode: "no such mode"}}, []string{"--permission-mode default"}, nil},
	} {
		c.spec.Command = []string{"claude", "--add-dir", "x"}
		argv := strings.Join(claude.Driver{}.Launch(c.spec).Argv, " ")
		if !strings.HasPrefix(argv, "claude --add-dir x --print") {
			t.Errorf("argv: %s", argv)
		}
		for _, has := range c.has {
			if !strings.Contains(argv, has) {
				t.Errorf("no %q in %s", has, argv)
			}
		}
		for _, not := range c.hasNot {
			if strings.Contains(argv, not) {
				t.Errorf("%q in %s", not, argv)
			}
		}
	}
	if !slices.Contains((claude.Driver{}).Launch(agent.Spec{}).Pass, "ANTHROPIC_API_KEY") {
		t.Error("the key does not reach claude")
	}
}

func TestHandshake(t *testing.T) {
	const id = `"request_id":"baton-1"`
	resume := func(s *agent.Spec) { s.NativeID = "old" }
	lost := `{"type":"result","subtype":"error_during_execution","is_error":true,"num_turns":0,"errors":["No conversation found with session ID: old"]}`

	u := newUnit(t, nil).want().wrote(`"subtype":"initialize"`, id)
	if u.out.Deadlines["handshake"] != time.Minute {
		t.Errorf("deadlines: %v", u.out.Deadlines)
	}
	ready(t).want("ready new resumed=false")
	newUnit(t, nil).step(agent.Input{Deadline: "handshake"}).want("session failed start_failed")
	newUnit(t, nil).step(agent.Input{Exited: true}).want("session failed start_failed")
	newUnit(t, nil).frames(`{"type":"control_response","response":{"subtype":"error",` + id + `,"error":"no"}}`).want("session failed start_failed")
	newUnit(t, nil).frames(`{"type":"control_response","response":{"subtype":"success",` + id + `,"response":{"claude_code_version":"2.1.197"}}}`).
		want("session failed agent_too_old")
	newUnit(t, nil).frames(`{"type":"control_response","response":{"subtype":"success","request_id":"another"}}`).want()
	newUnit(t, nil).frames(lost).want("session failed start_failed")
	newUnit(t, resume).frames(lost).want("resume failed not_found").frames(began("u1")).want()
	newUnit(t, resume).frames(`{"type":"result","is_error":true,"errors":["Session ID x is already in use."]}`).want("resume failed in_use")
	newUnit(t, resume).frames(`{"type":"control_response","response":{"subtype":"success",`+id+`,"response":{"claude_code_version":"2.1.400"}}}`, lost).
		want("ready old resumed=true", "resume failed not_found")
	ready(t).step(agent.Input{Deadline: "handshake"}).want("ready new resumed=false")
	newUnit(t, nil).deliver(d1, "go", d2).want("dropped dlv_u2 start_failed", "dropped dlv_u1 start_failed").silent()
}

func TestDeliverWrite(t *testing.T) {
	u := ready(t).deliver(d1, "hello", d2)
	if len(u.out.Writes) != 1 || !slices.Equal(u.out.Writes[0].Deliveries, []baton.DeliveryID{d2, d1}) {
		t.Fatalf("writes: %+v", u.out.Writes)
	}
	lines := strings.Split(string(u.out.Writes[0].Data), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], `"uuid":"u2","shouldQuery":false,"isSynthetic":true,"client_composed":true`) ||
		strings.Contains(lines[1], "client_composed") || !strings.Contains(lines[1], `"uuid":"u1"`) {
		t.Errorf("lines: %q", lines)
	}
	for text, composed := range map[string]bool{"/help": true, " /x": true, "see @a": true, "a/b": false} {
		u := ready(t).deliver(d1, text)
		if got := strings.Contains(string(u.out.Writes[0].Data), `"client_composed":true`); got != composed {
			t.Errorf("%q: client_composed %v", text, got)
		}
	}
	ready(t).deliver(d1, "broken \xff\n\u2028 text").wrote(`"content":"broken \ufffd\n`)
}

func TestSettings(t *testing.T) {
	deliver := func(u *unit, s baton.Settings) *unit {
		return u.step(agent.Input{Intent: baton.IntentDeliver{Message: baton.Payload{Delivery: d1, Text: "x"}, Settings: s}})
	}
	u := deliver(ready(t), baton.Settings{Model: "m", PermissionMode: "plan"}).
		wrote(`"subtype":"set_model"`, `"model":"m"`, `"mode":"plan"`)
	u.facts = nil
	u.frames(`{"type":"control_response","response":{"subtype":"error","request_id":"baton-3","error":"no"}}`).want("notice warning unsupported")
	deliver(u, baton.Settings{Model: "m", PermissionMode: "plan"})
	if n := strings.Count(string(u.out.Writes[0].Data), "\n"); n != 1 {
		t.Errorf("what is set already is set again: %s", u.out.Writes[0].Data)
	}
	// An accepted plan leaves plan mode; the thread's choice is applied again.
	u.frames(`{"type":"system","subtype":"status","status":null,"permissionMode":"default"}`)
	deliver(u, baton.Settings{PermissionMode: "plan"}).wrote(`"mode":"plan"`)
}

func TestExited(t *testing.T) {
	turn(t).frames(messageStart("m"), blockStart(0, "text"), textDelta(0, "ha"),
		call("", "t1", "Bash", `{"command":"x"}`), asks("r1", "Bash", `{}`, ""),
		`{"type":"system","subtype":"background_tasks_changed","tasks":[{"task_id":"b","description":"bg"}]}`).
		step(agent.Input{Exited: true}).
		want("ready new resumed=false", "started turn-2 [dlv_u1]",
			"open assistant_message text-3", "delta text-3 ha", "open command tool-4", "asks command r1 3 options", "detached [bg]",
			"close assistant_message text-3 interrupted", "close command tool-4 interrupted", "detached []", "gone r1").
		deliver(d2, "x").want("dropped dlv_u2 start_failed")
}

func TestMalformed(t *testing.T) {
	u := ready(t)
	for range 30 {
		u.frames("no json", `[1]`, `{"type":7}`, `{}`)
	}
	if n := strings.Count(show(u.facts), "frame_rejected"); n != 10 {
		t.Errorf("%d notices", n)
	}
	u.facts = nil
	u.frames("", `{"type":"new kind"}`, `{"type":"system","subtype":"new kind","tasks":7}`, `{"type":"stream_event"}`, `{"type":"control_response"}`,
		`{"type":"assistant","message":"text"}`).want("started turn-2 []")
}

func TestOversize(t *testing.T) {
	big := func(u *unit, head string) *unit {
		u.facts = nil
		return u.step(agent.Input{Frame: &agent.Frame{Oversize: &agent.Oversize{Length: 1 << 30, Head: []byte(head)}}})
	}
	const notice = "notice warning frame_rejected"
	u := turn(t).frames(call("", "t1", "Bash", `{"command":"x"}`))
	big(u, `{"type":"user","message":{"content":[{"tool_use_id":"t1","type":"tool_result","content":"xxx`).
		want(notice, "close command tool-3 completed (the output was too large to be kept)")
	big(u, `{"type":"control_request","request_id":"r7","request":{"subtype":"can_use_tool","input":"xx`).want(notice).wrote(`"subtype":"error"`, `"r7"`)
	u.frames(messageStart("m"), blockStart(0, "text"), textDelta(0, "ha"))
	big(u, `{"type":"assistant","message":{"id":"m"`).want(notice, "close assistant_message text-4 completed")
	big(u, `{"duration_api_ms":3,"result":"xxx`).want(notice, "accepted dlv_u1", "consumed dlv_u1 turn-2", "ended turn-2 failed frame_rejected")
	big(ready(t), `{"x`).want(notice)
}
