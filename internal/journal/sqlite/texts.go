package sqlite

import (
	"database/sql"
	"errors"

	"baton"
	"baton/internal/journal"
)

// texts takes the resets of the unit, then its chunks, then the ends of items
// and what of them is dropped.
func (w *writer) texts(e *encoded) error {
	open := map[baton.ItemID]*journal.Stream{}
	var order []baton.ItemID
	get := func(id baton.ItemID) (*journal.Stream, error) {
		if s := open[id]; s != nil {
			return s, nil
		}
		s := &journal.Stream{}
		err := w.stmt.stream.QueryRowContext(w.ctx, string(id)).Scan(&s.Revision, &s.Text, &s.Output)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		open[id], order = s, append(order, id)
		return s, nil
	}
	for _, event := range e.Events {
		d, ok := event.Data.(baton.EventItemReset)
		if !ok {
			continue
		}
		s, err := get(d.Item)
		if err != nil {
			return err
		}
		if d.Revision > s.Revision {
			s.Reset(d.Revision)
			if err := w.exec(w.stmt.dropChunks, string(d.Item)); err != nil {
				return err
			}
		}
	}
	for _, c := range e.Chunks {
		s, err := get(c.Item)
		if err != nil {
			return err
		}
		if c.Revision > s.Revision {
			if err := w.exec(w.stmt.dropChunks, string(c.Item)); err != nil {
				return err
			}
		}
		keep, err := s.Take(c)
		if err != nil {
			return err
		}
		if !keep {
			continue
		}
		if err := w.exec(w.stmt.chunk, string(c.Item), c.Output, c.Offset, len(c.Text), c.Text); err != nil {
			return err
		}
	}
	for _, id := range order {
		s := open[id]
		if err := w.exec(w.stmt.putStream, string(id), string(e.Thread), s.Revision, s.Text, s.Output, true); err != nil {
			return err
		}
	}
	return w.ends(e)
}

func (w *writer) ends(e *encoded) error {
	for _, event := range e.Events {
		if d, ok := event.Data.(baton.EventItemClosed); ok {
			if err := w.exec(w.stmt.closeStream, string(d.Item)); err != nil {
				return err
			}
		}
	}
	for _, id := range e.DropChunks {
		if err := w.exec(w.stmt.dropChunks, string(id)); err != nil {
			return err
		}
		if err := w.exec(w.stmt.dropStream, string(id)); err != nil {
			return err
		}
	}
	return nil
}
