package owner

import (
	"strings"
	"testing"

	"baton"
)

// One frame that can't be taken is set aside: those before it and behind it,
// other sessions and commands of the batch are not touched.
func TestBadFrame(t *testing.T) {
	for _, bad := range []string{"panic here", "illegal"} { // the driver's fault, then the decision's
		t.Run(bad, func(t *testing.T) {
			b := newBench(t)
			id, run := b.running("one")
			inputs := []Input{b.command(baton.CommandSend{Text: "two"}), b.line(id, "say before"), b.line(id, "note first"), b.line(id, bad),
				b.line(id, "note after"), b.command(baton.CommandSend{Text: "three"})}
			res := b.handle(inputs...)
			if len(res) != 3 || res[0].Handled != 3 || res[1].Handled != 1 || res[2].Handled != 2 {
				t.Fatalf("%d units: %+v", len(res), res)
			}
			if n := len(eventsOf[baton.EventFrameRejected](res[0], res[2])); n > 0 {
				t.Error("a good frame was rejected")
			}
			e := eventsOf[baton.EventFrameRejected](res[1])
			if len(e) != 1 || e[0].Frame != b.seq[id]-1 || e[0].Session != id || e[0].Head != bad || e[0].Fault == "" {
				t.Fatalf("rejected: %+v", e)
			}
			ended := eventsOf[baton.EventRunEnded](res[1])
			if len(ended) != 1 || ended[0].Run != run || ended[0].Status != baton.RunFailed {
				t.Fatalf("ended: %+v", ended)
			}
			if bad == "panic here" && ended[0].Err.Code != baton.CodeFrameRejected {
				t.Errorf("ended with %+v", ended[0].Err)
			}
			if items := eventsOf[baton.EventItemClosed](res[1]); len(items) != 1 || items[0].Body.Text != "before" {
				t.Errorf("what was said before: %+v", items)
			}
			if got := b.seen(id); !strings.HasSuffix(got, "note first, note after") {
				t.Errorf("the machine has seen: %s", got)
			}
			if b.own.Frame(id) != b.seq[id] {
				t.Errorf("frame %d, want %d", b.own.Frame(id), b.seq[id])
			}
			if n := len(res[0].Replies) + len(res[2].Replies); n != 2 || res[0].Replies[0].Err != nil || res[2].Replies[0].Err != nil {
				t.Errorf("replies %+v %+v", res[0].Replies, res[2].Replies)
			}
			if n := len(b.own.State().Runs); n != 2 {
				t.Errorf("%d runs wait", n)
			}

			// The session goes, the thread goes on.
			b.handle(b.frame(Frame{Session: id, Kind: FrameExit, Exit: &Exit{Detail: "killed"}}), b.command(baton.CommandResumeQueue{}))
			if next := b.session(); next == id || b.own.State().ActiveRun() == nil {
				t.Error("the thread does not go on")
			}
		})
	}
}

// The first frame of a batch, and a batch of its own.
func TestBadFrameComesFirst(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	res := b.handle(b.line(id, "panic"), b.line(id, "note after"))
	if len(res) != 2 || len(eventsOf[baton.EventFrameRejected](res[0])) != 1 {
		t.Fatalf("%+v", res)
	}
	res = b.handle(b.line(id, "panic"))
	if len(res) != 1 || len(eventsOf[baton.EventFrameRejected](res[0])) != 1 {
		t.Fatalf("%+v", res)
	}
}

// What is set aside stays so after a load.
func TestBadFrameStaysAside(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	bad := b.line(id, "panic")
	b.handle(bad)
	b.reload()
	if res := b.handle(bad, b.line(id, "note after")); len(eventsOf[baton.EventFrameRejected](res...)) > 0 {
		t.Error("the frame was taken again")
	}
}

// A driver that can't take the end of its process: the session ends all the same.
func TestBadExit(t *testing.T) {
	for name, lost := range map[string]bool{"spooled": false, "without a frame": true} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			id, run := b.running("one")
			b.handle(b.line(id, "mortal"))
			exit := Input{Frame: &Frame{Session: id, Time: b.now, Kind: FrameExit, Exit: &Exit{Detail: "exit status 1", Lost: true}}}
			if !lost {
				exit = b.frame(Frame{Session: id, Kind: FrameExit, Exit: &Exit{Detail: "exit status 1"}})
			}
			res := b.handle(exit)
			if len(b.own.State().Sessions) > 0 {
				t.Fatal("the session is still there, and nothing will end it")
			}
			if e := eventsOf[baton.EventRunEnded](res...); len(e) != 1 || e[0].Run != run || e[0].Status != baton.RunFailed {
				t.Errorf("ended: %+v", e)
			}
		})
	}
}

// A command whose decision panics is answered as such and changes nothing.
func TestBadCommand(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	res := b.handle(b.line(id, "note first"), b.command(baton.CommandSend{Text: "two", Provider: "bomb"}), b.command(baton.CommandSend{Text: "three"}))
	if len(res) != 3 {
		t.Fatalf("%d units", len(res))
	}
	if r := res[1]; len(r.Unit.Events) > 0 || len(r.Unit.Receipts) > 0 || baton.ErrorCode(r.Replies[0].Err) != baton.CodeInternal {
		t.Errorf("%+v", r)
	}
	if r := res[2].Replies; len(r) != 1 || r[0].Err != nil {
		t.Errorf("the command behind it: %+v", r)
	}
	if n := len(b.own.State().Runs); n != 2 {
		t.Errorf("%d runs", n)
	}
}

// An outcome that can't be taken is done with, and does not come again.
func TestBadOutcome(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	res := b.handle(Input{Outcome: &Outcome{Effect: "eff_9", Session: id, Fact: baton.FactSessionFailed{}}}, b.command(baton.CommandSend{Text: "two"}))
	if len(res) != 2 || len(res[0].Unit.Done) != 1 || res[0].Unit.Done[0] != "eff_9" {
		t.Fatalf("%+v", res)
	}
	if len(eventsOf[baton.EventFrameRejected](res[0])) != 1 || res[1].Replies[0].Err != nil {
		t.Errorf("%+v", res)
	}
}
