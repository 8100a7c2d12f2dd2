// Package journaltest is the contract of journals: one suite that every store
// runs, samples of every event, and a scribe that writes units as an owner would.
package journaltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"baton"
	"baton/internal/journal"
)

// Open returns an empty journal and ends it with the test.
type Open func(t *testing.T) journal.Journal

// Run is the suite.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, journal.Journal){
		"versions":            versions,
		"seq and committed":   filled,
		"fences":              fences,
		"preconditions":       preconditions,
		"receipts":            receipts,
		"order of refusals":   refusals,
		"malformed units":     malformed,
		"indivisible":         indivisible,
		"effects":             effects,
		"sessions":            sessions,
		"chunks":              chunks,
		"chunk revisions":     chunkRevisions,
		"snapshot":            snapshot,
		"unsettled":           unsettled,
		"documents":           documents,
		"lists":               lists,
		"states of threads":   states,
		"search":              searches,
		"search follows":      searchFollows,
		"projects":            projectsKept,
		"long lists":          longLists,
		"views":               views,
		"many readers":        manyReaders,
		"positions":           positions,
		"concurrent":          concurrent,
		"groups":              groups,
		"rebuilt equals live": rebuilt,
		"unknown events":      unknown,
		"ownership":           ownership,
		"epochs":              epochs,
		"contexts":            contexts,
		"closed":              closed,
		"nothing there":       nothing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t))
		})
	}
}

var ctx = context.Background()

func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

// AllEvents reads every event of the journal and checks that no thread's
// versions have a gap and that seqs rise.
func AllEvents(t testing.TB, r journal.Reader) []baton.Event {
	t.Helper()
	events, err := r.EventsSince(ctx, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	last, seq := map[baton.ThreadID]uint64{}, uint64(0)
	for _, e := range events {
		if e.Version != last[e.Thread]+1 || e.Seq <= seq {
			t.Fatalf("event %d of %s (seq %d) comes after %d (seq %d)", e.Version, e.Thread, e.Seq, last[e.Thread], seq)
		}
		last[e.Thread], seq = e.Version, e.Seq
	}
	return events
}

// CheckDocuments fails unless the documents are the fold of the events.
func CheckDocuments(t testing.TB, r journal.Reader) {
	t.Helper()
	want, err := journal.Fold(AllEvents(t, r))
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[journal.Kind]int{}
	for key, doc := range want {
		kinds[key.Kind]++
		got, err := r.Get(ctx, key.Kind, key.ID)
		if err != nil {
			t.Fatalf("%v: %v", key, err)
		}
		if same := sameJSON(t, got.Body, doc.Body); !same || got.Thread != doc.Thread || got.Run != doc.Run || got.Position != doc.Position {
			t.Fatalf("%v\n live %s %s %d %s\nfolded %s %s %d %s", key, got.Thread, got.Run, got.Position, got.Body, doc.Thread, doc.Run, doc.Position, doc.Body)
		}
	}
	for kind, n := range kinds {
		all, err := r.List(ctx, journal.Query{Kind: kind, Limit: 1 << 30})
		if err != nil || len(all) != n {
			t.Fatalf("%d documents of kind %s are live, %d are folded (%v)", len(all), kind, n, err)
		}
	}
}

func sameJSON(t testing.TB, a, b []byte) bool {
	t.Helper()
	decode := func(raw []byte) (v any) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		return v
	}
	return reflect.DeepEqual(decode(a), decode(b))
}

func versions(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	s.Must(t, j, s.Create())
	s.Must(t, j, s.Unit(baton.EventThreadTitled{Title: "one"}, baton.EventThreadTitled{Title: "two"}))
	for _, at := range []uint64{0, 2, 4} {
		late := *s
		late.Version = at
		wantError(t, late.Append(j, late.Unit(baton.EventThreadTitled{Title: "no"})), journal.ErrVersion)
	}
	other := NewScribe("thr_2")
	other.Version = 1
	wantError(t, other.Append(j, other.Unit(baton.EventQueueResumed{})), journal.ErrVersion)

	events := must[[]baton.Event](t)(j.Events(ctx, "thr_1", 0, 0))
	equal(t, "events", len(events), 3)
	for i, e := range events {
		equal(t, "version", e.Version, uint64(i)+1)
	}
	equal(t, "the last", events[2].Data, baton.EventData(baton.EventThreadTitled{Title: "two"}))
	equal(t, "after 1, limit 1", len(must[[]baton.Event](t)(j.Events(ctx, "thr_1", 1, 1))), 1)
	equal(t, "after the end", len(must[[]baton.Event](t)(j.Events(ctx, "thr_1", 3, 0))), 0)
	equal(t, "loaded version", must[journal.Loaded](t)(j.Load(ctx, "thr_1")).Version, uint64(3))
	_, err := j.Load(ctx, "thr_2")
	wantError(t, err, journal.ErrNotFound)
}

