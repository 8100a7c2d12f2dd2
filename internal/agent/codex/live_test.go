package codex

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/modelscript"
	"baton/internal/modelscript/harness"
)

// TestText is a turn with thought, text and a todo list, and what it costs.
func TestText(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open()
	d := k.say("[[think let me see]] [[usage 100 20]] [[plan +look|>do|check]] [[say all is well]]")
	started := expect[baton.FactTurnStarted](k)
	if !slices.Equal(started.Deliveries, []baton.DeliveryID{d}) {
		t.Errorf("started: %+v", started)
	}
	if a := expect[baton.FactDeliveryAccepted](k); a.Delivery != d {
		t.Errorf("accepted %+v", a)
	}
	if c := expect[baton.FactDeliveryConsumed](k); c.Delivery != d || c.TurnKey != started.Key {
		t.Errorf("consumed %+v", c)
	}
	end := k.Ended(baton.TurnCompleted)
	if end.Key != started.Key || end.Usage.InputTokens != 200 || end.Usage.OutputTokens != 40 || end.Usage.ContextTokens != 120 {
		t.Errorf("end: %+v", end)
	}
	if r := k.Closed(baton.ItemReasoning); len(r) != 1 || r[0].Body.Text != "let me see" {
		t.Errorf("reasoning: %+v", r)
	}
	if m := k.Closed(baton.ItemAssistantMessage); len(m) != 1 || m[0].Body.Text != "all is well" {
		t.Errorf("messages: %+v", m)
	}
	if todo := k.Closed(baton.ItemTodo); len(todo) != 1 || todo[0].Status != baton.NodeCompleted {
		t.Errorf("todo: %+v", todo)
	}
	k.CloseStdin()
	k.finish("text")
}

// TestApproval answers commands and a change in each way.
func TestApproval(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open()
	k.settings.PermissionMode = "untrusted"
	k.say(`[[run printf made > a.txt]] [[run echo "<&>"; exit 3]] [[run echo never]] [[write b/c.txt\none\ntwo]] [[say so]]`)
	for i, d := range []baton.Decision{baton.ApproveOnce, baton.ApproveSession, baton.Decline, baton.ApproveOnce} {
		r := expect[baton.FactRequestOpened](k)
		if r.Item == "" || len(r.Options) != 4 || (r.Kind == baton.RequestFileChange) != (i == 3) {
			t.Errorf("request: %+v", r)
		}
		id := k.answer(r, d)
		if a := expect[baton.FactDeliveryAccepted](k); a.Delivery != id {
			t.Errorf("answer %d: %+v", i, a)
		}
	}
	k.Ended(baton.TurnCompleted)
	c := k.Closed(baton.ItemCommand)
	if len(c) != 3 || c[0].Status != baton.NodeCompleted || c[1].Status != baton.NodeFailed || *c[1].Body.ExitCode != 3 ||
		strings.TrimSpace(c[1].Body.Output) != "<&>" || c[2].Status != baton.NodeCancelled {
		t.Errorf("commands: %+v", c)
	}
	f := k.Closed(baton.ItemFileChange)
	if len(f) != 1 || len(f[0].Body.Files) != 1 || f[0].Body.Files[0].Additions != 2 || f[0].Body.Files[0].Change != "add" ||
		f[0].Body.Files[0].Diff != "+one\n+two\n" || f[0].Body.Files[0].Path != filepath.Join(k.dir, "b/c.txt") {
		t.Errorf("changes: %+v", f)
	}
	for name, want := range map[string]string{"a.txt": "made", "b/c.txt": "one\ntwo\n"} {
		if b, err := os.ReadFile(filepath.Join(k.dir, name)); err != nil || string(b) != want {
			t.Errorf("%s = %q, %v", name, b, err)
		}
	}

	k.say("[[write d.txt\\nx]] [[say never]]")
	k.answer(expect[baton.FactRequestOpened](k), baton.CancelTurn)
	k.Ended(baton.TurnInterrupted)
	f = k.Closed(baton.ItemFileChange)
	if len(f) != 2 || f[1].Status != baton.NodeInterrupted && f[1].Status != baton.NodeCancelled {
		t.Errorf("cancelled change: %+v", f)
	}
	k.finish("approval")
}

