package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"baton"
)

// Backup writes the journal as it is now into a new file. Appends go on
// meanwhile. See the function of the same name.
func (j *Journal) Backup(ctx context.Context, to string) error { return Backup(ctx, j.path, to) }

// Backup writes what is committed in the database at path into a new file that
// its owner alone can read. The database may be open or not; it is left as it
// is, of whatever format it may be. The file appears under its name when it is
// complete and on the disk; one that is there already is refused. What is beside
// the journal (spools, the index of the search) is not part of it.
func Backup(ctx context.Context, path, to string) error {
	taken := func() error {
		return baton.Errorf(baton.CodeConflict, "the file %s is there already", to).
			WithDetail("nothing was written").WithHint("name a new file; a backup never takes the place of another file")
	}
	if _, err := os.Stat(path); err != nil {
		return baton.Errorf(baton.CodeNotFound, "there is no database to back up").WithDetail("%v", err).WithHint("`baton doctor` shows where data lies")
	}
	if err := inspect(path); err != nil {
		return err
	}
	if _, err := os.Lstat(to); err == nil {
		return taken()
	}
	part, err := os.CreateTemp(filepath.Dir(to), "."+filepath.Base(to)+".*") // 0600
	if err != nil {
		return backupError(to, err)
	}
	defer os.Remove(part.Name())
	defer part.Close()
	db, err := connect(path, "rw", "busy_timeout(5000)", "wal_autocheckpoint(0)")
	if err != nil {
		return op("backup", err)
	}
	defer db.Close()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", part.Name()); err != nil {
		return backupError(to, err)
	}
	if err := part.Sync(); err != nil {
		return backupError(to, err)
	}
	switch err := os.Link(part.Name(), to); {
	case errors.Is(err, os.ErrExist):
		return taken()
	case err != nil:
		return backupError(to, err)
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return backupError(to, err)
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil {
		return backupError(to, err)
	}
	return nil
}

func backupError(to string, err error) error {
	return baton.Errorf(baton.CodeInternal, "the backup %s could not be written", to).
		WithDetail("%v; no file of that name was left", fmt.Errorf("backup: %w", err)).WithHint("see that the directory is there and has room, then try again")
}
