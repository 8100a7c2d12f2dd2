package decide

import (
	"fmt"
	"testing"

	"baton"
	"baton/internal/handoff"
)

// coverage of the newest provider thread of a provider.
func (p *play) conversation(provider string) *ProviderThread {
	p.t.Helper()
	for i := len(p.d.S.ProviderThreads) - 1; i >= 0; i-- {
		if pth := p.d.S.ProviderThreads[i]; pth.Provider == provider {
			return pth
		}
	}
	p.t.Fatalf("%s has no provider thread", provider)
	return nil
}

func TestSwitch(t *testing.T) {
	for _, c := range []struct {
		name     string
		before   string // providers of whole runs, one letter each
		to       string
		policy   handoff.Policy
		strategy baton.Strategy
		covered  baton.Intervals
	}{
		{"first run", "", "a", handoff.Policy{}, baton.StrategyNone, nil},
		{"same provider", "aa", "a", handoff.Policy{}, baton.StrategyNone, nil},
		{"new provider", "aa", "b", handoff.Policy{}, baton.StrategyFull, baton.Ordinals(1, 2)},
		{"back again", "aab", "a", handoff.Policy{}, baton.StrategyDelta, baton.Ordinals(3)},
		{"third", "aabba", "c", handoff.Policy{}, baton.StrategyFull, baton.Ordinals(1, 2, 3, 4, 5)},
		{"back to one that was told", "abab", "a", handoff.Policy{}, baton.StrategyDelta, baton.Ordinals(4)},
		{"full after too many deltas", "ababab", "a", handoff.Policy{ChainFull: 2}, baton.StrategyFull, baton.Ordinals(1, 2, 3, 4, 5, 6)},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay(t)
			p.policy.Handoff = c.policy
			for i, provider := range c.before {
				p.whole(fmt.Sprint("message ", i+1), string(provider))
			}
			known := len(p.d.S.ProviderThreads)
			before := len(events[baton.EventHandoffRequested](p))
			reply := p.send("now", c.to)
			requested := events[baton.EventHandoffRequested](p)[before:]
			if c.strategy == baton.StrategyNone {
				if len(requested) > 0 {
					t.Fatalf("a handoff was made: %+v", requested)
				}
				return
			}
			if len(requested) != 1 || requested[0].Strategy != c.strategy || fmt.Sprint(requested[0].Covered) != fmt.Sprint(c.covered) {
				t.Fatalf("requested %+v, want %s of %v", requested, c.strategy, c.covered)
			}
			if !p.shown(baton.ItemProviderSwitch, string(c.strategy)) {
				t.Error("the switch is not shown")
			}
			if c.strategy == baton.StrategyDelta && len(p.d.S.ProviderThreads) != known {
				t.Error("a delta went into a new conversation")
			}
			// Nothing is given before the other agent is gone.
			p.built()
			for _, x := range p.d.S.Sessions {
				if x.Provider == c.to {
					t.Fatal("an agent was started while the other agent's session lived")
				}
			}
			for _, x := range append([]*Session(nil), p.d.S.Sessions...) {
				if x.Provider != c.to {
					if x.Stopping == "" {
						t.Errorf("the session of %s was not released", x.Provider)
					}
					p.gone(x.ID)
				}
			}
			p.ready(c.to)
			in := p.given()
			if in == nil || len(in.Handoffs) != 1 || in.Message.Text != "now" {
				t.Fatalf("given: %+v", in)
			}
			p.written(reply.Run)
			p.takes(reply.Run)
			pth := p.conversation(c.to)
			if !c.covered.Minus(pth.Covered).Minus(pth.HandedOver).Empty() || !pth.Covered.Has(reply.Ordinal) {
				t.Errorf("coverage: %v natively, %v handed over", pth.Covered, pth.HandedOver)
			}
			if got := last[baton.EventHandoffChanged](p).Status; got != baton.HandoffUsed {
				t.Errorf("the handoff is %s", got)
			}
			if got := last[baton.EventTransferChanged](p).Status; got != baton.TransferConsumed {
				t.Errorf("the transfer is %s", got)
			}
			if len(p.d.S.Handoffs)+len(p.d.S.Transfers) > 0 {
				t.Error("handoff or transfer is still open")
			}
		})
	}
}

// The message waits for the other agent's end, then the session, and for the
// handoff, whenever that comes.
func TestDeliveryWaitsForAll(t *testing.T) {
	for _, order := range [][]string{{"built", "gone", "ready"}, {"gone", "ready", "built"}, {"gone", "built", "ready"}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			p := newPlay(t)
			p.whole("one", "a")
			former := p.session("a").ID
			reply := p.send("two", "b")
			if h := p.d.S.Handoffs; len(h) != 1 || h[0].Status != baton.HandoffPending {
				t.Fatalf("handoffs: %+v", h)
			}
			for i, what := range order {
				switch what {
				case "ready":
					p.ready("b")
				case "built":
					p.built()
				case "gone":
					p.gone(former)
				}
				if in := p.given(); (in != nil) != (i == 2) {
					t.Fatalf("after %s: given %+v", what, in)
				}
			}
			p.is(reply.Run, baton.RunStarting)
			p.fact(p.session("b").ID, baton.FactNotice{Text: "anything"})
			if p.given() != nil {
				t.Error("given twice")
			}
		})
	}
}