// TestHandoff gives two handoffs before a message; the model sees them byte
// for byte, once, before it.
func TestHandoff(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open()
	texts := []string{"<handoff>\nfirst: \"quoted\" <&> \u2028 äöü 日本 \\n\n</handoff>\n", "second"}
	var handoffs []baton.Payload
	for _, x := range texts {
		handoffs = append(handoffs, baton.Payload{Delivery: k.delivery(), Text: x})
	}
	d := k.say("and now?", handoffs...)
	for _, h := range handoffs {
		if a := expect[baton.FactDeliveryAccepted](k); a.Delivery != h.Delivery {
			t.Fatalf("accepted %+v", a)
		}
	}
	want := []baton.DeliveryID{handoffs[0].Delivery, handoffs[1].Delivery, d}
	if s := expect[baton.FactTurnStarted](k); !slices.Equal(s.Deliveries, want) {
		t.Errorf("started %+v", s)
	}
	if a := expect[baton.FactDeliveryAccepted](k); a.Delivery != d {
		t.Errorf("accepted %+v", a)
	}
	for _, id := range want {
		if c := expect[baton.FactDeliveryConsumed](k); c.Delivery != id {
			t.Errorf("consumed %+v, not %s", c, id)
		}
	}
	k.Ended(baton.TurnCompleted)
	all := k.model.Requests()
	var seen []string
	for _, b := range all[len(all)-1].Texts() {
		if b.Role == modelscript.RoleUser && (slices.Contains(texts, b.Text) || b.Text == "and now?") {
			seen = append(seen, b.Text)
		}
	}
	if !slices.Equal(seen, append(texts, "and now?")) {
		t.Errorf("the model saw %q", seen)
	}
	k.finish("handoff")
}

// TestFoldedIn gives a message while a turn is open: it becomes input of that
// turn, and there is no other.
func TestFoldedIn(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open()
	k.say("[[run true]] [[gate g]] [[say never]]")
	s := expect[baton.FactTurnStarted](k)
	k.await("the gate", k.model.Waiting("g"))
	d := k.say("[[say steered]]")
	k.Read("the message", func(f baton.Fact) bool {
		c, ok := f.(baton.FactDeliveryConsumed)
		return ok && c.Delivery == d && c.TurnKey == s.Key
	})
	if end := k.Ended(baton.TurnCompleted); end.Key != s.Key {
		t.Errorf("end: %+v", end)
	}
	if m := k.Closed(baton.ItemAssistantMessage); len(m) != 1 || m[0].Body.Text != "steered" {
		t.Errorf("messages: %+v", m)
	}
	k.finish("folded_in")
}

// TestFailure fails with a limit of the service; the next turn works.
func TestFailure(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open()
	k.say("[[fail 429]]")
	end := k.Ended(baton.TurnFailed)
	if end.Err.Code != baton.CodeRateLimited || end.Err.Hint == "" {
		t.Errorf("error: %+v", end.Err)
	}
	k.say("[[fail 401]]")
	if end := k.Ended(baton.TurnFailed); end.Err.Code != baton.CodeUnauthorized {
		t.Errorf("error: %+v", end.Err)
	}
	k.say("and now?")
	k.Ended(baton.TurnCompleted)
	k.finish("failure")
}

// TestRetry cuts a response in its middle; the text of the next takes its place.
func TestRetry(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{StreamRetries: 2}).open()
	k.say("[[say half of it]] [[cut until again]] [[say whole]]")
	n := expect[baton.FactNotice](k)
	k.model.Release("again")
	k.Ended(baton.TurnCompleted)
	if n.Level == "" || n.Code != baton.CodeModelUnreachable {
		t.Errorf("notice: %+v", n)
	}
	if m := k.Closed(baton.ItemAssistantMessage); len(m) == 0 || m[len(m)-1].Status != baton.NodeCompleted {
		t.Errorf("messages: %+v", m)
	}
	k.finish("retry")
}

// TestInterruptText ends a turn in the middle of a text.
func TestInterruptText(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open()
	k.say("[[flood 4000000 64]]")
	s := expect[baton.FactTurnStarted](k)
	expect[baton.FactItemDelta](k)
	k.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}})
	k.Ended(baton.TurnInterrupted)
	if m := k.Closed(baton.ItemAssistantMessage); len(m) != 1 || m[0].Status != baton.NodeInterrupted || m[0].Body.Text != "" {
		t.Errorf("messages: %+v", m)
	}
	k.say("next")
	k.Ended(baton.TurnCompleted)
	checkFacts(t, k.Facts())
}

// TestInterrupt ends a turn with a command, which must not live on.
func TestInterrupt(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open()
	pipe := mkfifo(t, filepath.Join(k.dir, "pipe"))
	k.say("[[run exec 3>" + pipe + "; echo up >&3; sleep 1000]] [[say never]]")
	s := expect[baton.FactTurnStarted](k)
	o := expect[baton.FactItemOpened](k)
	alive, err := os.Open(pipe)
	if err != nil {
		t.Fatal(err)
	}
	defer alive.Close()
	if _, err := io.ReadFull(alive, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	k.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}})
	if d := expect[baton.FactDetached](k); len(d.Names) != 1 {
		t.Errorf("detached: %+v", d)
	}
	k.Ended(baton.TurnInterrupted)
	if d := expect[baton.FactDetached](k); len(d.Names) != 0 {
		t.Errorf("detached: %+v", d)
	}
	if _, err := io.ReadAll(alive); err != nil { // ends when nobody holds the other end
		t.Fatal(err)
	}
	if c := k.Closed(baton.ItemCommand); len(c) != 1 || c[0].Key != o.Key || c[0].Status != baton.NodeInterrupted {
		t.Errorf("commands: %+v", c)
	}
	k.finish("interrupt")
}

