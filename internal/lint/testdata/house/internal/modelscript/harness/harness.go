package harness

import (
	"os"
	"os/exec"
)

var _ = exec.Command(os.Getenv("SHELL"))
