package sqlite

import (
	"context"
	"database/sql"
	"strings"

	"baton"
	"baton/internal/journal"
)

func (r reader) Get(ctx context.Context, kind journal.Kind, id string) (journal.Document, error) {
	d := journal.Document{Kind: kind, ID: id}
	err := r.row(ctx, "SELECT thread, run, position, body FROM documents WHERE kind = ? AND id = ?", []any{string(kind), id},
		&d.Thread, &d.Run, &d.Position, (*[]byte)(&d.Body))
	if err != nil {
		return journal.Document{}, err
	}
	return d, nil
}

func (r reader) ThreadOf(ctx context.Context, kind journal.Kind, id string) (thread baton.ThreadID, err error) {
	err = r.row(ctx, "SELECT thread FROM documents WHERE kind = ? AND id = ?", []any{string(kind), id}, &thread)
	return thread, err
}

func (r reader) List(ctx context.Context, q journal.Query) ([]journal.Document, error) {
	text, args := listing(q)
	var out []journal.Document
	err := r.each(ctx, text, args, func(rows *sql.Rows) error {
		d := journal.Document{Kind: q.Kind}
		err := rows.Scan(&d.ID, &d.Thread, &d.Run, &d.Position, (*[]byte)(&d.Body))
		out = append(out, d)
		return err
	})
	return out, err
}

// listing writes a query that one of the indexes of documents answers in order.
func listing(q journal.Query) (text string, args []any) {
	var b strings.Builder
	b.WriteString("SELECT id, thread, run, position, body FROM documents WHERE kind = ?")
	args = []any{string(q.Kind)}
	switch {
	case q.Run != "":
		b.WriteString(" AND run = ? AND run <> ''")
		args = append(args, string(q.Run))
		if q.Thread != "" {
			b.WriteString(" AND +thread = ?") // + keeps it to the index of runs
			args = append(args, string(q.Thread))
		}
	case q.Thread != "":
		b.WriteString(" AND thread = ?")
		args = append(args, string(q.Thread))
	case q.Kind != journal.KindItem && q.Kind != journal.KindNode:
		b.WriteString(" AND kind NOT IN ('item', 'node')") // names the partial index
	}
	if q.State != "" {
		b.WriteString(" AND json_extract(body, '$.state') = ?")
		args = append(args, string(q.State))
	}
	greater, order := " > ", " ORDER BY position, id"
	if q.Desc {
		greater, order = " < ", " ORDER BY position DESC, id DESC"
	}
	switch {
	case q.AfterID != "":
		b.WriteString(" AND (position, id)" + greater + "(?, ?)")
		args = append(args, q.After, q.AfterID)
	case q.After != 0:
		b.WriteString(" AND position" + greater + "?")
		args = append(args, q.After)
	}
	limit := q.Limit
	if limit == 0 {
		limit = 1000
	}
	b.WriteString(order + " LIMIT ?")
	return b.String(), append(args, limit)
}

func (r reader) Chunks(ctx context.Context, item baton.ItemID, output bool, offset int64, maxBytes int) ([]journal.Chunk, error) {
	rows, err := r.query(ctx, `SELECT s.revision, c.start, c.text FROM streams s JOIN chunks c ON c.item = s.item
		WHERE s.item = ?1 AND c.output = ?2 AND c.start + c.size > ?3
		AND c.start >= (SELECT coalesce(max(start), 0) FROM chunks WHERE item = ?1 AND output = ?2 AND start <= ?3)
		ORDER BY c.start`, string(item), output, offset)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []journal.Chunk
	for bytes := 0; (maxBytes <= 0 || bytes < maxBytes) && rows.Next(); {
		c := journal.Chunk{Item: item, Output: output}
		if err := rows.Scan(&c.Revision, &c.Offset, &c.Text); err != nil {
			return nil, err
		}
		out, bytes = append(out, c), bytes+len(c.Text)
	}
	return out, r.fault(rows.Err())
}

func (r reader) Unsettled(ctx context.Context) (out []baton.ThreadID, err error) {
	err = r.each(ctx, "SELECT id FROM threads WHERE settled = 0 ORDER BY id", nil, func(rows *sql.Rows) error {
		var id baton.ThreadID
		err := rows.Scan(&id)
		out = append(out, id)
		return err
	})
	return out, err
}
