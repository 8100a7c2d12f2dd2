//go:build linux || darwin

package shim

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	probeBytes = 64 << 10
	probeWait  = 2 * time.Second // for pipes that a left-over child holds open
)

// Output runs a command that ends by itself, such as `agent --version`, and
// returns what it printed to stdout and stderr together, at most 64 KB. env is
// all of its environment. When ctx ends, its whole process group is killed.
func Output(ctx context.Context, argv, env []string) ([]byte, error) {
	if len(argv) == 0 {
		return nil, &Error{CodeInvalid, "the command is empty"}
	}
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	out := &limited{}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = "/", env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = probeWait
	err := cmd.Run()
	if ctx.Err() != nil {
		return out.kept, ctx.Err()
	}
	if err != nil {
		return out.kept, &Error{CodeLaunch, fmt.Sprintf("%s: %v", strings.Join(argv, " "), err)}
	}
	return out.kept, nil
}

// limited keeps the first bytes and takes the rest without keeping it.
type limited struct{ kept []byte }

func (l *limited) Write(b []byte) (int, error) {
	room := max(probeBytes-len(l.kept), 0)
	l.kept = append(l.kept, b[:min(room, len(b))]...)
	return len(b), nil
}
