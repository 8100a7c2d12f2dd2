package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton/internal/modelscript"
	"baton/internal/modelscript/harness"
)

// claude starts claude in a new workspace.
func claude(t *testing.T, s *modelscript.Server, o harness.ClaudeOptions) (*process, string) {
	t.Helper()
	a, err := harness.Claude(t.TempDir(), s.URL(), o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	return run(t, a, dir, "--print", "--verbose", "--input-format", "stream-json", "--output-format", "stream-json",
		"--include-partial-messages", "--permission-prompt-tool", "stdio", "--model", harness.ClaudeModel,
		"--setting-sources=", "--strict-mcp-config", "--permission-mode", "default"), dir
}

func (p *process) claudeSay(text string) {
	p.send(object{"type": "user", "parent_tool_use_id": nil, "session_id": "",
		"message": object{"role": "user", "content": text}})
}

func kind(name string) func(frame) bool {
	return func(f frame) bool { return f.at("type") == name }
}

// allow answers the next permission question, which must be for tool.
func (p *process) allow(tool string) string {
	p.t.Helper()
	f, seen := p.until("a question about "+tool, kind("control_request"))
	if f.at("request", "tool_name") != tool {
		p.t.Fatalf("asked about something else: %s", f.raw)
	}
	p.send(object{"type": "control_response", "response": object{"subtype": "success", "request_id": f.m["request_id"],
		"response": object{"behavior": "allow"}}})
	return seen
}

func TestClaude(t *testing.T) {
	s := startModel(t)
	p, dir := claude(t, s, harness.ClaudeOptions{})

	p.claudeSay(`[[think hm]] [[say looking at it]] [[run printf made > a.txt; echo "<&>"]] [[write b/c.txt\none]] [[plan x|y]] [[gate g]] [[say all done]]`)
	seen := p.allow("Bash")
	wantIn(t, "the first answer", seen, `"text":"looking "`, `"text":"looking at it"`, `"thinking":"hm"`)
	p.allow("Write")
	await(t, "the gate", s.Waiting("g"))
	s.Release("g")
	f, seen := p.until("the result", kind("result"))
	if f.at("result") != "all done" || f.m["is_error"] != false {
		t.Errorf("result: %s", f.raw)
	}
	wantIn(t, "the turn", seen, `Task #2 created successfully: y`)
	for name, want := range map[string]string{"a.txt": "made", "b/c.txt": "one\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s = %q, %v", name, b, err)
		}
	}

	p.claudeSay("[[fail 429]]")
	f, _ = p.until("the failed result", kind("result"))
	wantIn(t, "the failed result", f.raw, `"is_error":true`, `"api_error_status":429`)
	p.claudeSay("and now?")
	f, _ = p.until("the third result", kind("result"))
	if f.at("result") != "You said: and now?" {
		t.Errorf("result: %s", f.raw)
	}

	requests := s.Requests()
	last := requests[len(requests)-1]
	if last.Session() != f.at("session_id") || last.Model != harness.ClaudeModel || len(requests) != 6 {
		t.Errorf("%d requests, the last of %q with model %q", len(requests), last.Session(), last.Model)
	}
	if n := last.Has("looking at it"); n != 2 {
		t.Errorf("the model sees its words %d times", n)
	}
	if r := last.ToolResults(); len(r) != 4 || !strings.Contains(r[0].Text, "<&>") {
		t.Errorf("tool results: %+v", r)
	}
	if u := last.UserTexts(); len(u) != 3 || u[2] != "and now?" {
		t.Errorf("user texts: %q", u)
	}
}

// An interrupt must reach the model server, and the script must not go on.
func TestClaudeInterrupt(t *testing.T) {
	s := startModel(t)
	p, _ := claude(t, s, harness.ClaudeOptions{})
	p.claudeSay("[[run true]] [[say half]] [[gate g]] [[say never]]")
	await(t, "the gate", s.Waiting("g"))
	p.send(object{"type": "control_request", "request_id": "stop", "request": object{"subtype": "interrupt"}})
	await(t, "the disconnect", s.Disconnected("g"))
	p.until("the result", kind("result"))
	p.claudeSay("next")
	f, _ := p.until("the second result", kind("result"))
	if f.at("result") != "You said: next" {
		t.Errorf("result: %s", f.raw)
	}
}

// A message sent while a tool runs is folded into its result; its marks take over.
func TestClaudeFold(t *testing.T) {
	s := startModel(t)
	p, dir := claude(t, s, harness.ClaudeOptions{})
	fifo := filepath.Join(dir, "go")
	p.claudeSay("[[run mkfifo go && cat go]] [[say never]]")
	p.allow("Bash")
	p.until("the running tool", func(f frame) bool { return f.at("subtype") == "task_started" })
	p.send(object{"type": "user", "parent_tool_use_id": nil, "session_id": "", "uuid": "7b0a2a4e-0f0e-4b53-9d0e-2b8f6f1f0a11",
		"message": object{"role": "user", "content": "[[say steered]]"}})
	p.until("the queued message", func(f frame) bool { return f.at("state") == "queued" })
	if err := os.WriteFile(fifo, []byte("go on\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, _ := p.until("the result", kind("result"))
	if f.at("result") != "steered" {
		t.Errorf("result: %s", f.raw)
	}
	requests := s.Requests()
	if u := requests[len(requests)-1].UserTexts(); len(u) != 2 || u[1] != "[[say steered]]" {
		t.Errorf("user texts: %q", u)
	}
}

// After broken streams claude asks once without a stream.
func TestClaudeFallback(t *testing.T) {
	s := startModel(t)
	p, _ := claude(t, s, harness.ClaudeOptions{Retries: 1})
	p.claudeSay("[[cut streams]] [[say whole]]")
	f, _ := p.until("the result", kind("result"))
	if f.at("result") != "whole" {
		t.Errorf("result: %s", f.raw)
	}
	if r := s.Requests(); len(r) != 3 || r[1].Outcome != modelscript.OutcomeCut || r[2].Outcome != modelscript.OutcomeDone {
		t.Errorf("%d requests: %+v", len(r), r)
	}
}

// What claude has kept of a broken stream is not said again.
func TestClaudeResume(t *testing.T) {
	s := startModel(t)
	p, _ := claude(t, s, harness.ClaudeOptions{})
	p.claudeSay("[[say half]] [[gate g]] [[cut]] [[say rest]]")
	f, _ := p.until("the first half", kind("assistant"))
	wantIn(t, "the first half", f.raw, `"text":"half"`)
	s.Release("g")
	f, _ = p.until("the result", kind("result"))
	if f.at("result") != "rest" || f.m["is_error"] != false {
		t.Errorf("result: %s", f.raw)
	}
}
