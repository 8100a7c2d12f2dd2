package owner

import (
	"context"
	"strings"
	"testing"
	"time"

	"baton"
)

// keep handles inputs and holds their unit back.
func (b *bench) keep(inputs ...Input) {
	b.t.Helper()
	if res := b.own.Handle(b.now, inputs); !res.Marks || res.Handled != len(inputs) {
		b.t.Fatalf("this can't be kept: %+v", res)
	}
	b.own.Keep()
}

// stored returns how far the journal says that the session was read.
func (b *bench) stored(id baton.SessionID) uint64 {
	b.t.Helper()
	l, err := b.j.Load(context.Background(), thread)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, m := range l.Sessions {
		if m.Session == id {
			return m.Frame
		}
	}
	return 0
}

func TestKeep(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	before := b.own.Frame(id)
	b.keep(b.line(id, "hm"), b.line(id, "ha"))
	b.keep(b.line(id, "ho"))
	if b.own.Frame(id) != before+3 || b.own.Durable(id) != before || b.stored(id) != before {
		t.Fatalf("frame %d, durable %d, stored %d", b.own.Frame(id), b.own.Durable(id), b.stored(id))
	}
	b.handle(b.command(baton.CommandSend{Text: "two"})) // touches the session in no way
	if b.own.Durable(id) != before+3 || b.stored(id) != before+3 {
		t.Errorf("durable %d, stored %d", b.own.Durable(id), b.stored(id))
	}
	seen := b.seen(id)
	b.reload()
	if b.seen(id) != seen || b.own.Durable(id) != before+3 {
		t.Errorf("after a load: %s, want %s", b.seen(id), seen)
	}
	if u := b.handle(b.command(baton.CommandSend{Text: "three"}))[0].Unit; len(u.Sessions) > 0 {
		t.Errorf("it is said again: %+v", u.Sessions)
	}
}

// A crash loses what was kept; the same frames give the same again.
func TestKeptFramesComeAgain(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	frames := []Input{b.line(id, "hm"), b.frame(Frame{Session: id, Kind: FrameErr, Data: []byte("a warning")}), b.line(id, "deadline later")}
	b.keep(frames...)
	seen, side := b.seen(id), jsonOf(b.own.machines[id].side)
	b.reload()
	if b.seen(id) == seen {
		t.Fatal("it was stored")
	}
	b.now = b.now.Add(time.Hour)
	b.keep(frames...)
	b.keep(frames...) // and once more: known by their numbers
	if b.seen(id) != seen || jsonOf(b.own.machines[id].side) != side {
		t.Errorf("seen %s, want %s; %s, want %s", b.seen(id), seen, jsonOf(b.own.machines[id].side), side)
	}
}

// Discard goes back to what was kept, not behind it.
func TestDiscardAfterKeep(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	b.keep(b.line(id, "hm"))
	seen, frame := b.seen(id), b.own.Frame(id)
	end := b.line(id, "end")
	b.own.Handle(b.now, []Input{end})
	if b.own.Discard(); b.seen(id) != seen || b.own.Frame(id) != frame {
		t.Fatalf("%s, frame %d; want %s, %d", b.seen(id), b.own.Frame(id), seen, frame)
	}
	res := b.handle(end)
	if n := len(eventsOf[baton.EventRunEnded](res...)); n != 1 || b.stored(id) != frame+1 || strings.Count(b.seen(id), "hm") != 1 {
		t.Errorf("%d ends, stored %d, seen %s", n, b.stored(id), b.seen(id))
	}
}

func TestASessionEndsAfterKeep(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	b.keep(b.line(id, "hm"))
	b.handle(b.frame(Frame{Session: id, Kind: FrameExit, Exit: &Exit{Detail: "exit status 1"}}))
	if b.stored(id) != 0 || len(b.own.machines) > 0 || len(b.own.kept) > 0 {
		t.Errorf("stored %d, machines %v, kept %v", b.stored(id), b.own.machines, b.own.kept)
	}
}

// What reading the spool again would not bring back is never kept.
func TestNotKept(t *testing.T) {
	for name, input := range map[string]func(b *bench, id baton.SessionID) Input{
		"text":              func(b *bench, id baton.SessionID) Input { return b.line(id, "say so") },
		"an event":          func(b *bench, id baton.SessionID) Input { return b.line(id, "note this") },
		"a refused command": func(b *bench, _ baton.SessionID) Input { return b.command(baton.CommandSend{Text: " "}) },
		"an outcome":        func(*bench, baton.SessionID) Input { return Input{Outcome: &Outcome{Effect: "eff_9"}} },
		"a deadline": func(b *bench, id baton.SessionID) Input {
			b.handle(b.line(id, "deadline later"))
			b.now = b.now.Add(2 * time.Hour)
			return Input{Deadline: true}
		},
		"a frame outside of a spool": func(_ *bench, id baton.SessionID) Input {
			return Input{Frame: &Frame{Session: id, Kind: FrameErr, Data: []byte("x")}}
		},
		"a bad frame": func(b *bench, id baton.SessionID) Input { return b.line(id, "panic") },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			id, _ := b.running("one")
			in := input(b, id)
			if res := b.own.Handle(b.now, []Input{in}); res.Marks {
				t.Errorf("%+v", res.Unit)
			}
		})
	}
	b := newBench(t)
	id, _ := b.running("one")
	if res := b.own.Handle(b.now, []Input{b.line(id, "hm"), {Deadline: true}}); !res.Marks {
		t.Error("a deadline that is not due changes nothing")
	}
}
