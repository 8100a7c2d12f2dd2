package decide

import (
	"testing"

	"baton"
)

// at brings a thread's first run to a stage of its life and returns it.
func (p *play) at(stage string) baton.RunID {
	p.t.Helper()
	run := p.send("one", "a").Run
	for _, s := range []string{"starting", "ready", "offered", "written", "accepted", "running", "asking"} {
		switch s {
		case "offered":
			p.ready("a") // ready and offered are one
		case "written":
			p.written(run)
		case "accepted":
			p.fact(p.session("a").ID, baton.FactDeliveryAccepted{Delivery: p.message(run)})
		case "running":
			p.fact(p.session("a").ID, baton.FactTurnStarted{Key: "turn of " + string(run), Deliveries: []baton.DeliveryID{p.message(run)}})
		case "asking":
			p.fact(p.session("a").ID, baton.FactItemOpened{Key: "i", Kind: baton.ItemAssistantMessage},
				baton.FactRequestOpened{Key: "q", Kind: baton.RequestCommand, Title: "may I?"})
		}
		if s == stage {
			return run
		}
	}
	p.t.Fatalf("no stage %s", stage)
	return ""
}

func (p *play) asked() bool {
	for _, in := range p.intents {
		if _, ok := in.Intent.(baton.IntentInterrupt); ok {
			return true
		}
	}
	return false
}

func TestStopQueueOnly(t *testing.T) {
	p := newPlay(t)
	p.running("one", "a")
	queued := p.send("two", "a")
	p.end("a", baton.TurnFailed)
	p.gone(p.session("a").ID)
	reply := p.do(baton.CommandStop{})
	if len(reply.Stopped) > 0 || p.d.S.StopEpoch != 1 {
		t.Errorf("stopped %v, epoch %d", reply.Stopped, p.d.S.StopEpoch)
	}
	p.is(queued.Run, baton.RunQueued)
	p.held(true)
}

// A run that waits for another agent's work: Stop ends that work, and the run
// stays in the held queue.
func TestStopEndsDetachedWork(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	x := p.session("a").ID
	p.fact(x, baton.FactDetached{Names: []string{"server"}})
	queued := p.send("two", "b")
	reply := p.do(baton.CommandStop{})
	if len(reply.Stopped) != 1 || reply.Stopped[0] != string(x) {
		t.Errorf("stopped %v", reply.Stopped)
	}
	p.gone(x)
	p.is(queued.Run, baton.RunQueued)
	p.do(baton.CommandResumeQueue{})
	p.is(queued.Run, baton.RunStarting)
}

func TestStop(t *testing.T) {
	for _, c := range []struct {
		stage   string
		asked   bool // else the session is stopped at once
		verdict baton.Verdict
		status  baton.RunStatus
	}{
		{"starting", false, "", baton.RunCancelled},
		{"offered", false, "", baton.RunCancelled},
		{"written", false, baton.VerdictHasNot, baton.RunCancelled},
		{"written", false, baton.VerdictHas, baton.RunInterrupted},
		{"written", false, baton.VerdictUnknown, baton.RunInterrupted},
		{"accepted", false, "", baton.RunInterrupted},
		{"running", true, "", baton.RunInterrupted},
		{"asking", true, "", baton.RunInterrupted},
	} {
		t.Run(c.stage+" "+string(c.verdict), func(t *testing.T) {
			p := newPlay(t)
			run := p.at(c.stage)
			queued := p.send("two", "a")
			x := p.session("a").ID
			reply := p.do(baton.CommandStop{})
			if len(reply.Stopped) != 1 || reply.Stopped[0] != string(run) {
				t.Errorf("stopped %v", reply.Stopped)
			}
			p.held(true)
			if p.asked() != c.asked || (p.d.S.Session(x).Stopping != "") == c.asked {
				t.Errorf("asked: %v, session: %q", p.asked(), p.d.S.Session(x).Stopping)
			}
			if p.ended(run) != nil {
				t.Error("the run has ended before its agent has")
			}
			p.do(baton.CommandStop{}) // again: nothing more
			if p.asked() {
				t.Error("asked twice")
			}
			if c.asked {
				p.end("a", baton.TurnInterrupted)
				p.endedWith(run, baton.RunInterrupted, "")
				if p.d.S.Session(x).Stopping == "" {
					t.Error("what the agent may have left running goes on")
				}
			}
			p.gone(x)
			p.settle(c.verdict)
			p.endedWith(run, c.status, "")
			p.is(queued.Run, baton.RunQueued)
			if len(p.d.S.Sessions) > 0 {
				t.Error("a session was opened after the stop")
			}
			if n := len(p.d.S.Requests) + len(p.d.S.Items) + len(p.d.S.Deliveries); n > 0 {
				t.Errorf("%d things are still open", n)
			}
		})
	}
}

