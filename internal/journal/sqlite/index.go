package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"baton"
	"baton/internal/journal"
)

// index is what Search asks: the words of titles and items, in a file of its
// own beside the database. It is made from the documents and may be thrown away
// at any time, so it takes no part in units, in group commit or in backups, and
// costs appends nothing: it follows the events with a cursor of its own, in
// pieces, after a second in which nothing was written, and to the end before a
// search is answered.
type index struct {
	path string
	from reader // of the journal

	mu   sync.Mutex // one at a time follows or asks
	db   *sql.DB    // nil until it is needed
	conn *sql.Conn
	at   uint64 // events up to this Seq are in it
}

// indexShape counts changes of the tables and of what journal.Words makes.
const indexShape = 1

// piece is how many events are followed in one transaction of the index.
const piece = 500

// The text is not kept: a hit names its document. The words are given to FTS5
// one by one, separated by spaces and folded already.
const indexSchema = `
CREATE TABLE cursor (seq INTEGER NOT NULL, mark TEXT NOT NULL);
INSERT INTO cursor VALUES (0, '');
CREATE TABLE entries (
	id     INTEGER PRIMARY KEY,
	source TEXT NOT NULL UNIQUE, -- an item, or a thread for its title
	thread TEXT NOT NULL,
	run    TEXT NOT NULL,
	kind   TEXT NOT NULL
);
CREATE VIRTUAL TABLE words USING fts5 (title, body, content = '', contentless_delete = 1, prefix = '2 3', tokenize = 'unicode61 remove_diacritics 0');
`

func (x *index) open(ctx context.Context) (err error) {
	if x.db != nil {
		return nil
	}
	if err := create(x.path); err != nil {
		return err
	}
	// What is lost with the power is followed again.
	if x.db, err = connect(x.path, "rw", "busy_timeout(5000)", "journal_mode(wal)", "synchronous(normal)", "cache_size(-2000)", "temp_store(memory)"); err != nil {
		return err
	}
	if x.conn, err = x.db.Conn(ctx); err == nil {
		var shape int
		if err = x.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&shape); err == nil && shape != indexShape {
			err = x.setUp(ctx)
		}
	}
	if err == nil {
		err = x.resume(ctx)
	}
	if err != nil {
		x.close()
	}
	return err
}

