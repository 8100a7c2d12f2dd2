package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
)

func large(s *journaltest.Scribe, n int) journal.Unit {
	u := s.Command(n)
	u.Effects = append(u.Effects, baton.Effect{ID: baton.EffectID(fmt.Sprintf("eff_large_%s_%d", s.Thread, n)), Thread: s.Thread,
		Lane: baton.LaneWork, Data: baton.EffectWrite{Data: bytes.Repeat([]byte("x"), 100<<10)}})
	return u
}

// TestDiskFull: SQLite may not grow its file, as on a full disk. Who needs room is
// refused, what fits goes on, and with room again everything does.
func TestDiskFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	j := reopen(t, path, Options{})
	limit := func(pages int) {
		j.writer.exclusive.Lock()
		defer j.writer.exclusive.Unlock()
		_, err := j.writer.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", pages))
		must(t, err)
	}
	limit(100)
	var all sync.WaitGroup
	var mu sync.Mutex
	stored, refused := map[*journaltest.Scribe]uint64{}, 0
	for n := range 16 {
		all.Go(func() {
			s := journaltest.NewScribe(fmt.Sprintf("thr_%02d", n))
			for i := range 4 {
				u := s.Command(i + 1)
				if n%2 == 0 {
					u = large(s, i+1)
				}
				if err := s.Append(j, u); err != nil {
					var e *baton.Error
					if !errors.As(err, &e) || e.Hint == "" || errors.Is(err, journal.ErrUnknown) {
						t.Errorf("%v", err)
					}
					mu.Lock()
					refused++
					mu.Unlock()
				}
			}
			mu.Lock()
			defer mu.Unlock()
			stored[s] = s.Version
		})
	}
	all.Wait()
	if refused == 0 {
		t.Fatal("nothing was refused")
	}
	limit(1 << 30)
	for s, version := range stored {
		l, err := j.Load(ctx, s.Thread)
		if version == 0 {
			if !errors.Is(err, journal.ErrNotFound) {
				t.Errorf("%s: %v", s.Thread, err)
			}
		} else if err != nil || l.Version != version {
			t.Errorf("%s is at %d (%v), want %d", s.Thread, l.Version, err, version)
		}
		s.Must(t, j, large(s, 9))
	}
	journaltest.CheckDocuments(t, j)
}

// TestWriteFails lets the system refuse writes behind every length of the log in
// turn, so that appends fail in all places, COMMIT included.
func TestWriteFails(t *testing.T) {
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	path := filepath.Join(t.TempDir(), "baton.db")
	j := reopen(t, path, Options{Idle: time.Hour})
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Create())
	var old syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old))
	failures := 0
	for n := range 40 {
		info, err := os.Stat(path + "-wal")
		must(t, err)
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size()) + uint64(n)*1500, Max: old.Max}))
		before := s.Version
		err = s.Append(j, large(s, n+1))
		must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old))
		l, loadErr := j.Load(ctx, "thr_1")
		must(t, loadErr)
		if err != nil {
			failures++
		}
		if l.Version != s.Version || err == nil == (l.Version == before) {
			t.Fatalf("append gave %v, the thread went from %d to %d", err, before, l.Version)
		}
		s.Must(t, j, s.Unit(baton.EventQueueResumed{}))
	}
	if failures == 0 {
		t.Fatal("no write has failed")
	}
	must(t, j.Close())
	j = reopen(t, path, Options{})
	journaltest.CheckDocuments(t, j)
}

