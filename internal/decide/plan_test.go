package decide

import (
	"slices"
	"testing"

	"baton"
	"baton/internal/handoff"
)

// What a setting's change does: the agent is told with the turn, its process is
// started again, or the conversation is left.
func TestSettingChanges(t *testing.T) {
	for _, c := range []struct {
		change  baton.SettingChange
		restart bool // another session of the same conversation
		leaves  bool // another conversation
	}{{baton.ChangeLive, false, false}, {baton.ChangeOnResume, true, false}, {baton.ChangeInNew, true, true}} {
		t.Run(string(c.change), func(t *testing.T) {
			p := newPlay(t)
			p.caps.Settings.Effort = c.change
			p.whole("one", "a")
			former, x := p.conversation("a").ID, p.session("a").ID
			reply := p.do(baton.CommandSend{Text: "two", Settings: baton.Settings{Effort: "low"}})
			if got := p.session("a").Stopping != ""; got != c.restart {
				t.Fatalf("the session is stopped: %v", got)
			}
			if c.restart {
				p.gone(x)
				p.built()
				p.ready("a")
			}
			if in := p.given(); in == nil || in.Settings.Effort != "low" {
				t.Fatalf("given %+v", in)
			}
			if got := p.conversation("a").ID != former; got != c.leaves {
				t.Errorf("another conversation: %v", got)
			}
			created := last[baton.EventAttemptCreated](p)
			if got := slices.ContainsFunc(created.Rejected, func(r baton.Reason) bool {
				return r.Signal == handoff.SignalIncompatible && r.Value == "effort" && r.ProviderThread == former
			}); got != c.leaves {
				t.Errorf("rejected: %+v", created.Rejected)
			}
			p.written(reply.Run)
			p.takes(reply.Run)
			p.end("a", baton.TurnCompleted)
			// The same again changes nothing more.
			p.send("three", "a")
			if p.session("a").Stopping != "" || p.given() == nil {
				t.Error("the same settings are a change")
			}
		})
	}
}

// Detached work is not ended for a setting; the person is told that it waits.
func TestSettingWaitsForDetachedWork(t *testing.T) {
	p := newPlay(t)
	p.caps.Settings.Effort = baton.ChangeOnResume
	p.whole("one", "a")
	p.fact(p.session("a").ID, baton.FactDetached{Names: []string{"a server"}})
	p.do(baton.CommandSend{Text: "two", Settings: baton.Settings{Effort: "low"}})
	if p.given() == nil || !p.shown(baton.ItemNotice, "a server") {
		t.Error("it is not given, or nothing is shown")
	}
}

func TestSettingThatAnAgentDoesNotTake(t *testing.T) {
	p := newPlay(t)
	p.caps.Settings.Model = baton.ChangeNone
	p.refused(baton.CommandSend{Text: "one", Settings: baton.Settings{Model: "m"}}, baton.CodeUnsupported)
	p.send("one", "a") // what is configured for all is not asked for
}

func TestCleanContext(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	former := p.conversation("a").ID
	p.do(baton.CommandSend{Text: "two", CleanContext: true})
	if got := p.conversation("a"); got.ID == former {
		t.Error("the former conversation goes on")
	}
	if got := last[baton.EventHandoffRequested](p); got.Strategy != baton.StrategyFull {
		t.Errorf("requested %+v", got)
	}
}

// A document that does not fit beside what a conversation holds goes, whole,
// into another one.
func TestSqueezed(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.gone(p.session("a").ID)
	p.whole("two", "b")
	p.gone(p.session("b").ID)
	former := p.conversation("a").ID
	reply := p.send("three", "a")
	h := p.d.S.Handoffs[0]
	p.fact("", baton.FactHandoffBuilt{Handoff: h.ID, Document: []byte(`{}`), Text: "squeezed", Digest: digest, Squeezed: true})
	if got := p.conversation("a"); got.ID == former {
		t.Fatal("it goes into the conversation that has no room")
	}
	if got := last[baton.EventHandoffRequested](p); got.Strategy != baton.StrategyFull || got.Covered.Count() != 2 {
		t.Errorf("requested %+v", got)
	}
	for _, x := range slices.Clone(p.d.S.Sessions) {
		p.gone(x.ID)
	}
	h = p.d.S.Handoffs[0]
	p.fact("", baton.FactHandoffBuilt{Handoff: h.ID, Document: []byte(`{}`), Text: "whole", Digest: digest, Squeezed: true})
	p.ready("a")
	if in := p.given(); in == nil || len(in.Handoffs) != 1 || in.Handoffs[0].Text != "whole" {
		t.Fatalf("given %+v", in)
	}
	p.written(reply.Run)
	p.takes(reply.Run)
	p.end("a", baton.TurnCompleted)
	p.endedWith(reply.Run, baton.RunCompleted, "")
}

