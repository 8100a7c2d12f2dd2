package decide

import (
	"testing"

	"baton"
)

// used returns the handoff that run 2 brought to b, on a thread where a did run 1.
func used(t *testing.T) (*play, baton.CommandRegenerateHandoff) {
	p := switched(t)
	p.whole("two", "b")
	h := last[baton.EventHandoffRequested](p)
	return p, baton.CommandRegenerateHandoff{Handoff: h.Handoff, Used: &baton.UsedHandoff{Covered: h.Covered, To: h.To}}
}

// A used handoff stays; its draft goes with the next run into the conversation,
// before what that one misses.
func TestRegenerateUsed(t *testing.T) {
	p, again := used(t)
	draft := p.do(again).Handoff
	if got := last[baton.EventHandoffRequested](p); got.Handoff != draft || got.Run != "" || got.Supersedes != again.Handoff || got.Covered.Count() != 1 {
		t.Fatalf("requested: %+v", got)
	}
	p.built()
	p.gone(p.session("b").ID)
	p.whole("three", "a") // another conversation takes no notice
	p.gone(p.session("a").ID)
	if h := p.d.S.handoff(draft); h == nil || h.Status != baton.HandoffReady || h.Run != "" {
		t.Fatalf("the draft: %+v", h)
	}
	reply := p.send("four", "b")
	p.built()
	p.ready("b")
	in := p.given()
	if in == nil || len(in.Handoffs) != 2 {
		t.Fatalf("given %+v", in)
	}
	p.written(reply.Run)
	p.takes(reply.Run)
	if len(p.d.S.Handoffs)+len(p.d.S.Transfers) > 0 {
		t.Errorf("still open: %d handoffs, %d transfers", len(p.d.S.Handoffs), len(p.d.S.Transfers))
	}
	p.end("b", baton.TurnCompleted)
	p.endedWith(reply.Run, baton.RunCompleted, "")
}

// A run that reaches no agent gives the draft back.
func TestDraftOutlivesARun(t *testing.T) {
	p, again := used(t)
	draft := p.do(again).Handoff
	p.built()
	p.gone(p.session("b").ID)
	p.send("three", "b")
	p.do(baton.CommandStop{})
	p.gone(p.session("b").ID)
	if h := p.d.S.handoff(draft); h == nil || h.Run != "" || h.Status != baton.HandoffReady {
		t.Fatalf("the draft: %+v", h)
	}
}

// A draft for a conversation that is given up is superseded with it.
func TestDraftOfALostConversation(t *testing.T) {
	p, again := used(t)
	draft := p.do(again).Handoff
	p.built()
	p.gone(p.session("b").ID)
	p.send("three", "b")
	p.fact(p.session("b").ID, baton.FactResumeFailed{Class: baton.ResumeNotFound})
	if p.d.S.handoff(draft) != nil {
		t.Error("it waits for ever")
	}
}

func TestRegenerateReady(t *testing.T) {
	p := switched(t)
	reply := p.send("two", "b")
	p.built()
	old := p.d.S.Handoffs[0].ID
	draft := p.do(baton.CommandRegenerateHandoff{Handoff: old, Source: "local"}).Handoff
	if got := last[baton.EventHandoffRequested](p); got.Supersedes != old || got.Run != reply.Run || got.Handoff != draft {
		t.Errorf("requested: %+v", got)
	}
	p.ready("b")
	if p.given() != nil {
		t.Fatal("given without the new one")
	}
	p.built()
	if in := p.given(); in == nil || len(in.Handoffs) != 1 {
		t.Fatalf("given %+v", in)
	}
	p.refused(baton.CommandRegenerateHandoff{Handoff: draft}, baton.CodeConflict) // on its way
	p.refused(baton.CommandRegenerateHandoff{Handoff: old}, baton.CodeConflict)   // superseded
	p.refused(baton.CommandRegenerateHandoff{Handoff: draft, Source: "incoming"}, baton.CodeUnsupported)
}

// A draft is for the conversation that had the handoff: where it was shortened to
// fit, it goes there all the same, and its run does not wait for another one.
func TestDraftThatDoesNotFit(t *testing.T) {
	p, again := used(t)
	p.gone(p.session("b").ID)
	draft := p.do(again).Handoff
	p.send("three", "b")
	p.ready("b")
	if p.given() != nil {
		t.Fatal("given without the draft")
	}
	p.fact("", baton.FactHandoffBuilt{Handoff: draft, Document: []byte(`{}`), Text: "shortened", Digest: digest, Squeezed: true})
	if in := p.given(); in == nil || len(in.Handoffs) != 1 || in.Handoffs[0].Text != "shortened" {
		t.Fatalf("given %+v", in)
	}
}
