package harness_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton/internal/modelscript"
	"baton/internal/modelscript/harness"
)

type object = map[string]any

// codexThread starts codex and a thread in a new workspace.
func codexThread(t *testing.T, s *modelscript.Server, approval string) (p *process, thread, dir string) {
	t.Helper()
	a, err := harness.Codex(t.TempDir(), s.URL(), harness.CodexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	p = run(t, a, dir, "app-server", "--strict-config")
	p.send(object{"id": "init", "method": "initialize", "params": object{
		"clientInfo":   object{"name": "baton-test", "version": "0"},
		"capabilities": object{"experimentalApi": true, "requestAttestation": false}}})
	answered := func(id string) func(frame) bool { return func(f frame) bool { return f.at("id") == id } }
	p.until("the handshake", answered("init"))
	p.send(object{"method": "initialized"})
	p.send(object{"id": "open", "method": "thread/start", "params": object{"cwd": dir, "approvalPolicy": approval}})
	f, _ := p.until("the thread", answered("open"))
	if thread = f.at("result", "thread", "id"); thread == "" {
		t.Fatalf("thread/start: %s", f.raw)
	}
	return p, thread, dir
}

func (p *process) codexTurn(thread, text string) {
	p.send(object{"id": "turn", "method": "turn/start", "params": object{"threadId": thread,
		"input": []any{object{"type": "text", "text": text}}}})
}

func method(name string) func(frame) bool {
	return func(f frame) bool { return f.at("method") == name }
}

func TestCodex(t *testing.T) {
	s := startModel(t)
	p, thread, dir := codexThread(t, s, "untrusted")

	p.codexTurn(thread, `[[think hm]] [[say looking at it]] [[run printf made > a.txt; echo "<&>"]] [[write b/c.txt\none]] [[plan x|y]] [[gate g]] [[say all done]]`)
	for _, ask := range []string{"item/commandExecution/requestApproval", "item/fileChange/requestApproval"} {
		f, seen := p.until(ask, method(ask))
		if ask == "item/commandExecution/requestApproval" {
			wantIn(t, "the first answer", seen, `"delta":"looking "`, `"text":"looking at it"`, `"summary":["hm"]`)
		}
		p.send(object{"id": f.m["id"], "result": object{"decision": "accept"}})
	}
	await(t, "the gate", s.Waiting("g"))
	s.Release("g")
	f, seen := p.until("the end of the turn", method("turn/completed"))
	if f.at("params", "turn", "status") != "completed" {
		t.Errorf("turn: %s", f.raw)
	}
	wantIn(t, "the turn", seen, `"text":"all done"`, `"method":"turn/plan/updated"`)
	for name, want := range map[string]string{"a.txt": "made", "b/c.txt": "one\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != want {
			t.Errorf("%s = %q, %v", name, b, err)
		}
	}

	p.codexTurn(thread, "[[fail 429]]")
	f, _ = p.until("the end of the failed turn", method("turn/completed"))
	wantIn(t, "the failed turn", f.raw, `"status":"failed"`, `{"httpStatusCode":429}`)
	p.codexTurn(thread, "and now?")
	_, seen = p.until("the end of the third turn", method("turn/completed"))
	wantIn(t, "the third turn", seen, `"text":"You said: and now?"`)

	requests := s.Requests()
	last := requests[len(requests)-1]
	if last.Session() != thread || last.Model != harness.CodexModel || len(requests) != 6 {
		t.Errorf("%d requests, the last of %q with model %q", len(requests), last.Session(), last.Model)
	}
	if n := last.Has("looking at it"); n != 2 {
		t.Errorf("the model sees its words %d times", n)
	}
	if r := last.ToolResults(); len(r) != 3 || !strings.Contains(r[0].Text, "<&>") {
		t.Errorf("tool results: %+v", r)
	}
	if u := last.UserTexts(); len(u) != 3 || u[2] != "and now?" {
		t.Errorf("user texts: %q", u)
	}
}

// An interrupt must reach the model server, and the script must not go on.
func TestCodexInterrupt(t *testing.T) {
	s := startModel(t)
	p, thread, _ := codexThread(t, s, "never")
	p.codexTurn(thread, "[[run true]] [[say half]] [[gate g]] [[say never]]")
	f, _ := p.until("the turn", method("turn/started"))
	await(t, "the gate", s.Waiting("g"))
	p.send(object{"id": "stop", "method": "turn/interrupt",
		"params": object{"threadId": thread, "turnId": f.at("params", "turn", "id")}})
	await(t, "the disconnect", s.Disconnected("g"))
	p.until("the end of the turn", method("turn/completed"))
	p.codexTurn(thread, "next")
	_, seen := p.until("the end of the second turn", method("turn/completed"))
	wantIn(t, "the second turn", seen, `"text":"You said: next"`)
}

// A message given in the middle of a turn takes over where it has marks.
func TestCodexSteer(t *testing.T) {
	s := startModel(t)
	p, thread, _ := codexThread(t, s, "never")
	p.codexTurn(thread, "[[run true]] [[gate g]] [[say never]]")
	f, _ := p.until("the turn", method("turn/started"))
	await(t, "the gate", s.Waiting("g"))
	p.send(object{"id": "steer", "method": "turn/steer", "params": object{"threadId": thread,
		"expectedTurnId": f.at("params", "turn", "id"), "input": []any{object{"type": "text", "text": "[[say steered]]"}}}})
	_, seen := p.until("the end of the turn", method("turn/completed"))
	wantIn(t, "the turn", seen, `"text":"steered"`)
	if strings.Contains(seen, "\"text\":\"never\"") {
		t.Error("the first script went on")
	}
}
