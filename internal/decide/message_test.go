package decide

import (
	"strings"
	"testing"

	"baton"
)

func TestMessageStarts(t *testing.T) {
	p := newPlay(t)
	if n := len(p.d.Out.Events); n != 1 {
		t.Fatalf("creating a thread gave %d events, want its own only", n)
	}
	reply := p.send("hello there\nsecond line", "")
	if reply.Queued || reply.Ordinal != 1 || reply.Thread != p.d.S.ID {
		t.Errorf("reply %+v", reply)
	}
	p.is(reply.Run, baton.RunStarting)
	if p.d.S.Title != "hello there" {
		t.Errorf("the title is %q", p.d.S.Title)
	}
	if n := len(effects[baton.EffectOpenSession](p)); n != 1 {
		t.Errorf("%d sessions were opened", n)
	}
	p.ready("a")
	in := p.given()
	if in == nil || in.Message.Text != "hello there\nsecond line" || len(in.Handoffs) > 0 {
		t.Fatalf("given: %+v", in)
	}
	p.written(reply.Run)
	p.takes(reply.Run)
	p.end("a", baton.TurnCompleted)
	p.endedWith(reply.Run, baton.RunCompleted, "")
	p.held(false)
}

func TestMessageQueuesBehind(t *testing.T) {
	p := newPlay(t)
	first := p.running("one", "a")
	second := p.send("two", "")
	third := p.send("three", "b")
	if !second.Queued || !third.Queued || third.Ordinal != 3 {
		t.Errorf("replies %+v %+v", second, third)
	}
	p.is(second.Run, baton.RunQueued)
	p.end("a", baton.TurnCompleted)
	p.is(first.Run, baton.RunCompleted)
	p.is(second.Run, baton.RunStarting)
	if in := p.given(); in == nil || in.Message.Text != "two" {
		t.Errorf("the ready session was given %+v", in)
	}
	p.is(third.Run, baton.RunQueued)
}

func TestHeldQueueStaysHeld(t *testing.T) {
	p := newPlay(t)
	p.running("one", "a")
	held := p.send("two", "")
	p.end("a", baton.TurnFailed)
	p.held(true)
	p.is(held.Run, baton.RunQueued)

	// A message starts past what is held, which stays.
	now := p.send("three", "")
	if now.Queued {
		t.Error("the message was queued")
	}
	p.is(now.Run, baton.RunStarting)
	p.written(now.Run)
	p.takes(now.Run)
	p.end("a", baton.TurnCompleted)
	p.is(now.Run, baton.RunCompleted)
	p.is(held.Run, baton.RunQueued)
	p.held(true)

	p.do(baton.CommandResumeQueue{})
	p.held(false)
	p.is(held.Run, baton.RunStarting)
}

func TestHeldEmptyQueueIsFreedByAMessage(t *testing.T) {
	p := newPlay(t)
	p.running("one", "a")
	p.end("a", baton.TurnFailed)
	p.held(true)
	p.send("two", "")
	p.held(false)
}

// A message does not overtake one that waits for another agent's work.
func TestMessageBehindAWaitingRun(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.fact(p.session("a").ID, baton.FactDetached{Names: []string{"dev server"}})
	waits := p.send("two", "b")
	p.is(waits.Run, baton.RunQueued)
	if !waits.Queued {
		t.Error("the reply does not say that the message waits")
	}
	behind := p.send("three", "a")
	p.is(behind.Run, baton.RunQueued)
	p.fact(p.session("a").ID, baton.FactDetached{})
	p.is(waits.Run, baton.RunStarting)
	p.is(behind.Run, baton.RunQueued)
}

// A message on a held queue that has to wait for another agent's work starts
// when that has ended, past what is held; a Stop holds it with the rest.
func TestMessageOnAHeldQueueWaits(t *testing.T) {
	for _, stop := range []bool{false, true} {
		p := newPlay(t)
		p.running("one", "a")
		held := p.send("two", "a")
		x := p.session("a").ID
		p.fact(x, baton.FactDetached{Names: []string{"server"}})
		p.end("a", baton.TurnFailed)
		waits := p.send("three", "b")
		if p.is(waits.Run, baton.RunQueued); !waits.Queued {
			t.Error("the reply does not say that the message waits")
		}
		want := baton.RunStarting
		if stop {
			p.do(baton.CommandStop{})
			p.gone(x)
			want = baton.RunQueued
		} else {
			p.fact(x, baton.FactDetached{})
		}
		p.is(waits.Run, want)
		p.is(held.Run, baton.RunQueued)
		p.held(true)
	}
}

