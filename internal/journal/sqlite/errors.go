package sqlite

import (
	"errors"
	"fmt"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"baton"
	"baton/internal/journal"
)

// resultCode returns SQLite's extended result code of err, 0 for none.
func resultCode(err error) int {
	var e *driver.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// explain turns what SQLite says about the file into what a person can act on.
// Other errors come back as they are.
func explain(path string, err error) error {
	if err == nil {
		return nil
	}
	switch resultCode(err) & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return damaged(path, err.Error())
	case lib.SQLITE_FULL:
		return baton.Errorf(baton.CodeInternal, "the disk of the database is full").WithDetail("%s: %v", path, err).
			WithHint("free some space there, then send it again")
	case lib.SQLITE_IOERR:
		return baton.Errorf(baton.CodeInternal, "the disk of the database failed").WithDetail("%s: %v", path, err).
			WithHint("look at the disk and the system's log; send it again when it is well, or restore a backup")
	case lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY, lib.SQLITE_PERM:
		return baton.Errorf(baton.CodeInternal, "the database can't be opened for writing").WithDetail("%s: %v", path, err).
			WithHint("check that its directory exists and that you may write there")
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return baton.Errorf(baton.CodeDataLocked, "another process is writing to the database").WithDetail("%s: %v", path, err).
			WithHint("end the program that holds it, then try again")
	}
	return err
}

func damaged(path, why string) *baton.Error {
	return baton.Errorf(baton.CodeInternal, "the database is damaged").WithDetail("%s: %s; it was left as it is", path, why).
		WithHint("end the server (`baton serve --stop`), move the file and those beside it (-wal, -shm) away, put a backup in its place, then go on")
}

func newer(path string, version, known int) *baton.Error {
	return baton.Errorf(baton.CodeDataNewer, "the database was written by a newer version of Baton").
		WithDetail("%s has format %d, this version knows formats up to %d; it was left as it is", path, version, known).
		WithHint("start the newer version, or restore a backup from before the upgrade")
}

// damage says whether err is SQLite's own word, not explained yet, that a file
// is broken.
func damage(err error) bool {
	code := resultCode(err) & 0xff
	return code == lib.SQLITE_CORRUPT || code == lib.SQLITE_NOTADB
}

// unstored says whether a failed COMMIT is known to have left nothing: its last
// frame never reached the log. Any other failure may still turn out durable.
func unstored(err error) bool {
	code := resultCode(err)
	switch {
	case code&0xff == lib.SQLITE_FULL, code&0xff == lib.SQLITE_BUSY, code&0xff == lib.SQLITE_CONSTRAINT, code&0xff == lib.SQLITE_READONLY:
		return true
	case code == lib.SQLITE_IOERR_WRITE, code == lib.SQLITE_IOERR_SHMSIZE, code == lib.SQLITE_IOERR_SHMMAP:
		return true
	}
	return false
}

// commitError is what a failed COMMIT comes back as: journal.ErrUnknown unless it
// is known to have left nothing.
func commitError(path string, err error) error {
	explained := explain(path, op("commit", err))
	if unstored(err) {
		return explained
	}
	return fmt.Errorf("%w: %w", journal.ErrUnknown, explained)
}

func op(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal: %s: %w", what, err)
}
