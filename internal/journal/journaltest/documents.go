package journaltest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"baton"
	"baton/internal/journal"
)

func change(kind journal.Kind, id string, run baton.RunID, position int64, patch string) journal.Change {
	return journal.Change{Kind: kind, ID: id, Run: run, Position: position, Patch: json.RawMessage(patch)}
}

func documents(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	put := func(changes ...journal.Change) journal.Document {
		u := s.Unit(baton.EventQueueResumed{})
		u.Changes = changes
		s.Must(t, j, u)
		return must[journal.Document](t)(j.Get(ctx, journal.KindItem, "itm_1"))
	}
	for _, step := range []struct{ patch, want string }{
		{`{"a":1,"gone":null,"b":{"c":null,"d":[null]}}`, `{"a":1,"b":{"d":[null]}}`},
		{`{"b":{"e":2.50}}`, `{"a":1,"b":{"d":[null],"e":2.50}}`},
		{`{"b":null,"big":12345678901234567890,"t":"<\u0001\"世"}`, `{"a":1,"big":12345678901234567890,"t":"<\u0001\"世"}`},
		{`{"a":{"x":1}}`, `{"a":{"x":1},"big":12345678901234567890,"t":"<\u0001\"世"}`},
		{`{"a":[1],"t":"","big":false}`, `{"a":[1],"big":false,"t":""}`},
		{`{}`, `{"a":[1],"big":false,"t":""}`},
	} {
		d := put(change(journal.KindItem, "itm_1", "", 0, step.patch))
		if !sameJSON(t, d.Body, []byte(step.want)) {
			t.Fatalf("after %s: %s, want %s", step.patch, d.Body, step.want)
		}
	}
	d := put(change(journal.KindItem, "itm_1", "run_1", 7, `{}`), change(journal.KindItem, "itm_1", "", 0, `{"t":1}`))
	equal(t, "place", []any{d.Run, d.Position, d.Thread}, []any{baton.RunID("run_1"), int64(7), baton.ThreadID("thr_1")})
	d = put(change(journal.KindItem, "itm_1", "", 8, `{}`))
	equal(t, "place", []any{d.Run, d.Position}, []any{baton.RunID("run_1"), int64(8)})
	equal(t, "thread of", must[baton.ThreadID](t)(j.ThreadOf(ctx, journal.KindItem, "itm_1")), baton.ThreadID("thr_1"))
	_, err := j.Get(ctx, journal.KindNode, "itm_1")
	wantError(t, err, journal.ErrNotFound)
}

func lists(t *testing.T, j journal.Journal) {
	for n := range 3 {
		s := NewScribe(fmt.Sprintf("thr_%d", n))
		u := s.Create()
		u.Changes = nil
		for i := range 4 {
			run := baton.RunID(fmt.Sprintf("run_%d", i%2))
			u.Changes = append(u.Changes, change(journal.KindItem, fmt.Sprintf("itm_%d%d", n, i), run, int64(i+1), "{}"))
		}
		u.Changes = append(u.Changes, change(journal.KindThread, string(s.Thread), "", 5, "{}"), change(journal.KindThread, "x"+string(s.Thread), "", int64(6+n), "{}"))
		s.Must(t, j, u)
	}
	for _, test := range []struct {
		q    journal.Query
		want string
	}{
		{journal.Query{Kind: journal.KindItem, Thread: "thr_1"}, "[itm_10 itm_11 itm_12 itm_13]"},
		{journal.Query{Kind: journal.KindItem, Thread: "thr_1", Desc: true, Limit: 2}, "[itm_13 itm_12]"},
		{journal.Query{Kind: journal.KindItem, Thread: "thr_1", After: 2}, "[itm_12 itm_13]"},
		{journal.Query{Kind: journal.KindItem, Thread: "thr_1", After: 3, Desc: true}, "[itm_11 itm_10]"},
		{journal.Query{Kind: journal.KindItem, Thread: "thr_1", Run: "run_1"}, "[itm_11 itm_13]"},
		{journal.Query{Kind: journal.KindItem, Run: "run_1", After: 2}, "[itm_03 itm_13 itm_23]"},
		{journal.Query{Kind: journal.KindItem, Limit: 4}, "[itm_00 itm_10 itm_20 itm_01]"},
		{journal.Query{Kind: journal.KindItem, Limit: 4, After: 1, AfterID: "itm_10"}, "[itm_20 itm_01 itm_11 itm_21]"},
		{journal.Query{Kind: journal.KindThread}, "[thr_0 thr_1 thr_2 xthr_0 xthr_1 xthr_2]"},
		{journal.Query{Kind: journal.KindThread, Desc: true}, "[xthr_2 xthr_1 xthr_0 thr_2 thr_1 thr_0]"},
		{journal.Query{Kind: journal.KindThread, Desc: true, After: 5, AfterID: "thr_2"}, "[thr_1 thr_0]"},
		{journal.Query{Kind: journal.KindThread, After: 5}, "[xthr_0 xthr_1 xthr_2]"},
		{journal.Query{Kind: journal.KindRun}, "[]"},
	} {
		ids := []string{}
		for _, d := range must[[]journal.Document](t)(j.List(ctx, test.q)) {
			ids = append(ids, d.ID)
		}
		if got := fmt.Sprint(ids); got != test.want {
			t.Errorf("%+v: %s, want %s", test.q, got, test.want)
		}
	}
}

