//go:build linux || darwin

package shim

import (
	"runtime"
	"testing"
)

// TestUse: a living shim's agent is found and counted; one that has ended, and
// a number that is another process's now, hold nothing.
func TestUse(t *testing.T) {
	r := start(t, "exec cat")
	stranger := r.handle
	stranger.StartTime++
	got := Use([]Handle{{}, r.handle, stranger})
	if got[0] != (Usage{}) || got[2] != (Usage{}) {
		t.Errorf("nobody holds %+v, a stranger %+v", got[0], got[2])
	}
	p, err := stat(got[1].PID)
	if err != nil || p.parent != r.handle.PID || got[1].Processes != 1 {
		t.Errorf("got %+v: %v", got[1], err)
	}
	if runtime.GOOS == "linux" && got[1].Memory <= 0 {
		t.Errorf("it holds %d bytes", got[1].Memory)
	}
	r.killShim()
	if u := Use([]Handle{r.handle})[0]; u != (Usage{}) {
		t.Errorf("after its end it holds %+v", u)
	}
}
