// Package sqlite keeps the journal in one SQLite file.
//
// Writing: one connection and one goroutine. Units wait in a queue; the
// goroutine puts those that wait into one transaction (group commit). A unit that
// is refused takes nobody with it: those before it are written again. A
// transaction closes when nobody waits any more, at 64 units or at 1 MB; a
// larger unit has one to itself. COMMIT is synchronous=FULL on a write-ahead log:
// when Append returns nil, the unit is on the disk.
//
// Data of an effect over 256 kB goes ahead of its unit in parts, each a
// transaction among the others', so that nobody waits for megabytes. Parts that no
// effect names, since their unit was refused or never came, are removed.
//
// Reading: a pool of connections that can't write. A reader sees one committed
// point and never waits for the writer.
//
// Checkpoints: SQLite's automatic ones would make some append wait for them,
// so they are off. A goroutine of its own copies the log into the database
// (PASSIVE, beside the writer) each time the writer has signalled 4 MB. When the log
// holds over 64 MB, and when nothing was written for a second, it holds the writer for
// as long as it takes to copy the rest; then the log begins anew in its file (RESTART),
// and after the idle second the file is cut (TRUNCATE).
//
// A database or log that is removed or replaced while it is open ends the writing:
// what was accepted is saved, into the database or a file beside it, and each
// append after that says so. See moved.go.
//
// A damaged file, one of another program and one of a newer version of Baton are
// refused by name and left as they are.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	driver "modernc.org/sqlite"

	"baton/internal/failpoint"
	"baton/internal/journal"
)

// Options are the choices of Open; the zero value is what a server uses.
type Options struct {
	// Now gives the time of commits; nil is time.Now.
	Now func() time.Time
	// Idle is how long nothing must be written before the log is cut; 0 is a second.
	Idle time.Duration

	checkpointed func(mode string) // told after each checkpoint, by tests
	indexed      func()            // told when the index has followed, by tests
	logBytes     int64             // the constant of that name where 0, less for tests
}

// Journal is a journal in a file.
type Journal struct {
	reader
	path    string
	opts    Options
	write   *sql.DB
	read    *sql.DB
	writer  *writer
	index   index
	queue   chan *request
	stop    chan struct{} // ends the checkpoints
	workers sync.WaitGroup

	mu     sync.RWMutex // held to put into queue, so that Close can close it
	closed bool
}

var _ journal.Journal = (*Journal)(nil)

// Open opens the journal in the file, making it where it is missing, and takes
// it to the newest format. The file must not be open in another process of
// Baton; who guards that is the lock on the data directory. Errors are
// *baton.Error where a person can do something about them.
func Open(path string, opts Options) (*Journal, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.checkpointed == nil {
		opts.checkpointed = func(string) {}
	}
	if opts.indexed == nil {
		opts.indexed = func() {}
	}
	if opts.logBytes == 0 {
		opts.logBytes = logBytes
	}
	if opts.Idle == 0 {
		opts.Idle = time.Second
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, op("open", err)
	}
	if err := inspect(path); err != nil {
		return nil, err
	}
	if err := create(path); err != nil {
		return nil, op("create the database", err)
	}
	j := &Journal{path: path, opts: opts, queue: make(chan *request, 2*maxUnits), stop: make(chan struct{})}
	if err := j.open(context.Background()); err != nil {
		_ = j.closeFiles()
		return nil, explain(path, op("open the database", err))
	}
	j.workers.Go(func() { j.writer.run(j.queue) })
	j.workers.Go(func() { j.writer.checkpoints(j.stop) })
	j.workers.Go(func() { j.trail(j.stop) })
	return j, nil
}

// fdatasync is what SQLite uses where its own build finds it; this one has to be
// told. It leaves out timestamps alone. An error says that the system has none.
var fdatasync = sync.OnceFunc(func() { _, _ = driver.Fdatasync(true) })

func (j *Journal) open(ctx context.Context) (err error) {
	fdatasync()
	// The order of pragmas matters: the wait for locks first.
	if j.write, err = connect(j.path, "rw", "busy_timeout(5000)", "journal_mode(wal)", "synchronous(full)", "fullfsync(1)",
		"wal_autocheckpoint(0)", "cache_size(-4000)", "temp_store(memory)"); err != nil {
		return err
	}
	if j.writer, err = newWriter(ctx, j.path, j.write, j.opts); err != nil {
		return err
	}
	if j.read, err = connect(j.path, "rw", "busy_timeout(5000)", "query_only(1)", "cache_size(-2000)", "wal_autocheckpoint(0)"); err != nil {
		return err
	}
	n := max(4, 2*runtime.GOMAXPROCS(0))
	j.read.SetMaxOpenConns(n)
	j.read.SetMaxIdleConns(n)
	j.read.SetConnMaxIdleTime(time.Minute)
	j.reader = reader{db: j.read, path: j.path}
	j.index.path, j.index.from = j.path+".search", j.reader
	return nil
}

// submit puts a request into the queue and waits for its outcome.
func (j *Journal) submit(ctx context.Context, r *request) error {
	r.ctx, r.done = ctx, make(chan error, 1)
	j.mu.RLock()
	if j.closed {
		j.mu.RUnlock()
		return journal.ErrClosed
	}
	select {
	case j.queue <- r:
		j.mu.RUnlock()
	case <-ctx.Done():
		j.mu.RUnlock()
		return ctx.Err()
	}
	return <-r.done
}

// Append stores the unit.
func (j *Journal) Append(ctx context.Context, u journal.Unit) (journal.Appended, error) {
	if err := u.Check(); err != nil {
		return journal.Appended{}, err
	}
	e, err := encode(u)
	if err != nil {
		return journal.Appended{}, err
	}
	var first uint64
	var now time.Time
	if err := j.stage(ctx, e); err != nil {
		return journal.Appended{}, err
	}
	r := &request{size: e.size, apply: func(w *writer) (err error) {
		now = journal.Time(journal.Nanos(w.opts.Now()))
		first, err = w.unit(e, now)
		return err
	}}
	if err := j.submit(ctx, r); err != nil {
		j.unstage(e, err)
		return journal.Appended{}, err
	}
	failpoint.Hit("journal.appended")
	for i := range u.Events {
		u.Events[i].Seq, u.Events[i].Epoch, u.Events[i].Committed = first+uint64(i), u.Epoch, now
	}
	return journal.Appended{FirstSeq: first, Committed: now}, nil
}

// ClaimEpoch returns a number greater than any before, durably.
func (j *Journal) ClaimEpoch(ctx context.Context) (epoch uint64, err error) {
	r := &request{apply: func(w *writer) error {
		return w.conn.QueryRowContext(w.ctx, `INSERT INTO meta VALUES ('epoch', 1) ON CONFLICT (name)
			DO UPDATE SET value = value + 1 RETURNING value`).Scan(&epoch)
	}}
	err = j.submit(ctx, r)
	return epoch, err
}

// Close waits for the units that were taken in, copies the log into the
// database and closes it. Calls after it fail with journal.ErrClosed.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	close(j.queue)
	j.mu.Unlock()
	close(j.stop)
	j.workers.Wait()
	return explain(j.path, op("close", j.closeFiles()))
}

func (j *Journal) closeFiles() error {
	j.index.mu.Lock()
	errs := []error{j.index.close()}
	j.index.mu.Unlock()
	if j.read != nil {
		errs = append(errs, j.read.Close())
	}
	if j.writer != nil {
		errs = append(errs, j.writer.close())
	}
	if j.write != nil {
		errs = append(errs, j.write.Close())
	}
	return errors.Join(errs...)
}
