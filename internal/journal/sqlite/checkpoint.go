package sqlite

import "time"

// When the log is copied into the database, and when it begins anew.
const (
	checkpointBytes = 4 << 20
	logBytes        = 64 << 20
	pageBytes       = 4096 + 24 // of the log: SQLite's default page and its header
)

// checkpoints copies the log into the database at the writer's signals until
// stop is closed. What fails is tried again at the next signal: the log is whole
// either way, it only grows.
func (w *writer) checkpoints(stop <-chan struct{}) {
	db, err := connect(w.path, "rw", "busy_timeout(0)", "wal_autocheckpoint(0)", "fullfsync(1)")
	if err != nil {
		return
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	idle := time.NewTimer(w.opts.Idle)
	idle.Stop()
	defer idle.Stop()
	// pragma returns how many bytes the log holds.
	pragma := func(mode string) int64 {
		var busy, pages, copied int64
		_ = db.QueryRow("PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &pages, &copied)
		w.opts.checkpointed(mode)
		return pages * pageBytes
	}
	// hold keeps the writer off for what is left to copy, after most of the work
	// was done beside it.
	hold := func(mode string) {
		pragma("PASSIVE")
		w.exclusive.Lock()
		defer w.exclusive.Unlock()
		pragma(mode)
	}
	for {
		select {
		case <-stop:
			return
		case <-w.wrote:
			idle.Reset(w.opts.Idle)
		case <-w.full:
			w.written.Store(0)
			if pragma("PASSIVE") > w.opts.logBytes {
				hold("RESTART") // cutting a long file takes ten times as long, and then it has to grow again
			}
		case <-idle.C:
			w.written.Store(0)
			hold("TRUNCATE")
		}
	}
}