func TestMessageRefused(t *testing.T) {
	p := newPlay(t)
	p.refused(baton.CommandSend{Text: " \n"}, baton.CodeMessageEmpty)
	p.refused(baton.CommandSend{Text: "a\x00b"}, baton.CodeMessageText)
	p.refused(baton.CommandSend{Text: "a\xff"}, baton.CodeMessageText)
	p.refused(baton.CommandSend{Text: strings.Repeat("x", baton.MaxMessage+1)}, baton.CodeMessageTooLarge)
	p.refused(baton.CommandSend{Text: "x", Provider: "none"}, baton.CodeUnknownProvider)
	p.refused(baton.CommandCreateThread{Dir: "/w"}, baton.CodeConflict)
	d := NewDecider(&State{}, 1)
	d.Begin(p.env(), baton.ActorPerson, baton.Cause{})
	if _, err := d.Command(baton.Command{Thread: "thr_2", Data: baton.CommandStop{}}); baton.ErrorCode(err) != baton.CodeNotFound {
		t.Errorf("a command for a thread that does not exist: %v", err)
	}
}

func TestProviderChoice(t *testing.T) {
	p := newPlay(t)
	choose := func(asked, want string) baton.RunID {
		t.Helper()
		reply := p.send("x", asked)
		if got := p.d.S.run(reply.Run).Provider; got != want {
			t.Errorf("asked for %q: %s, want %s", asked, got, want)
		}
		return reply.Run
	}
	choose("", "a")  // the thread's
	choose("b", "b") // the one asked for
	choose("", "b")  // that of the newest message, though it only waits
	choose("a", "a")

	p = newPlay(t)
	p.whole("one", "b")
	choose("", "b") // that of the newest run that started

	p = &play{t: t, d: NewDecider(&State{}, 1), ids: map[string]int{}}
	p.do(baton.CommandCreateThread{Dir: "/w"})
	choose("", "a") // the default
}

func TestSettingsAreCarried(t *testing.T) {
	p := newPlay(t)
	settings := func(data baton.CommandSend) baton.Settings {
		data.Text = "x"
		return p.d.S.run(p.do(data).Run).Settings
	}
	// The thread's, then the provider's.
	if got, want := settings(baton.CommandSend{}), (baton.Settings{Model: "thread-model", Effort: "high", PermissionMode: "of-a"}); got != want {
		t.Errorf("first: %+v, want %+v", got, want)
	}
	p.ready("a")
	p.takes("run_1")
	p.end("a", baton.TurnCompleted)
	// The message's own come first and stay for the next.
	if got := settings(baton.CommandSend{Settings: baton.Settings{Model: "m2", PermissionMode: "plan"}}); got != (baton.Settings{Model: "m2", Effort: "high", PermissionMode: "plan"}) {
		t.Errorf("asked for: %+v", got)
	}
	if in := p.given(); in == nil || in.Settings.Model != "m2" {
		t.Errorf("the agent is told %+v", in)
	}
	p.takes("run_2")
	p.end("a", baton.TurnCompleted)
	if got := settings(baton.CommandSend{}); got.Model != "m2" || got.PermissionMode != "plan" {
		t.Errorf("carried: %+v", got)
	}
	p.takes("run_3")
	p.end("a", baton.TurnCompleted)
	// Another provider takes neither the model of the former nor of the thread.
	if got := settings(baton.CommandSend{Provider: "b"}); got != (baton.Settings{Model: "model-b", Effort: "high", PermissionMode: "of-b"}) {
		t.Errorf("of another provider: %+v", got)
	}
}

func TestTitleOf(t *testing.T) {
	for text, want := range map[string]string{
		"  a\nb":                         "a",
		strings.Repeat("ü", 72):          strings.Repeat("ü", 72),
		strings.Repeat("ü", 73):          strings.Repeat("ü", 71) + "…",
		strings.Repeat("x", 70) + "   y": strings.Repeat("x", 70) + "…",
	} {
		if got := TitleOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