func filled(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	before := time.Now().Add(-time.Minute)
	u := s.Unit(baton.EventThreadCreated{}, baton.EventThreadTitled{Title: "x"})
	u.Epoch = 7
	a := must[journal.Appended](t)(j.Append(ctx, u))
	if a.FirstSeq == 0 || a.Committed.Before(before) || a.Committed.Location() != time.UTC {
		t.Fatalf("appended %+v", a)
	}
	for i, e := range u.Events {
		equal(t, "seq", e.Seq, a.FirstSeq+uint64(i))
		equal(t, "committed", e.Committed, a.Committed)
		equal(t, "epoch", e.Epoch, uint64(7))
	}
	equal(t, "read back", must[[]baton.Event](t)(j.Events(ctx, "thr_1", 0, 0)), u.Events)
	equal(t, "since", must[[]baton.Event](t)(j.EventsSince(ctx, a.FirstSeq, 1)), u.Events[1:])
	equal(t, "head", must[uint64](t)(j.Head(ctx)), a.FirstSeq+1)
}

func fences(t *testing.T, j journal.Journal) {
	old := NewScribe("thr_1")
	old.Epoch = 2
	old.Must(t, j, old.Create())
	fresh := *old
	fresh.Epoch = 3
	fresh.Must(t, j, fresh.Unit()) // taking over writes nothing else
	wantError(t, old.Append(j, old.Unit(baton.EventQueueResumed{})), journal.ErrFenced)
	wantError(t, old.Append(j, old.Unit()), journal.ErrFenced)
	fresh.Must(t, j, fresh.Unit(baton.EventQueueResumed{}))
	l := must[journal.Loaded](t)(j.Load(ctx, "thr_1"))
	equal(t, "epoch", l.Epoch, uint64(3))
	equal(t, "version", l.Version, uint64(2))
}

func preconditions(t *testing.T, j journal.Journal) {
	parent, child := NewScribe("thr_p"), NewScribe("thr_c")
	parent.Must(t, j, parent.Create())
	u := child.Create()
	u.Preconditions = []journal.Precondition{{Thread: "thr_p", StopEpoch: 0}}
	child.Must(t, j, u)
	parent.Must(t, j, parent.Unit(baton.EventStopRequested{StopEpoch: 1}))
	u = child.Unit(baton.EventQueueResumed{})
	u.Preconditions = []journal.Precondition{{Thread: "thr_p", StopEpoch: 0}}
	wantError(t, child.Append(j, u), journal.ErrPrecondition)
	u.Preconditions = []journal.Precondition{{Thread: "thr_none"}}
	wantError(t, child.Append(j, u), journal.ErrPrecondition)
	u.Preconditions = []journal.Precondition{{Thread: "thr_p", StopEpoch: 1}}
	child.Must(t, j, u)
}

