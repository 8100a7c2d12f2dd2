package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"baton"
	"baton/internal/journal"
)

const (
	rowsTogether = 100 * time.Millisecond // in which changes of a row are sent as one
	rowsPage     = 100                    // of a list that is sent whole
	rowsMost     = 2000                   // events behind a cursor; more: the list anew
)

// rows is what a stream has sent of the list of threads.
type rows struct {
	dirty  map[baton.ThreadID]bool
	behind uint64           // the sequence up to which no row is missing, while some are dirty
	due    <-chan time.Time // when the dirty ones are sent; nil where none is
	at     func() uint64
}

// touch notes that a row has changed.
func (r *rows) touch(id baton.ThreadID) {
	if len(r.dirty) == 0 {
		r.behind = r.at()
		r.due = time.After(rowsTogether)
	}
	r.dirty[id] = true
}

// sent is up to where rows are sent when all else is sent up to at.
func (r *rows) sent(at uint64) uint64 {
	if len(r.dirty) > 0 {
		return r.behind
	}
	return at
}

// setList begins or ends following the list.
func (st *stream) setList(ctx context.Context, on bool) error {
	if on == (st.rows != nil) {
		return nil
	}
	st.sub.Rows(on)
	if !on {
		st.rows = nil
		return nil
	}
	r := &rows{dirty: map[baton.ThreadID]bool{}, at: func() uint64 { return st.at }}
	var list json.RawMessage
	var changed []json.RawMessage
	whole := true
	err := st.s.cfg.Engine.View(ctx, func(j journal.Reader) (err error) {
		if from := st.rowsFrom; from > 0 {
			if changed, whole, err = rowsSince(ctx, j, from); err != nil {
				return err
			}
		}
		if whole {
			list, err = listPage(ctx, j, rowsPage)
		}
		return err
	})
	if err != nil {
		return err
	}
	st.rowsFrom = 0
	if whole {
		if err := st.write("list", "", list); err != nil {
			return err
		}
	}
	for _, t := range changed {
		if err := st.write("row", "", t); err != nil {
			return err
		}
	}
	st.rows = r
	return st.write("caught_up", "", CaughtUp{List: true})
}

// rowsSince returns the threads that something has happened to since; whole says
// that the list is to be sent anew.
func rowsSince(ctx context.Context, r journal.Reader, seq uint64) (changed []json.RawMessage, whole bool, err error) {
	head, err := r.Head(ctx)
	if err != nil || seq > head {
		return nil, true, err // a cursor of other data
	}
	events, err := r.EventsSince(ctx, seq, rowsMost+1)
	if err != nil || len(events) > rowsMost {
		return nil, true, err
	}
	seen := map[baton.ThreadID]bool{}
	for _, e := range events {
		if seen[e.Thread] {
			continue
		}
		seen[e.Thread] = true
		t, err := row(ctx, r, e.Thread)
		if err != nil {
			return nil, false, err
		}
		changed = append(changed, t...)
	}
	return changed, false, nil
}

// listPage is the beginning of GET /api/threads.
func listPage(ctx context.Context, r journal.Reader, limit int) (json.RawMessage, error) {
	docs, next, err := part(ctx, r, journal.Query{Kind: journal.KindThread, Desc: true, Limit: limit}, "")
	if err != nil {
		return nil, err
	}
	return threadRows(docs, next)
}

// row is a thread as a list shows it (a ThreadRow), or nothing where there is none.
func row(ctx context.Context, r journal.Reader, id baton.ThreadID) ([]json.RawMessage, error) {
	doc, err := r.Get(ctx, journal.KindThread, string(id))
	if errors.Is(err, journal.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = threadRow(&out, doc.Body)
	return []json.RawMessage{out.Bytes()}, err
}

// flushRows sends the rows that have changed, as they are now.
func (st *stream) flushRows(ctx context.Context) error {
	if st.rows == nil || len(st.rows.dirty) == 0 {
		return nil
	}
	var all []json.RawMessage
	err := st.s.cfg.Engine.View(ctx, func(r journal.Reader) error {
		for id := range st.rows.dirty {
			t, err := row(ctx, r, id)
			if err != nil {
				return err
			}
			all = append(all, t...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, t := range all[:max(0, len(all)-1)] {
		if err := st.write("row", "", t); err != nil {
			return err
		}
	}
	clear(st.rows.dirty)
	st.rows.due = nil
	for _, t := range all[max(0, len(all)-1):] {
		if err := st.write("row", st.position(), t); err != nil {
			return err
		}
	}
	return nil
}
