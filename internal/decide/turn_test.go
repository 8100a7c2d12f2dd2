package decide

import (
	"testing"

	"baton"
)

// Coverage grows when the agent has the message, not when it is given.
func TestAcceptanceIsCoverage(t *testing.T) {
	p := newPlay(t)
	reply := p.send("one", "a")
	p.ready("a")
	p.written(reply.Run)
	pth := p.conversation("a")
	if !pth.Covered.Empty() || pth.Native.ID != "" {
		t.Fatalf("before acceptance: %+v", pth)
	}
	p.fact(p.session("a").ID, baton.FactDeliveryAccepted{Delivery: p.message(reply.Run), Evidence: "it says so"})
	if !pth.Covered.Has(1) || pth.Native != (baton.NativeRef{ID: p.session("a").NewID, Strength: baton.Strong}) {
		t.Errorf("after acceptance: %+v", pth)
	}
	before := len(p.d.Out.Events)
	p.fact(p.session("a").ID, baton.FactDeliveryAccepted{Delivery: p.message(reply.Run)}, baton.FactWritten{Deliveries: p.deliveries(reply.Run)})
	if len(p.d.Out.Events) != before {
		t.Error("the second acceptance changed something")
	}
}

// An agent that tells only at the end of its turn what it took.
func TestAcceptedAtTheEnd(t *testing.T) {
	p := newPlay(t)
	reply := p.send("one", "a")
	p.ready("a")
	p.written(reply.Run)
	x, m := p.session("a").ID, p.message(reply.Run)
	p.fact(x, baton.FactTurnStarted{Key: "t", Deliveries: []baton.DeliveryID{m}})
	p.is(reply.Run, baton.RunRunning)
	if !p.conversation("a").Covered.Empty() {
		t.Error("covered before it was accepted")
	}
	p.fact(x, baton.FactDeliveryAccepted{Delivery: m}, baton.FactDeliveryConsumed{Delivery: m, TurnKey: "t"},
		baton.FactTurnEnded{Key: "t", Status: baton.TurnCompleted})
	p.endedWith(reply.Run, baton.RunCompleted, "")
	if p.fate(m) != baton.DeliveryConsumed || !p.conversation("a").Covered.Has(1) {
		t.Errorf("the message is %s, coverage %v", p.fate(m), p.conversation("a").Covered)
	}
}

// A turn of another run takes the message: that run keeps it.
func TestAbsorbed(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	x := p.session("a").ID
	reply := p.send("two", "a")
	m := p.message(reply.Run)
	p.written(reply.Run)
	p.fact(x, baton.FactTurnStarted{Key: "by itself"}) // before it has read the message
	background := last[baton.EventRunQueued](p)
	if background.Trigger != baton.TriggerBackground || background.Ordinal != 3 {
		t.Fatalf("background run: %+v", background)
	}
	p.fact(x, baton.FactDeliveryConsumed{Delivery: m, TurnKey: "by itself"})
	p.endedWith(reply.Run, baton.RunCancelled, "")
	if got := last[baton.EventRunFinalizing](p); got.AbsorbedBy != background.Run {
		t.Errorf("absorbed by %q", got.AbsorbedBy)
	}
	if got := last[baton.EventDeliveryChanged](p); got.Status != baton.DeliveryConsumed || got.Run != background.Run {
		t.Errorf("the delivery: %+v", got)
	}
	p.held(false)
	if p.d.S.Surviving.Has(2) {
		t.Error("a run without a turn counts for coverage")
	}
	if !p.shown(baton.ItemNotice, "message of run 2 was taken into this turn") {
		t.Error("nothing is shown")
	}
	p.end("a", baton.TurnCompleted)
	p.endedWith(background.Run, baton.RunCompleted, "")
}

