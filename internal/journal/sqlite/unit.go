package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"baton"
	"baton/internal/journal"
)

// prepared are the statements of the writing connection.
type prepared struct {
	begin, commit, rollback                                                        *sql.Stmt
	thread, stopEpoch, putThread, event, receipt, snapshot                         *sql.Stmt
	place, merge, effect, done, mark, markOnly, gone                               *sql.Stmt
	part, dropParts, stream, putStream, closeStream, dropStream, chunk, dropChunks *sql.Stmt
	all                                                                            []*sql.Stmt
}

func (w *writer) prepare(ctx context.Context) error {
	s := &w.stmt
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&s.begin, "BEGIN IMMEDIATE"}, {&s.commit, "COMMIT"}, {&s.rollback, "ROLLBACK"},
		{&s.thread, "SELECT version, epoch, settled FROM threads WHERE id = ?"},
		{&s.stopEpoch, "SELECT stop_epoch FROM threads WHERE id = ?"},
		{&s.putThread, `INSERT INTO threads VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET version = excluded.version,
			epoch = excluded.epoch, stop_epoch = max(stop_epoch, excluded.stop_epoch), settled = excluded.settled`},
		{&s.event, "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
		{&s.receipt, "INSERT INTO receipts VALUES (?, ?, ?) ON CONFLICT DO NOTHING"},
		{&s.snapshot, `INSERT INTO snapshots VALUES (?, ?, ?, ?) ON CONFLICT (thread) DO UPDATE SET version = excluded.version,
			shape = excluded.shape, state = excluded.state`},
		// Two ways to change a document, so that one that stays in its place
		// leaves the indexes alone. A patch that makes one is the document, but
		// for the nulls in it.
		{&s.place, `INSERT INTO documents VALUES (?1, ?2, ?3, ?4, ?5, iif(instr(?6, 'null'), json_patch('{}', ?6), ?6)) ON CONFLICT (kind, id) DO UPDATE SET
			run = iif(excluded.run = '', run, excluded.run), position = iif(excluded.position = 0, position, excluded.position),
			body = json_patch(body, ?6)`},
		{&s.merge, `INSERT INTO documents VALUES (?1, ?2, ?3, '', 0, iif(instr(?4, 'null'), json_patch('{}', ?4), ?4)) ON CONFLICT (kind, id) DO UPDATE SET
			body = json_patch(body, ?4)`},
		{&s.effect, "INSERT INTO effects (id, thread, session, lane, type, data, large) VALUES (?, ?, ?, ?, ?, ?, ?)"},
		{&s.done, "DELETE FROM effects WHERE id = ? RETURNING large"},
		{&s.part, "INSERT INTO parts VALUES (?, ?, ?)"}, {&s.dropParts, "DELETE FROM parts WHERE large = ?"},
		{&s.mark, `INSERT INTO sessions VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET frame = excluded.frame, state = excluded.state`},
		{&s.markOnly, `INSERT INTO sessions VALUES (?, ?, ?, NULL) ON CONFLICT (id) DO UPDATE SET frame = excluded.frame`},
		{&s.gone, "DELETE FROM sessions WHERE id = ?"},
		{&s.stream, "SELECT revision, text, output FROM streams WHERE item = ?"},
		{&s.putStream, `INSERT INTO streams VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (item) DO UPDATE SET revision = excluded.revision,
			text = excluded.text, output = excluded.output, open = excluded.open`},
		{&s.closeStream, "UPDATE streams SET open = 0 WHERE item = ?"},
		{&s.dropStream, "DELETE FROM streams WHERE item = ?"},
		{&s.chunk, "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)"},
		{&s.dropChunks, "DELETE FROM chunks WHERE item = ?"},
	} {
		stmt, err := w.conn.PrepareContext(ctx, p.text)
		if err != nil {
			return err
		}
		*p.to = stmt
		s.all = append(s.all, stmt)
	}
	return nil
}

