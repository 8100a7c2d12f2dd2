package baton

import (
	"os"
	"os/exec"
	"testing"
	clock "time"
)

func TestMay(t *testing.T) {
	_ = exec.Command(os.Getenv("SHELL"))
	clock.Sleep(clock.Second) // want sleep
}

func TestSkips(t *testing.T) {
	t.Skip()    // want skip
	t.Skip("")  // want skip
	t.SkipNow() // want skip
	t.Skip("-short: drives a real agent")
	t.Skipf("no %s here", "agent")
	t.Run("below", func(tt *testing.T) {
		tt.Skip() // want skip
	})
	var d decoder
	d.Skip()
}

type decoder struct{}

func (decoder) Skip() {}