// A turn that nobody asked for makes its own run, which Stop and coverage know.
func TestBackgroundRun(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	x := p.session("a").ID
	p.fact(x, baton.FactTurnStarted{Key: "by itself"})
	r := p.d.S.ActiveRun()
	if r == nil || r.Trigger != baton.TriggerBackground || r.Status != baton.RunRunning || r.Attempt.Status != baton.AttemptRunning {
		t.Fatalf("%+v", r)
	}
	if !p.conversation("a").Covered.Has(2) {
		t.Error("its own turn is not covered")
	}
	queued := p.send("two", "")
	p.is(queued.Run, baton.RunQueued)
	p.fact(x, baton.FactItemOpened{Key: "i", Kind: baton.ItemAssistantMessage, Body: baton.ItemBody{Text: "done"}})
	if got := last[baton.EventItemOpened](p).Run; got != r.ID {
		t.Errorf("what it says belongs to %s", got)
	}
	id := r.ID
	p.end("a", baton.TurnCompleted)
	p.endedWith(id, baton.RunCompleted, "")
	p.is(queued.Run, baton.RunStarting)
}

// A turn begins while the run's message waits at the session: the message is
// given when that turn has ended.
func TestBackgroundTurnFirst(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	x := p.session("a").ID
	p.fact(x, baton.FactDetached{Names: []string{"job"}})
	p.now = p.now.Add(p.policy.IdleAfter)
	p.fact(x, baton.FactTurnStarted{Key: "by itself"})
	second := p.send("two", "a")
	p.end("a", baton.TurnCompleted)
	if in := p.given(); in == nil || in.Message.Text != "two" {
		t.Errorf("given %+v", in)
	}
	p.is(second.Run, baton.RunStarting)
}

func TestLateEndChangesNothing(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	reply := p.running("two", "a")
	before := len(p.d.Out.Events)
	p.fact(p.session("a").ID, baton.FactTurnEnded{Key: "turn of run_1", Status: baton.TurnFailed},
		baton.FactDeliveryConsumed{Delivery: "dlv_1", TurnKey: "turn of run_1"}, baton.FactDeliveryAccepted{Delivery: "dlv_1"},
		baton.FactDeliveryDropped{Delivery: "dlv_1"}, baton.FactItemDelta{Key: "old", Text: "x"}, baton.FactItemReset{Key: "old"},
		baton.FactItemClosed{Key: "old", Status: baton.NodeCompleted}, baton.FactRequestGone{Key: "old"})
	p.fact("ses_of_another_life", baton.FactTurnEnded{Key: "turn of run_2", Status: baton.TurnFailed}, baton.FactSessionGone{},
		baton.FactTurnStarted{Key: "x"})
	if got := p.d.Out.Events[before:]; len(got) > 0 {
		t.Errorf("late facts changed something: %v", got)
	}
	p.is(reply.Run, baton.RunRunning)
}

// A new turn while the former is open: its end was never told.
func TestTurnInsteadOfAnother(t *testing.T) {
	p := newPlay(t)
	first := p.running("one", "a")
	p.fact(p.session("a").ID, baton.FactTurnStarted{Key: "next"})
	p.endedWith(first.Run, baton.RunInterrupted, "")
	if r := p.d.S.ActiveRun(); r == nil || r.Trigger != baton.TriggerBackground {
		t.Errorf("active: %+v", r)
	}
}

func TestBadEndHoldsTheQueue(t *testing.T) {
	for _, c := range []struct {
		turn baton.TurnStatus
		run  baton.RunStatus
		held bool
		item baton.ItemKind
	}{
		{baton.TurnCompleted, baton.RunCompleted, false, ""},
		{baton.TurnFailed, baton.RunFailed, true, baton.ItemError},
		{baton.TurnInterrupted, baton.RunInterrupted, true, baton.ItemInterrupted},
		{baton.TurnCancelled, baton.RunInterrupted, true, baton.ItemInterrupted},
	} {
		t.Run(string(c.turn), func(t *testing.T) {
			p := newPlay(t)
			first := p.running("one", "a")
			second := p.send("two", "a")
			var err *baton.Error
			if c.turn == baton.TurnFailed {
				err = baton.Errorf(baton.CodeRateLimited, "too much")
			}
			p.fact(p.session("a").ID, baton.FactTurnEnded{Key: "turn of run_1", Status: c.turn, Err: err, Usage: baton.Usage{InputTokens: 7}})
			p.is(first.Run, c.run)
			p.held(c.held)
			if e := p.ended(first.Run); e.Usage.InputTokens != 7 || (e.Err == nil) != (err == nil) {
				t.Errorf("ended: %+v", e)
			}
			want := baton.RunStarting
			if c.held {
				want = baton.RunQueued
			}
			p.is(second.Run, want)
			if c.item != "" && !p.shown(c.item, "") {
				t.Errorf("no %s is shown", c.item)
			}
		})
	}
}

