package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestStopOfAStoppedShim: a shim that does nothing any more can't end its agent.
// After a bound it is killed, and the run has an end.
func TestStopOfAStoppedShim(t *testing.T) {
	r := newRig(t, "[recovery]\nstop_grace = \"10ms\"\ninterrupt_grace = \"10ms\"\n")
	id := r.thread()
	gate := filepath.Join(r.project, "gate")
	r.offer(id, "alpha", "cmd_one", "[[gate "+gate+"]]")
	r.until("the agent at its gate", func() bool { _, err := os.Stat(gate + ".waiting"); return err == nil })
	if err := syscall.Kill(r.find(isShim)[0].pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	r.baton("stop", id)
	if x := r.ended(id, 1); x.Status != "interrupted" {
		t.Errorf("run 1: %+v", x)
	}
	r.until("the end of shim and agent", func() bool { return len(r.find(isShim))+len(r.find(isAgent)) == 0 })
}

// TestSocketsGone: the runtime directory was cleaned away while no server ran.
// What nobody can reach any more is ended, and the thread goes on.
func TestSocketsGone(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	gate := filepath.Join(r.project, "gate")
	r.offer(id, "alpha", "cmd_one", "[[gate "+gate+"]]")
	r.until("the agent at its gate", func() bool { _, err := os.Stat(gate + ".waiting"); return err == nil })
	r.killServer()
	if err := os.RemoveAll(r.places().Runtime); err != nil {
		t.Fatal(err)
	}
	if x := r.ended(id, 1); x.Status != "interrupted" || x.Error == nil || x.Error.Code != "session_lost" {
		t.Errorf("run 1: %+v", x)
	}
	r.say(id, "alpha", "[[say on we go]]")
}

// TestDirectoryLeadsElsewhere: an agent never works in another directory than
// the thread's.
func TestDirectoryLeadsElsewhere(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	r.say(id, "alpha", "[[say hi]]")
	r.baton("stop", id)
	other := t.TempDir()
	if err := os.Rename(r.project, r.project+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, r.project); err != nil {
		t.Fatal(err)
	}
	out, errs, code := r.try("send", id, "[[run touch here]]", "--provider", "alpha", "--wait")
	if code != 1 || !strings.Contains(errs, "workspace_missing") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if left, _ := os.ReadDir(other); len(left) > 0 {
		t.Errorf("the agent worked elsewhere: %v", left)
	}
}

// TestBackupPutBack: the database is an older one than what the living agent's
// shim was told. The session is given up, the server serves on.
func TestBackupPutBack(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	r.say(id, "alpha", "[[say one]]")
	r.baton("serve", "--stop")
	files, err := filepath.Glob(filepath.Join(r.home, "baton.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	backup := map[string][]byte{}
	for _, f := range files {
		if backup[f], err = os.ReadFile(f); err != nil {
			t.Fatal(err)
		}
	}
	r.say(id, "alpha", "[[say two]]")
	for range 3 {
		r.baton("serve", "--stop")
		r.baton("ls")
	}
	r.baton("serve", "--stop")
	now, _ := filepath.Glob(filepath.Join(r.home, "baton.db*"))
	for _, f := range now {
		_ = os.Remove(f)
	}
	for f, b := range backup {
		if err := os.WriteFile(f, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.say(id, "alpha", "[[say three]]")
	if runs := r.show(id).Runs; len(runs) != 2 || runs[1].Answer != "three" {
		t.Errorf("%+v", runs)
	}
}