func receipts(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	s.Must(t, j, s.Create())
	u := s.Unit(baton.EventQueueResumed{})
	first := journal.Receipt{Command: "cmd_1", Hash: "h", Reply: baton.Reply{Thread: "thr_1", Stopped: []string{"a"}}}
	refusal := journal.Receipt{Command: "cmd_2", Hash: "g", Err: baton.Errorf(baton.CodeConflict, "no").WithHint("wait")}
	u.Receipts = []journal.Receipt{first, refusal}
	s.Must(t, j, u)
	equal(t, "first", must[journal.Receipt](t)(j.Receipt(ctx, "cmd_1")), first)
	equal(t, "refusal", must[journal.Receipt](t)(j.Receipt(ctx, "cmd_2")), refusal)

	again := s.Unit(baton.EventQueueHeld{Reason: "no"})
	again.Receipts = []journal.Receipt{{Command: "cmd_3"}, {Command: "cmd_2", Hash: "other"}}
	wantError(t, s.Append(j, again), journal.ErrReceipt)
	_, err := j.Receipt(ctx, "cmd_3")
	wantError(t, err, journal.ErrNotFound)

	// A refused command for a thread that was never made makes none.
	ghost := NewScribe("thr_ghost")
	u = ghost.Unit()
	u.Receipts = []journal.Receipt{{Command: "cmd_4", Err: baton.Errorf(baton.CodeNotFound, "no such thread")}}
	ghost.Must(t, j, u)
	_, err = j.Load(ctx, "thr_ghost")
	wantError(t, err, journal.ErrNotFound)
	equal(t, "unsettled", must[[]baton.ThreadID](t)(j.Unsettled(ctx)), []baton.ThreadID{"thr_1"})
}

func refusals(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	s.Epoch = 5
	u := s.Create()
	u.Receipts = []journal.Receipt{{Command: "cmd_1"}}
	s.Must(t, j, u)
	bad := *s
	bad.Version, bad.Epoch = 9, 4
	u = bad.Unit(baton.EventQueueResumed{})
	u.Receipts, u.Preconditions = []journal.Receipt{{Command: "cmd_1"}}, []journal.Precondition{{Thread: "thr_none"}}
	wantError(t, bad.Append(j, u), journal.ErrFenced)
	u.Epoch = 5
	wantError(t, bad.Append(j, u), journal.ErrReceipt)
	u.Receipts = nil
	wantError(t, bad.Append(j, u), journal.ErrVersion)
	good := s.Unit(baton.EventQueueResumed{})
	good.Preconditions = u.Preconditions
	wantError(t, s.Append(j, good), journal.ErrPrecondition)
}

func malformed(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	s.Must(t, j, s.Create())
	for name, spoil := range map[string]func(*journal.Unit){
		"no thread":        func(u *journal.Unit) { u.Thread = "" },
		"version gap":      func(u *journal.Unit) { u.Events[0].Version++ },
		"another thread":   func(u *journal.Unit) { u.Events[0].Thread = "thr_2" },
		"no data":          func(u *journal.Unit) { u.Events[0].Data = nil },
		"patch":            func(u *journal.Unit) { u.Changes[0].Patch = json.RawMessage(`{"a":`) },
		"patch no object":  func(u *journal.Unit) { u.Changes[0].Patch = json.RawMessage(`[]`) },
		"empty chunk":      func(u *journal.Unit) { u.Chunks = []journal.Chunk{{Item: "itm_1"}} },
		"effect no data":   func(u *journal.Unit) { u.Effects = []baton.Effect{{ID: "eff_1", Thread: "thr_1"}} },
		"future snapshot":  func(u *journal.Unit) { u.Snapshot = &journal.Snapshot{Version: 3} },
		"nameless receipt": func(u *journal.Unit) { u.Receipts = []journal.Receipt{{}} },
	} {
		u := s.Unit(baton.EventThreadTitled{Title: "spoilt"})
		spoil(&u)
		if err := s.Append(j, u); err == nil {
			t.Fatalf("%s: the unit was taken", name)
		}
	}
	s.Must(t, j, s.Unit(baton.EventThreadTitled{Title: "whole"}))
}

// indivisible fails a unit at its last parts and looks for what it left.
func indivisible(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	u := s.Command(1)
	u.Chunks = []journal.Chunk{{Item: "itm_open", Text: "abc"}}
	s.Must(t, j, u)
	want := contents(t, j)
	for name, spoil := range map[string]func(*journal.Unit){
		"an effect that exists": func(u *journal.Unit) { u.Effects = append(u.Effects, s.Command(1).Effects...) },
		"a gap in a text": func(u *journal.Unit) {
			u.Chunks = append(u.Chunks, journal.Chunk{Item: "itm_open", Offset: 9, Text: "x"})
		},
		"a receipt that exists": func(u *journal.Unit) { u.Receipts = append(u.Receipts, s.Command(1).Receipts...) },
	} {
		u := s.Command(2)
		u.Chunks = []journal.Chunk{{Item: "itm_open", Offset: 3, Text: "def"}}
		u.Sessions = []journal.SessionMark{{Session: "ses_1", Frame: 3, State: []byte("s")}}
		u.Snapshot = &journal.Snapshot{Version: u.Version(), State: json.RawMessage("{}")}
		u.Done = []baton.EffectID{"eff_thr_1_1"}
		spoil(&u)
		if err := s.Append(j, u); err == nil {
			t.Fatalf("%s: the unit was taken", name)
		}
		equal(t, name, contents(t, j), want)
	}
	s.Must(t, j, s.Command(3))
	CheckDocuments(t, j)
}

