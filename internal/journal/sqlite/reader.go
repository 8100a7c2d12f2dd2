package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"math"

	"baton"
	"baton/internal/journal"
)

// reader reads what is committed when a method is called or, with a
// transaction, when that began.
// A reader with a transaction must not ask the pool for anything: all
// connections may be held by readers that wait for one more.
type reader struct {
	db   *sql.DB
	tx   *sql.Tx
	path string
}

func (r reader) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	ask := r.db.QueryContext
	if r.tx != nil {
		ask = r.tx.QueryContext
	}
	rows, err := ask(ctx, text, args...)
	return rows, r.fault(err)
}

// row reads one row; ErrNotFound where there is none.
func (r reader) row(ctx context.Context, text string, args []any, to ...any) error {
	rows, err := r.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return r.fault(err)
		}
		return journal.ErrNotFound
	}
	return r.fault(errors.Join(rows.Scan(to...), rows.Close()))
}

// each reads all rows.
func (r reader) each(ctx context.Context, text string, args []any, row func(*sql.Rows) error) error {
	rows, err := r.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows); err != nil {
			return r.fault(err)
		}
	}
	return r.fault(rows.Err())
}

func (r reader) fault(err error) error {
	switch {
	case err == nil:
		return nil
	case err.Error() == "sql: database is closed", errors.Is(err, sql.ErrConnDone):
		return journal.ErrClosed
	}
	return explain(r.path, err)
}

// View reads in one transaction.
func (j *Journal) View(ctx context.Context, fn func(journal.Reader) error) error {
	tx, err := j.read.BeginTx(ctx, nil)
	if err != nil {
		return j.fault(err)
	}
	defer tx.Rollback() // nothing was written
	r := reader{db: j.db, tx: tx, path: j.path}
	// The point is taken by the first read, not by BEGIN.
	if _, err := r.Head(ctx); err != nil {
		return err
	}
	return fn(r)
}

func (r reader) Load(ctx context.Context, id baton.ThreadID) (journal.Loaded, error) {
	if r.tx != nil {
		return r.load(ctx, id)
	}
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return journal.Loaded{}, r.fault(err)
	}
	defer tx.Rollback() // nothing was written
	r.tx = tx
	return r.load(ctx, id)
}

func (r reader) load(ctx context.Context, id baton.ThreadID) (l journal.Loaded, err error) {
	thread := []any{string(id)}
	if err := r.row(ctx, "SELECT version, epoch FROM threads WHERE id = ?", thread, &l.Version, &l.Epoch); err != nil {
		return l, err
	}
	var snap journal.Snapshot
	var after uint64
	switch err := r.row(ctx, "SELECT version, shape, state FROM snapshots WHERE thread = ?", thread, &snap.Version, &snap.Shape, (*[]byte)(&snap.State)); {
	case err == nil:
		l.Snapshot, after = &snap, snap.Version
	case !errors.Is(err, journal.ErrNotFound):
		return l, err
	}
	if l.Tail, err = r.Events(ctx, id, after, 0); err != nil {
		return l, err
	}
	err = r.each(ctx, "SELECT id, frame, state FROM sessions WHERE thread = ? ORDER BY id", thread, func(rows *sql.Rows) error {
		var m journal.SessionMark
		err := rows.Scan(&m.Session, &m.Frame, &m.State)
		l.Sessions = append(l.Sessions, m)
		return err
	})
	if err != nil {
		return l, err
	}
	if l.Effects, err = r.effects(ctx, id); err != nil {
		return l, err
	}
	l.Chunks, err = r.OpenTexts(ctx, id)
	return l, err
}

const selectEvents = "SELECT seq, thread, version, type, shape, actor, cause, epoch, at, committed, data FROM events"

// scanEvents reads at most limit events, 0 for all, and closes the rows.
func scanEvents(rows *sql.Rows, limit int) (out []baton.Event, err error) {
	defer rows.Close()
	for (limit <= 0 || len(out) < limit) && rows.Next() {
		var s journal.StoredEvent
		if err := rows.Scan(&s.Seq, &s.Thread, &s.Version, &s.Type, &s.Shape, &s.Actor, (*sql.RawBytes)(&s.Cause), &s.Epoch, &s.At, &s.Committed,
			(*sql.RawBytes)(&s.Data)); err != nil {
			return nil, err
		}
		e, err := s.Event()
		if err != nil {
			return nil, err
		}
		out = append(out, e)
	}
	return out, rows.Err()
}

func (r reader) Events(ctx context.Context, id baton.ThreadID, after uint64, limit int) ([]baton.Event, error) {
	return r.events(ctx, selectEvents+" WHERE thread = ? AND version > ? ORDER BY version", limit, string(id), after)
}

func (r reader) EventsSince(ctx context.Context, seq uint64, limit int) ([]baton.Event, error) {
	return r.events(ctx, selectEvents+" WHERE seq > ? ORDER BY seq", limit, seq)
}

func (r reader) events(ctx context.Context, text string, limit int, args ...any) ([]baton.Event, error) {
	rows, err := r.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	events, err := scanEvents(rows, limit)
	return events, r.fault(err)
}

func (r reader) Head(ctx context.Context) (seq uint64, err error) {
	err = r.row(ctx, "SELECT coalesce(max(seq), 0) FROM events", nil, &seq)
	return seq, err
}

func (r reader) VersionAt(ctx context.Context, id baton.ThreadID, seq uint64) (version uint64, err error) {
	// Newest first: the index holds both, and who asks has not missed much.
	err = r.row(ctx, "SELECT version FROM events WHERE thread = ? AND seq <= ? ORDER BY version DESC LIMIT 1", []any{string(id), int64(min(seq, math.MaxInt64))}, &version)
	if errors.Is(err, journal.ErrNotFound) {
		err = nil
	}
	return version, err
}

func (r reader) OpenTexts(ctx context.Context, id baton.ThreadID) (out []journal.ChunkLength, err error) {
	err = r.each(ctx, "SELECT item, revision, text, output FROM streams WHERE thread = ? AND open = 1 ORDER BY item", []any{string(id)}, func(rows *sql.Rows) error {
		var c journal.ChunkLength
		err := rows.Scan(&c.Item, &c.Revision, &c.Text, &c.Output)
		out = append(out, c)
		return err
	})
	return out, err
}

func (r reader) Receipt(ctx context.Context, id baton.CommandID) (journal.Receipt, error) {
	var hash string
	var answer []byte
	if err := r.row(ctx, "SELECT hash, answer FROM receipts WHERE command = ?", []any{string(id)}, &hash, &answer); err != nil {
		return journal.Receipt{}, err
	}
	return journal.DecodeReceipt(id, hash, answer)
}
