package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"

	lib "modernc.org/sqlite/lib"

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

// listBatch is how many documents come in one row of an answer.
const listBatch = 1000

// List asks for many documents in one row: going from row to row costs more
// than the rows do. Where they are longer together than a text may be in SQLite
// (10^9 bytes), it asks for fewer.
func (r reader) List(ctx context.Context, q journal.Query) ([]journal.Document, error) {
	want, batch := q.Limit, listBatch
	if want == 0 {
		want = 1000
	}
	if r.tx == nil && want > 1 { // all batches are of one point
		tx, err := r.db.BeginTx(ctx, nil)
		if err != nil {
			return nil, r.fault(err)
		}
		defer tx.Rollback() // nothing was written
		r.tx = tx
	}
	var out []journal.Document
	for {
		q.Limit = min(want-len(out), batch)
		text, args := listing(q)
		var joined []byte // new for each batch: the bodies stay in it
		err := r.row(ctx, text, args, &joined)
		if resultCode(err)&0xff == lib.SQLITE_TOOBIG && q.Limit > 1 {
			batch = q.Limit / 2
			continue
		}
		if err != nil {
			return nil, err
		}
		n := len(out)
		if out, err = split(joined, q.Kind, out); err != nil {
			return nil, err
		}
		if len(out)-n < q.Limit || len(out) == want {
			return out, nil
		}
		q.After, q.AfterID = out[len(out)-1].Position, out[len(out)-1].ID
	}
}

// between stands between documents and between their parts. Neither JSON nor an
// id has it.
const between = '\x1e'

// split takes apart what listing has joined.
func split(joined []byte, kind journal.Kind, out []journal.Document) ([]journal.Document, error) {
	const parts = 5
	out = slices.Grow(out, (bytes.Count(joined, []byte{between})+1)/parts)
	for len(joined) > 0 {
		var f [parts][]byte
		for i := range f {
			end := bytes.IndexByte(joined, between)
			if end < 0 {
				return nil, fmt.Errorf("journal: a list of %s documents can't be taken apart", kind)
			}
			f[i], joined = joined[:end:end], joined[end+1:]
		}
		position, err := strconv.ParseInt(string(f[3]), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("journal: position of %s %s: %w", kind, f[0], err)
		}
		out = append(out, journal.Document{Kind: kind, ID: string(f[0]), Thread: baton.ThreadID(f[1]), Run: baton.RunID(f[2]), Position: position, Body: f[4]})
	}
	return out, nil
}

// listing writes a query that one of the indexes of documents answers in order,
// joined into one text: id, thread, run, position, body, each with between
// behind it.
func listing(q journal.Query) (text string, args []any) {
	var b strings.Builder
	b.WriteString(`SELECT coalesce(group_concat(id || x'1e' || thread || x'1e' || run || x'1e' || position || x'1e' || body || x'1e', ''), '')
		FROM (SELECT id, thread, run, position, body FROM documents WHERE kind = ?`)
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
	b.WriteString(order + " LIMIT ?)")
	return b.String(), append(args, q.Limit)
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
