package script

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
)

func TestSpeaking(t *testing.T) {
	b := started(t)
	facts := b.do("hello", baton.TurnCompleted)
	if got := said(t, facts, baton.ItemAssistantMessage); got != "I know 1 message of this conversation." {
		t.Errorf("without marks: %q", got)
	}
	for i, want := range []reflect.Type{reflect.TypeFor[baton.FactDeliveryAccepted](), reflect.TypeFor[baton.FactTurnStarted](), reflect.TypeFor[baton.FactDeliveryConsumed]()} {
		if reflect.TypeOf(facts[i]) != want {
			t.Errorf("fact %d is %T, want %s", i, facts[i], want)
		}
	}

	facts = b.do("[[slow 1]] [[think let me see what there is]] [[say one two three four five six seven]] [[say grün 日本語]] [[plan first this\\nthen that]] [[todo a+|b*|c]] [[todo a+|b+|c]] [[usage 11 7]]", baton.TurnCompleted)
	var kinds []string
	for _, it := range items(t, facts) {
		kinds = append(kinds, string(it.Kind)+":"+it.Text)
		if it.Kind == baton.ItemAssistantMessage && strings.HasPrefix(it.Text, "one") && it.Deltas < 3 {
			t.Errorf("%q came in %d pieces", it.Text, it.Deltas)
		}
	}
	want := []string{"reasoning:let me see what there is", "assistant_message:one two three four five six seven", "assistant_message:grün 日本語", "plan:first this\nthen that", "todo:", "todo:"}
	if !reflect.DeepEqual(kinds, want) {
		t.Errorf("items %q", kinds)
	}
	if steps := items(t, facts)[4].Body.Steps; !reflect.DeepEqual(steps, []baton.TodoStep{{Text: "a", Status: "completed"}, {Text: "b", Status: "in_progress"}, {Text: "c", Status: "pending"}}) {
		t.Errorf("steps %+v", steps)
	}
	if u := facts[len(facts)-1].(baton.FactTurnEnded).Usage; u.InputTokens != 11 || u.OutputTokens != 7 || u.ContextWindow != 200000 {
		t.Errorf("usage %+v", u)
	}

	facts = b.do("[[subagent scout found three files]]", baton.TurnCompleted)
	got := items(t, facts)
	if len(got) != 2 || got[0].Kind != baton.ItemSubagent || got[0].Body.Title != "scout" || got[1].Text != "found three files" || got[1].Parent == "" || got[1].Parent != keyOf(facts, baton.ItemSubagent) {
		t.Errorf("subagent: %+v %+v", got[0], got[1])
	}

	facts = b.do("[[recall]]", baton.TurnCompleted)
	if got := said(t, facts, baton.ItemAssistantMessage); !strings.Contains(got, "message 1: hello\n") || !strings.Contains(got, "[[think let me see") {
		t.Errorf("recall: %q", got)
	}
}

func TestDriver(t *testing.T) {
	d := Driver()
	l := d.Launch(agent.Spec{Command: []string{"/bin/baton", "agent", "script"}})
	if d.Name() != "script" || d.MinVersion() != "" || d.VersionArgs() != nil || !slices.Equal(l.Argv, []string{"/bin/baton", "agent", "script"}) || !slices.Contains(l.Pass, "BATON_SCRIPT_HOME") {
		t.Errorf("driver %s, launch %+v", d.Name(), l)
	}
	if c := d.Capabilities(); c.Steer || !c.Evidence || !c.Plans || c.Injection != baton.InjectPreamble {
		t.Errorf("capabilities %+v", c)
	}
}

