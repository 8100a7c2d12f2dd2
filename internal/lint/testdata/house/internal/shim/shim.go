package shim

import (
	"os"
	"os/exec"
	"syscall"
)

var _ = exec.Command
var _ = syscall.ForkExec
var _ = os.Environ
