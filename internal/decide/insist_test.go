package decide

import (
	"errors"
	"strings"
	"testing"

	"baton"
	"baton/internal/handoff"
)

const digest = "sha256:0" // of every document of a play

// switched is a thread on which provider a did one whole run.
func switched(t *testing.T) *play {
	p := newPlay(t)
	p.whole("one", "a")
	p.gone(p.session("a").ID)
	return p
}

func prepared(p *play) *baton.Prepared {
	return &baton.Prepared{Version: p.d.S.Version, Built: baton.FactHandoffBuilt{Document: []byte(`{}`), Text: "as seen", Digest: digest}}
}

// A message that insists on its handoff brings it along: it is ready in the
// unit that accepts the message, and nothing is made again.
func TestInsistAtOnce(t *testing.T) {
	p := switched(t)
	reply, err := p.try(baton.CommandSend{Text: "two", Provider: "b", HandoffDigest: digest, Prepared: prepared(p)})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(effects[baton.EffectBuildHandoff](p)); n != 0 {
		t.Errorf("the document is made %d times more", n)
	}
	if got := last[baton.EventHandoffReady](p); got.Text != "as seen" || got.CreatedBy != "local" || got.EditedFrom != "" {
		t.Errorf("ready: %+v", got)
	}
	p.ready("b")
	if in := p.given(); in == nil || len(in.Handoffs) != 1 || in.Handoffs[0].Text != "as seen" {
		t.Fatalf("given %+v", in)
	}
	p.written(reply.Run)
	p.takes(reply.Run)
	p.end("b", baton.TurnCompleted)
	p.endedWith(reply.Run, baton.RunCompleted, "")
}

func TestInsistRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		data func(p *play) baton.CommandSend
		code baton.Code // "" is ErrMoved
	}{
		{"other digest", func(p *play) baton.CommandSend {
			return baton.CommandSend{HandoffDigest: "sha256:other", Prepared: prepared(p)}
		}, baton.CodeConflict},
		{"nothing to hand over", func(p *play) baton.CommandSend {
			return baton.CommandSend{Provider: "a", HandoffDigest: digest, Prepared: &baton.Prepared{Version: p.d.S.Version}}
		}, baton.CodeConflict},
		{"the thread moved on", func(p *play) baton.CommandSend {
			old := prepared(p)
			old.Version--
			return baton.CommandSend{HandoffDigest: digest, Prepared: old}
		}, ""},
		{"not prepared", func(*play) baton.CommandSend { return baton.CommandSend{HandoffDigest: digest} }, ""},
		{"edited, not prepared", func(*play) baton.CommandSend { return baton.CommandSend{HandoffText: "mine"} }, ""},
		{"edited to nothing", func(p *play) baton.CommandSend { return baton.CommandSend{HandoffText: " \n", Prepared: prepared(p)} }, baton.CodeMessageEmpty},
		{"edited with NUL", func(p *play) baton.CommandSend { return baton.CommandSend{HandoffText: "a\x00", Prepared: prepared(p)} }, baton.CodeMessageText},
		{"edited too long", func(p *play) baton.CommandSend {
			return baton.CommandSend{HandoffText: strings.Repeat("a", baton.MaxHandoff+1), Prepared: prepared(p)}
		}, baton.CodeMessageTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := switched(t)
			data := c.data(p)
			data.Text = "two"
			if data.Provider == "" {
				data.Provider = "b"
			}
			before := stateJSON(t, p.d.S)
			_, err := p.try(data)
			if c.code == "" && !errors.Is(err, ErrMoved) || c.code != "" && baton.AsError(err).Code != c.code {
				t.Fatalf("got %v", err)
			}
			if stateJSON(t, p.d.S) != before {
				t.Error("a refused message changed the thread")
			}
		})
	}
}