// contents is all that can be read of thr_1.
func contents(t *testing.T, j journal.Journal) []any {
	l := must[journal.Loaded](t)(j.Load(ctx, "thr_1"))
	var docs []journal.Document
	for _, kind := range []journal.Kind{journal.KindThread, journal.KindRun, journal.KindItem, journal.KindMessage, journal.KindAttempt, journal.KindNode} {
		docs = append(docs, must[[]journal.Document](t)(j.List(ctx, journal.Query{Kind: kind}))...)
	}
	text := must[[]journal.Chunk](t)(j.Chunks(ctx, "itm_open", false, 0, 0))
	_, err := j.Receipt(ctx, "cmd_thr_1_2")
	return []any{l, docs, text, errors.Is(err, journal.ErrNotFound), len(AllEvents(t, j))}
}

func effects(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	effect := func(id baton.EffectID, thread baton.ThreadID, lane baton.Lane) baton.Effect {
		return baton.Effect{ID: id, Thread: thread, Session: "ses_1", Lane: lane, Data: baton.EffectStopSession{Reason: string(id), Grace: time.Second}}
	}
	u := s.Create()
	want := []baton.Effect{effect("eff_c", "thr_1", baton.LaneWork), effect("eff_a", "thr_1", baton.LaneControl)}
	u.Effects = slices.Clone(want)
	s.Must(t, j, u)
	other := NewScribe("thr_2")
	u = other.Create()
	u.Effects = []baton.Effect{effect("eff_z", "thr_2", baton.LaneWork)}
	other.Must(t, j, u)
	u = s.Unit()
	big := baton.Effect{ID: "eff_b", Thread: "thr_1", Lane: baton.LaneWork, Data: baton.EffectWrite{Data: bytes.Repeat([]byte{0, 255, '"'}, 1<<20)}}
	u.Effects = []baton.Effect{big}
	s.Must(t, j, u)
	equal(t, "asked", must[journal.Loaded](t)(j.Load(ctx, "thr_1")).Effects, append(want, big))
	u = s.Unit()
	u.Done = []baton.EffectID{"eff_c", "eff_b", "eff_never"}
	s.Must(t, j, u)
	equal(t, "left", must[journal.Loaded](t)(j.Load(ctx, "thr_1")).Effects, want[1:])
	equal(t, "of the other", len(must[journal.Loaded](t)(j.Load(ctx, "thr_2")).Effects), 1)
	u = s.Unit() // asked and cancelled in one unit
	u.Effects, u.Done = []baton.Effect{effect("eff_d", "thr_1", baton.LaneWork)}, []baton.EffectID{"eff_d"}
	s.Must(t, j, u)
	equal(t, "left", must[journal.Loaded](t)(j.Load(ctx, "thr_1")).Effects, want[1:])
}

func sessions(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	mark := func(marks ...journal.SessionMark) []journal.SessionMark {
		u := s.Unit()
		u.Sessions = marks
		s.Must(t, j, u)
		return must[journal.Loaded](t)(j.Load(ctx, "thr_1")).Sessions
	}
	s.Must(t, j, s.Create())
	a, b := journal.SessionMark{Session: "ses_a", Frame: 4, State: []byte{0, 1, 2}}, journal.SessionMark{Session: "ses_b", Frame: 1, State: []byte("b")}
	equal(t, "two", mark(b, a), []journal.SessionMark{a, b})
	a.Frame = 9
	equal(t, "frame alone", mark(journal.SessionMark{Session: "ses_a", Frame: 9}), []journal.SessionMark{a, b})
	a.Frame, a.State = 10, []byte("new")
	equal(t, "both", mark(a), []journal.SessionMark{a, b})
	equal(t, "gone", mark(journal.SessionMark{Session: "ses_b", Gone: true}), []journal.SessionMark{a})
}

