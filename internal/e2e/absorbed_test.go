package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestAbsorbedMessage: a message is given to claude at the very moment when
// claude has gone on by itself and nobody has read that yet: its shim stands
// still. Claude folds the message into the turn that is open, whose run keeps it;
// the message's own run ends as absorbed.
//
// Codex can't be brought there: it begins no root turn by itself, its turns come
// to nobody but the process that it serves, and one is never given a second
// message. What its driver does with a folded message is in codex's TestFoldedIn.
func TestAbsorbedMessage(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	for _, name := range []string{"go", "hold"} {
		if err := syscall.Mkfifo(filepath.Join(r.project, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// open returns once the other end of the fifo is open.
	open := func(name string) *os.File {
		f, err := os.OpenFile(filepath.Join(r.project, name), os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	// The first turn ends in the middle of its script, whose rest is for the next.
	r.offer(id, "claude", "cmd_one", "watch it [[run-background cat go]] [[fail 400 until later]] [[run cat hold]] [[say never said]]")
	if x := r.ended(id, 1); x.Status != "failed" {
		t.Fatalf("run 1 is %s", x.Status)
	}
	shim := r.find(isShim)[0]
	if err := syscall.Kill(shim.pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(shim.pid, syscall.SIGCONT) })
	r.model.Release("later")
	_ = open("go").Close() // the work in the background ends, and claude goes on
	hold := open("hold")   // with a tool that runs now
	r.offer(id, "claude", "cmd_two", "and the pears? [[say folded in]]")
	own := r.run(id, 2).ID
	given := r.await(id, "the message to be given", func(e event) bool { return e.Type == "delivery.offered" && e.Data.Run == own })
	if err := syscall.Kill(shim.pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	uuid := strings.TrimPrefix(given.Data.Delivery, "dlv_")
	r.until("claude to have the message", func() bool {
		for line := range strings.Lines(r.baton("debug", "frames", given.Data.Session)) {
			if strings.Contains(line, "command_lifecycle") && strings.Contains(line, "queued") && strings.Contains(line, uuid) {
				return true
			}
		}
		return false
	})
	_ = hold.Close()

	taken, taker := r.ended(id, 2), r.ended(id, 3)
	if taken.Status != "cancelled" || taken.AbsorbedBy != taker.ID || taken.Error != nil {
		t.Errorf("the message's own run: %+v", taken)
	}
	if taker.Trigger != "background" || taker.Status != "completed" || taker.Answer != "folded in" {
		t.Errorf("the run that took it: %+v", taker)
	}
	told := ""
	for _, it := range r.itemsOf(id, taker.ID, "notice") {
		told += it.Body.Text + "\n"
	}
	if !strings.Contains(told, "The message of run 2 was taken into this turn") {
		t.Errorf("the notices of run 3:\n%s", told)
	}

	// It is accounted for: claude has it once, and the next agent is told it.
	r.say(id, "claude", "next [[say fine]]")
	if n := r.lastWith("next [[say").Has("and the pears?"); n != 1 {
		t.Errorf("claude was told the message %d times", n)
	}
	r.say(id, "alpha", "over to you [[say fine]]")
	if h := r.handoffOf(id, 5); strings.Count(h.Text, "and the pears?") != 1 {
		t.Errorf("the handoff:\n%s", h.Text)
	}
	if got := r.coverage(id)["claude"]; got.Divergent {
		t.Errorf("%+v", got)
	}
}