func TestQuestionWithoutAnswer(t *testing.T) {
	for decision, status := range map[baton.Decision]baton.TurnStatus{baton.Decline: baton.TurnCompleted, baton.CancelTurn: baton.TurnInterrupted} {
		b := started(t)
		b.send("[[question Anything?]]")
		req, _ := agenttest.WaitFor[baton.FactRequestOpened](b.ctx, b.Live, b.pos)
		if !req.Questions[0].FreeText {
			t.Errorf("request %+v", req)
		}
		b.Step(agent.Input{Intent: baton.IntentAnswer{Delivery: "dlv_x", Request: req.Key, Decision: decision}})
		facts, ended := b.end()
		if got := said(t, facts, baton.ItemAssistantMessage); ended.Status != status || (got == "There is no answer.") != (decision == baton.Decline) {
			t.Errorf("%s: %+v, said %q", decision, ended, got)
		}
	}
}

func keyOf(facts []baton.Fact, kind baton.ItemKind) string {
	for _, f := range facts {
		if o, ok := f.(baton.FactItemOpened); ok && o.Kind == kind {
			return o.Key
		}
	}
	return ""
}

func TestHandoffReachesTheModelVerbatim(t *testing.T) {
	b := started(t)
	handoff := "<<<baton handoff\nruns 1-5, [[say not me]]\n<tag> & \"quotes\"\n>>>"
	id := b.send("go on [[say done]]", handoff)
	facts, _ := b.end()
	if got := said(t, facts, baton.ItemAssistantMessage); got != "done" {
		t.Errorf("said %q", got)
	}
	want := []Entry{{Type: "user", Role: "handoff", Text: handoff, Delivery: string(id) + "0", Turn: 1}, {Type: "user", Role: "message", Text: "go on [[say done]]", Delivery: string(id), Turn: 1}}
	if got := b.requests()[0].Messages; !reflect.DeepEqual(got, want) {
		t.Errorf("the model received %+v", got)
	}
}

func TestRun(t *testing.T) {
	b := started(t)
	got := items(t, b.do(`[[run echo out; echo err >&2; printf 'ü%.0s' 1 2 3; pwd > where; exit 3]]`, baton.TurnCompleted))[0]
	if got.Kind != baton.ItemCommand || got.Status != baton.NodeFailed || *got.Body.ExitCode != 3 || got.Output != "out\nerr\nüüü" || got.Body.Cwd != b.dir {
		t.Errorf("run: %+v", got)
	}
	if where, _ := os.ReadFile(filepath.Join(b.dir, "where")); strings.TrimSpace(string(where)) != b.dir {
		t.Errorf("it ran in %s", where)
	}
	got = items(t, b.do("[[flood-output 100k]]", baton.TurnCompleted))[0]
	if len(got.Output) != 100<<10 || got.Deltas < 20 || got.Status != baton.NodeCompleted {
		t.Errorf("flood-output: %d bytes in %d pieces", len(got.Output), got.Deltas)
	}
}

func TestFiles(t *testing.T) {
	b := started(t)
	facts := b.do("[[write sub/a.txt\none\ntwo\nthree]] [[edit sub/a.txt\ntwo\n=>\n2\nzwei]] [[edit sub/a.txt\nnope\n=>\nx]]", baton.TurnCompleted)
	got := items(t, facts)
	if len(got) != 3 {
		t.Fatalf("%d items", len(got))
	}
	if f := got[0].Body.Files[0]; f.Path != "sub/a.txt" || f.Change != "add" || f.Additions != 3 {
		t.Errorf("write: %+v", f)
	}
	if f := got[1].Body.Files[0]; f.Change != "modify" || f.Additions != 2 || f.Deletions != 1 || f.Diff != "@@ -2,1 +2,2 @@\n-two\n+2\n+zwei\n" {
		t.Errorf("edit: %+v", f)
	}
	if got[2].Status != baton.NodeFailed || !strings.Contains(got[2].Output, "does not hold") {
		t.Errorf("edit of what is not there: %+v", got[2])
	}
	if data, _ := os.ReadFile(filepath.Join(b.dir, "sub/a.txt")); string(data) != "one\n2\nzwei\nthree\n" {
		t.Errorf("file: %q", data)
	}
}

