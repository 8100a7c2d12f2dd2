package sqlite

import "time"

// When the log is copied into the database, and when it is cut.
const (
	checkpointBytes = 4 << 20
	logBytes        = 64 << 20
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
	pragma := func(mode string) {
		var busy, log, copied int
		_ = db.QueryRow("PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &log, &copied)
		w.opts.checkpointed(mode)
	}
	cut := func() {
		pragma("PASSIVE") // most of the work, beside the writer
		w.exclusive.Lock()
		defer w.exclusive.Unlock()
		pragma("TRUNCATE")
	}
	for {
		select {
		case <-stop:
			return
		case <-w.wrote:
			idle.Reset(w.opts.Idle)
		case <-w.full:
			w.written.Store(0)
			if w.logSize() > logBytes {
				cut()
			} else {
				pragma("PASSIVE")
			}
		case <-idle.C:
			w.written.Store(0)
			cut()
		}
	}
}
