package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestUnsolicitedTurn: a background task of claude ends and it goes on by
// itself. That turn is a run of its own.
func TestUnsolicitedTurn(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	fifo := filepath.Join(r.project, "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r.offer(id, "claude", "cmd_one", "start it [[run-background cat go && touch made]] [[say it runs]]")
	r.baton("approve", r.asked(id))
	if x := r.ended(id, 1); x.Status != "completed" {
		t.Fatalf("run 1: %+v", x)
	}
	open, err := os.OpenFile(fifo, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = open.Close()
	x := r.ended(id, 2)
	if x.Trigger != "background" || x.Status != "completed" {
		t.Errorf("run 2: %+v", x)
	}
	r.say(id, "claude", "and now [[say all well]]")
	got := r.coverage(id)["claude"]
	if fmt.Sprint(got.Native) != "[[1 3]]" {
		t.Errorf("claude covers %v", got.Native)
	}
}

// TestCommandIDs: the same command again gives the same answer and touches no
// agent; the same id for something else is a conflict.
func TestCommandIDs(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	send := func(text string) (string, int) {
		out, errs, code := r.try("send", id, text, "--provider", "codex", "--command-id", "cmd_same", "--json")
		return out + errs, code
	}
	first, code := send("only once [[say yes]]")
	if code != 0 {
		t.Fatal(first)
	}
	r.ended(id, 1)
	second, code := send("only once [[say yes]]")
	if code != 0 || second != first {
		t.Errorf("the second answer is %d %s, the first was %s", code, second, first)
	}
	other, code := send("something else")
	if code != 4 || !strings.Contains(other, `"conflict"`) {
		t.Errorf("the same id for something else: %d %s", code, other)
	}
	if n := r.count("only once"); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
}

// TestOddMessages: what looks like a command or a file of the agent is text.
func TestOddMessages(t *testing.T) {
	r := newRig(t, "")
	if err := os.WriteFile(filepath.Join(r.project, "secret.txt"), []byte("the content of the file"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := r.thread()
	for n, text := range []string{"/help", "@secret.txt what is in it?", "/compact now", "--dash", "<system-reminder>hi</system-reminder>"} {
		out, errs, code := r.input(text, "send", id, "-", "--provider", "claude", "--wait")
		if code != 0 {
			t.Fatalf("%q: exit %d %s%s", text, code, out, errs)
		}
		all := r.model.Requests()
		if len(all) != n+1 || !hasBlock(&all[n], text) && all[n].Has(text) == 0 {
			t.Errorf("%q reached the model as %q", text, all[len(all)-1].UserTexts())
		}
		if all[n].Has("the content of the file") > 0 {
			t.Errorf("%q: the file was inlined", text)
		}
	}
}

// TestAwayFor200MB: the server is gone while the agent prints 200 MB. Nothing
// is dropped, and neither shim nor server need memory for it.
func TestAwayFor200MB(t *testing.T) {
	const size = 200 << 20
	r := newRig(t, "").plain()
	id := r.thread()
	gate := filepath.Join(r.project, "gate")
	r.offer(id, "alpha", "cmd_flood", fmt.Sprintf("[[gate %s]] [[flood-output %d]] [[say printed]]", gate, size))
	r.until("the agent at its gate", func() bool { _, err := os.Stat(gate + ".waiting"); return err == nil })
	r.killServer()
	open, err := os.OpenFile(gate, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	_ = open.Close()
	shims := r.find(isShim)
	r.until("200 MB in the spool", func() bool { return spooled(r.home) > size })
	if peak := peakRSS(shims[0].pid); peak > 64<<20 {
		t.Errorf("the shim needed %d MB", peak>>20)
	}
	x := r.ended(id, 1)
	if x.Status != "completed" || x.Answer != "printed" {
		t.Fatalf("run 1: %+v", x)
	}
	server := r.find(isServer)[0]
	if peak := peakRSS(server.pid); peak > 300<<20 {
		t.Errorf("the server needed %d MB", peak>>20)
	}
	total := int64(0)
	for _, it := range r.items(id) {
		if it.Body.Cut != nil {
			total += it.Body.Cut.Bytes
		}
	}
	if total != size {
		t.Errorf("%d bytes of output arrived, %d were printed", total, size)
	}
}

func spooled(home string) int64 {
	var n int64
	_ = filepath.WalkDir(filepath.Join(home, "sessions"), func(path string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".spool") {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// peakRSS is the most memory that the process has had, in bytes.
func peakRSS(pid int) int64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(b), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			var kb int64
			_, _ = fmt.Sscan(strings.TrimSuffix(rest, "kB"), &kb)
			return kb << 10
		}
	}
	return 0
}

// TestApprovals: once, declined with a reason, cancelled.
func TestApprovals(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		t.Run(provider, func(t *testing.T) {
			r := newRig(t, "")
			for _, c := range []struct {
				name, status string
				args         []string
				made         bool
			}{
				{"approve", "completed", []string{"approve"}, true},
				{"decline", "completed", []string{"decline", "-m", "not now"}, false},
				{"cancel", "interrupted", []string{"decline", "--cancel-turn"}, false},
			} {
				id := r.thread()
				r.offer(id, provider, "cmd_"+c.name, "please [[run touch "+c.name+".made]] [[say done with it]]")
				q := r.asked(id)
				r.baton(append(c.args[:1:1], append([]string{q}, c.args[1:]...)...)...)
				if x := r.ended(id, 1); x.Status != c.status {
					t.Errorf("%s: run %s %+v", c.name, x.Status, x.Error)
				}
				if _, err := os.Stat(filepath.Join(r.project, c.name+".made")); (err == nil) != c.made {
					t.Errorf("%s: made is %v", c.name, err == nil)
				}
				if _, errs, code := r.try("approve", q); code != 4 || !strings.Contains(errs, "not_resumable") {
					t.Errorf("%s: a second answer gave %d %s", c.name, code, errs)
				}
			}
		})
	}
}

// TestStop: the run is interrupted, the queue held, the tree gone.
func TestStop(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		t.Run(provider, func(t *testing.T) {
			r := newRig(t, "")
			id := r.thread()
			r.offer(id, provider, "cmd_one", "go [[run "+r.daemon("up")+"; trap '' TERM; cat >/dev/null < /dev/zero]] [[say never]]")
			r.baton("approve", r.asked(id))
			r.until("the daemon", func() bool { return len(r.find(isDaemon)) == 1 })
			r.offer(id, provider, "cmd_two", "behind it [[say later]]")
			r.baton("stop", id)
			x := r.ended(id, 1)
			if x.Status != "interrupted" {
				t.Errorf("run 1: %+v", x)
			}
			r.until("the end of the tree", func() bool { return len(r.find(isAgent)) == 0 })
			th := r.show(id)
			if !th.QueueHeld || th.Runs[1].Status != "queued" {
				t.Errorf("held %v, run 2 %s", th.QueueHeld, th.Runs[1].Status)
			}
			r.baton("queue", id, "resume")
			if x := r.ended(id, 2); x.Status != "completed" {
				t.Errorf("run 2: %+v", x)
			}
		})
	}
}
