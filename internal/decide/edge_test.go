package decide

import (
	"testing"

	"baton"
)

// A provider that was taken out of the configuration meanwhile: the run fails
// with the reason, at whatever point it is needed.
func TestProviderIsGone(t *testing.T) {
	for name, play := range map[string]func(p *play) baton.RunID{
		"when it is ready": func(p *play) baton.RunID {
			run := p.send("one", "a").Run
			p.missing = "a"
			p.ready("a")
			return run
		},
		"when its session must be opened again": func(p *play) baton.RunID {
			p.whole("one", "a")
			x := p.session("a").ID
			p.now = p.now.Add(p.policy.IdleAfter)
			p.fact("", baton.FactDeadline{Key: "idle:" + string(x)})
			run := p.send("two", "a").Run
			p.missing = "a"
			p.gone(x)
			return run
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			run := play(p)
			p.endedWith(run, baton.RunFailed, baton.CodeUnknownProvider)
		})
	}
}

// A handoff whose run was planned anew is not taken.
func TestLateHandoff(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.gone(p.session("a").ID)
	p.send("two", "b")
	late := p.d.S.Handoffs[0].ID
	p.ready("b")
	p.gone(p.session("b").ID)
	if len(p.d.S.Handoffs) != 1 || p.d.S.Handoffs[0].ID == late {
		t.Fatalf("handoffs %+v", p.d.S.Handoffs)
	}
	before := len(p.d.Out.Events)
	p.fact("", baton.FactHandoffBuilt{Handoff: late, Text: "late"}, baton.FactHandoffFailed{Handoff: late, Err: baton.Errorf(baton.CodeInternal, "late")})
	if len(p.d.Out.Events) != before {
		t.Error("the late document changed something")
	}
}

// Facts that come a second time change nothing.
func TestTwice(t *testing.T) {
	p := newPlay(t)
	run := p.send("one", "a").Run
	p.ready("a")
	p.written(run)
	x, m := p.session("a").ID, p.message(run)
	before := len(p.d.Out.Events)
	p.ready("a")
	p.written(run)
	p.fact("", baton.FactEvidence{Delivery: m, Verdict: baton.VerdictHas}, baton.FactDeadline{Key: "ready:" + string(x)}, baton.FactDeadline{Key: "moon"})
	if got := p.d.Out.Events[before:]; len(got) > 0 || p.given() != nil {
		t.Errorf("%v", got)
	}
}

// A message that is withdrawn after a stop was nobody's.
func TestDroppedAfterStop(t *testing.T) {
	p := newPlay(t)
	run := p.at("written")
	p.do(baton.CommandStop{})
	p.fact(p.session("a").ID, baton.FactDeliveryDropped{Delivery: p.message(run), Err: baton.Errorf(baton.CodeInterrupted, "withdrawn")})
	p.endedWith(run, baton.RunInterrupted, "")
}

func TestNotices(t *testing.T) {
	p := newPlay(t)
	run := p.at("running")
	p.fact(p.session("a").ID, baton.FactNotice{Level: "warning", Text: "careful"}, baton.FactNotice{Level: "error", Code: baton.CodeRateLimited, Text: "slow down"})
	if !p.shown(baton.ItemNotice, "careful") || !p.shown(baton.ItemError, "slow down") {
		t.Error("not shown")
	}
	p.is(run, baton.RunRunning)
}

// Settled: a server that starts need not look at the thread.
func TestSettled(t *testing.T) {
	p := newPlay(t)
	if !p.d.S.Settled() {
		t.Error("a new thread is not settled")
	}
	p.whole("one", "a")
	if p.d.S.Settled() {
		t.Error("settled with a live session")
	}
	p.d.Write(p.session("a").ID, []byte("x\n"), nil, "tag")
	if got := effects[baton.EffectWrite](p); len(got) != 1 || got[0].Tag != "tag" {
		t.Errorf("writes %+v", got)
	}
	x := p.session("a").ID
	p.gone(x)
	p.d.Write(x, []byte("x\n"), nil, "")
	if n := len(effects[baton.EffectWrite](p)); n != 1 {
		t.Error("something is written to a session that is gone")
	}
	if !p.d.S.Settled() {
		t.Error("not settled at rest")
	}
}
