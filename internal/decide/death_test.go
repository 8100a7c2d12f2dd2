package decide

import (
	"strings"
	"testing"

	"baton"
)

// The agent's process ends by itself, in each stage of a run.
func TestAgentDies(t *testing.T) {
	const again = baton.RunStatus("again")
	for _, c := range []struct {
		stage   string
		verdict baton.Verdict
		status  baton.RunStatus
		code    baton.Code
	}{
		{"starting", "", again, ""},
		{"offered", "", again, ""},
		{"written", baton.VerdictHasNot, again, ""},
		{"written", baton.VerdictHas, baton.RunInterrupted, baton.CodeAgentDied},
		{"written", baton.VerdictUnknown, again, ""},
		{"accepted", "", baton.RunInterrupted, baton.CodeAgentDied},
		{"running", "", baton.RunInterrupted, baton.CodeAgentDied},
		{"asking", "", baton.RunInterrupted, baton.CodeAgentDied},
	} {
		t.Run(c.stage+" "+string(c.verdict), func(t *testing.T) {
			p := newPlay(t)
			run := p.at(c.stage)
			x := p.session("a").ID
			var message baton.DeliveryID
			if c.stage != "starting" {
				message = p.message(run)
			}
			p.fact(x, baton.FactSessionGone{Detail: "exit status 1", LeftOver: []string{"node"}})
			if c.verdict != "" {
				p.is(run, baton.RunStarting)
				if n := len(p.d.S.Sessions); n > 0 {
					t.Fatal("a session was opened before the evidence is there")
				}
			}
			p.settle(c.verdict)
			if got := last[baton.EventSessionEnded](p); got.Session != x || got.Status != baton.SessionError || !strings.Contains(got.Reason, "exit status 1") {
				t.Errorf("session ended: %+v", got)
			}
			if !p.shown(baton.ItemNotice, "node") {
				t.Error("what was left over is not shown")
			}
			if c.status != again {
				p.endedWith(run, c.status, c.code)
				p.held(true)
				if !p.conversation("a").Covered.Has(1) {
					t.Error("what the agent has is not covered")
				}
				return
			}
			// Once more, with the same message, exactly once.
			p.is(run, baton.RunStarting)
			if r := p.d.S.run(run); r.Attempts != 2 || last[baton.EventAttemptCreated](p).Reason != baton.AttemptProviderRecovery {
				t.Errorf("attempts %d: %+v", r.Attempts, last[baton.EventAttemptCreated](p))
			}
			if message != "" && p.fate(message) != baton.DeliveryDropped {
				t.Errorf("the first delivery is %s", p.fate(message))
			}
			if got, want := p.conversation("a").Divergent, false; got != want {
				t.Errorf("the second attempt goes into a divergent conversation")
			}
			if c.verdict == baton.VerdictUnknown && len(p.d.S.ProviderThreads) != 2 {
				t.Error("the conversation whose state is unknown is used again")
			}
			p.ready("a")
			if in := p.given(); in == nil || in.Message.Text != "one" {
				t.Fatalf("given %+v", in)
			}
			p.written(run)
			p.takes(run)
			p.end("a", baton.TurnCompleted)
			p.endedWith(run, baton.RunCompleted, "")
		})
	}
}

// A running turn whose message was only written: the run ends, and what the
// agent has is settled first.
func TestAgentDiesBeforeItAccepts(t *testing.T) {
	for _, verdict := range []baton.Verdict{baton.VerdictHas, baton.VerdictHasNot, baton.VerdictUnknown} {
		t.Run(string(verdict), func(t *testing.T) {
			p := newPlay(t)
			run := p.at("written")
			p.fact(p.session("a").ID, baton.FactTurnStarted{Key: "t", Deliveries: []baton.DeliveryID{p.message(run)}})
			p.gone(p.session("a").ID)
			p.is(run, baton.RunFinalizing)
			next := p.send("two", "a")
			if !next.Queued {
				t.Error("a message starts while the barrier is open")
			}
			p.settle(verdict)
			p.endedWith(run, baton.RunInterrupted, baton.CodeAgentDied)
			if got := p.conversation("a").Covered.Has(1); got != (verdict == baton.VerdictHas) {
				t.Errorf("covered: %v", got)
			}
			p.held(true)
		})
	}
}