// TestBackground leaves a command running when the turn completes.
func TestBackground(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open()
	pipe := mkfifo(t, filepath.Join(k.dir, "pipe"))
	k.say("[[run-background cat " + pipe + "]] [[say it runs]]")
	if d := expect[baton.FactDetached](k); len(d.Names) != 1 || !strings.Contains(d.Names[0], pipe) {
		t.Errorf("detached: %+v", d)
	}
	k.Ended(baton.TurnCompleted)
	if err := os.WriteFile(pipe, []byte("late\n"), 0); err != nil { // lets it end
		t.Fatal(err)
	}
	if d := expect[baton.FactDetached](k); len(d.Names) != 0 {
		t.Errorf("detached: %+v", d)
	}
	c := k.Closed(baton.ItemCommand)
	if len(c) != 2 || c[0].Status != baton.NodeDetached || c[1].Status != baton.NodeCompleted || c[0].Key != c[1].Key || !strings.Contains(c[1].Body.Output, "late") {
		t.Errorf("commands: %+v", c)
	}
	k.finish("background")
}

// TestQuestion is answered, in plan mode; a later message is out of it again.
func TestQuestion(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open(func(s *agent.Spec) { s.Settings.PermissionMode = "plan" })
	k.settings.PermissionMode = "plan"
	k.say(`[[tool request_user_input {"questions":[{"id":"color","header":"Color","question":"Which color?","options":[{"label":"Red","description":"warm"},{"label":"Blue","description":"cold"}]}\]}]]`)
	r := expect[baton.FactRequestOpened](k)
	if r.Kind != baton.RequestUserInput || len(r.Questions) != 1 || r.Questions[0].Key != "color" || len(r.Questions[0].Options) != 2 || !r.Questions[0].FreeText {
		t.Fatalf("request: %+v", r)
	}
	k.Step(agent.Input{Intent: baton.IntentAnswer{Delivery: k.delivery(), Request: r.Key, Decision: baton.ApproveOnce,
		Answers: map[string][]string{"color": {"Blue"}}, Questions: r.Questions}})
	k.Ended(baton.TurnCompleted)
	all := k.model.Requests()
	if res := all[len(all)-1].ToolResults(); len(res) != 1 || !strings.Contains(res[0].Text, "Blue") {
		t.Errorf("the model got %+v", res)
	}

	// Back in codex's own mode the tool of plan mode is refused again.
	k.settings.PermissionMode = ""
	k.say("[[plan a|b]]")
	k.Ended(baton.TurnCompleted)
	if todo := k.Closed(baton.ItemTodo); len(todo) != 1 {
		t.Errorf("todo lists after plan mode: %+v", todo)
	}
	k.finish("question")
}

// TestPermissionModes shows that a mode holds only as long as it is set, in one
// process and over a resume.
func TestPermissionModes(t *testing.T) {
	w := newWorld(t, harness.CodexOptions{})
	k := w.open()
	asks := func(k *talk, mode string, want bool) {
		t.Helper()
		k.settings.PermissionMode = mode
		k.say("[[run true]]")
		asked, end := false, false
		for !end {
			var next baton.Fact
			k.Read("request or end", func(f baton.Fact) bool {
				next = f
				_, end = f.(baton.FactTurnEnded)
				_, request := f.(baton.FactRequestOpened)
				return end || request
			})
			if r, ok := next.(baton.FactRequestOpened); ok {
				asked = true
				k.answer(r, baton.ApproveOnce)
			}
		}
		if asked != want {
			t.Errorf("mode %q: asked %v", mode, asked)
		}
	}
	asks(k, "", false)
	asks(k, "untrusted", true)
	asks(k, "", false)
	asks(k, "untrusted", true)
	k.CloseStdin()
	asks(w.open(func(s *agent.Spec) { s.NativeID = k.native }), "", false)
}

