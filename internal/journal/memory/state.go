package memory

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"baton"
	"baton/internal/journal"
)

// state is everything that is stored. Values in its maps are replaced and never
// changed, and its slices only grow, so a shallow copy is a point in time.
type state struct {
	events   []journal.StoredEvent // Seq is the index + 1
	threads  map[baton.ThreadID]thread
	receipts map[baton.CommandID]receipt
	docs     map[journal.Key]journal.Document
	streams  map[baton.ItemID]stream
	effects  []journal.StoredEffect // replaced when one ends
	sessions map[baton.SessionID]session
	projects map[string]journal.ProjectDoc // by directory
}

type thread struct {
	version, epoch uint64
	stopEpoch      int
	settled        bool
	events         []int // indexes into state.events
	snapshot       *journal.Snapshot
}

type receipt struct {
	hash string
	data []byte
}

type stream struct {
	journal.Stream
	thread baton.ThreadID
	closed bool
	chunks []journal.Chunk
}

type session struct {
	thread baton.ThreadID
	mark   journal.SessionMark
}

func newState() *state {
	return &state{threads: map[baton.ThreadID]thread{}, receipts: map[baton.CommandID]receipt{}, docs: map[journal.Key]journal.Document{},
		streams: map[baton.ItemID]stream{}, sessions: map[baton.SessionID]session{}, projects: map[string]journal.ProjectDoc{}}
}

func (s *state) clone() *state {
	c := *s
	c.threads, c.receipts, c.docs = maps.Clone(s.threads), maps.Clone(s.receipts), maps.Clone(s.docs)
	c.streams, c.sessions = maps.Clone(s.streams), maps.Clone(s.sessions)
	c.projects = maps.Clone(s.projects)
	return &c
}

// write is a unit on its way: encoded, then staged against the state.
type write struct {
	unit     journal.Unit
	events   []journal.StoredEvent
	receipts []receipt
	effects  []journal.StoredEffect
	docs     map[journal.Key]journal.Document
	streams  map[baton.ItemID]stream
}

func encode(u journal.Unit) (write, error) {
	w := write{unit: u, docs: map[journal.Key]journal.Document{}, streams: map[baton.ItemID]stream{}}
	for _, e := range u.Events {
		s, err := journal.EncodeEvent(e)
		if err != nil {
			return w, err
		}
		w.events = append(w.events, s)
	}
	for _, r := range u.Receipts {
		data, err := journal.EncodeReceipt(r)
		if err != nil {
			return w, err
		}
		w.receipts = append(w.receipts, receipt{r.Hash, data})
	}
	for _, e := range u.Effects {
		s, err := journal.EncodeEffect(e)
		if err != nil {
			return w, err
		}
		w.effects = append(w.effects, s)
	}
	return w, nil
}

// stage checks the unit against the state and works out what needs the state,
// changing nothing: after it nothing can fail.
func (s *state) stage(w *write) error {
	u, t := &w.unit, s.threads[w.unit.Thread]
	if u.Epoch < t.epoch {
		return journal.ErrFenced
	}
	seen := map[baton.CommandID]bool{}
	for _, r := range u.Receipts {
		if _, ok := s.receipts[r.Command]; ok || seen[r.Command] {
			return journal.ErrReceipt
		}
		seen[r.Command] = true
	}
	if u.Expect != t.version {
		return journal.ErrVersion
	}
	for _, p := range u.Preconditions {
		if other, ok := s.threads[p.Thread]; !ok || other.stopEpoch != p.StopEpoch {
			return journal.ErrPrecondition
		}
	}
	for _, c := range u.Changes {
		key := journal.Key{Kind: c.Kind, ID: c.ID}
		doc, ok := w.docs[key]
		if !ok {
			doc = s.docs[key]
		}
		doc, err := journal.Apply(doc, u.Thread, c)
		if err != nil {
			return err
		}
		w.docs[key] = doc
	}
	if err := s.stageStreams(w); err != nil {
		return err
	}
	ids := map[baton.EffectID]bool{}
	for _, e := range s.effects {
		ids[e.ID] = true
	}
	for _, e := range w.effects {
		if ids[e.ID] {
			return fmt.Errorf("journal: effect %s exists", e.ID)
		}
		ids[e.ID] = true
	}
	return nil
}

// stageStreams takes resets, then chunks, then ends of items.
func (s *state) stageStreams(w *write) error {
	get := func(id baton.ItemID) (stream, bool) {
		if st, ok := w.streams[id]; ok {
			return st, true
		}
		st, ok := s.streams[id]
		st.thread = w.unit.Thread
		return st, ok
	}
	for _, e := range w.unit.Events {
		if d, ok := e.Data.(baton.EventItemReset); ok {
			st, _ := get(d.Item)
			if d.Revision > st.Revision {
				st.chunks = nil
			}
			st.Reset(d.Revision)
			w.streams[d.Item] = st
		}
	}
	for _, c := range w.unit.Chunks {
		st, _ := get(c.Item)
		if c.Revision > st.Revision {
			st.chunks = nil
		}
		keep, err := st.Take(c)
		if err != nil {
			return err
		}
		if keep {
			st.chunks = append(slices.Clip(st.chunks), c)
		}
		w.streams[c.Item] = st
	}
	for _, e := range w.unit.Events {
		if d, ok := e.Data.(baton.EventItemClosed); ok {
			if st, ok := get(d.Item); ok {
				st.closed = true
				w.streams[d.Item] = st
			}
		}
	}
	return nil
}

// store puts a staged unit into the state and returns the Seq of its first event.
func (s *state) store(w *write, now time.Time) (first uint64) {
	u, t := &w.unit, s.threads[w.unit.Thread]
	for i, e := range w.events {
		e.Seq, e.Epoch, e.Committed = uint64(len(s.events))+1, u.Epoch, journal.Nanos(now)
		if i == 0 {
			first = e.Seq
		}
		t.events = append(t.events, len(s.events))
		s.events = append(s.events, e)
	}
	t.version, t.epoch, t.stopEpoch, t.settled = u.Version(), u.Epoch, max(t.stopEpoch, u.StopEpoch()), u.Settled
	if u.Snapshot != nil {
		snap := *u.Snapshot
		snap.State = slices.Clone(snap.State)
		t.snapshot = &snap
	}
	if t.version > 0 { // a receipt for a thread that was never made makes none
		s.threads[u.Thread] = t
	}
	for i, r := range u.Receipts {
		s.receipts[r.Command] = w.receipts[i]
	}
	maps.Copy(s.docs, w.docs)
	maps.Copy(s.streams, w.streams)
	for _, id := range u.DropChunks {
		delete(s.streams, id)
	}
	s.effects = append(slices.Clone(s.effects), w.effects...)
	s.effects = slices.DeleteFunc(s.effects, func(e journal.StoredEffect) bool { return slices.Contains(u.Done, e.ID) })
	for _, m := range u.Sessions {
		if m.Gone {
			delete(s.sessions, m.Session)
			continue
		}
		if m.State == nil {
			m.State = s.sessions[m.Session].mark.State
		}
		m.State = slices.Clone(m.State)
		s.sessions[m.Session] = session{u.Thread, m}
	}
	return first
}
