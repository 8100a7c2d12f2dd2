//go:build linux || darwin

package shim

import (
	"os/exec"
	"syscall"
)

// Detached starts a program of the person's, such as a browser, in a session of
// its own, with env as all of its environment and nothing to read or write, and
// does not wait for it. The error is that it could not be started.
func Detached(argv, env []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return &Error{CodeLaunch, err.Error()}
	}
	go func() { _ = cmd.Wait() }()
	return nil
}