// rebuilt writes samples of all events in random order, many about the same
// few entities.
func rebuilt(t *testing.T, j journal.Journal) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 3 {
		s := NewScribe(fmt.Sprintf("thr_%d", n))
		s.Must(t, j, s.Create())
		for range 40 {
			var data []baton.EventData
			for range 1 + r.IntN(8) {
				kinds := Types()
				data = append(data, Sample(r, kinds[r.IntN(len(kinds))]))
			}
			s.Must(t, j, s.Unit(data...))
		}
		s.Must(t, j, s.Command(1))
	}
	CheckDocuments(t, j)
}

func unknown(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	future := baton.EventUnknown{Type: "future.thing", Raw: json.RawMessage(`{"x":[1,"<é>"]}`)}
	s.Must(t, j, s.Unit(baton.EventThreadCreated{}, future, baton.EventThreadTitled{Title: "after"}))
	events := must[[]baton.Event](t)(j.Events(ctx, "thr_1", 0, 0))
	equal(t, "the unknown one", events[1].Data, baton.EventData(future))
	equal(t, "the one after", events[2].Version, uint64(3))
	CheckDocuments(t, j)
}

// ownership changes what went in and what came out, and looks again.
func ownership(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	u := s.Create()
	u.Sessions = []journal.SessionMark{{Session: "ses_1", State: []byte("state")}}
	u.Snapshot = &journal.Snapshot{Version: 1, State: json.RawMessage(`{"a":1}`)}
	u.Receipts = []journal.Receipt{{Command: "cmd_1", Reply: baton.Reply{Stopped: []string{"a"}}}}
	s.Must(t, j, u)
	spoil := func(b []byte) {
		for i := range b {
			b[i] = 'x'
		}
	}
	spoil(u.Sessions[0].State)
	spoil(u.Snapshot.State)
	spoil(u.Changes[0].Patch)
	u.Receipts[0].Reply.Stopped[0] = "x"
	for range 2 {
		l := must[journal.Loaded](t)(j.Load(ctx, "thr_1"))
		d := must[journal.Document](t)(j.Get(ctx, journal.KindThread, "thr_1"))
		all := must[[]journal.Document](t)(j.List(ctx, journal.Query{Kind: journal.KindThread}))
		r := must[journal.Receipt](t)(j.Receipt(ctx, "cmd_1"))
		equal(t, "state", string(l.Sessions[0].State), "state")
		equal(t, "snapshot", string(l.Snapshot.State), `{"a":1}`)
		equal(t, "reply", r.Reply.Stopped[0], "a")
		if !json.Valid(d.Body) || !json.Valid(all[0].Body) {
			t.Fatal("the document has changed")
		}
		spoil(l.Sessions[0].State)
		spoil(l.Snapshot.State)
		spoil(d.Body)
		spoil(all[0].Body)
		r.Reply.Stopped[0] = "x"
	}
}

func views(t *testing.T, j journal.Journal) {
	s := NewScribe("thr_1")
	s.Must(t, j, s.Create())
	err := j.View(ctx, func(r journal.Reader) error {
		head := must[uint64](t)(r.Head(ctx))
		s.Must(t, j, s.Command(1)) // a view keeps nobody from writing
		other := NewScribe("thr_2")
		other.Must(t, j, other.Create())
		equal(t, "head", must[uint64](t)(r.Head(ctx)), head)
		equal(t, "events", len(must[[]baton.Event](t)(r.EventsSince(ctx, 0, 0))), 1)
		equal(t, "version", must[journal.Loaded](t)(r.Load(ctx, "thr_1")).Version, uint64(1))
		equal(t, "threads", len(must[[]journal.Document](t)(r.List(ctx, journal.Query{Kind: journal.KindThread}))), 1)
		_, err := r.Receipt(ctx, "cmd_thr_1_1")
		wantError(t, err, journal.ErrNotFound)
		CheckDocuments(t, r)
		return journal.ErrPrecondition
	})
	wantError(t, err, journal.ErrPrecondition) // what fn returns comes back
	equal(t, "threads now", len(must[[]journal.Document](t)(j.List(ctx, journal.Query{Kind: journal.KindThread}))), 2)
}

func concurrent(t *testing.T, j journal.Journal) {
	const threads, units = 16, 12
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		readers.Go(func() {
			for {
				if err := j.View(ctx, func(r journal.Reader) error { AllEvents(t, r); return nil }); err != nil {
					t.Error(err)
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for n := range threads {
		writers.Go(func() {
			s := NewScribe(fmt.Sprintf("thr_%d", n))
			for i := range units {
				if err := s.Append(j, s.Command(i+1)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	equal(t, "events", len(AllEvents(t, j)), threads*units*5)
	CheckDocuments(t, j)
}

// groups appends good and refused units at once: a refusal takes nobody with it.
func groups(t *testing.T, j journal.Journal) {
	var all sync.WaitGroup
	var mu sync.Mutex
	var failed []string
	for n := range 48 {
		all.Go(func() {
			s := NewScribe(fmt.Sprintf("thr_%02d", n))
			u := s.Create()
			if n%3 == 0 { // fails at its last part
				u.Chunks = []journal.Chunk{{Item: baton.ItemID(fmt.Sprint("itm_", n)), Offset: 1, Text: "x"}}
			}
			if err := s.Append(j, u); (err != nil) != (n%3 == 0) {
				mu.Lock()
				failed = append(failed, fmt.Sprint(s.Thread, ": ", err))
				mu.Unlock()
			}
		})
	}
	all.Wait()
	slices.Sort(failed)
	equal(t, "wrong outcomes", failed, []string(nil))
	equal(t, "threads", len(must[[]journal.Document](t)(j.List(ctx, journal.Query{Kind: journal.KindThread}))), 32)
	CheckDocuments(t, j)
}