// The agent died between handoff and message: the message was not written and is
// dropped at once, and still nothing is given again before the handoff's fate is known.
func TestAgentDiesBehindItsHandoff(t *testing.T) {
	for verdict, told := range map[baton.Verdict]int{baton.VerdictHas: 0, baton.VerdictHasNot: 1, baton.VerdictUnknown: 1} {
		t.Run(string(verdict), func(t *testing.T) {
			p := newPlay(t)
			p.whole("one", "a")
			p.gone(p.session("a").ID)
			run := p.send("two", "b").Run
			p.ready("b")
			p.built()
			h := p.deliveries(run)[0]
			x := p.session("b").ID
			p.fact(x, baton.FactWritten{Deliveries: []baton.DeliveryID{h}})
			p.gone(x)
			if len(p.d.S.Sessions) > 0 {
				t.Fatal("goes on without the evidence")
			}
			p.fact("", baton.FactEvidence{Delivery: h, Verdict: verdict})
			p.built()
			p.ready("b")
			if in := p.given(); in == nil || len(in.Handoffs) != told {
				t.Fatalf("given %+v", in)
			}
		})
	}
}

// Handoff and message are settled one by one.
func TestAgentDiesWithAHandoff(t *testing.T) {
	for _, c := range []struct {
		handoff, message baton.Verdict
		again            bool
		told             int // handoffs that the next attempt brings
	}{
		{baton.VerdictHas, baton.VerdictHas, false, 0},
		{baton.VerdictHas, baton.VerdictHasNot, true, 0},
		{baton.VerdictHasNot, baton.VerdictHasNot, true, 1},
		{baton.VerdictUnknown, baton.VerdictHasNot, true, 1},
		{baton.VerdictHas, baton.VerdictUnknown, true, 1},
	} {
		t.Run(string(c.handoff+" "+c.message), func(t *testing.T) {
			p := newPlay(t)
			p.whole("one", "a")
			p.gone(p.session("a").ID)
			run := p.send("two", "b").Run
			p.ready("b")
			p.built()
			p.written(run)
			ids := p.deliveries(run)
			p.gone(p.session("b").ID)
			p.fact("", baton.FactEvidence{Delivery: ids[0], Verdict: c.handoff})
			p.is(run, baton.RunStarting)
			if len(p.d.S.Sessions) > 0 {
				t.Fatal("goes on with half of the evidence")
			}
			p.fact("", baton.FactEvidence{Delivery: ids[1], Verdict: c.message})
			if !c.again {
				p.endedWith(run, baton.RunInterrupted, baton.CodeAgentDied)
				return
			}
			p.built()
			p.ready("b")
			in := p.given()
			if in == nil || len(in.Handoffs) != c.told {
				t.Fatalf("given %+v", in)
			}
			p.written(run)
			p.takes(run)
			p.end("b", baton.TurnCompleted)
			p.endedWith(run, baton.RunCompleted, "")
		})
	}
}

// The agent dies after its handoff was written and before its message was: no
// other is started before it is known whether the handoff arrived.
func TestAgentDiesBetweenHandoffAndMessage(t *testing.T) {
	for verdict, told := range map[baton.Verdict]int{baton.VerdictHas: 0, baton.VerdictHasNot: 1, baton.VerdictUnknown: 1} {
		t.Run(string(verdict), func(t *testing.T) {
			p := newPlay(t)
			p.whole("one", "a")
			p.gone(p.session("a").ID)
			run := p.send("two", "b").Run
			p.ready("b")
			p.built()
			handoff, message := p.deliveries(run)[0], p.message(run)
			x := p.session("b").ID
			p.fact(x, baton.FactWritten{Deliveries: []baton.DeliveryID{handoff}})
			p.gone(x)
			if p.fate(message) != baton.DeliveryDropped {
				t.Errorf("the message that was not written is %s", p.fate(message))
			}
			if len(p.d.S.Sessions) > 0 {
				t.Fatal("a session was opened before the evidence is there")
			}
			p.fact("", baton.FactEvidence{Delivery: handoff, Verdict: verdict})
			p.built()
			p.ready("b")
			if in := p.given(); in == nil || len(in.Handoffs) != told || in.Message.Text != "two" {
				t.Fatalf("given %+v", in)
			}
			p.written(run)
			p.takes(run)
			p.end("b", baton.TurnCompleted)
			p.endedWith(run, baton.RunCompleted, "")
		})
	}
}

func TestRecoveriesAreBounded(t *testing.T) {
	p := newPlay(t)
	run := p.send("one", "a").Run
	for range 1 + p.policy.MaxRecoveries {
		p.is(run, baton.RunStarting)
		p.ready("a")
		p.gone(p.session("a").ID)
	}
	p.endedWith(run, baton.RunFailed, baton.CodeStartFailed)
	p.held(true)
	if n := len(effects[baton.EffectOpenSession](p)); n != 3 {
		t.Errorf("%d sessions were opened", n)
	}
}

