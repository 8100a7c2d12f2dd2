package engine

import (
	"encoding/json"
	"slices"
	"sync"

	"baton"
	"baton/internal/journal"
)

// Update is a committed unit, as subscribers get it. All subscribers get the
// same one, so nobody changes it.
type Update struct {
	Thread  baton.ThreadID
	Version uint64            // of the thread after the unit
	Seq     uint64            // of the unit's last event, 0 where it has none
	Events  []baton.Event     // none where only the list is subscribed
	Data    []json.RawMessage // of Events, encoded once for all
	Chunks  []journal.Chunk   // text of open items that came with it
	Row     bool              // what a list shows of the thread has changed

	size int
	once sync.Once
	memo any
}

// Memo returns what the first caller's function has made, so that subscribers
// share what is the same for all of them.
func (u *Update) Memo(first func() any) any {
	u.once.Do(func() { u.memo = first() })
	return u.memo
}

// Hub hands committed units to subscribers, those with events in the order of
// the journal's sequence: who has one has all before it of what it follows. A
// subscriber that does not keep up is cut off; it reads the journal from its
// cursor and comes back.
//
// Owners append at the same time, and the one whose unit comes first in the
// journal may be the last to say so. So each append is announced with begin and
// reported with end, and a unit is held back while one that is not reported yet
// may come before it.
type Hub struct {
	mu     sync.Mutex
	subs   map[*Subscription]bool
	thread map[baton.ThreadID]map[*Subscription]bool
	rows   map[*Subscription]bool

	high   uint64 // the greatest sequence that was reported
	next   uint64 // what follows the newest unit that was handed on; 0: not known
	flight map[*flight]bool
	held   []*held // by sequence
}

// flight is an append that is under way. Its events come behind after.
type flight struct{ after uint64 }

// held is a unit that waits for one before it, with those of the same thread
// behind it that have no events, and so no place of their own.
type held struct {
	first  uint64
	update *Update
	behind []*Update
}

func newHub() *Hub {
	return &Hub{subs: map[*Subscription]bool{}, thread: map[baton.ThreadID]map[*Subscription]bool{}, rows: map[*Subscription]bool{},
		flight: map[*flight]bool{}}
}

// begin announces an append. Every begin is followed by one end.
func (h *Hub) begin() *flight {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := &flight{after: h.high}
	h.flight[f] = true
	return f
}

// end reports what became of an append: the unit, as the journal has filled it,
// or nil where nothing was stored.
func (h *Hub) end(f *flight, u *journal.Unit) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.flight, f)
	if u != nil {
		h.put(u)
	}
	h.release()
}

// lost reports an append of which nobody knows whether it is stored. Everybody
// is cut off, since what comes next may be behind a gap; the journal will tell.
func (h *Hub) lost(f *flight) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.flight, f)
	for s := range h.subs {
		s.cut()
	}
	h.next = 0
	h.release()
}

func (h *Hub) put(unit *journal.Unit) {
	u := &Update{Thread: unit.Thread, Version: unit.Version(), Events: unit.Events, Chunks: unit.Chunks}
	u.Row = slices.ContainsFunc(unit.Changes, func(c journal.Change) bool { return c.Kind == journal.KindThread })
	if len(u.Events) == 0 {
		for _, w := range slices.Backward(h.held) {
			if w.update.Thread == u.Thread {
				w.behind = append(w.behind, u)
				return
			}
		}
		h.deliver(u)
		return
	}
	first := u.Events[0].Seq
	u.Seq = u.Events[len(u.Events)-1].Seq
	h.high = max(h.high, u.Seq)
	i, _ := slices.BinarySearchFunc(h.held, first, func(w *held, seq uint64) int { return int(int64(w.first) - int64(seq)) })
	h.held = slices.Insert(h.held, i, &held{first: first, update: u})
}

// release hands on what nothing can come before any more: the unit that is next
// by number, or any other once no append under way can have a smaller one. The
// second is for numbers that the journal has left out.
func (h *Hub) release() {
	for len(h.held) > 0 {
		w := h.held[0]
		if w.first != h.next && h.preceded(w.first) {
			return
		}
		h.held = slices.Delete(h.held, 0, 1)
		h.next = w.update.Seq + 1
		h.deliver(w.update)
		for _, u := range w.behind {
			h.deliver(u)
		}
	}
}

func (h *Hub) preceded(seq uint64) bool {
	for f := range h.flight {
		if f.after < seq {
			return true
		}
	}
	return false
}

func (h *Hub) deliver(u *Update) {
	subs := h.thread[u.Thread]
	if len(subs) > 0 {
		u.encode()
		for s := range subs {
			s.put(u)
		}
	}
	if !u.Row || len(h.rows) == 0 {
		return
	}
	row := &Update{Thread: u.Thread, Version: u.Version, Seq: u.Seq, Row: true, size: rowSize}
	for s := range h.rows {
		if !subs[s] {
			s.put(row)
		}
	}
}

// rowSize is about what an Update without events takes.
const rowSize = 200

// encode fills Data and counts what the unit takes.
func (u *Update) encode() {
	u.size = rowSize
	u.Data = make([]json.RawMessage, len(u.Events))
	for i, e := range u.Events {
		u.Data[i], _ = json.Marshal(e.Data) // the journal has encoded it before
		u.size += rowSize + 2*len(u.Data[i])
	}
	for _, c := range u.Chunks {
		u.size += rowSize + len(c.Text)
	}
}