// What a person wrote takes the handoff's place, keeps its interval and names
// the text that it replaces.
func TestEdited(t *testing.T) {
	p := switched(t)
	reply, err := p.try(baton.CommandSend{Text: "two", Provider: "b", HandoffText: "only this", HandoffDigest: digest, Prepared: prepared(p)})
	if err != nil {
		t.Fatal(err)
	}
	if got := last[baton.EventHandoffRequested](p); got.Strategy != baton.StrategyManual || got.Covered.Count() != 1 {
		t.Errorf("requested: %+v", got)
	}
	got := last[baton.EventHandoffReady](p)
	if want := handoff.Edit("only this"); got.Text != "only this" || got.Digest != want.Digest || got.EditedFrom != digest || got.CreatedBy != "person" {
		t.Errorf("ready: %+v", got)
	}
	p.ready("b")
	p.written(reply.Run)
	p.takes(reply.Run)
	if !p.conversation("b").HandedOver.Has(1) {
		t.Error("the interval is not handed over")
	}
}

// Where nothing is missed, a person's own context goes along all the same.
func TestEditedWithoutNeed(t *testing.T) {
	p := switched(t)
	if _, err := p.try(baton.CommandSend{Text: "two", Provider: "a", HandoffText: "by the way", Prepared: &baton.Prepared{Version: p.d.S.Version}}); err != nil {
		t.Fatal(err)
	}
	p.built()
	p.ready("a")
	if in := p.given(); in == nil || len(in.Handoffs) != 1 || in.Handoffs[0].Text != "by the way" {
		t.Fatalf("given %+v", in)
	}
}

// A queued message is compared when its turn comes.
func TestInsistQueued(t *testing.T) {
	for _, c := range []struct {
		name  string
		built string // digest of the document then
		held  bool
	}{{"the same", digest, false}, {"another", "sha256:1", true}} {
		t.Run(c.name, func(t *testing.T) {
			p := switched(t)
			p.running("two", "a")
			reply := p.do(baton.CommandSend{Text: "three", Provider: "b", HandoffDigest: digest})
			if !reply.Queued {
				t.Fatal("the message is not queued")
			}
			p.end("a", baton.TurnCompleted)
			p.is(reply.Run, baton.RunQueued)
			build := effects[baton.EffectBuildHandoff](p)
			if len(build) != 1 || build[0].Run != reply.Run || build[0].Covered.Count() != 2 {
				t.Fatalf("asked for %+v", build)
			}
			p.fact("", baton.FactHandoffBuilt{Handoff: build[0].Handoff, Document: []byte(`{}`), Text: "as built", Digest: c.built})
			p.held(c.held)
			if c.held {
				p.is(reply.Run, baton.RunQueued)
				if !p.shown(baton.ItemNotice, "not the one that was seen") {
					t.Error("nothing is shown")
				}
				p.do(baton.CommandResumeQueue{})
				p.built()
			}
			p.gone(p.session("a").ID)
			p.ready("b")
			if in := p.given(); in == nil || len(in.Handoffs) != 1 || in.Message.Text != "three" {
				t.Fatalf("given %+v", in)
			}
		})
	}
}

// The former plan can't be carried out: the run is not sent with another one.
func TestInsistAfterAFailedResume(t *testing.T) {
	p := switched(t)
	p.whole("two", "b")
	p.gone(p.session("b").ID)
	reply, err := p.try(baton.CommandSend{Text: "three", Provider: "a", HandoffDigest: digest, Prepared: prepared(p)})
	if err != nil {
		t.Fatal(err)
	}
	p.fact(p.session("a").ID, baton.FactResumeFailed{Class: baton.ResumeNotFound})
	for _, h := range p.d.S.Handoffs {
		p.fact("", baton.FactHandoffBuilt{Handoff: h.ID, Document: []byte(`{}`), Text: "whole", Digest: "sha256:whole"})
	}
	p.endedWith(reply.Run, baton.RunCancelled, baton.CodeConflict)
	p.held(true)
	for _, v := range events[baton.EventDeliveryOffered](p) {
		if v.Run == reply.Run {
			t.Errorf("something was given: %+v", v)
		}
	}
}

// A provider that takes no handoff is told nothing.
func TestTakesNoHandoff(t *testing.T) {
	p := switched(t)
	p.never = "b"
	p.refused(baton.CommandSend{Text: "two", Provider: "b"}, baton.CodeUnsupported)
	p.running("two", "a")
	reply := p.send("three", "b")
	p.end("a", baton.TurnCompleted)
	p.endedWith(reply.Run, baton.RunFailed, baton.CodeUnsupported)
	for _, x := range events[baton.EventSessionOpened](p) {
		if x.Provider == "b" {
			t.Error("its agent was started")
		}
	}
}
