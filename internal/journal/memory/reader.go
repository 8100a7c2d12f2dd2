package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"baton"
	"baton/internal/journal"
)

// reader reads a state, the live one or a copy.
type reader struct {
	state  *state
	mu     *sync.RWMutex
	closed *bool
}

// enter locks for reading; the caller calls leave.
func (r reader) enter(ctx context.Context) (leave func(), err error) {
	r.mu.RLock()
	err = ctx.Err()
	if *r.closed {
		err = journal.ErrClosed
	}
	if err != nil {
		r.mu.RUnlock()
		return nil, err
	}
	return r.mu.RUnlock, nil
}

func (r reader) Load(ctx context.Context, id baton.ThreadID) (journal.Loaded, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return journal.Loaded{}, err
	}
	defer leave()
	t, ok := r.state.threads[id]
	if !ok {
		return journal.Loaded{}, journal.ErrNotFound
	}
	l := journal.Loaded{Version: t.version, Epoch: t.epoch}
	after := uint64(0)
	if t.snapshot != nil {
		snap := *t.snapshot
		snap.State = slices.Clone(snap.State)
		l.Snapshot, after = &snap, snap.Version
	}
	if l.Tail, err = r.state.eventsOf(t, after, 0); err != nil {
		return journal.Loaded{}, err
	}
	for _, e := range r.state.effects {
		if e.Thread == id {
			effect, err := e.Effect()
			if err != nil {
				return journal.Loaded{}, err
			}
			l.Effects = append(l.Effects, effect)
		}
	}
	for _, s := range r.state.sessions {
		if s.thread == id {
			s.mark.State = slices.Clone(s.mark.State)
			l.Sessions = append(l.Sessions, s.mark)
		}
	}
	slices.SortFunc(l.Sessions, func(a, b journal.SessionMark) int { return cmp.Compare(a.Session, b.Session) })
	l.Chunks = r.state.openTexts(id)
	return l, nil
}

func (s *state) openTexts(id baton.ThreadID) (out []journal.ChunkLength) {
	for item, s := range s.streams {
		if s.thread == id && !s.closed {
			out = append(out, journal.ChunkLength{Item: item, Revision: s.Revision, Text: s.Text, Output: s.Output})
		}
	}
	slices.SortFunc(out, func(a, b journal.ChunkLength) int { return cmp.Compare(a.Item, b.Item) })
	return out
}

func (r reader) OpenTexts(ctx context.Context, id baton.ThreadID) ([]journal.ChunkLength, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return r.state.openTexts(id), nil
}

func (r reader) VersionAt(ctx context.Context, id baton.ThreadID, seq uint64) (uint64, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	// The thread's events are in order; their indexes are one less than their Seq.
	n, _ := slices.BinarySearchFunc(r.state.threads[id].events, seq, func(i int, seq uint64) int { return cmp.Compare(uint64(i), seq) })
	return uint64(n), nil
}

func (s *state) eventsOf(t thread, after uint64, limit int) ([]baton.Event, error) {
	var out []baton.Event
	for _, i := range t.events[min(after, uint64(len(t.events))):] {
		e, err := s.events[i].Event()
		if err != nil {
			return nil, err
		}
		if out = append(out, e); len(out) == limit {
			break
		}
	}
	return out, nil
}

func (r reader) Events(ctx context.Context, id baton.ThreadID, after uint64, limit int) ([]baton.Event, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	return r.state.eventsOf(r.state.threads[id], after, limit)
}

func (r reader) EventsSince(ctx context.Context, seq uint64, limit int) ([]baton.Event, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	var out []baton.Event
	for _, s := range r.state.events[min(seq, uint64(len(r.state.events))):] {
		e, err := s.Event()
		if err != nil {
			return nil, err
		}
		if out = append(out, e); len(out) == limit {
			break
		}
	}
	return out, nil
}

func (r reader) Head(ctx context.Context) (uint64, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer leave()
	return uint64(len(r.state.events)), nil
}

func (r reader) Receipt(ctx context.Context, id baton.CommandID) (journal.Receipt, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return journal.Receipt{}, err
	}
	defer leave()
	s, ok := r.state.receipts[id]
	if !ok {
		return journal.Receipt{}, journal.ErrNotFound
	}
	return journal.DecodeReceipt(id, s.hash, s.data)
}

func (r reader) Get(ctx context.Context, kind journal.Kind, id string) (journal.Document, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return journal.Document{}, err
	}
	defer leave()
	doc, ok := r.state.docs[journal.Key{Kind: kind, ID: id}]
	if !ok {
		return doc, journal.ErrNotFound
	}
	doc.Body = slices.Clone(doc.Body)
	return doc, nil
}

func (r reader) List(ctx context.Context, q journal.Query) ([]journal.Document, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	order := func(a journal.Document, position int64, id string) int {
		c := cmp.Or(cmp.Compare(a.Position, position), cmp.Compare(a.ID, id))
		if q.Desc {
			return -c
		}
		return c
	}
	var out []journal.Document
	for doc := range maps.Values(r.state.docs) {
		switch {
		case q.State != "" && stateOf(doc) != q.State:
		case doc.Kind != q.Kind, q.Thread != "" && doc.Thread != q.Thread, q.Run != "" && doc.Run != q.Run:
		case (q.After != 0 || q.AfterID != "") && (order(doc, q.After, q.AfterID) <= 0 || q.AfterID == "" && doc.Position == q.After):
		default:
			out = append(out, doc)
		}
	}
	slices.SortFunc(out, func(a, b journal.Document) int { return order(a, b.Position, b.ID) })
	limit := q.Limit
	if limit == 0 {
		limit = 1000
	}
	out = out[:min(limit, len(out))]
	for i := range out {
		out[i].Body = slices.Clone(out[i].Body)
	}
	return out, nil
}

func (r reader) Chunks(ctx context.Context, item baton.ItemID, output bool, offset int64, maxBytes int) ([]journal.Chunk, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	var out []journal.Chunk
	bytes := 0
	for _, c := range r.state.streams[item].chunks {
		if c.Output != output || c.Offset+int64(len(c.Text)) <= offset {
			continue
		}
		out = append(out, c)
		if bytes += len(c.Text); maxBytes > 0 && bytes >= maxBytes {
			break
		}
	}
	return out, nil
}

func (r reader) Unsettled(ctx context.Context) ([]baton.ThreadID, error) {
	leave, err := r.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	var out []baton.ThreadID
	for id, t := range r.state.threads {
		if !t.settled {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}

func (r reader) ThreadOf(ctx context.Context, kind journal.Kind, id string) (baton.ThreadID, error) {
	doc, err := r.Get(ctx, kind, id)
	return doc.Thread, err
}
