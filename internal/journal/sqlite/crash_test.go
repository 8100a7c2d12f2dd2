package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"baton"
	"baton/internal/failpoint"
	"baton/internal/journal/journaltest"
	"baton/internal/journal/sqlite"
)

const crashChild = "JOURNAL_CRASH_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashChild); path != "" {
		fmt.Fprintln(os.Stderr, child(path)) // it never ends by itself
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child appends to four threads at once and prints each version that was
// acknowledged, until it is killed.
func child(path string) error {
	j, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		return err
	}
	epoch, err := j.ClaimEpoch(context.Background())
	if err != nil {
		return err
	}
	failed := make(chan error)
	for n := range 4 {
		s := journaltest.NewScribe(fmt.Sprintf("thr_%d", n))
		s.Epoch = epoch
		if l, err := j.Load(context.Background(), s.Thread); err == nil {
			s.Version = l.Version
		}
		go func() {
			for {
				n := int(s.Version) + 1
				if err := s.Append(j, s.Command(n)); err != nil {
					failed <- err
				}
				fmt.Println(s.Thread, s.Version)
				if err := s.Append(j, s.End(n)); err != nil {
					failed <- err
				}
			}
		}()
	}
	return <-failed
}

// TestCrash kills a writing process at random moments and at both sides of the
// commit, and looks for what it had acknowledged.
func TestCrash(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	path := filepath.Join(t.TempDir(), "baton.db")
	acknowledged := map[baton.ThreadID]uint64{}
	for round := range 24 {
		if round%6 == 0 {
			path = filepath.Join(t.TempDir(), "baton.db")
			clear(acknowledged)
		}
		point, lines := "", 1+r.IntN(30)
		switch round % 3 {
		case 1:
			point = fmt.Sprintf("journal.before_commit:%d", 2+r.IntN(20))
		case 2:
			point = fmt.Sprintf("journal.after_commit:%d", 2+r.IntN(20))
		}
		crash(t, path, point, lines, acknowledged)
		survived(t, path, acknowledged)
	}
}

// crash runs a child until its failpoint or, without one, until it has printed
// as many lines.
func crash(t *testing.T, path, point string, lines int, acknowledged map[baton.ThreadID]uint64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashChild+"="+path)
	if point != "" {
		cmd.Env = append(cmd.Env, failpoint.Env+"="+point)
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	kill := func() { once.Do(func() { _ = cmd.Process.Kill() }) }
	defer kill()
	read := 0
	for s := bufio.NewScanner(out); s.Scan(); {
		var thread baton.ThreadID
		var version uint64
		if _, err := fmt.Sscan(s.Text(), &thread, &version); err != nil {
			continue // cut by the kill
		}
		acknowledged[thread] = max(acknowledged[thread], version)
		if read++; point == "" && read == lines {
			kill()
		}
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child was not killed: %v", err)
	}
}

func survived(t *testing.T, path string, acknowledged map[baton.ThreadID]uint64) {
	t.Helper()
	j, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for thread, version := range acknowledged {
		l, err := j.Load(context.Background(), thread)
		if err != nil || l.Version < version {
			t.Fatalf("%s is at %d (%v), %d was acknowledged", thread, l.Version, err, version)
		}
		acknowledged[thread] = l.Version
	}
	for _, e := range journaltest.AllEvents(t, j) {
		if d, ok := e.Data.(baton.EventMessageAccepted); ok { // in one unit with its receipt
			if _, err := j.Receipt(context.Background(), baton.CommandID("cmd_"+string(d.Message[len("msg_"):]))); err != nil {
				t.Fatalf("receipt of %s: %v", d.Message, err)
			}
		}
	}
	journaltest.CheckDocuments(t, j)
}
