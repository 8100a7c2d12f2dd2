package claude_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/claude"
)

const handoffText = "<handoff>\nrun 1 said: \"@a.txt\" & 100 % — 日本語\n</handoff>"

// A handoff and the message are two blocks of one request, byte for byte.
func TestLiveHandoff(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	id := l.say("and now?", "/help\n"+handoffText, handoffText)
	s := next[baton.FactTurnStarted](l)
	l.Ended(baton.TurnCompleted)
	if len(s.Deliveries) != 3 || s.Deliveries[2] != id {
		t.Errorf("the turn took %v", s.Deliveries)
	}
	var texts []string
	for _, block := range b.lastRequest().Texts() {
		if block.Role == "user" && !strings.HasPrefix(block.Text, "<system-reminder>") {
			texts = append(texts, block.Text)
		}
	}
	const mark = "[MESSAGE FROM NON-USER SOURCE - NOT USER INPUT]\n"
	want := []string{mark + "/help\n" + handoffText + "\n", mark + handoffText + "\n", "and now?"}
	if !slices.Equal(texts, want) || len(b.model.Requests()) != 1 {
		t.Errorf("%d requests; the model read\n%q\nwant\n%q", len(b.model.Requests()), texts, want)
	}
	if n := strings.Count(l.Show(), "FactDeliveryConsumed"); n != 3 {
		t.Errorf("%d deliveries consumed; facts:\n%s", n, l.Show())
	}
	l.CloseStdin()
	l.save("handoff")
}

func TestLivePlainText(t *testing.T) {
	b := newBench(t)
	if err := os.WriteFile(filepath.Join(b.dir, "a.txt"), []byte("SECRET"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := b.start(nil)
	for _, text := range []string{"/help", "/compact", "look at @a.txt", "!ls", "# note", "/a\n@b"} {
		l.say(text)
		l.Ended(baton.TurnCompleted)
		if got := b.lastRequest().UserTexts(); got[len(got)-1] != text {
			t.Errorf("%q reached the model as %q", text, got[len(got)-1])
		}
	}
	if n := b.lastRequest().Has("SECRET"); n != 0 {
		t.Error("a file was read that nobody asked to read")
	}
}

func TestLiveFailure(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	for status, want := range map[string]baton.Code{"429": baton.CodeRateLimited, "401": baton.CodeUnauthorized, "500": baton.CodeAgentFailed} {
		l.say("[[fail " + status + "]]")
		if e := l.Ended(baton.TurnFailed); e.Err.Code != want {
			t.Errorf("%s: %+v", status, e.Err)
		}
	}
	l.say("go on")
	l.Ended(baton.TurnCompleted)
	if n := strings.Count(l.Show(), "FactDeliveryConsumed"); n != 4 {
		t.Errorf("%d of 4 messages consumed", n)
	}
	l.check()
}

// A request that fails is told as a notice, and made again.
func TestLiveRetry(t *testing.T) {
	b := newBench(t)
	b.home.Env["CLAUDE_CODE_MAX_RETRIES"] = "3"
	l := b.start(nil)
	l.say("[[cut until again]] [[say whole]]")
	if n := next[baton.FactNotice](l); n.Code != baton.CodeModelUnreachable {
		t.Errorf("notice: %+v", n)
	}
	b.model.Release("again")
	l.Ended(baton.TurnCompleted)
	if c := l.closed(baton.ItemAssistantMessage); c.Body.Text != "whole" {
		t.Errorf("answer: %+v", c)
	}
	l.check()
}

func TestLiveInterruptStream(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say("[[say half of it]] [[gate g]] [[say never]]")
	s := next[baton.FactTurnStarted](l)
	next[baton.FactItemDelta](l)
	b.until("the gate", b.model.Waiting("g"))
	l.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}})
	l.Ended(baton.TurnInterrupted)
	if c := l.closed(baton.ItemAssistantMessage); !strings.HasPrefix(c.Body.Text, "half") {
		t.Errorf("the partial answer: %+v", c)
	}
	l.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}}) // too late: it must not hit the next turn
	l.say("go on")
	l.Ended(baton.TurnCompleted)
	l.check()
}

// An interrupt before a word of the model: claude has the message all the same.
func TestLiveInterruptEarly(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	id := l.say("[[gate g]] [[say never]]")
	s := next[baton.FactTurnStarted](l)
	b.until("the gate", b.model.Waiting("g"))
	l.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}})
	if a := next[baton.FactDeliveryAccepted](l); a.Delivery != id {
		t.Errorf("accepted %v", a)
	}
	l.Signal(os.Kill)
	<-l.Exited()
	b.evidence(id, baton.VerdictHas)
}

func TestLiveInterruptTool(t *testing.T) {
	b := newBench(t)
	b.fifo("up")
	b.fifo("never")
	l := b.start(nil)
	l.say("[[run echo up > up; cat never]] [[say never]]")
	s := next[baton.FactTurnStarted](l)
	l.answer(next[baton.FactRequestOpened](l), nil)
	b.hear("up")
	l.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}})
	l.Ended(baton.TurnInterrupted)
	if c := l.closed(baton.ItemCommand); c.Status != baton.NodeInterrupted {
		t.Errorf("command: %+v", c)
	}
	l.CloseStdin()
	l.save("interrupt-tool")
}

