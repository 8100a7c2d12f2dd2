package agenttest

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

var _ = exec.Command(os.Getenv("SHELL"))

func wait(t testing.TB) {
	time.Sleep(time.Second) // want sleep
	t.SkipNow()             // want skip
}