func (p *prepared) close() error {
	var errs []error
	for _, s := range p.all {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

// unit writes a unit. What it has written when it fails is for the caller to undo.
func (w *writer) unit(e *encoded, now time.Time) (first uint64, err error) {
	known, err := w.admit(e)
	if err != nil {
		return 0, err
	}
	if first, err = w.events(e, known, now); err != nil {
		return 0, op("events", err)
	}
	for _, c := range e.Changes {
		if err := w.change(e.Thread, c); err != nil {
			return 0, op("documents", err)
		}
	}
	if err := w.texts(e); err != nil {
		return 0, op("chunks", err)
	}
	for i, f := range e.effects {
		data := f.Data
		if e.large[i] != 0 {
			data = nil
		}
		if err := w.exec(w.stmt.effect, string(f.ID), string(f.Thread), string(f.Session), string(f.Lane), f.Type, text(data), e.large[i]); err != nil {
			return 0, op("effects", err)
		}
	}
	for _, id := range e.Done {
		if err := w.done(id); err != nil {
			return 0, op("effects", err)
		}
	}
	for _, m := range e.Sessions {
		if err := w.session(e.Thread, m); err != nil {
			return 0, op("sessions", err)
		}
	}
	if s := e.Snapshot; s != nil {
		if err := w.exec(w.stmt.snapshot, string(e.Thread), s.Version, s.Shape, text(s.State)); err != nil {
			return 0, op("snapshot", err)
		}
	}
	return first, nil
}

// stored is a thread's row, zero where there is none.
type stored struct {
	version, epoch uint64
	settled        bool
}

// admit checks the unit against what is stored, in the order that Append
// promises, and writes the receipts on the way. It returns what is stored of the
// thread.
func (w *writer) admit(e *encoded) (known stored, err error) {
	err = w.stmt.thread.QueryRowContext(w.ctx, string(e.Thread)).Scan(&known.version, &known.epoch, &known.settled)
	switch {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return known, op("thread", err)
	case e.Epoch < known.epoch:
		return known, journal.ErrFenced
	}
	for i, r := range e.Receipts {
		res, err := w.stmt.receipt.ExecContext(w.ctx, string(r.Command), r.Hash, text(e.receipts[i]))
		if err != nil {
			return known, op("receipts", err)
		}
		if n, err := res.RowsAffected(); err != nil || n == 0 {
			return known, errors.Join(journal.ErrReceipt, err)
		}
	}
	if e.Expect != known.version {
		return known, journal.ErrVersion
	}
	for _, p := range e.Preconditions {
		var stop int
		err := w.stmt.stopEpoch.QueryRowContext(w.ctx, string(p.Thread)).Scan(&stop)
		switch {
		case errors.Is(err, sql.ErrNoRows), err == nil && stop != p.StopEpoch:
			return known, journal.ErrPrecondition
		case err != nil:
			return known, op("preconditions", err)
		}
	}
	return known, nil
}

func (w *writer) events(e *encoded, known stored, now time.Time) (first uint64, err error) {
	for i, s := range e.events {
		w.seq++
		if i == 0 {
			first = w.seq
		}
		if err := w.exec(w.stmt.event, w.seq, string(s.Thread), s.Version, s.Type, s.Shape, string(s.Actor), text(s.Cause),
			e.Epoch, s.At, journal.Nanos(now), text(s.Data)); err != nil {
			return 0, err
		}
	}
	// A receipt for a thread that was never made makes none; and what is stored
	// already, as with each piece of a text, costs no page of the log.
	if e.Version() == 0 || known == (stored{e.Version(), e.Epoch, e.Settled}) {
		return first, nil
	}
	return first, w.exec(w.stmt.putThread, string(e.Thread), e.Version(), e.Epoch, e.StopEpoch(), e.Settled)
}

func (w *writer) change(thread baton.ThreadID, c journal.Change) error {
	if c.Run == "" && c.Position == 0 {
		return w.exec(w.stmt.merge, string(c.Kind), c.ID, string(thread), text(c.Patch))
	}
	return w.exec(w.stmt.place, string(c.Kind), c.ID, string(thread), string(c.Run), c.Position, text(c.Patch))
}

func (w *writer) session(thread baton.ThreadID, m journal.SessionMark) error {
	switch {
	case m.Gone:
		return w.exec(w.stmt.gone, string(m.Session))
	case m.State == nil:
		return w.exec(w.stmt.markOnly, string(m.Session), string(thread), m.Frame)
	}
	return w.exec(w.stmt.mark, string(m.Session), string(thread), m.Frame, m.State)
}

// text binds JSON as text; SQLite's JSON functions would take a blob for its
// binary form.
func text(b []byte) string { return string(b) }