// settle answers the questions for evidence.
func (p *play) settle(v baton.Verdict) {
	p.t.Helper()
	open := 0
	for _, e := range effects[baton.EffectFindEvidence](p) {
		if d := p.d.S.delivery(e.Delivery); d != nil && d.Status == baton.DeliveryUncertain {
			open++
			p.fact("", baton.FactEvidence{Delivery: e.Delivery, Verdict: v, Detail: "looked"})
		}
	}
	if (open > 0) != (v != "") {
		p.t.Errorf("evidence was sought for %d deliveries", open)
	}
}

// The turn begins after the stop: it is asked to end.
func TestStopOvertakesTheTurn(t *testing.T) {
	p := newPlay(t)
	run := p.at("accepted")
	p.do(baton.CommandStop{})
	p.fact(p.session("a").ID, baton.FactTurnStarted{Key: "t", Deliveries: []baton.DeliveryID{p.message(run)}})
	if !p.asked() {
		t.Error("the turn goes on after the stop")
	}
	p.end("a", baton.TurnInterrupted)
	p.endedWith(run, baton.RunInterrupted, "")
}

// An agent that does not end its turn when asked is stopped.
func TestInterruptDeadline(t *testing.T) {
	p := newPlay(t)
	run := p.at("running")
	x := p.session("a")
	p.do(baton.CommandStop{})
	key := "interrupt:" + string(run)
	p.fact("", baton.FactDeadline{Key: key})
	if x.Stopping != "" {
		t.Fatal("stopped before its time")
	}
	dl := p.d.S.Deadlines(p.policy)
	if len(dl) != 1 || dl[0].Key != key || !dl[0].At.Equal(p.now.Add(p.policy.InterruptGrace)) {
		t.Fatalf("deadlines %v", dl)
	}
	p.now = dl[0].At
	p.fact("", baton.FactDeadline{Key: key})
	if x.Stopping == "" || last[baton.EventInterruptRequested](p).Stage != "stop_session" {
		t.Fatalf("not stopped: %+v", x)
	}
	p.fact("", baton.FactDeadline{Key: key})
	if n := len(effects[baton.EffectStopSession](p)); n != 1 {
		t.Errorf("stopped %d times", n)
	}
	p.gone(x.ID)
	p.settle("")
	p.endedWith(run, baton.RunInterrupted, "")
}

// An agent that can't interrupt loses its session.
func TestStopWithoutInterrupt(t *testing.T) {
	p := newPlay(t)
	p.caps.Interrupt = false
	run := p.at("running")
	p.do(baton.CommandStop{})
	if p.asked() || p.session("a").Stopping == "" {
		t.Error("the agent was asked for what it can't do")
	}
	p.gone(p.session("a").ID)
	p.endedWith(run, baton.RunInterrupted, "")
}

// Stop while evidence is sought: the run does not start again.
func TestStopWhileUncertain(t *testing.T) {
	for verdict, want := range map[baton.Verdict]baton.RunStatus{baton.VerdictHas: baton.RunInterrupted, baton.VerdictHasNot: baton.RunCancelled,
		baton.VerdictUnknown: baton.RunInterrupted} {
		t.Run(string(verdict), func(t *testing.T) {
			p := newPlay(t)
			run := p.at("written")
			p.gone(p.session("a").ID)
			p.do(baton.CommandStop{})
			p.is(run, baton.RunStarting)
			p.settle(verdict)
			p.endedWith(run, want, "")
		})
	}
}

// A message after a stop starts at once and leaves the held ones where they are.
func TestMessageAfterStop(t *testing.T) {
	p := newPlay(t)
	run := p.at("running")
	queued := p.send("two", "a")
	p.do(baton.CommandStop{})
	p.end("a", baton.TurnInterrupted)
	p.is(run, baton.RunInterrupted)
	next := p.send("three", "a")
	p.is(next.Run, baton.RunStarting)
	p.gone(p.session("a").ID)
	if x := p.session("a"); x.Resume == "" {
		t.Errorf("%+v", x)
	}
	p.ready("a")
	if in := p.given(); in == nil || in.Message.Text != "three" {
		t.Errorf("given %+v", in)
	}
	p.is(queued.Run, baton.RunQueued)
}
