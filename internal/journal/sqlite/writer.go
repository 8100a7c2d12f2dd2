package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"baton/internal/failpoint"
	"baton/internal/journal"
)

// What closes a transaction.
const (
	maxUnits = 64
	maxBytes = 1 << 20
)

// request is something to do inside a transaction that it shares with others.
type request struct {
	ctx   context.Context
	size  int
	apply func(*writer) error // may be called again where its transaction came to nothing
	done  chan error          // takes exactly one outcome
}

// writer owns the writing connection.
type writer struct {
	ctx  context.Context // never ends: a statement that has begun is finished
	path string
	opts Options
	conn *sql.Conn
	stmt prepared
	seq  uint64 // of the newest event
	from uint64 // what seq was when the transaction began

	large atomic.Int64 // the newest number of parts

	exclusive sync.Mutex   // a transaction, or cutting the log
	written   atomic.Int64 // bytes since the last checkpoint, about
	full      chan struct{}
	wrote     chan struct{} // something was written since the log was cut
	news      chan struct{} // something was written since the index was followed
	last      int           // units in the last transaction

	files files
	lost  error // why nothing is written any more; see here
	saved bool  // with lost: nothing that was accepted is lost
}

func newWriter(ctx context.Context, path string, db *sql.DB, opts Options) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{ctx: ctx, path: path, opts: opts, conn: conn, full: make(chan struct{}, 1), wrote: make(chan struct{}, 1),
		news: make(chan struct{}, 1)}
	setup := func() error {
		if err := migrate(ctx, conn, migrations); err != nil {
			return err
		}
		if err := w.prepare(ctx); err != nil {
			return err
		}
		if err := conn.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'").Scan(&w.seq); err != nil {
			return err
		}
		if err := w.sweepParts(ctx); err != nil {
			return err
		}
		if err := w.rebuild(ctx); err != nil {
			return err
		}
		return w.opened()
	}
	if err := setup(); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) close() error { return errors.Join(w.stmt.close(), w.conn.Close()) }

// run writes what comes through the queue until it is closed and empty.
func (w *writer) run(queue <-chan *request) {
	var next *request
	for {
		if next == nil {
			r, ok := <-queue
			if !ok {
				return
			}
			next = r
		}
		next = w.transaction(next, queue)
	}
}

// transaction writes first and what waits behind it. It returns a request that
// it took from the queue and left for the next transaction, or nil.
func (w *writer) transaction(first *request, queue <-chan *request) (left *request) {
	w.exclusive.Lock()
	defer w.exclusive.Unlock()
	if _, err := w.here(); err != nil {
		first.done <- err
		return nil
	}
	if err := w.begin(); err != nil {
		first.done <- explain(w.path, op("begin", err))
		return nil
	}
	var taken []*request
	size := 0
	for r := first; r != nil; {
		lost, err := w.within(r, taken)
		switch {
		case lost:
			_ = w.exec(w.stmt.rollback)
			r.done <- explain(w.path, op("append", err))
			w.alone(taken)
			return nil
		case err != nil:
			r.done <- explain(w.path, err)
		default:
			taken, size = append(taken, r), size+r.size
		}
		if r, left = w.gather(queue, len(taken), size); left != nil {
			break
		}
	}
	w.commit(taken, size)
	return left
}

// gather returns the next request of this transaction, or one that must wait
// for the next because of its size, or neither.
func (w *writer) gather(queue <-chan *request, units, size int) (next, left *request) {
	if units >= maxUnits || size >= maxBytes {
		return nil, nil
	}
	for tries := 0; ; tries++ {
		select {
		case r, ok := <-queue:
			switch {
			case !ok:
				return nil, nil
			case units > 0 && size+r.size > maxBytes:
				return nil, r
			}
			return r, nil
		default:
		}
		// Those whom the last transaction answered are about to ask again. Without
		// giving way to them, every other transaction would hold a single unit.
		if tries >= 2 || units >= w.last {
			return nil, nil
		}
		runtime.Gosched()
	}
}

// begin begins a transaction.
func (w *writer) begin() error {
	w.from = w.seq
	return w.exec(w.stmt.begin)
}

// within applies a request. Where that fails, nothing of it is left. With lost,
// nothing of those taken before it is left either, as may be when the disk fails.
//
// There is no savepoint for each: those cost a tenth of the writer's time, and a
// unit that is refused is rare. Its transaction is begun again with those before it.
func (w *writer) within(r *request, taken []*request) (lost bool, err error) {
	if err := r.ctx.Err(); err != nil {
		return false, err
	}
	if err = r.apply(w); err == nil {
		return false, nil
	}
	_ = w.exec(w.stmt.rollback) // SQLite may have done it
	w.seq = w.from
	if w.begin() != nil {
		return true, err
	}
	for _, before := range taken {
		if before.apply(w) != nil {
			return true, err
		}
	}
	return false, err
}

// commit makes a transaction durable and answers its requests.
func (w *writer) commit(taken []*request, size int) {
	if len(taken) == 0 {
		_ = w.exec(w.stmt.rollback)
		return
	}
	failpoint.Hit("journal.before_commit")
	err := w.exec(w.stmt.commit)
	failpoint.Hit("journal.after_commit")
	if err != nil {
		_ = w.exec(w.stmt.rollback)
		if unstored(err) && len(taken) > 1 {
			w.alone(taken)
			return
		}
		err = commitError(w.path, err)
		for _, r := range taken {
			r.done <- err
		}
		return
	}
	if saved, lost := w.here(); !saved {
		err = fmt.Errorf("%w: %w", journal.ErrUnknown, lost)
	}
	w.last = len(taken)
	for _, r := range taken {
		r.done <- err
	}
	w.signal(size)
}

// alone writes each request in a transaction of its own, after one that they
// shared came to nothing: only whose own fails is told so.
func (w *writer) alone(taken []*request) {
	for _, r := range taken {
		if err := w.begin(); err != nil {
			r.done <- explain(w.path, op("begin", err))
			continue
		}
		if _, err := w.within(r, nil); err != nil {
			_ = w.exec(w.stmt.rollback)
			r.done <- explain(w.path, op("append", err))
			continue
		}
		w.commit([]*request{r}, r.size)
	}
}

// signal tells the checkpoints what has been written.
func (w *writer) signal(size int) {
	for _, c := range []chan struct{}{w.wrote, w.news} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
	// A page of the log is 4 kB, and a unit touches about ten of them besides its bytes.
	if w.written.Add(int64(size)+40<<10) >= checkpointBytes {
		select {
		case w.full <- struct{}{}:
		default:
		}
	}
}

func (w *writer) exec(s *sql.Stmt, args ...any) error {
	_, err := s.ExecContext(w.ctx, args...)
	return err
}

func (w *writer) logSize() int64 {
	info, err := os.Stat(w.path + "-wal")
	if err != nil {
		return 0
	}
	return info.Size()
}
