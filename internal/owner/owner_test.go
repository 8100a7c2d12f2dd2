package owner

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"baton"
	"baton/internal/decide"
	"baton/internal/journal"
)

func TestOneUnitForABatch(t *testing.T) {
	b := newBench(t)
	id, run := b.running("one")
	res := b.handle(b.command(baton.CommandSend{Text: "two"}), b.line(id, "say a"), b.line(id, "say b"), b.line(id, "end"), Input{Deadline: true})
	if len(res) != 1 || res[0].Handled != 5 {
		t.Fatalf("%d units", len(res))
	}
	u := res[0].Unit
	if e := eventsOf[baton.EventRunEnded](res...); len(e) != 1 || e[0].Run != run {
		t.Errorf("ended: %+v", e)
	}
	if e := eventsOf[baton.EventRunStarting](res...); len(e) != 1 {
		t.Errorf("the next run did not start in the same unit")
	}
	if len(u.Receipts) != 1 || len(u.Sessions) != 1 || u.Sessions[0].Frame != b.seq[id] || len(u.Changes) == 0 {
		t.Errorf("unit %+v", u)
	}
	if len(u.Chunks) > 0 || len(u.DropChunks) != 1 {
		t.Errorf("chunks of an item that is closed in the unit: %+v", u.Chunks)
	}
}

func TestFramesTakeEffectOnce(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	in := b.line(id, "say a")
	b.handle(in, in)
	b.handle(in)
	if got := b.seen(id); strings.Count(got, "say a") != 1 {
		t.Errorf("seen: %s", got)
	}
	b.handle(Input{Frame: &Frame{Session: "ses_other", Seq: 1, Kind: FrameOut, Data: []byte("panic")}}) // not ours
}

func TestSameCommandTwiceInABatch(t *testing.T) {
	b := newBench(t)
	c := b.command(baton.CommandSend{Text: "one"})
	other := *c.Command
	other.Data = baton.CommandSend{Text: "other"}
	res := b.handle(c, c, Input{Command: &other})
	if len(res) != 1 || len(res[0].Replies) != 3 || len(res[0].Unit.Receipts) != 1 {
		t.Fatalf("%+v", res)
	}
	r := res[0].Replies
	if r[0].Err != nil || r[1].Err != nil || jsonOf(r[0].Reply) != jsonOf(r[1].Reply) {
		t.Errorf("replies %+v %+v", r[0], r[1])
	}
	if baton.ErrorCode(r[2].Err) != baton.CodeConflict {
		t.Errorf("the id for something else: %v", r[2].Err)
	}
	if n := len(eventsOf[baton.EventRunQueued](res...)); n != 1 {
		t.Errorf("%d runs", n)
	}
}

