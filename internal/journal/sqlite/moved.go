package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"baton"
)

// files are the database and its log as they were opened. SQLite goes on with
// files that were removed or replaced under it, and all that it writes then is
// lost with the process: each transaction looks at the names before it begins
// and after its COMMIT.
type files struct{ db, log os.FileInfo }

func (w *writer) opened() (err error) {
	if w.files.db, err = os.Stat(w.path); err == nil {
		w.files.log, err = os.Stat(w.path + "-wal")
	}
	return err
}

// moved says what is no longer where it was opened: the database, its log, or
// nothing. A name that can't be looked at is taken as unchanged.
func (w *writer) moved() (database, log bool) {
	gone := func(path string, was os.FileInfo) bool {
		now, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(now, was)
	}
	return gone(w.path, w.files.db), gone(w.path+"-wal", w.files.log)
}

// here is nil while the files are in their place, else the refusal of all that
// comes. The first time it saves what was accepted: this process still has all
// of it, though no name leads there. Saved says that nothing accepted is lost.
func (w *writer) here() (saved bool, err error) {
	if w.lost != nil {
		return w.saved, w.lost
	}
	switch database, log := w.moved(); {
	case database:
		w.lose("the database was removed or replaced under the running server", w.rescue)
	case log:
		w.lose("the log of the database was removed or replaced under the running server", w.backfill)
	default:
		return true, nil
	}
	return w.saved, w.lost
}

// lose ends writing. save keeps what was accepted and says where and what to do.
func (w *writer) lose(title string, save func() (detail, hint string, err error)) {
	refusal := baton.Errorf(baton.CodeInternal, "%s", title)
	detail, hint, err := save()
	if w.saved = err == nil; !w.saved {
		detail = fmt.Sprintf("%s; what was accepted could not be saved elsewhere (%v)", w.path, err)
		hint = "put the files back where they were, then end this server with `baton serve --stop`; if they are gone, restore a backup"
	}
	w.lost = refusal.WithDetail("%s; nothing more is accepted", detail).WithHint("%s", hint)
}

// backfill copies the log, which only this process has, into the database.
func (w *writer) backfill() (detail, hint string, err error) {
	var busy, pages, copied int
	if err := w.conn.QueryRowContext(w.ctx, "PRAGMA wal_checkpoint(FULL)").Scan(&busy, &pages, &copied); err != nil {
		return "", "", err
	}
	if busy != 0 || copied < pages {
		return "", "", fmt.Errorf("%d of %d pages were copied", copied, pages)
	}
	return w.path + "-wal is not the file that was opened; everything that was accepted has been copied into the database",
		"end this server with `baton serve --stop`; the next command starts one that goes on", nil
}

// rescue writes the database as this process has it into a new file.
func (w *writer) rescue() (detail, hint string, err error) {
	to := fmt.Sprintf("%s.rescued-%d", w.path, w.opts.Now().Unix())
	if _, err := w.conn.ExecContext(w.ctx, "VACUUM INTO ?", to); err != nil {
		return "", "", err
	}
	if err := os.Chmod(to, 0o600); err != nil {
		return "", "", err
	}
	return fmt.Sprintf("%s is not the file that was opened; everything that was accepted is in %s", w.path, to),
		"end this server with `baton serve --stop`; to go on with what was accepted, remove the database with its -wal and -shm and move that file to its place", nil
}
