package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"baton/internal/journal"
)

// PutProject stores a project in a transaction among the units'.
func (j *Journal) PutProject(ctx context.Context, epoch uint64, p journal.ProjectDoc) error {
	return j.submit(ctx, &request{apply: func(w *writer) error {
		var claimed uint64
		err := w.conn.QueryRowContext(w.ctx, "SELECT value FROM meta WHERE name = 'epoch'").Scan(&claimed)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return op("projects", err)
		}
		if epoch < claimed {
			return journal.ErrFenced
		}
		_, err = w.conn.ExecContext(w.ctx, `INSERT INTO projects (dir, id, trusted, changed_by, changed_at, created_at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (dir) DO UPDATE SET trusted = excluded.trusted, changed_by = excluded.changed_by, changed_at = excluded.changed_at`,
			p.Dir, string(p.ID), p.Trusted, p.ChangedBy, journal.Nanos(p.ChangedAt), journal.Nanos(p.CreatedAt))
		return op("projects", err)
	}})
}

func (r reader) Projects(ctx context.Context) (out []journal.ProjectDoc, err error) {
	err = r.each(ctx, "SELECT dir, id, trusted, changed_by, changed_at, created_at FROM projects ORDER BY dir", nil, func(rows *sql.Rows) error {
		var p journal.ProjectDoc
		var changed, created int64
		err := rows.Scan(&p.Dir, &p.ID, &p.Trusted, &p.ChangedBy, &changed, &created)
		p.ChangedAt, p.CreatedAt = journal.Time(changed), journal.Time(created)
		out = append(out, p)
		return err
	})
	return out, err
}