// A refusal has no receipt: the same command may succeed later.
func TestRefusedCommand(t *testing.T) {
	b := newBench(t)
	res := b.handle(b.command(baton.CommandSend{Text: " "}))
	if r := res[0]; baton.ErrorCode(r.Replies[0].Err) != baton.CodeMessageEmpty || len(r.Unit.Events) > 0 || len(r.Unit.Receipts) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestDiscardRestoresAll(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	b.handle(b.line(id, "deadline later"), b.frame(Frame{Session: id, Kind: FrameErr, Data: []byte("a warning")}))
	m := b.own.machines[id]
	state, driver, side, frame := jsonOf(b.own.State()), b.seen(id), jsonOf(m.side), b.own.Frame(id)
	writes := len(b.own.writes)

	inputs := []Input{b.line(id, "say more"), b.frame(Frame{Session: id, Kind: FrameErr, Data: []byte("another")}), b.line(id, "deadline sooner"),
		b.line(id, "end"), b.command(baton.CommandSend{Text: "two"})}
	first := b.own.Handle(b.now, inputs)
	if b.own.Discard(); jsonOf(b.own.State()) != state || b.seen(id) != driver || jsonOf(b.own.machines[id].side) != side || b.own.Frame(id) != frame ||
		len(b.own.writes) != writes {
		t.Fatalf("after Discard:\n%s\n%s\n%s %d", jsonOf(b.own.State()), b.seen(id), jsonOf(b.own.machines[id].side), b.own.Frame(id))
	}
	b.own.Discard() // again: nothing to do
	second := b.own.Handle(b.now, inputs)
	if len(first.Unit.Events) != len(second.Unit.Events) || jsonOf(first.Unit.Chunks) != jsonOf(second.Unit.Chunks) || first.Handled != second.Handled {
		t.Errorf("decided again, the unit differs: %d events, then %d", len(first.Unit.Events), len(second.Unit.Events))
	}
	b.commit(second)
	if got := b.seen(id); strings.Count(got, "say more") != 1 || b.own.Frame(id) != b.seq[id] {
		t.Errorf("seen: %s, frame %d", got, b.own.Frame(id))
	}
}

// A session whose opening could not be committed leaves no machine behind.
func TestDiscardOfANewSession(t *testing.T) {
	b := newBench(t)
	b.handle(b.command(baton.CommandSend{Text: "one"}))
	id := b.session()
	in := b.frame(Frame{Session: id, Kind: FrameStarted})
	b.own.Handle(b.now, []Input{in})
	b.own.Discard()
	if len(b.own.machines) > 0 {
		t.Error("a machine is left")
	}
	b.handle(in)
	if got := b.seen(id); got != "started" {
		t.Errorf("seen: %s", got)
	}
}

func TestNothingToHandle(t *testing.T) {
	b := newBench(t)
	if res := b.own.Handle(b.now, nil); res.Handled != 0 || len(res.Unit.Events) > 0 {
		t.Errorf("%+v", res)
	}
	b.own.Commit()
	b.own.Discard()
}

// What was given to a shim and is not known as written is known after a load.
func TestPendingWritesSurvive(t *testing.T) {
	b := newBench(t)
	b.handle(b.command(baton.CommandSend{Text: "one"}))
	id := b.session()
	b.handle(b.frame(Frame{Session: id, Kind: FrameStarted}), b.line(id, "ready"))
	writes := b.writes() // the hello, then the message
	if len(writes) != 2 {
		t.Fatalf("%d writes", len(writes))
	}
	b.handle(b.frame(Frame{Session: id, Kind: FrameAccepted, Write: writes[0]}), b.frame(Frame{Session: id, Kind: FrameWritten, Write: writes[0]}))
	if got := b.seen(id); !strings.HasSuffix(got, "written hello") {
		t.Errorf("the machine is not told: %s", got)
	}
	b.reload()
	if len(b.own.writes) != 1 {
		t.Fatalf("%d writes are pending after the load", len(b.own.writes))
	}
	b.handle(b.frame(Frame{Session: id, Kind: FrameAccepted, Write: writes[1]}))
	if s := b.own.State().Deliveries[0].Status; s != baton.DeliveryWritten {
		t.Errorf("the message is %s", s)
	}
	res := b.handle(b.frame(Frame{Session: id, Kind: FrameWritten, Write: writes[1]}), b.frame(Frame{Session: id, Kind: FrameWritten, Write: "eff_unknown"}))
	if u := res[0].Unit; len(u.Done) != 1 || u.Done[0] != writes[1] {
		t.Errorf("done: %v", u.Done)
	}
	if l, err := b.j.Load(context.Background(), thread); err != nil || len(l.Effects) != 1 { // the session's opening
		t.Errorf("open effects: %+v, %v", l.Effects, err)
	}
}

// Writes to a session that has ended are done with: nobody will take them.
func TestWritesOfAGoneSession(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	b.handle(b.frame(Frame{Session: id, Kind: FrameExit, Exit: &Exit{Detail: "exit status 1"}}))
	l, err := b.j.Load(context.Background(), thread)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range l.Effects {
		if _, ok := e.Data.(baton.EffectWrite); ok {
			t.Errorf("%s is still to be written", e.ID)
		}
	}
	if len(l.Sessions) > 0 || len(b.own.machines) > 0 || len(b.own.writes) > 0 {
		t.Errorf("sessions %v, machines %v, writes %v", l.Sessions, b.own.machines, b.own.writes)
	}
}

func TestStderrIsInTheReason(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	for i := range 100 {
		b.handle(b.frame(Frame{Session: id, Kind: FrameErr, Data: fmt.Appendf(nil, "line %d of a long complaint, with ümlauts", i)}))
	}
	b.reload()
	res := b.handle(b.frame(Frame{Session: id, Kind: FrameExit, Exit: &Exit{Detail: "exit status 3"}}))
	e := eventsOf[baton.EventSessionEnded](res...)[0]
	if !strings.Contains(e.Reason, "exit status 3") || !strings.Contains(e.Reason, "line 99 of") || strings.Contains(e.Reason, "line 50 of") || len(e.Reason) > 800 {
		t.Errorf("reason: %s", e.Reason)
	}
}

func TestStderrIsText(t *testing.T) {
	for shift := range 3 {
		m := &machine{}
		m.stderr([]byte(strings.Repeat("x", shift)))
		for range 9 {
			m.stderr([]byte(strings.Repeat("€", 33)))
		}
		m.stderr([]byte("raw \xff byte"))
		if !utf8.ValidString(m.Stderr) || len(m.Stderr) > maxStderr || !strings.HasSuffix(m.Stderr, "raw  byte") {
			t.Errorf("%d: %q", shift, m.Stderr)
		}
	}
}

func TestStartFailed(t *testing.T) {
	b := newBench(t)
	b.handle(b.command(baton.CommandSend{Text: "one"}))
	res := b.handle(b.frame(Frame{Session: b.session(), Kind: FrameExit, Exit: &Exit{StartFailed: true, Detail: "no such file"}}))
	e := eventsOf[baton.EventRunEnded](res...)
	if len(e) != 1 || e[0].Status != baton.RunFailed || !strings.Contains(e[0].Err.Detail, "no such file") {
		t.Fatalf("%+v", e)
	}
	if len(b.own.State().Sessions) > 0 {
		t.Error("the session is still there")
	}
}

func TestDeadlinesSurviveALoad(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	b.handle(b.line(id, "deadline later"))
	at := b.now.Add(time.Hour)
	if got := b.own.NextDeadline(decide.DefaultPolicy()); !got.Equal(at) {
		t.Fatalf("the next deadline is %v, want %v", got, at)
	}
	b.now = b.now.Add(10 * time.Minute)
	b.reload()
	if got := b.own.NextDeadline(decide.DefaultPolicy()); !got.Equal(at) {
		t.Fatalf("after a load the next deadline is %v, want %v", got, at)
	}
	b.handle(Input{Deadline: true})
	if strings.Contains(b.seen(id), "deadline later, ") || strings.HasSuffix(b.seen(id), ", deadline later, deadline later") {
		t.Error("before its time")
	}
	b.now = at
	b.handle(Input{Deadline: true}, Input{Deadline: true})
	if got := strings.Count(b.seen(id), "deadline later"); got != 2 { // the line that set it, and the deadline
		t.Errorf("it came %d times: %s", got-1, b.seen(id))
	}
	if got := b.own.NextDeadline(decide.DefaultPolicy()); !got.IsZero() {
		t.Errorf("a deadline is left: %v", got)
	}
}

func TestSnapshots(t *testing.T) {
	b := newBench(t)
	id, _ := b.running("one")
	for i := range 150 {
		b.handle(b.line(id, fmt.Sprint("note ", i)), b.line(id, "say x"), b.line(id, "note again"))
	}
	var versions []uint64
	for _, u := range b.log {
		if s := u.Snapshot; s != nil {
			versions = append(versions, s.Version)
			if s.Version != u.Version() {
				t.Errorf("a snapshot of %d in a unit that ends at %d", s.Version, u.Version())
			}
		}
	}
	if len(versions) == 0 {
		t.Fatal("no snapshot")
	}
	for i, v := range versions {
		before := uint64(0)
		if i > 0 {
			before = versions[i-1]
		}
		if d := v - before; d < 256 || d > 256+16 {
			t.Errorf("%d events between snapshots", d)
		}
	}
	live, seen := b.own.State(), b.seen(id)
	b.reload()
	if jsonOf(b.own.State()) != jsonOf(live) || b.seen(id) != seen || b.own.snapshot != versions[len(versions)-1] {
		t.Error("loaded from the snapshot, the owner differs")
	}
	for id, text := range live.Texts {
		if got := b.own.State().Texts[id]; got == nil || *got != *text {
			t.Errorf("the text of %s differs", id)
		}
	}
	events, err := b.j.Events(context.Background(), thread, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	full, err := Load(b.config(), thread, journal.Loaded{Tail: events}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if jsonOf(full.State()) != jsonOf(live) {
		t.Error("the full fold differs")
	}
}

// A snapshot of another shape is no help; without the events before it the
// thread can't be loaded, and that is said.
func TestSnapshotOfAnotherShape(t *testing.T) {
	b := newBench(t)
	b.running("one")
	events, err := b.j.Events(context.Background(), thread, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	old := &journal.Snapshot{Version: 3, Shape: decide.SnapshotShape + 1, State: []byte(`{"moon":"full"}`)}
	own, err := Load(b.config(), thread, journal.Loaded{Snapshot: old, Tail: events}, nil)
	if err != nil || jsonOf(own.State()) != jsonOf(b.own.State()) {
		t.Errorf("folded again: %v", err)
	}
	if _, err := Load(b.config(), thread, journal.Loaded{Snapshot: old, Tail: events[3:]}, nil); err == nil || !strings.Contains(err.Error(), "shape") {
		t.Errorf("without the first events: %v", err)
	}
}