func TestResumeFails(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.whole("two", "a")
	p.gone(p.session("a").ID)
	run := p.send("three", "a").Run
	former := p.conversation("a").ID
	x := p.session("a")
	if x.Resume == "" {
		t.Fatal("nothing is resumed")
	}
	p.fact(x.ID, baton.FactResumeFailed{Class: baton.ResumeNotFound, Detail: "no such file"})
	if got := p.d.S.providerThread(former).Status; got != baton.ProviderThreadError {
		t.Errorf("the former conversation is %s", got)
	}
	if !p.shown(baton.ItemNotice, "no such file") || !p.shown(baton.ItemNotice, "takes the place") {
		t.Error("nothing is shown")
	}
	created := last[baton.EventProviderThreadCreated](p)
	if created.Origin.Kind != baton.OriginReconstructed || created.Origin.From != former {
		t.Errorf("the new conversation: %+v", created.Origin)
	}
	if got := last[baton.EventHandoffRequested](p); got.Strategy != baton.StrategyFull || got.Covered.Count() != 2 || got.To != created.ProviderThread {
		t.Errorf("the handoff: %+v", got)
	}
	if got := last[baton.EventTransferCreated](p).Type; got != baton.TransferRecovery {
		t.Errorf("the transfer is a %s", got)
	}
	p.built()
	if len(p.d.S.Sessions) != 1 {
		t.Error("another agent was started while the former process lives")
	}
	p.gone(x.ID)
	p.ready("a")
	if in := p.given(); in == nil || len(in.Handoffs) != 1 {
		t.Errorf("given %+v", in)
	}
	p.is(run, baton.RunStarting)
	if got := last[baton.EventSessionEnded](p).Status; got != baton.SessionError {
		t.Errorf("the session ended as %s", got)
	}
}

func TestStartFails(t *testing.T) {
	err := baton.Errorf(baton.CodeAgentMissing, "no such command")
	for name, facts := range map[string][]baton.Fact{
		"no process":    {baton.FactStartFailed{Err: err}, baton.FactSessionGone{Detail: "not started"}},
		"bad handshake": {baton.FactSessionFailed{Err: err}, baton.FactSessionGone{Detail: "killed"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			run := p.send("one", "a").Run
			queued := p.send("two", "a")
			p.fact(p.session("a").ID, facts...)
			p.endedWith(run, baton.RunFailed, baton.CodeAgentMissing)
			p.held(true)
			p.is(queued.Run, baton.RunQueued)
			if len(p.d.S.Sessions) > 0 {
				t.Error("the session is still there")
			}
			if p.d.S.Surviving.Empty() {
				t.Error("the message is lost for handoffs")
			}
		})
	}
}

// An agent that says, while it works, that it is of no use any more.
func TestSessionFailsLater(t *testing.T) {
	for _, stage := range []string{"offered", "written", "accepted", "running"} {
		t.Run(stage, func(t *testing.T) {
			p := newPlay(t)
			run := p.at(stage)
			x := p.session("a")
			p.fact(x.ID, baton.FactSessionFailed{Err: baton.Errorf(baton.CodeAgentFailed, "its protocol is broken")})
			if x.Stopping == "" || x.EndsAs != baton.SessionError {
				t.Fatal("the session goes on")
			}
			p.gone(x.ID)
			if stage == "written" {
				p.settle(baton.VerdictHas)
			}
			if stage == "offered" {
				p.is(run, baton.RunStarting)
			} else {
				p.is(run, baton.RunInterrupted)
			}
		})
	}
}

func TestNeverReady(t *testing.T) {
	p := newPlay(t)
	run := p.send("one", "a").Run
	x := p.session("a")
	key := "ready:" + string(x.ID)
	p.now = p.now.Add(p.policy.ReadyWithin - 1)
	p.fact("", baton.FactDeadline{Key: key})
	p.is(run, baton.RunStarting)
	p.now = p.now.Add(1)
	p.fact("", baton.FactDeadline{Key: key})
	p.endedWith(run, baton.RunFailed, baton.CodeStartFailed)
	if e := last[baton.EventSessionStopping](p); e.Status != baton.SessionError {
		t.Errorf("%+v", e)
	}
	if got := effects[baton.EffectStopSession](p); len(got) != 1 || got[0].Grace != 0 {
		t.Errorf("stops: %+v", got)
	}
	// A late answer starts nothing.
	p.ready("a")
	if p.given() != nil {
		t.Error("given to a session on its way out")
	}
}

// The shim is gone without a word.
func TestSessionLost(t *testing.T) {
	p := newPlay(t)
	run := p.at("running")
	p.fact(p.session("a").ID, baton.FactSessionGone{Detail: "no shim answers", Lost: true})
	p.endedWith(run, baton.RunInterrupted, baton.CodeSessionLost)
}