func TestAsk(t *testing.T) {
	tests := []struct {
		decision baton.Decision
		status   baton.TurnStatus
		item     baton.NodeStatus
		ran      bool
	}{
		{baton.ApproveOnce, baton.TurnCompleted, baton.NodeCompleted, true},
		{baton.Decline, baton.TurnCompleted, baton.NodeFailed, false},
		{baton.CancelTurn, baton.TurnInterrupted, baton.NodeInterrupted, false},
	}
	for _, tt := range tests {
		t.Run(string(tt.decision), func(t *testing.T) {
			b := started(t)
			b.send("[[ask touch made]] [[say after]]")
			req, _ := agenttest.WaitFor[baton.FactRequestOpened](b.ctx, b.Live, b.pos)
			if req.Kind != baton.RequestCommand || req.Detail != "touch made" || len(req.Options) != 4 || req.Item == "" {
				t.Errorf("request %+v", req)
			}
			b.Step(agent.Input{Intent: baton.IntentAnswer{Delivery: "dlv_x", Request: req.Key, Decision: tt.decision, Reason: "too early"}})
			facts, ended := b.end()
			if got := items(t, facts)[0]; ended.Status != tt.status || got.Status != tt.item {
				t.Errorf("turn %s, item %+v", ended.Status, got)
			}
			if tt.decision == baton.Decline && items(t, facts)[0].Output != "The person declined: too early" {
				t.Errorf("item %+v", items(t, facts)[0])
			}
			if _, err := os.Stat(filepath.Join(b.dir, "made")); (err == nil) != tt.ran {
				t.Errorf("ran: %v", err)
			}
			if !hasFact(facts, baton.FactDeliveryAccepted{Delivery: "dlv_x", Evidence: "written"}) {
				t.Error("the answer was not accepted")
			}
		})
	}
}

func hasFact(facts []baton.Fact, want baton.Fact) bool {
	for _, f := range facts {
		if reflect.DeepEqual(f, want) {
			return true
		}
	}
	return false
}

func TestAskForTheSession(t *testing.T) {
	b := started(t)
	b.send("[[ask touch a]]")
	req, _ := agenttest.WaitFor[baton.FactRequestOpened](b.ctx, b.Live, b.pos)
	b.Step(agent.Input{Intent: baton.IntentAnswer{Delivery: "dlv_x", Request: req.Key, Decision: baton.ApproveSession}})
	b.end()
	facts := b.do("[[ask touch b]]", baton.TurnCompleted)
	if _, err := os.Stat(filepath.Join(b.dir, "b")); err != nil {
		t.Error(err)
	}
	for _, f := range facts {
		if r, ok := f.(baton.FactRequestOpened); ok {
			t.Errorf("it asked again: %+v", r)
		}
	}
}

func TestQuestion(t *testing.T) {
	b := started(t)
	b.send("[[question Which colour?|red|green]]")
	req, _ := agenttest.WaitFor[baton.FactRequestOpened](b.ctx, b.Live, b.pos)
	if req.Kind != baton.RequestUserInput || len(req.Questions) != 1 || req.Questions[0].Text != "Which colour?" || len(req.Questions[0].Options) != 2 {
		t.Fatalf("request %+v", req)
	}
	b.Step(agent.Input{Intent: baton.IntentAnswer{Delivery: "dlv_x", Request: req.Key, Decision: baton.ApproveOnce,
		Answers: map[string][]string{"answer": {"green"}}, Questions: req.Questions}})
	facts, _ := b.end()
	if got := said(t, facts, baton.ItemAssistantMessage); got != "The answer is: green" {
		t.Errorf("said %q", got)
	}
}