// TestResume goes on in a second process; the model knows the first turn.
func TestResume(t *testing.T) {
	w := newWorld(t, harness.CodexOptions{})
	k := w.open()
	k.say("[[say the first answer]]")
	k.Ended(baton.TurnCompleted)
	k.Kill()
	k2 := w.open(func(s *agent.Spec) { s.NativeID = k.native })
	k2.say("go on")
	end := k2.Ended(baton.TurnCompleted)
	if end.Usage.InputTokens != 100 {
		t.Errorf("the usage of a resumed turn counts what was before: %+v", end.Usage)
	}
	all := w.model.Requests()
	if last := all[len(all)-1]; last.Has("the first answer") == 0 {
		t.Error("the model does not know the first turn")
	}
	k2.finish("resume")
}

// TestResumeFails for each reason, and is never a new conversation instead.
func TestResumeFails(t *testing.T) {
	w := newWorld(t, harness.CodexOptions{})
	k := w.open()
	k.say("hello")
	k.Ended(baton.TurnCompleted)
	resume := func(id string, want baton.ResumeFailure) {
		t.Helper()
		spec := w.spec()
		spec.NativeID = id
		k := &talk{world: w, Talk: agenttest.StartTalk(w.ctx, t, Driver{}, spec, w.agent.Env)}
		if f := expect[baton.FactResumeFailed](k); f.Class != want {
			t.Errorf("%+v, not %s", f, want)
		}
		k.finish("resume_" + string(want))
		k.Kill()
	}
	resume(k.native, baton.ResumeInUse)
	k.Kill()
	files, _ := filepath.Glob(filepath.Join(w.agent.Home, "sessions/*/*/*/*"+k.native+".jsonl"))
	if len(files) != 1 {
		t.Fatalf("rollouts: %q", files)
	}
	if err := os.WriteFile(files[0], []byte("garbage\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	resume(k.native, baton.ResumeDamaged)
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	resume(k.native, baton.ResumeNotFound)
}

// TestUntrusted shows that a project's own configuration is loaded only where
// the person trusts it, and that codex's configuration is not written to.
func TestUntrusted(t *testing.T) {
	for _, trusted := range []bool{false, true} {
		w := newWorld(t, harness.CodexOptions{ApprovalPolicy: "on-request", SandboxMode: "workspace-write"})
		ran := filepath.Join(w.root, "ran")
		if err := os.Mkdir(filepath.Join(w.dir, ".codex"), 0o755); err != nil {
			t.Fatal(err)
		}
		config := fmt.Sprintf("[mcp_servers.own]\ncommand = \"touch\"\nargs = [%q]\n", ran)
		if err := os.WriteFile(filepath.Join(w.dir, ".codex/config.toml"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(filepath.Join(w.agent.Home, "config.toml"))
		if err != nil {
			t.Fatal(err)
		}
		k := w.open(func(s *agent.Spec) { s.Trusted = trusted })
		k.say("hello")
		k.Ended(baton.TurnCompleted)
		k.CloseStdin()
		if _, err := os.Stat(ran); (err == nil) != trusted {
			t.Errorf("trusted %v: the project's server: %v", trusted, err)
		}
		if after, _ := os.ReadFile(filepath.Join(w.agent.Home, "config.toml")); string(after) != string(before) {
			t.Errorf("trusted %v: codex's configuration was changed:\n%s", trusted, after)
		}
	}
}

// TestSubagent shows a subagent's work under an item of its own; its end is
// not the end of the turn.
func TestSubagent(t *testing.T) {
	k := newWorld(t, harness.CodexOptions{}).open()
	k.settings.PermissionMode = "untrusted"
	k.say(`[[tool multi_agent_v1.spawn_agent {"message":"\u005b[run true\]\] \u005b[say from below\]\]"}]] [[gate g]] [[say from above]]`)
	root := expect[baton.FactTurnStarted](k)
	r := expect[baton.FactRequestOpened](k)
	k.answer(r, baton.ApproveOnce)
	k.Read("the subagent's end", func(f baton.Fact) bool {
		c, ok := f.(baton.FactItemClosed)
		return ok && c.Kind == baton.ItemSubagent
	})
	k.model.Release("g")
	if end := k.Ended(baton.TurnCompleted); end.Key != root.Key {
		t.Errorf("end: %+v", end)
	}
	parents := map[string]string{}
	sub := ""
	for _, f := range k.Facts() {
		if o, ok := f.(baton.FactItemOpened); ok {
			parents[o.Key] = o.Parent
			if o.Kind == baton.ItemSubagent {
				sub = o.Key
			}
		}
	}
	if sub == "" || parents[r.Item] != sub {
		t.Errorf("the command %q is not under the subagent %q: %v", r.Item, sub, parents)
	}
	m := k.Closed(baton.ItemAssistantMessage)
	if len(m) < 2 || m[0].Body.Text != "from below" || parents[m[0].Key] != sub || m[1].Body.Text != "from above" {
		t.Errorf("messages: %+v", m)
	}
	k.finish("subagent")
}
