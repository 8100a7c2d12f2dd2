package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
)

// TestMoved takes files away under an open journal. The next append is refused
// with what to do, and all that was accepted before is there afterwards.
func TestMoved(t *testing.T) {
	remove := func(paths ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			for _, p := range paths {
				must(t, os.Remove(path+p))
			}
		}
	}
	for _, c := range []struct {
		name    string
		take    func(t *testing.T, path string)
		rescued bool // into a file of its own, else into the database
		want    string
	}{
		{"the log removed", remove("-wal"), false, "the log of the database was removed"},
		{"the log replaced", func(t *testing.T, path string) {
			must(t, os.Rename(path+"-wal", path+".old"))
			must(t, os.WriteFile(path+"-wal", nil, 0o600))
		}, false, "the log of the database was removed or replaced"},
		{"log and index removed", remove("-wal", "-shm"), false, "the log of the database was removed"},
		{"the database removed", remove(""), true, "the database was removed"},
		{"everything removed", remove("", "-wal", "-shm"), true, "the database was removed"},
		{"the database replaced", func(t *testing.T, path string) {
			must(t, os.WriteFile(path+".new", []byte("text"), 0o600))
			must(t, os.Rename(path+".new", path))
		}, true, "the database was removed or replaced"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "baton.db")
			j := reopen(t, path, Options{Idle: time.Hour})
			s := journaltest.NewScribe("thr_1")
			s.Must(t, j, s.Create())
			for n := range 5 {
				s.Must(t, j, large(s, n+1))
			}
			accepted := s.Version
			c.take(t, path)
			for n := range 2 {
				err := s.Append(j, large(s, n+10))
				var e *baton.Error
				if !errors.As(err, &e) || !strings.Contains(e.Title, c.want) || !strings.Contains(e.Hint, "serve --stop") || errors.Is(err, journal.ErrUnknown) {
					t.Fatalf("the append gave %v", err)
				}
			}
			if l, err := j.Load(ctx, "thr_1"); !c.rescued && (err != nil || l.Version != accepted) {
				t.Errorf("it reads version %d (%v), want %d", l.Version, err, accepted)
			}
			must(t, j.Close())

			if c.rescued { // do what the hint says
				copies, err := filepath.Glob(path + ".rescued-*")
				if err != nil || len(copies) != 1 {
					t.Fatalf("copies: %v, %v", copies, err)
				}
				if info, err := os.Stat(copies[0]); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%v, %v", info.Mode(), err)
				}
				for _, p := range []string{"", "-wal", "-shm"} {
					_ = os.Remove(path + p)
				}
				must(t, os.Rename(copies[0], path))
			}
			j = reopen(t, path, Options{})
			if l, err := j.Load(ctx, "thr_1"); err != nil || l.Version != accepted {
				t.Errorf("afterwards it is at version %d (%v), want %d", l.Version, err, accepted)
			}
			journaltest.CheckDocuments(t, j)
			s.Must(t, j, large(s, 20))
		})
	}
}

// TestMovedInACommit: the log goes between the look before a transaction and its
// COMMIT. What is accepted is durable all the same, and only then refused.
func TestMovedInACommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	j := reopen(t, path, Options{Idle: time.Hour})
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Create())
	must(t, j.submit(ctx, &request{apply: func(*writer) error { return os.Remove(path + "-wal") }}))
	if err := s.Append(j, large(s, 2)); err == nil || !strings.Contains(err.Error(), "the log of the database was removed") {
		t.Errorf("%v", err)
	}
	must(t, j.Close())
	j = reopen(t, path, Options{})
	if l, err := j.Load(ctx, "thr_1"); err != nil || l.Version != s.Version {
		t.Errorf("version %d (%v), want %d", l.Version, err, s.Version)
	}
}

// TestMovedWithItsDirectory: nowhere is room for a copy. That is said, and what
// was moved still has everything.
func TestMovedWithItsDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "baton.db")
	j := reopen(t, path, Options{Idle: time.Hour})
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Create())
	must(t, os.Rename(dir, dir+".away"))
	err := s.Append(j, large(s, 2))
	var e *baton.Error
	if !errors.As(err, &e) || !strings.Contains(e.Detail, "could not be saved elsewhere") || !strings.Contains(e.Hint, "put the files back") {
		t.Fatalf("%v", err)
	}
	must(t, os.Rename(dir+".away", dir))
	must(t, j.Close())
	j = reopen(t, path, Options{})
	if l, err := j.Load(ctx, "thr_1"); err != nil || l.Version != s.Version {
		t.Errorf("version %d (%v), want %d", l.Version, err, s.Version)
	}
}
