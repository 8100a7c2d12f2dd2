package claude_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"baton"
	"baton/internal/agent"
)

// fifo makes a named pipe in the workspace.
func (b *bench) fifo(name string) {
	b.t.Helper()
	if err := syscall.Mkfifo(filepath.Join(b.dir, name), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// hear waits until somebody has written to the pipe.
func (b *bench) hear(name string) {
	b.t.Helper()
	heard := make(chan struct{})
	go func() {
		_, _ = os.ReadFile(filepath.Join(b.dir, name))
		close(heard)
	}()
	b.until("a word through the pipe "+name, heard)
}

// tell lets the reader of the pipe go on.
func (b *bench) tell(name string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte("go\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func TestLiveApprovals(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)

	l.say("[[run printf one > a.txt; echo made]] [[say done]]")
	r := next[baton.FactRequestOpened](l)
	if r.Kind != baton.RequestCommand || r.Detail != "printf one > a.txt; echo made" || r.Item == "" || len(r.Options) != 4 {
		t.Errorf("request: %+v", r)
	}
	l.answer(r, nil)
	l.Ended(baton.TurnCompleted)
	c := l.closed(baton.ItemCommand)
	if c.Key != r.Item || c.Status != baton.NodeCompleted || c.Body.Output != "made" || c.Body.ExitCode == nil || *c.Body.ExitCode != 0 {
		t.Errorf("command: %+v", c)
	}

	l.say("[[run touch b.txt]] [[run touch b.txt]] [[say done]]")
	l.answer(next[baton.FactRequestOpened](l), func(a *baton.IntentAnswer) { a.Decision = baton.ApproveSession })
	l.Ended(baton.TurnCompleted)
	if n := strings.Count(l.Show(), "FactRequestOpened"); n != 2 {
		t.Errorf("asked %d times, want 2: the second was for the session", n)
	}
	if _, err := os.Stat(filepath.Join(b.dir, ".claude")); err == nil {
		t.Error("the approval for the session wrote into the project")
	}

	for _, name := range []string{"a.txt", "b.txt"} {
		if _, err := os.Stat(filepath.Join(b.dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	l.CloseStdin()
	l.save("approvals")
}

func TestLiveDeclines(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say("[[run touch c.txt]] [[say as you wish]]")
	l.answer(next[baton.FactRequestOpened](l), func(a *baton.IntentAnswer) { a.Decision, a.Reason = baton.Decline, "not today" })
	l.Ended(baton.TurnCompleted)
	if got := b.lastRequest().ToolResults(); !strings.HasPrefix(got[len(got)-1].Text, "not today") {
		t.Errorf("the model was told %q", got[len(got)-1].Text)
	}

	l.say("[[run touch d.txt]] [[say never]]")
	l.answer(next[baton.FactRequestOpened](l), func(a *baton.IntentAnswer) { a.Decision = baton.CancelTurn })
	l.Ended(baton.TurnInterrupted)
	if n := strings.Count(l.Show(), `"Status":"cancelled"`); n != 2 {
		t.Errorf("%d calls cancelled, want 2; facts:\n%s", n, l.Show())
	}

	l.say("[[run sh -c 'echo bad; exit 3' > /dev/stdout; touch x; exit 3]]")
	l.answer(next[baton.FactRequestOpened](l), nil)
	l.Ended(baton.TurnCompleted)
	if !strings.Contains(l.Show(), `"exit_code":3`) {
		t.Errorf("no exit code; facts:\n%s", l.Show())
	}
	for _, name := range []string{"c.txt", "d.txt"} {
		if _, err := os.Stat(filepath.Join(b.dir, name)); err == nil {
			t.Errorf("%s was made", name)
		}
	}
	l.CloseStdin()
	l.save("declines")
}

func TestLiveFiles(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say(`[[write a.txt\none\ntwo]] [[say done]]`)
	r := next[baton.FactRequestOpened](l)
	if r.Kind != baton.RequestFileChange {
		t.Errorf("request: %+v", r)
	}
	l.answer(r, nil)
	l.Ended(baton.TurnCompleted)
	c := l.closed(baton.ItemFileChange)
	if len(c.Body.Files) != 1 || c.Body.Files[0].Change != "add" || c.Body.Files[0].Additions != 2 ||
		c.Body.Files[0].Diff != "@@ -0,0 +1,2 @@\n+one\n+two\n" || b.file("a.txt") != "one\ntwo\n" {
		t.Errorf("change: %+v, file %q", c, b.file("a.txt"))
	}
	l.check()
}

func TestLiveQuestion(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say(`[[tool AskUserQuestion {"questions":[{"question":"Which?","header":"W","multiSelect":true,"options":[{"label":"A","description":"a"},{"label":"B","description":"b"}\]}\]}]] [[say thanks]]`)
	r := next[baton.FactRequestOpened](l)
	if r.Kind != baton.RequestUserInput || len(r.Questions) != 1 || r.Questions[0].Key != "Which?" || !r.Questions[0].Multiple {
		t.Fatalf("request: %+v", r)
	}
	l.answer(r, func(a *baton.IntentAnswer) { a.Answers = map[string][]string{"Which?": {"A", "my own"}} })
	l.Ended(baton.TurnCompleted)
	if got := b.lastRequest().ToolResults(); !strings.Contains(got[0].Text, `"Which?"="A, my own"`) {
		t.Errorf("the model was told %q", got[0].Text)
	}
	l.CloseStdin()
	l.save("question")
}

func TestLiveTodos(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say(`[[plan >first|second]] [[say done]]`)
	l.Ended(baton.TurnCompleted)
	var last baton.FactItemOpened
	for _, f := range l.Facts() {
		if o, ok := f.(baton.FactItemOpened); ok && o.Kind == baton.ItemTodo {
			last = o
		}
	}
	if len(last.Body.Steps) != 2 || last.Body.Steps[0].Text != "first" {
		t.Errorf("todo: %+v; facts:\n%s", last, l.Show())
	}
	l.CloseStdin()
	l.save("todos")
}

func TestLivePlan(t *testing.T) {
	b := newBench(t)
	l := b.start(func(s *agent.Spec) { s.Settings.PermissionMode = "plan" })
	l.say(`[[tool ExitPlanMode {}]] [[say going]]`)
	r := next[baton.FactRequestOpened](l)
	if r.Kind != baton.RequestPermission || r.Title != "Carry out the plan" {
		t.Errorf("request: %+v", r)
	}
	l.answer(r, nil)
	l.Ended(baton.TurnCompleted)
	if c := l.closed(baton.ItemPlan); c.Status != baton.NodeCompleted {
		t.Errorf("plan: %+v", c)
	}
	l.check()
}

func TestLiveSubagent(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say(`[[tool Agent {"description":"look","prompt":"\u005b[run touch sub.txt\u005d\u005d \u005b[say the report\u005d\u005d","subagent_type":"general-purpose","run_in_background":false}]] [[say thanks]]`)
	r := next[baton.FactRequestOpened](l)
	l.answer(r, nil)
	l.Ended(baton.TurnCompleted)
	sub, cmd := l.closed(baton.ItemSubagent), l.closed(baton.ItemCommand)
	if sub.Body.Text != "the report" || cmd.Key != r.Item {
		t.Errorf("subagent %+v, command %+v, request %+v", sub, cmd, r)
	}
	for _, f := range l.Facts() {
		if o, ok := f.(baton.FactItemOpened); ok && o.Kind == baton.ItemCommand && o.Parent != sub.Key {
			t.Errorf("the command hangs under %q, want %q", o.Parent, sub.Key)
		}
	}
	l.CloseStdin()
	l.save("subagent")
}

// Work in the background outlives its turn; its end makes a turn of its own.
func TestLiveBackground(t *testing.T) {
	b := newBench(t)
	b.fifo("go")
	l := b.start(nil)
	l.say("[[run-background cat go]] [[say started]]")
	if d := next[baton.FactDetached](l); len(d.Names) != 1 {
		t.Errorf("detached: %+v", d)
	}
	l.Ended(baton.TurnCompleted)
	if c := l.closed(baton.ItemCommand); c.Status != baton.NodeDetached {
		t.Errorf("command: %+v", c)
	}
	b.tell("go")
	if s := next[baton.FactTurnStarted](l); len(s.Deliveries) != 0 {
		t.Errorf("the unsolicited turn has deliveries %v", s.Deliveries)
	}
	l.Ended(baton.TurnCompleted)
	if !strings.Contains(l.Show(), `FactDetached {"Names":null}`) || !strings.Contains(l.Show(), `"Kind":"command","Status":"completed"`) {
		t.Errorf("the background work did not end; facts:\n%s", l.Show())
	}
	l.CloseStdin()
	l.save("background")
}

// An interrupt ends what runs in the background too, and nothing starts again.
func TestLiveInterruptBackground(t *testing.T) {
	b := newBench(t)
	b.fifo("up")
	b.fifo("never")
	l := b.start(nil)
	l.say("[[run-background echo up > up; cat never]] [[say half]] [[gate g]]")
	s := next[baton.FactTurnStarted](l)
	l.answer(next[baton.FactRequestOpened](l), nil)
	b.hear("up")
	b.until("the gate", b.model.Waiting("g"))
	l.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}})
	l.Ended(baton.TurnInterrupted)
	if d := next[baton.FactDetached](l); len(d.Names) != 0 {
		t.Errorf("detached: %+v", d)
	}
	l.say("go on")
	l.Ended(baton.TurnCompleted)
	if n := strings.Count(l.Show(), "FactTurnStarted"); n != 2 {
		t.Errorf("%d turns; facts:\n%s", n, l.Show())
	}
	if !strings.Contains(l.Show(), `"Kind":"command","Status":"interrupted"`) {
		t.Errorf("the background work did not end; facts:\n%s", l.Show())
	}
	l.check()
}