// The document leaves room for what the conversation holds.
func TestBudget(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.fact(p.session("a").ID, baton.FactTurnStarted{Key: "own"},
		baton.FactTurnEnded{Key: "own", Status: baton.TurnCompleted, Usage: baton.Usage{ContextTokens: 70_000, ContextWindow: 100_000}})
	p.gone(p.session("a").ID)
	p.whole("two", "b")
	p.gone(p.session("b").ID)
	p.send("three", "a")
	builds := effects[baton.EffectBuildHandoff](p)
	if got := builds[len(builds)-1].Budget; got < 9_900 || got >= 10_000 {
		t.Errorf("budget %d", got)
	}
}

// A preview says what the message would get, and changes nothing.
func TestPreview(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.gone(p.session("a").ID)
	before := stateJSON(t, p.d.S)
	data := baton.CommandSend{Text: "two", Provider: "b"}
	got, err := PreviewOf(p.d.S, p.env(), data, nil)
	if err != nil || got.Build == nil || got.Behind {
		t.Fatalf("%+v, %v", got, err)
	}
	if stateJSON(t, p.d.S) != before {
		t.Error("the preview changed the thread")
	}
	p.do(data)
	build := effects[baton.EffectBuildHandoff](p)[0]
	build.Handoff, build.Run, build.To = "", "", ""
	if a, b := stateOf(t, build), stateOf(t, *got.Build); a != b {
		t.Errorf("made of\n%s, previewed of\n%s", a, b)
	}
	if at := last[baton.EventAttemptCreated](p); at.Strategy != got.Plan.Strategy || len(at.Reasons) != len(got.Plan.Reasons) {
		t.Errorf("planned %+v, previewed %+v", at, got.Plan)
	}
	if got, _ = PreviewOf(p.d.S, p.env(), data, nil); !got.Behind {
		t.Error("a message to a busy thread would not be queued")
	}
}

// A switch back to a conversation that misses nothing is recorded too.
func TestNativeTransfer(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.gone(p.session("a").ID)
	reply := p.send("two", "b")
	p.do(baton.CommandStop{})
	for _, x := range slices.Clone(p.d.S.Sessions) {
		p.gone(x.ID)
	}
	p.endedWith(reply.Run, baton.RunCancelled, "")
	reply = p.send("three", "a")
	got := last[baton.EventTransferChanged](p)
	if got.Status != baton.TransferResolvedNative || got.Resolution != "native_resume" || len(got.Reasons) == 0 {
		t.Fatalf("transfer: %+v", got)
	}
	p.ready("a")
	p.written(reply.Run)
	p.takes(reply.Run)
	if len(p.d.S.Transfers) > 0 {
		t.Error("the transfer is still open")
	}
}

// What was chosen for a provider stays, whoever did the runs between.
func TestSettingsOutliveASwitch(t *testing.T) {
	p := newPlay(t)
	run := p.do(baton.CommandSend{Text: "one", Provider: "a", Settings: baton.Settings{Model: "chosen", Effort: "low"}}).Run
	p.ready("a")
	p.written(run)
	p.takes(run)
	p.end("a", baton.TurnCompleted)
	p.gone(p.session("a").ID)
	p.whole("two", "b")
	if got := p.d.S.Last.Settings.Model; got == "chosen" {
		t.Error("another provider takes the choice over")
	}
	p.gone(p.session("b").ID)
	p.send("three", "a")
	if got := p.d.S.Last.Settings; got.Model != "chosen" || got.Effort != "low" {
		t.Errorf("back again it is %+v", got)
	}
}
