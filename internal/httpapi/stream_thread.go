package httpapi

import (
	"context"
	"encoding/json"
	"slices"
	"unicode/utf16"

	"baton"
	"baton/internal/engine"
	"baton/internal/journal"
)

const (
	replayPage    = 100       // events that are read at once
	replayMost    = 1000      // more than that are missed: a snapshot
	replayText    = 256 << 10 // bytes of an open item's text in one delta, about
	snapshotItems = 100
	snapshotRuns  = 20
)

// textKey names one text of an item.
type textKey struct {
	item   baton.ItemID
	output bool
}

// place is how far a text is sent.
type place struct {
	revision int
	bytes    int64
	units    int64 // of UTF-16
	void     bool  // not known: what follows is left out, the close has it all
}

// follower is what a stream has sent of a thread.
type follower struct {
	id     baton.ThreadID
	at     uint64 // version of the last event
	texts  map[textKey]place
	closed map[baton.ItemID]bool // in the unit at hand
}

// catchUp brings a thread from its cursor on, or a snapshot, then what open
// items hold. From here on the thread's updates are sent.
func (st *stream) catchUp(ctx context.Context, c cursor) error {
	e := st.s.cfg.Engine
	version, err := e.Journal().VersionAt(ctx, c.thread, always)
	if err != nil {
		return err
	}
	f := &follower{id: c.thread, at: c.after, texts: map[textKey]place{}}
	// A cursor ahead of the thread is of other data: a backup was put back.
	snapshot := c.after > version || st.snapshots && (c.after == 0 || version-c.after > replayMost)
	for !snapshot {
		events, err := e.Journal().Events(ctx, c.thread, f.at, replayPage)
		if err != nil {
			return err
		}
		if err := f.replay(st, events); err != nil {
			return err
		}
		if len(events) < replayPage {
			break
		}
	}
	var snap Snapshot
	var events []baton.Event
	var open []journal.ChunkLength
	err = e.View(ctx, func(r journal.Reader) (err error) {
		if snapshot {
			snap, err = snapshotOf(ctx, r, c.thread)
		} else {
			events, err = r.Events(ctx, c.thread, f.at, 0)
		}
		if err == nil {
			open, err = r.OpenTexts(ctx, c.thread)
		}
		return err
	})
	if err != nil {
		return err
	}
	if snapshot {
		f.at = snap.Version
		if err := st.write("snapshot", "", snap); err != nil {
			return err
		}
	} else if err := f.replay(st, events); err != nil {
		return err
	}
	for _, c := range open {
		if err := f.text(ctx, st, c, false, c.Text); err != nil {
			return err
		}
		if err := f.text(ctx, st, c, true, c.Output); err != nil {
			return err
		}
	}
	st.threads[c.thread] = f
	return st.write("caught_up", "", CaughtUp{ThreadID: string(f.id), Version: f.at})
}

// snapshotOf reads a thread at one point.
func snapshotOf(ctx context.Context, r journal.Reader, id baton.ThreadID) (Snapshot, error) {
	out := Snapshot{ThreadID: string(id), Items: []Item{}, Requests: []Request{}}
	var err error
	if out.Thread, err = thread(ctx, r, string(id), snapshotRuns); err != nil {
		return out, err
	}
	if out.Version, err = r.VersionAt(ctx, id, always); err != nil {
		return out, err
	}
	items, err := page[Item](ctx, r, journal.Query{Kind: journal.KindItem, Thread: id, Desc: true, Limit: snapshotItems}, "")
	if err != nil {
		return out, err
	}
	slices.Reverse(items.Items)
	out.Items, out.Earlier = items.Items, items.Next
	for _, q := range out.Thread.PendingRequests {
		full, err := get[Request](ctx, r, journal.KindRequest, q.ID)
		if err != nil {
			return out, err
		}
		out.Requests = append(out.Requests, full)
	}
	return out, nil
}