// TestCommitError: unless SQLite says that nothing was written, a failed COMMIT
// is an unknown outcome, and says what a person can do all the same.
func TestCommitError(t *testing.T) {
	if err := commitError("f", errors.New("anything")); !errors.Is(err, journal.ErrUnknown) {
		t.Error(err)
	}
	path := filepath.Join(t.TempDir(), "f")
	must(t, os.WriteFile(path, bytes.Repeat([]byte("no database"), 100), 0o600))
	db, err := connect(path, "rw")
	must(t, err)
	defer db.Close()
	_, broken := db.Exec("CREATE TABLE t (x)")
	var e *baton.Error
	if err := commitError(path, broken); !errors.Is(err, journal.ErrUnknown) || !errors.As(err, &e) {
		t.Errorf("%v of %v", err, broken)
	}
	mem, err := connect(":memory:", "memory")
	must(t, err)
	defer mem.Close()
	_, full := mem.Exec("PRAGMA max_page_count = 2; CREATE TABLE t (x); CREATE TABLE u (x)")
	if full == nil || errors.Is(commitError(path, full), journal.ErrUnknown) {
		t.Errorf("a full disk is unknown: %v", full)
	}
}

// TestCheckpoints: a log that has grown is copied beside the writer, and cut
// when nothing is written any more.
func TestCheckpoints(t *testing.T) {
	modes := make(chan string, 1000)
	path := filepath.Join(t.TempDir(), "baton.db")
	j := reopen(t, path, Options{Idle: time.Millisecond, checkpointed: func(mode string) { modes <- mode }})
	s := journaltest.NewScribe("thr_1")
	for n := range 60 {
		s.Must(t, j, large(s, n+1))
	}
	for mode := ""; mode != "PASSIVE"; {
		mode = <-modes
	}
	s.Must(t, j, s.Unit(baton.EventQueueResumed{}))
	for mode := ""; mode != "TRUNCATE" || j.writer.logSize() != 0; { // a cut before the last unit is none yet
		mode = <-modes
	}
	journaltest.CheckDocuments(t, j)
}

// TestLogBeginsAnew: a log that grows without an idle moment is used again from
// its beginning, and does not grow for ever.
func TestLogBeginsAnew(t *testing.T) {
	modes := make(chan string, 1000)
	j := reopen(t, filepath.Join(t.TempDir(), "baton.db"), Options{Idle: time.Hour, logBytes: 1 << 20, checkpointed: func(mode string) { modes <- mode }})
	s := journaltest.NewScribe("thr_1")
	fill := func() (size int64) { // until the log has begun anew
		for {
			size = max(size, j.writer.logSize())
			select {
			case mode := <-modes:
				if mode == "RESTART" {
					return size
				}
			default:
				s.Must(t, j, large(s, int(s.Version)+1))
			}
		}
	}
	first := fill()
	for range 4 {
		if size := fill(); size > 2*first {
			t.Errorf("the log has grown from %d to %d bytes", first, size)
		}
	}
	journaltest.CheckDocuments(t, j)
}

// TestCloseFinishes: what was taken in is stored, what comes later is refused.
func TestCloseFinishes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	j := reopen(t, path, Options{})
	var all sync.WaitGroup
	var mu sync.Mutex
	acknowledged := map[baton.ThreadID]uint64{}
	begun := make(chan struct{}, 64)
	for n := range 8 {
		all.Go(func() {
			s := journaltest.NewScribe(fmt.Sprintf("thr_%d", n))
			for i := 1; ; i++ {
				err := s.Append(j, s.Command(i))
				select {
				case begun <- struct{}{}:
				default:
				}
				if err == nil {
					continue
				}
				if !errors.Is(err, journal.ErrClosed) {
					t.Errorf("%v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				acknowledged[s.Thread] = s.Version
				return
			}
		})
	}
	for range 32 {
		<-begun
	}
	must(t, j.Close())
	all.Wait()
	j = reopen(t, path, Options{})
	for thread, version := range acknowledged {
		if l, err := j.Load(ctx, thread); version > 0 && (err != nil || l.Version != version) {
			t.Errorf("%s is at %d (%v), want %d", thread, l.Version, err, version)
		}
	}
	if size := j.writer.logSize(); size != 0 {
		t.Errorf("closing has left %d bytes in the log", size)
	}
}