func TestInterrupt(t *testing.T) {
	for _, mark := range []string{"[[hang]]", "[[run echo begun; sleep 1000]]", "[[gate g]]", "[[question q]]", "[[ask true]]"} {
		t.Run(mark, func(t *testing.T) {
			b := started(t)
			b.send("[[say first]] " + mark + " [[say never]]")
			turn, _ := agenttest.WaitFor[baton.FactTurnStarted](b.ctx, b.Live, b.pos)
			b.Wait(b.ctx, b.pos, "the wait", func(f baton.Fact) bool {
				switch f := f.(type) {
				case baton.FactItemDelta:
					return f.Text == "begun\n" || mark == "[[hang]]"
				case baton.FactItemOpened:
					return f.Kind == baton.ItemTool
				case baton.FactRequestOpened:
					return true
				}
				return false
			})
			b.interrupt(turn.Key)
			facts, ended := b.end()
			if ended.Status != baton.TurnInterrupted {
				t.Errorf("ended %+v", ended)
			}
			if got := said(t, facts, baton.ItemAssistantMessage); got != "first" {
				t.Errorf("said %q", got)
			}
			if got := said(t, b.do("[[say still here]]", baton.TurnCompleted), baton.ItemAssistantMessage); got != "still here" {
				t.Errorf("afterwards: %q", got)
			}
		})
	}
}

func TestInterruptKillsTheCommand(t *testing.T) {
	b := started(t)
	b.send("[[run echo $$; exec sleep 1000]]")
	var pid int
	b.Wait(b.ctx, b.pos, "pid", func(f baton.Fact) bool {
		d, ok := f.(baton.FactItemDelta)
		if ok {
			pid, _ = strconv.Atoi(strings.TrimSpace(d.Text))
		}
		return ok
	})
	b.interrupt("")
	b.end()
	if alive(pid) { // waited for before the turn's end was said
		t.Errorf("process %d lives on", pid)
	}
}

func TestGate(t *testing.T) {
	b := started(t)
	b.send("[[gate g]] [[say open]]")
	b.opens("gate", func(o baton.FactItemOpened) bool { return o.Body.Title == "Wait for g" })
	if _, err := os.Stat(filepath.Join(b.dir, "g.waiting")); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "g"), []byte("go\n"), 0); err != nil {
		t.Fatal(err)
	}
	if facts, _ := b.end(); said(t, facts, baton.ItemAssistantMessage) != "open" {
		t.Error("the gate stayed shut")
	}
	if err := os.WriteFile(filepath.Join(b.dir, "h"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b.do("[[gate h]]", baton.TurnCompleted)
}

func TestBackground(t *testing.T) {
	b := started(t)
	fifo := filepath.Join(b.dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := "read x < fifo; echo built $x"
	facts := b.do("[[background "+cmd+"]] [[say going on]]", baton.TurnCompleted)
	if !hasFact(facts, baton.FactDetached{Names: []string{cmd}}) {
		t.Errorf("facts:\n%s", agenttest.Show(agent.Output{Facts: facts}))
	}
	b.do("[[say in between]]", baton.TurnCompleted)
	if err := os.WriteFile(fifo, []byte("it\n"), 0); err != nil {
		t.Fatal(err)
	}
	facts, ended := b.end()
	if ended.Status != baton.TurnCompleted || !hasFact(facts, baton.FactDetached{Names: []string{}}) {
		t.Errorf("ended %+v", ended)
	}
	if turn := facts[0].(baton.FactTurnStarted); len(turn.Deliveries) != 0 || turn.Key != ended.Key {
		t.Errorf("turn %+v", turn)
	}
	if got := said(t, facts, baton.ItemAssistantMessage); got != "The background command "+cmd+" ended with exit code 0.\nbuilt it" {
		t.Errorf("said %q", got)
	}
	// The model learns of it with the next prompt.
	b.do("[[say on]]", baton.TurnCompleted)
	last := b.requests()[3]
	if e := last.Messages[len(last.Messages)-3]; e.Role != "event" || !strings.HasSuffix(e.Text, "built it") {
		t.Errorf("the model received %+v", last.Messages)
	}
}