// The barrier: text is closed, requests expire, the attempt ends, then the run.
func TestBarrierOrder(t *testing.T) {
	p := newPlay(t)
	reply := p.running("one", "a")
	x := p.session("a").ID
	p.fact(x, baton.FactItemOpened{Key: "i", Kind: baton.ItemAssistantMessage}, baton.FactItemDelta{Key: "i", Text: "half"},
		baton.FactRequestOpened{Key: "q", Kind: baton.RequestCommand, Title: "may I?"})
	before := len(p.d.Out.Events)
	p.end("a", baton.TurnCompleted)
	var got []string
	for _, e := range p.d.Out.Events[before:] {
		got = append(got, e.Data.EventType())
	}
	want := []string{"provider_turn.ended", "item.closed", "item.closed", "request.expired", "attempt.ended", "run.finalizing", "run.ended"}
	if len(got) != len(want) {
		t.Fatalf("events %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("events %v, want %v", got, want)
		}
	}
	if e := p.ended(reply.Run); e.Answer == "" {
		t.Error("the half answer is not the run's")
	}
}

func TestRefusedMessage(t *testing.T) {
	p := newPlay(t)
	reply := p.send("one", "a")
	p.ready("a")
	p.written(reply.Run)
	p.fact(p.session("a").ID, baton.FactDeliveryDropped{Delivery: p.message(reply.Run), Err: baton.Errorf(baton.CodeContextTooLong, "too long")})
	p.endedWith(reply.Run, baton.RunFailed, baton.CodeContextTooLong)
	p.held(true)
	if !p.conversation("a").Covered.Empty() {
		t.Error("the refused message is covered")
	}
}

func TestForeignTurns(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.gone(p.session("a").ID)
	reply := p.send("two", "a")
	x := p.session("a")
	old := p.conversation("a")
	p.fact(x.ID, baton.FactForeignTurns{Detail: "2 turns"})
	if !old.Divergent || !p.shown(baton.ItemNotice, "2 turns") {
		t.Errorf("%+v", old)
	}
	// The run goes to a conversation that holds nothing else.
	if x.Stopping == "" {
		t.Error("the session of the foreign conversation goes on")
	}
	if got := last[baton.EventHandoffRequested](p); got.Strategy != baton.StrategyFull || got.Run != reply.Run {
		t.Errorf("%+v", got)
	}
	p.gone(x.ID)
	now := p.conversation("a")
	if now.ID == x.ProviderThread || now.Divergent || p.session("a").Resume != "" {
		t.Errorf("%+v, resumed from %q", now, p.session("a").Resume)
	}
}

// A turn that is open already goes on; the next run goes elsewhere.
func TestForeignTurnsInATurn(t *testing.T) {
	p := newPlay(t)
	first := p.running("one", "a")
	x := p.session("a")
	p.fact(x.ID, baton.FactForeignTurns{Detail: "2 turns"})
	p.is(first.Run, baton.RunRunning)
	if x.Stopping != "" || !p.conversation("a").Divergent {
		t.Errorf("stopping %q, divergent %v", x.Stopping, p.conversation("a").Divergent)
	}
	p.end("a", baton.TurnCompleted)
	p.send("two", "a")
	if got := last[baton.EventHandoffRequested](p); got.Strategy != baton.StrategyFull {
		t.Errorf("%+v", got)
	}
}