func (x *index) setUp(ctx context.Context) error {
	_, err := x.conn.ExecContext(ctx, "BEGIN; DROP TABLE IF EXISTS words; DROP TABLE IF EXISTS entries; DROP TABLE IF EXISTS cursor; "+indexSchema+
		fmt.Sprintf("PRAGMA user_version = %d; COMMIT", indexShape))
	if err != nil {
		_, _ = x.conn.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

// resume takes the cursor up. An index that has followed other events than the
// journal has, since the database was put back, begins anew.
func (x *index) resume(ctx context.Context) error {
	var mark string
	if err := x.conn.QueryRowContext(ctx, "SELECT seq, mark FROM cursor").Scan(&x.at, &mark); err != nil {
		return err
	}
	if x.at == 0 {
		return nil
	}
	now, err := x.markOf(ctx, x.at)
	if err != nil {
		return err
	}
	if now == mark {
		return nil
	}
	x.at = 0
	return x.setUp(ctx)
}

// markOf tells an event from all others that could stand in its place.
func (x *index) markOf(ctx context.Context, seq uint64) (mark string, err error) {
	err = x.from.row(ctx, "SELECT thread || ' ' || version || ' ' || committed FROM events WHERE seq = ?", []any{seq}, &mark)
	if errors.Is(err, journal.ErrNotFound) {
		return "gone", nil
	}
	return mark, err
}

func (x *index) close() error {
	var errs []error
	if x.conn != nil {
		errs = append(errs, x.conn.Close())
	}
	if x.db != nil {
		errs = append(errs, x.db.Close())
	}
	x.conn, x.db = nil, nil
	return errors.Join(errs...)
}

// anew throws the file away: it is damaged, and holds nothing that is not in
// the journal.
func (x *index) anew() {
	_ = x.close()
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(x.path + end)
	}
}

// follow takes in one piece of what it has not seen; more says that there may
// be another. The caller holds mu.
func (x *index) follow(ctx context.Context) (more bool, err error) {
	touched, last, n, err := x.touched(ctx)
	if err != nil || n == 0 {
		return false, err
	}
	mark, err := x.markOf(ctx, last)
	if err != nil {
		return false, err
	}
	tx, err := x.conn.BeginTx(ctx, nil)
	if err != nil {
		return false, err
	}
	defer tx.Rollback() // of no effect after a commit
	for _, k := range touched {
		if err := x.put(ctx, tx, k); err != nil {
			return false, err
		}
	}
	if _, err := tx.ExecContext(ctx, "UPDATE cursor SET seq = ?, mark = ?", last, mark); err != nil {
		return false, err
	}
	if err := tx.Commit(); err != nil {
		return false, err
	}
	x.at = last
	return n == piece, nil
}

// touched returns the documents that the next events speak of.
func (x *index) touched(ctx context.Context) (keys []journal.Key, last uint64, n int, err error) {
	seen := map[journal.Key]bool{}
	err = x.from.each(ctx, "SELECT seq, type, thread, iif(type IN ('item.opened', 'item.closed'), json_extract(data, '$.item_id'), '') FROM events WHERE seq > ? ORDER BY seq LIMIT ?",
		[]any{x.at, piece}, func(rows *sql.Rows) error {
			var kind, thread, item string
			if err := rows.Scan(&last, &kind, &thread, &item); err != nil {
				return err
			}
			n++
			var k journal.Key
			switch kind {
			case baton.EventThreadCreated{}.EventType(), baton.EventThreadTitled{}.EventType():
				k = journal.Key{Kind: journal.KindThread, ID: thread}
			case baton.EventItemOpened{}.EventType(), baton.EventItemClosed{}.EventType():
				k = journal.Key{Kind: journal.KindItem, ID: item}
			default:
				return nil
			}
			if !seen[k] {
				seen[k] = true
				keys = append(keys, k)
			}
			return nil
		})
	return keys, last, n, err
}

// put makes the entry of a document what the document now says.
func (x *index) put(ctx context.Context, tx *sql.Tx, k journal.Key) error {
	doc, err := x.from.Get(ctx, k.Kind, k.ID)
	if errors.Is(err, journal.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	title, body, kind := "", "", journal.KindTitle
	if k.Kind == journal.KindThread {
		title, err = journal.TitleText(doc.Body)
	} else {
		body, kind, err = journal.ItemText(doc.Body)
	}
	if err != nil {
		return err
	}
	var id int64
	switch err := tx.QueryRowContext(ctx, "SELECT id FROM entries WHERE source = ?", k.ID).Scan(&id); {
	case errors.Is(err, sql.ErrNoRows):
		if title == "" && body == "" {
			return nil
		}
		r, err := tx.ExecContext(ctx, "INSERT INTO entries (source, thread, run, kind) VALUES (?, ?, ?, ?)", k.ID, string(doc.Thread), string(doc.Run), string(kind))
		if err != nil {
			return err
		}
		if id, err = r.LastInsertId(); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		if _, err := tx.ExecContext(ctx, "DELETE FROM words WHERE rowid = ?", id); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", id, spaced(title), spaced(body))
	return err
}

func spaced(text string) string {
	var b strings.Builder
	for i, w := range journal.Words(text) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
	}
	return b.String()
}

// trail keeps the index up to date beside the writer until stop is closed: a
// while after the writer's signals, or every so often where they do not end.
func (j *Journal) trail(stop <-chan struct{}) {
	const longest = 30 * time.Second
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { <-stop; cancel() }()
	quiet := time.NewTimer(j.opts.Idle) // what a former server left is followed too
	defer quiet.Stop()
	var since time.Time
	for {
		select {
		case <-stop:
			return
		case <-j.writer.news:
			if since.IsZero() {
				since = time.Now()
			}
			quiet.Reset(min(j.opts.Idle, max(0, longest-time.Since(since))))
			continue
		case <-quiet.C:
			since = time.Time{}
		}
		for began := time.Now(); j.index.step(ctx); began = time.Now() {
			// Half of the time belongs to whoever else wants the processor.
			select {
			case <-time.After(time.Since(began)):
			case <-stop:
				return
			}
		}
		j.opts.indexed()
	}
}

// step follows one piece; what fails is tried again at the next signal.
func (x *index) step(ctx context.Context) (more bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	err := x.open(ctx)
	if err == nil {
		more, err = x.follow(ctx)
	}
	if damage(err) {
		x.anew()
	}
	return more && err == nil
}

// Search follows to the end, then asks.
func (j *Journal) Search(ctx context.Context, q journal.SearchQuery) ([]journal.Hit, error) {
	phrases := journal.Phrases(q.Text)
	j.mu.RLock()
	closed := j.closed
	j.mu.RUnlock()
	if closed {
		return nil, journal.ErrClosed
	}
	if len(phrases) == 0 {
		return nil, ctx.Err()
	}
	x := &j.index
	x.mu.Lock()
	defer x.mu.Unlock()
	hits, err := x.search(ctx, q, phrases)
	if damage(err) {
		x.anew()
		hits, err = x.search(ctx, q, phrases)
	}
	return hits, x.from.fault(err)
}

func (x *index) search(ctx context.Context, q journal.SearchQuery, phrases []journal.Phrase) ([]journal.Hit, error) {
	if err := x.open(ctx); err != nil {
		return nil, err
	}
	for more := true; more; {
		var err error
		if more, err = x.follow(ctx); err != nil {
			return nil, err
		}
	}
	if q.Limit == 0 {
		q.Limit = 20
	}
	asked := match(phrases)
	var many int
	if err := x.conn.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)", asked, ranked+1).Scan(&many); err != nil {
		return nil, err
	}
	text, args := byRank, []any{asked, q.Limit, q.Offset}
	if many > ranked {
		text, args = byTime, []any{"{title} : (" + asked + ")", "{body} : (" + asked + ")", q.Limit, q.Offset}
	}
	rows, err := x.conn.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []journal.Hit
	for rows.Next() {
		var source string
		var h journal.Hit
		if err := rows.Scan(&source, &h.Thread, &h.Run, &h.Kind); err != nil {
			return nil, err
		}
		if h.Kind != journal.KindTitle {
			h.Item = baton.ItemID(source)
		}
		out = append(out, h)
	}
	return out, rows.Err()
}

// ranked is how many texts are weighed against each other. To weigh one, all have
// to be read, so where more are found the titles come first, then the newest.
// It is changed by tests.
var ranked = 2000

const (
	byRank = `SELECT e.source, e.thread, e.run, e.kind FROM words JOIN entries e ON e.id = words.rowid
		WHERE words MATCH ? ORDER BY bm25(words, 10.0, 1.0), words.rowid DESC LIMIT ? OFFSET ?`
	byTime = `SELECT e.source, e.thread, e.run, e.kind FROM (
			SELECT * FROM (SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rowid DESC)
			UNION ALL
			SELECT * FROM (SELECT rowid AS id FROM words WHERE words MATCH ? ORDER BY rowid DESC)
			LIMIT ? OFFSET ?) f JOIN entries e ON e.id = f.id`
)

// match writes the phrases in the language of FTS5. Words are letters and
// digits, so nothing in them has a meaning there.
func match(phrases []journal.Phrase) string {
	var all []string
	for _, p := range phrases {
		all = append(all, `"`+strings.Join(p, " ")+`" *`)
	}
	return strings.Join(all, " AND ")
}