func TestHandoffFails(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	reply := p.send("two", "b")
	p.gone(p.session("a").ID)
	p.ready("b")
	p.fact("", baton.FactHandoffFailed{Handoff: p.d.S.Handoffs[0].ID, Err: baton.Errorf(baton.CodeInternal, "no room")})
	p.endedWith(reply.Run, baton.RunFailed, baton.CodeInternal)
	if n := len(events[baton.EventDeliveryOffered](p)); n != 1 { // that of the first run
		t.Errorf("%d deliveries were offered", n)
	}
	p.held(true)
	if got := last[baton.EventTransferChanged](p).Status; got != baton.TransferFailed {
		t.Errorf("the transfer is %s", got)
	}
}

// Another agent's open turn, or what it left running, makes the run wait.
func TestAnotherAgentsWork(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	a := p.session("a").ID
	p.fact(a, baton.FactDetached{Names: []string{"dev server", "watcher"}})
	reply := p.send("two", "b")
	p.is(reply.Run, baton.RunQueued)
	if got := last[baton.EventRunWaiting](p).Reason; got != "a still runs dev server, watcher" {
		t.Errorf("it waits for %q", got)
	}
	p.fact(a, baton.FactDetached{Names: []string{"watcher"}})
	p.is(reply.Run, baton.RunQueued)
	if n := len(events[baton.EventRunWaiting](p)); n != 1 {
		t.Errorf("the wait was told %d times", n)
	}
	p.fact(a, baton.FactTurnStarted{Key: "by itself"}, baton.FactDetached{})
	p.is(reply.Run, baton.RunQueued) // now an open turn
	p.end("a", baton.TurnCompleted)
	p.is(reply.Run, baton.RunStarting)
	if p.d.S.Session(a).Stopping == "" {
		t.Error("the idle session was not released")
	}
}

// The same provider's own detached work is no reason to wait.
func TestOwnDetachedWork(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.fact(p.session("a").ID, baton.FactDetached{Names: []string{"dev server"}})
	reply := p.send("two", "a")
	p.is(reply.Run, baton.RunStarting)
	if p.given() == nil {
		t.Error("the message was not given")
	}
}

// A session that is asked to go for a switch and dies while the next run
// already needs its provider again is opened anew.
func TestReleasedSessionIsNeededAgain(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	a := p.session("a").ID
	second := p.send("two", "b")
	third := p.send("three", "a")
	p.gone(a)
	p.ready("b")
	p.built()
	p.written(second.Run)
	p.takes(second.Run)
	b := p.session("b").ID
	p.end("b", baton.TurnCompleted)
	p.is(third.Run, baton.RunStarting)
	p.gone(b)
	x := p.session("a")
	if x.Resume == "" || x.Generation != 3 {
		t.Errorf("the new session: %+v", x)
	}
}

func TestIdleSessionIsReleased(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	x := p.session("a")
	key := "idle:" + string(x.ID)
	p.fact("", baton.FactDeadline{Key: key})
	if x = p.session("a"); x.Stopping != "" {
		t.Fatal("released before its time")
	}
	p.now = p.now.Add(p.policy.IdleAfter)
	p.fact(x.ID, baton.FactDetached{Names: []string{"server"}})
	p.fact("", baton.FactDeadline{Key: key})
	if x.Stopping != "" {
		t.Fatal("released with work left running")
	}
	p.fact(x.ID, baton.FactDetached{}, baton.FactRequestOpened{Key: "q", Kind: baton.RequestCommand, Title: "between turns"})
	p.now = p.now.Add(p.policy.IdleAfter)
	p.fact("", baton.FactDeadline{Key: key})
	if x.Stopping != "" {
		t.Fatal("released while it waits for an answer")
	}
	p.do(baton.CommandAnswer{Request: p.d.S.Requests[0].ID, Decision: baton.Decline})
	p.fact("", baton.FactDeadline{Key: key})
	if x.Stopping == "" || x.EndsAs != baton.SessionStopped {
		t.Fatalf("not released: %+v", x)
	}
	// A message that comes now opens it again, with the same conversation.
	reply := p.send("two", "a")
	p.gone(x.ID)
	if x = p.session("a"); x.Resume == "" {
		t.Errorf("the new session resumes nothing")
	}
	p.ready("a")
	if p.given() == nil {
		t.Error("the message was not given")
	}
	if n := p.d.S.run(reply.Run).Attempts; n != 1 {
		t.Errorf("%d attempts", n)
	}
}
