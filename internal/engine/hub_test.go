package engine

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"baton"
	"baton/internal/journal"
)

// unit is one of the thread with the sequences, as a journal has filled it.
func unit(thread baton.ThreadID, version uint64, seqs ...uint64) *journal.Unit {
	u := &journal.Unit{Thread: thread, Expect: version}
	for i, seq := range seqs {
		u.Events = append(u.Events, baton.Event{Thread: thread, Seq: seq, Version: version + uint64(i) + 1, Data: baton.EventQueueResumed{}})
	}
	return u
}

func chunk(thread baton.ThreadID, version uint64, text string) *journal.Unit {
	return &journal.Unit{Thread: thread, Expect: version, Chunks: []journal.Chunk{{Item: "itm_1", Text: text}}}
}

// sequences are those of all events that can be taken, with the text between.
func sequences(t *testing.T, s *Subscription) (seqs []uint64, text string) {
	t.Helper()
	updates, ok := s.Take()
	if !ok {
		t.Fatal("it was cut off")
	}
	for _, u := range updates {
		for _, e := range u.Events {
			seqs = append(seqs, e.Seq)
		}
		for _, c := range u.Chunks {
			text += c.Text
		}
	}
	return seqs, text
}

func TestHubKeepsTheJournalsOrder(t *testing.T) {
	h := newHub()
	s := h.Subscribe(nil)
	s.Add("a")
	s.Add("b")
	expect := func(text string, seqs ...uint64) {
		t.Helper()
		if got, also := sequences(t, s); !slices.Equal(got, seqs) || also != text {
			t.Errorf("got %v %q, want %v %q", got, also, seqs, text)
		}
	}
	h.end(h.begin(), unit("a", 0, 1))
	expect("", 1)
	first, second, third := h.begin(), h.begin(), h.begin()
	h.end(second, unit("b", 0, 4))
	h.end(h.begin(), chunk("b", 1, "behind b's event"))
	expect("") // while something may be before it
	h.end(first, unit("a", 1, 2, 3))
	expect("behind b's event", 2, 3, 4) // the next by number wait for nobody
	fourth := h.begin()
	h.end(fourth, unit("b", 1, 6))
	expect("") // the third may be number 5
	h.end(third, nil)
	expect("", 6) // it is nothing: the journal has left 5 out
}

// Appends of many threads end in any order, some fail, some numbers are never
// used: each subscriber gets what it follows, all of it, once, in order, and
// nothing stays behind when all have ended.
func TestHubAtRandom(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		h := newHub()
		threads := []baton.ThreadID{"a", "b", "c", "d"}
		all, some := h.Subscribe(nil), h.Subscribe(nil)
		for _, id := range threads {
			all.Add(id)
		}
		some.Add("b")
		type flying struct {
			f *flight
			u *journal.Unit
		}
		var air []flying
		busy := map[baton.ThreadID]bool{}
		versions := map[baton.ThreadID]uint64{}
		var want, wantSome []uint64
		seq := uint64(rng.IntN(3))
		land := func() {
			i := rng.IntN(len(air))
			x := air[i]
			air = slices.Delete(air, i, i+1)
			if x.u != nil {
				busy[x.u.Thread] = false
			}
			h.end(x.f, x.u)
		}
		for range 60 {
			id := threads[rng.IntN(len(threads))]
			if busy[id] || rng.IntN(3) == 0 && len(air) > 0 {
				if len(air) > 0 {
					land()
				}
				continue
			}
			x := flying{f: h.begin()}
			switch rng.IntN(8) {
			case 0: // refused
			case 1:
				seq += uint64(rng.IntN(3)) // lost numbers
				fallthrough
			default:
				var seqs []uint64
				for range 1 + rng.IntN(3) {
					seq++
					seqs = append(seqs, seq)
				}
				x.u = unit(id, versions[id], seqs...)
				versions[id] += uint64(len(seqs))
				busy[id] = true
				want = append(want, seqs...)
				if id == "b" {
					wantSome = append(wantSome, seqs...)
				}
			}
			air = append(air, x)
		}
		for len(air) > 0 {
			land()
		}
		if got, _ := sequences(t, all); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if got, _ := sequences(t, some); !slices.Equal(got, wantSome) {
			t.Fatalf("got %v, want %v", got, wantSome)
		}
		if len(h.held) != 0 || len(h.flight) != 0 {
			t.Fatalf("%d held, %d under way", len(h.held), len(h.flight))
		}
	}
}

func TestHubCutsOffWhoMayHaveMissedSomething(t *testing.T) {
	h := newHub()
	cut := 0
	s := h.Subscribe(func() { cut++ })
	s.Add("a")
	h.lost(h.begin())
	<-s.Ready()
	if _, ok := s.Take(); ok || cut != 1 {
		t.Errorf("it goes on behind a gap; cut %d times", cut)
	}
	s.Add("a")
	s.Close()
	if len(h.subs)+len(h.thread)+len(h.rows) != 0 {
		t.Error("something of it is left")
	}
}

func TestHubRows(t *testing.T) {
	h := newHub()
	list, both := h.Subscribe(nil), h.Subscribe(nil)
	list.Rows(true)
	both.Rows(true)
	both.Add("a")
	u := unit("a", 0, 1)
	u.Changes = []journal.Change{{Kind: journal.KindThread, ID: "a"}}
	h.end(h.begin(), u)
	h.end(h.begin(), unit("a", 1, 2)) // changes no row
	if got, _ := list.Take(); len(got) != 1 || !got[0].Row || got[0].Seq != 1 || got[0].Events != nil {
		t.Errorf("the list got %+v", got)
	}
	if got, _ := both.Take(); len(got) != 2 || !got[0].Row || len(got[0].Events) != 1 || got[1].Row {
		t.Errorf("both got %+v", got)
	}
}

// A subscriber that takes nothing holds a bounded part of what is published, and
// nothing once it is cut off, however many there are.
func TestHubStalledSubscribersHoldNothing(t *testing.T) {
	h := newHub()
	const stalled = 50
	cut := 0
	for range stalled {
		s := h.Subscribe(func() { cut++ })
		s.Add("a")
		defer s.Close()
	}
	memory := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := memory()
	most, published := before, 0
	for i := range 800 {
		h.end(h.begin(), chunk("a", 0, strings.Repeat("x", 64<<10)))
		published += 64 << 10
		if i%40 == 0 {
			most = max(most, memory())
		}
	}
	if cut != stalled {
		t.Errorf("%d of %d are cut off", cut, stalled)
	}
	if grown := int64(most) - int64(before); grown > 2*maxWaitingBytes {
		t.Errorf("the heap grew by %d bytes for %d that were published", grown, published)
	}
	if left := int64(memory()) - int64(before); left > maxWaitingBytes/4 {
		t.Errorf("those that are cut off hold %d bytes", left)
	}
	// One unit of any size is taken by who keeps up.
	s := h.Subscribe(nil)
	s.Add("a")
	defer s.Close()
	h.end(h.begin(), chunk("a", 0, strings.Repeat("x", 2*maxWaitingBytes)))
	if got, ok := s.Take(); !ok || len(got) != 1 {
		t.Error("a large unit cuts off who keeps up")
	}
}
