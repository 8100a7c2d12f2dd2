package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"

	"baton"
	"baton/internal/journal"
)

// partBytes is the most of an effect's data that one transaction carries.
const partBytes = 256 << 10

// stage writes the data of large effects in parts, ahead of the unit that names
// them.
func (j *Journal) stage(ctx context.Context, e *encoded) error {
	for i, effect := range e.effects {
		if len(effect.Data) <= partBytes {
			continue
		}
		e.large[i] = j.writer.large.Add(1)
		n := 0
		for part := range slices.Chunk(effect.Data, partBytes) {
			r := &request{size: len(part), apply: func(w *writer) error { return w.exec(w.stmt.part, e.large[i], n, part) }}
			if err := j.submit(ctx, r); err != nil {
				j.unstage(e, err)
				return err
			}
			n++
		}
	}
	return nil
}

// unstage removes the parts of a unit that was refused. Where that fails, or
// where the unit may be durable after all, Open does it.
func (j *Journal) unstage(e *encoded, refusal error) {
	if errors.Is(refusal, journal.ErrUnknown) {
		return
	}
	for _, large := range e.large {
		if large != 0 {
			_ = j.submit(context.Background(), &request{apply: func(w *writer) error { return w.exec(w.stmt.dropParts, large) }})
		}
	}
}

// sweepParts removes the parts that no effect names and finds the newest number.
func (w *writer) sweepParts(ctx context.Context) error {
	if _, err := w.conn.ExecContext(ctx, "DELETE FROM parts WHERE large NOT IN (SELECT large FROM effects)"); err != nil {
		return err
	}
	var newest int64
	err := w.conn.QueryRowContext(ctx, "SELECT coalesce(max(large), 0) FROM parts").Scan(&newest)
	w.large.Store(newest)
	return err
}

// done removes an effect that has ended, with its parts.
func (w *writer) done(id baton.EffectID) error {
	var large int64
	err := w.stmt.done.QueryRowContext(w.ctx, string(id)).Scan(&large)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && large == 0:
		return nil
	case err != nil:
		return err
	}
	return w.exec(w.stmt.dropParts, large)
}

// effects reads what a thread has asked for and what has not ended.
func (r reader) effects(ctx context.Context, id baton.ThreadID) (out []baton.Effect, err error) {
	var all []journal.StoredEffect
	var large []int64
	err = r.each(ctx, "SELECT id, session, lane, type, data, large FROM effects WHERE thread = ? ORDER BY num", []any{string(id)}, func(rows *sql.Rows) error {
		s, n := journal.StoredEffect{Thread: id}, int64(0)
		err := rows.Scan(&s.ID, &s.Session, &s.Lane, &s.Type, &s.Data, &n)
		all, large = append(all, s), append(large, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, s := range all {
		if large[i] != 0 {
			err := r.each(ctx, "SELECT data FROM parts WHERE large = ? ORDER BY part", []any{large[i]}, func(rows *sql.Rows) error {
				var part sql.RawBytes
				err := rows.Scan(&part)
				s.Data = append(s.Data, part...)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		e, err := s.Effect()
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, nil
}
