//go:build linux || darwin

package shim

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// ReadyFD is the descriptor on which a process that Daemon started says that
// it is up, or why not.
const ReadyFD = readyFD

// Daemon starts `self args… 3` in a session of its own, in the root directory,
// with env as all of its environment, its output appended to the file log and
// stdin empty, and returns what it wrote to descriptor
// ReadyFD by the time that it closed it. The last argument is that descriptor. A process that ends without a word
// gives no bytes. The process goes on; ctx only ends the waiting, and then the
// process is killed, since nobody would know of it.
func Daemon(ctx context.Context, self string, args, env []string, log string) (said []byte, pid int, err error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, 0, &Error{CodeLaunch, err.Error()}
	}
	defer out.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, 0, &Error{CodeLaunch, err.Error()}
	}
	defer r.Close()
	cmd := exec.Command(self, append(args, strconv.Itoa(ReadyFD))...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = "/", env, out, out, []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, 0, &Error{CodeLaunch, err.Error()}
	}
	go func() { _ = cmd.Wait() }()
	cancel := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	said, _ = io.ReadAll(io.LimitReader(r, 64<<10))
	if !cancel() {
		return said, cmd.Process.Pid, ctx.Err()
	}
	return said, cmd.Process.Pid, nil
}
