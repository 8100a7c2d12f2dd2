package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"baton/internal/journal"
)

// connect opens a pool with pragmas for each of its connections.
func connect(path, mode string, pragmas ...string) (*sql.DB, error) {
	name := "file:" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(filepath.ToSlash(path)) + "?mode=" + mode
	for _, p := range pragmas {
		name += "&_pragma=" + p
	}
	return sql.Open("sqlite", name)
}

// inspect refuses a file that this version must not touch, without touching it.
func inspect(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("journal: open the database: %w", err)
	}
	defer f.Close()
	var head [100]byte
	switch n, err := io.ReadFull(f, head[:]); {
	case n == 0 && err == io.EOF:
		return nil // an empty file is an empty database
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("journal: read the database: %w", err)
	case err != nil || !bytes.HasPrefix(head[:], []byte("SQLite format 3\x00")):
		return damaged(path, "it is no SQLite database")
	}
	// File format: user_version at 60, application_id at 68, big endian.
	if err := check(path, int(int32(binary.BigEndian.Uint32(head[60:]))), int(binary.BigEndian.Uint32(head[68:]))); err != nil {
		return err
	}
	// What a crash left in the log is newer than the header.
	if log, err := os.Stat(path + "-wal"); err != nil || log.Size() == 0 {
		return nil
	}
	db, err := connect(path, "ro")
	if err != nil {
		return err
	}
	defer db.Close()
	var version, id int
	if err := db.QueryRow("PRAGMA user_version").Scan(&version); err != nil {
		return explain(path, err)
	}
	if err := db.QueryRow("PRAGMA application_id").Scan(&id); err != nil {
		return explain(path, err)
	}
	return check(path, version, id)
}

func check(path string, version, id int) error {
	switch {
	case id != 0 && id != applicationID, id == 0 && version != 0:
		return damaged(path, "it is a database of another program")
	case version > len(migrations):
		return newer(path, version, len(migrations))
	}
	return nil
}

// create makes a missing file that only its owner can read, and makes its
// name durable.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

// migrate takes the database to the newest shape, each step in a transaction.
func migrate(ctx context.Context, c *sql.Conn, steps []string) error {
	var version int
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	for version < len(steps) {
		next := version + 1
		script := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA application_id = %d; PRAGMA user_version = %d; COMMIT", steps[version], applicationID, next)
		if _, err := c.ExecContext(ctx, script); err != nil {
			_, _ = c.ExecContext(ctx, "ROLLBACK")
			return fmt.Errorf("migration to format %d: %w", next, err)
		}
		version = next
	}
	return nil
}

// rebuild folds all events into the documents again where they come from
// another version of journal.Project. It is one transaction: a crash inside
// leaves the old documents.
func (w *writer) rebuild(ctx context.Context) error {
	var made int
	err := w.conn.QueryRowContext(ctx, "SELECT value FROM meta WHERE name = 'projector'").Scan(&made)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	if made == journal.ProjectorVersion {
		return nil
	}
	if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE; DELETE FROM documents"); err != nil {
		return err
	}
	if err := w.refold(ctx); err != nil {
		_, _ = w.conn.ExecContext(ctx, "ROLLBACK")
		return fmt.Errorf("rebuild of the documents: %w", err)
	}
	_, err = w.conn.ExecContext(ctx, "COMMIT")
	return err
}

func (w *writer) refold(ctx context.Context) error {
	for seq, more := uint64(0), true; more; {
		rows, err := w.conn.QueryContext(ctx, selectEvents+" WHERE seq > ? ORDER BY seq LIMIT 1000", seq)
		if err != nil {
			return err
		}
		events, err := scanEvents(rows, 0)
		if err != nil {
			return err
		}
		for _, e := range events {
			for _, c := range journal.Project(e) {
				if err := w.change(e.Thread, c); err != nil {
					return err
				}
			}
			seq = e.Seq
		}
		more = len(events) > 0
	}
	_, err := w.conn.ExecContext(ctx, "INSERT INTO meta VALUES ('projector', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", journal.ProjectorVersion)
	return err
}