func (f *follower) replay(st *stream, events []baton.Event) error {
	for _, e := range events {
		w, err := eventOf(e)
		if err != nil {
			return err
		}
		if err := f.event(st, e, "", w); err != nil {
			return err
		}
	}
	return nil
}

// event sends one event, unless it is known.
func (f *follower) event(st *stream, e baton.Event, id string, v any) error {
	switch {
	case e.Version <= f.at:
		return nil
	case e.Version != f.at+1:
		return errGap
	}
	f.at = e.Version
	if data, ok := v.([]byte); ok {
		return st.message("event", id, data)
	}
	return st.write("event", id, v)
}

// text sends what an open item holds, in parts. Where the item ends or begins
// anew meanwhile, that is among the updates which come next.
func (f *follower) text(ctx context.Context, st *stream, c journal.ChunkLength, output bool, length int64) error {
	p := place{revision: c.Revision}
	for p.bytes < length {
		chunks, err := st.s.cfg.Engine.Journal().Chunks(ctx, c.Item, output, p.bytes, replayText)
		if err != nil {
			return err
		}
		if len(chunks) == 0 || chunks[0].Revision != c.Revision || chunks[0].Offset != p.bytes {
			p.void = true
			break
		}
		joined := chunks[0]
		for _, more := range chunks[1:] {
			joined.Text += more.Text
		}
		if err := f.delta(st, joined, &p); err != nil {
			return err
		}
	}
	f.texts[textKey{c.Item, output}] = p
	return nil
}

// update sends one committed unit: its events, then the text that came with it,
// but for items that it closed, whose close carries the whole.
func (f *follower) update(st *stream, u *engine.Update) error {
	if u.Version < f.at {
		return nil // was read from the journal, with all that its items hold
	}
	f.closed = map[baton.ItemID]bool{}
	wire := u.Memo(func() any { return encode(u) }).([][]byte)
	for i, e := range u.Events {
		switch d := e.Data.(type) {
		case baton.EventItemClosed:
			f.closed[d.Item] = true
			delete(f.texts, textKey{d.Item, false})
			delete(f.texts, textKey{d.Item, true})
		case baton.EventItemReset:
			f.revision(d.Item, d.Revision)
		}
		st.at = max(st.at, e.Seq)
		if err := f.event(st, e, st.position(), wire[i]); err != nil {
			return err
		}
	}
	for _, c := range u.Chunks {
		if f.closed[c.Item] {
			continue
		}
		f.revision(c.Item, c.Revision)
		key := textKey{c.Item, c.Output}
		p := f.texts[key]
		switch {
		case p.void || c.Revision < p.revision || c.Offset < p.bytes:
			continue
		case c.Offset > p.bytes:
			return errGap
		}
		p.revision = c.Revision
		if err := f.delta(st, c, &p); err != nil {
			return err
		}
		f.texts[key] = p
	}
	return nil
}

// revision forgets the text of older revisions.
func (f *follower) revision(item baton.ItemID, revision int) {
	for _, output := range []bool{false, true} {
		key := textKey{item, output}
		if p, known := f.texts[key]; !known || p.revision < revision {
			f.texts[key] = place{revision: revision}
		}
	}
}

// delta sends text that begins at the place, and moves that on.
func (f *follower) delta(st *stream, c journal.Chunk, p *place) error {
	d := Delta{ThreadID: string(f.id), ItemID: string(c.Item), Revision: c.Revision, Output: c.Output, Offset: p.units, Text: c.Text}
	p.bytes += int64(len(c.Text))
	for _, r := range c.Text {
		p.units += int64(max(1, utf16.RuneLen(r)))
	}
	return st.write("delta", "", d)
}

// encode makes the messages of a unit's events, the same for all readers.
func encode(u *engine.Update) [][]byte {
	out := make([][]byte, len(u.Events))
	for i, e := range u.Events {
		out[i], _ = json.Marshal(eventWith(e, u.Data[i]))
	}
	return out
}