func TestLiveInterruptRequest(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say("[[run touch a.txt]] [[say never]]")
	s := next[baton.FactTurnStarted](l)
	r := next[baton.FactRequestOpened](l)
	l.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}})
	if g := next[baton.FactRequestGone](l); g.Key != r.Key {
		t.Errorf("gone: %+v", g)
	}
	l.Ended(baton.TurnInterrupted)
	l.answer(r, nil)
	if d := next[baton.FactDeliveryDropped](l); d.Err.Code != baton.CodeNotResumable {
		t.Errorf("the late answer: %+v", d)
	}
	l.check()
}

// A message that comes while a tool runs is folded into the open turn.
func TestLiveFold(t *testing.T) {
	b := newBench(t)
	b.fifo("up")
	b.fifo("go")
	l := b.start(nil)
	l.say("[[run echo up > up; cat go]] [[say never]]")
	s := next[baton.FactTurnStarted](l)
	l.answer(next[baton.FactRequestOpened](l), nil)
	b.hear("up")
	id := l.say("[[say steered]]")
	l.WaitFrame(b.ctx, "the queued message", func(line string) bool {
		return strings.Contains(line, `"queued"`) && strings.Contains(line, baton.UUID(id))
	})
	b.tell("go")
	l.Read("the fold", func(f baton.Fact) bool {
		c, ok := f.(baton.FactDeliveryConsumed)
		return ok && c.Delivery == id && c.TurnKey == s.Key
	})
	l.Ended(baton.TurnCompleted)
	l.CloseStdin()
	l.save("fold")
	b.evidence(id, baton.VerdictHas)
	if n := strings.Count(l.Show(), "FactTurnStarted"); n != 1 {
		t.Errorf("%d turns", n)
	}
}

// An interrupt withdraws what waits behind the turn.
func TestLiveWithdrawn(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say("[[say half]] [[gate g]]")
	s := next[baton.FactTurnStarted](l)
	b.until("the gate", b.model.Waiting("g"))
	id := l.say("and this?")
	l.WaitFrame(b.ctx, "the queued message", func(line string) bool {
		return strings.Contains(line, `"queued"`) && strings.Contains(line, baton.UUID(id))
	})
	l.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}})
	if d := next[baton.FactDeliveryDropped](l); d.Delivery != id {
		t.Errorf("dropped %+v", d)
	}
	l.Ended(baton.TurnInterrupted)
	l.CloseStdin()
	l.save("withdrawn")
	b.evidence(id, baton.VerdictHasNot)
}

func TestLiveResume(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say("remember the number 4711", handoffText)
	l.Ended(baton.TurnCompleted)
	l.CloseStdin()

	resume := func(s *agent.Spec) { s.NativeID, s.NewID = b.opts.NewID, "" }
	again := b.spawn(resume)
	if r := next[baton.FactSessionReady](again); !r.Resumed || r.NativeID != b.opts.NewID {
		t.Errorf("ready: %+v", r)
	}
	again.say("which number?")
	again.Ended(baton.TurnCompleted)
	if b.lastRequest().Has("4711") != 2 || b.lastRequest().Has("日本語") != 1 { // said, and echoed
		t.Error("the resumed conversation lacks what was said before")
	}
	again.CloseStdin()

	files, err := filepath.Glob(filepath.Join(b.home.Home, "projects", "*", b.opts.NewID+".jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("transcripts: %v, %v", files, err)
	}
	if err := os.Remove(files[0]); err != nil {
		t.Fatal(err)
	}
	lost := b.spawn(resume)
	if f := next[baton.FactResumeFailed](lost); f.Class != baton.ResumeNotFound {
		t.Errorf("resume failed: %+v", f)
	}
	<-lost.Exited()
	lost.save("resume-lost")
}

// Model and mode change before the next message, in the same process.
func TestLiveSettings(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	l.say("one")
	l.Ended(baton.TurnCompleted)
	i := baton.IntentDeliver{Message: baton.Payload{Delivery: b.id(), Text: "[[write a.txt\\nx]] [[say two]]"},
		Settings: baton.Settings{Model: "claude-haiku-4-5", PermissionMode: "accept-edits"}}
	l.Step(agent.Input{Intent: i})
	l.Ended(baton.TurnCompleted)
	if got := b.lastRequest().Model; !strings.Contains(got, "haiku") {
		t.Errorf("the model is %s", got)
	}
	if b.file("a.txt") != "x\n" || strings.Contains(l.Show(), "FactRequestOpened") {
		t.Errorf("the edit was not made without a question; facts:\n%s", l.Show())
	}
	l.check()
}

// What a repository wants run with the agent is run only for a trusted project.
func TestLiveTrust(t *testing.T) {
	for name, trusted := range map[string]bool{"untrusted": false, "trusted": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			config := `{"mcpServers":{"evil":{"command":"/bin/sh","args":["-c","touch ` + filepath.Join(b.dir, "ran") + `"]}}}`
			if err := os.WriteFile(filepath.Join(b.dir, ".mcp.json"), []byte(config), 0o600); err != nil {
				t.Fatal(err)
			}
			l := b.start(func(s *agent.Spec) { s.Trusted = trusted })
			l.say("hello")
			l.Ended(baton.TurnCompleted)
			l.CloseStdin()
			if _, err := os.Stat(filepath.Join(b.dir, "ran")); (err == nil) != trusted {
				t.Errorf("the repository's server ran: %v", err == nil)
			}
		})
	}
}

func (b *bench) evidence(id baton.DeliveryID, want baton.Verdict) {
	b.t.Helper()
	got, why := claude.Driver{}.FindEvidence(agent.EvidenceQuery{Delivery: id, NativeID: b.opts.NewID, Dir: b.dir, Env: b.home.Env, New: true})
	if got != want {
		b.t.Errorf("evidence of %s: %s (%s), want %s", id, got, why, want)
	}
}