func snapshot(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	s.Must(t, j, s.Create())
	u := s.Unit(baton.EventThreadTitled{Title: "2"}, baton.EventThreadTitled{Title: "3"})
	want := journal.Snapshot{Version: 2, Shape: 4, State: json.RawMessage(`{"title":"2"}`)}
	u.Snapshot = &want
	s.Must(t, j, u)
	s.Must(t, j, s.Unit(baton.EventThreadTitled{Title: "4"}))
	l := must[journal.Loaded](t)(j.Load(ctx, "thr_1"))
	equal(t, "snapshot", l.Snapshot, &want)
	equal(t, "tail", len(l.Tail), 2)
	equal(t, "tail begins", l.Tail[0].Version, uint64(3))
	u = s.Unit()
	u.Snapshot = &journal.Snapshot{Version: 4, Shape: 5, State: json.RawMessage(`{}`)}
	s.Must(t, j, u)
	l = must[journal.Loaded](t)(j.Load(ctx, "thr_1"))
	equal(t, "newer", l.Snapshot, u.Snapshot)
	equal(t, "no tail", len(l.Tail), 0)
}

func unsettled(t *testing.T, j journal.Journal) {
	settle := func(s *Scribe, settled bool) {
		u := s.Unit(baton.EventQueueResumed{})
		u.Settled = settled
		s.Must(t, j, u)
	}
	a, b := NewScribe("thr_a"), NewScribe("thr_b")
	settle(a, false)
	settle(b, true)
	equal(t, "a", must[[]baton.ThreadID](t)(j.Unsettled(ctx)), []baton.ThreadID{"thr_a"})
	settle(b, false)
	equal(t, "both", must[[]baton.ThreadID](t)(j.Unsettled(ctx)), []baton.ThreadID{"thr_a", "thr_b"})
	settle(a, true)
	settle(b, true)
	equal(t, "none", len(must[[]baton.ThreadID](t)(j.Unsettled(ctx))), 0)
}

func epochs(t *testing.T, j journal.Journal) {
	last := uint64(0)
	for range 5 {
		next := must[uint64](t)(j.ClaimEpoch(ctx))
		if next <= last {
			t.Fatalf("epoch %d after %d", next, last)
		}
		last = next
	}
}

func contexts(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := j.Append(over, s.Create()); !errors.Is(err, context.Canceled) {
		t.Fatalf("append with an ended context: %v", err)
	}
	if _, err := j.Head(over); !errors.Is(err, context.Canceled) {
		t.Fatalf("read with an ended context: %v", err)
	}
	s.Must(t, j, s.Create())
}

func closed(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	s.Must(t, j, s.Create())
	for range 2 {
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, s.Append(j, s.Unit()), journal.ErrClosed)
	_, err := j.ClaimEpoch(ctx)
	wantError(t, err, journal.ErrClosed)
	_, err = j.Load(ctx, "thr_1")
	wantError(t, err, journal.ErrClosed)
	wantError(t, j.View(ctx, func(journal.Reader) error { return nil }), journal.ErrClosed)
}

func nothing(t *testing.T, j journal.Journal) {
	equal(t, "head", must[uint64](t)(j.Head(ctx)), uint64(0))
	equal(t, "events", len(must[[]baton.Event](t)(j.EventsSince(ctx, 0, 10))), 0)
	equal(t, "list", len(must[[]journal.Document](t)(j.List(ctx, journal.Query{Kind: journal.KindThread}))), 0)
	equal(t, "chunks", len(must[[]journal.Chunk](t)(j.Chunks(ctx, "itm_1", false, 0, 10))), 0)
	_, err := j.Get(ctx, journal.KindThread, "thr_1")
	wantError(t, err, journal.ErrNotFound)
	_, err = j.ThreadOf(ctx, journal.KindRun, "run_1")
	wantError(t, err, journal.ErrNotFound)
	_, err = j.Receipt(ctx, "cmd_1")
	wantError(t, err, journal.ErrNotFound)
}
