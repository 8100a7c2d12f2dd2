//go:build linux || darwin

package shim

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// agent is the started process with our ends of its pipes.
type agent struct {
	proc                  Proc
	stdin, stdout, stderr *os.File
}

// startAgent starts what the specification names. The error says what is
// missing, for a person.
func startAgent(s Spec) (*agent, error) {
	path, err := lookPath(s)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("the working directory %s is not there", s.Dir)
	}
	var child [3]int
	var ours [3]*os.File
	defer func() {
		for _, fd := range child {
			if fd > 0 {
				syscall.Close(fd)
			}
		}
	}()
	for i := range child {
		r, w, err := pipe()
		if err != nil {
			return nil, err
		}
		if i == 0 {
			r, w = w, r
		}
		_ = syscall.SetNonblock(r, true) // ours: waits in the poller, and Close wakes it
		child[i], ours[i] = w, os.NewFile(uintptr(r), fmt.Sprintf("agent's %d", i))
	}
	env := make([]string, 0, len(s.Env)+1)
	for _, e := range s.Env {
		if !strings.HasPrefix(e, NonceEnv+"=") {
			env = append(env, e)
		}
	}
	pid, err := syscall.ForkExec(path, s.Argv, &syscall.ProcAttr{
		Dir: s.Dir, Env: append(env, NonceEnv+"="+s.Nonce),
		Files: []uintptr{uintptr(child[0]), uintptr(child[1]), uintptr(child[2])},
		Sys:   agentAttr(),
	})
	if err != nil {
		for _, f := range ours {
			f.Close()
		}
		return nil, fmt.Errorf("%s can't be started: %w", path, err)
	}
	a := &agent{proc: Proc{PID: pid, Name: filepath.Base(s.Argv[0])}, stdin: ours[0], stdout: ours[1], stderr: ours[2]}
	if p, err := stat(pid); err == nil { // an agent that has ended already keeps 0
		a.proc.StartTime = p.StartTime
	}
	return a, nil
}

// pipe makes a pipe that no other child inherits.
func pipe() (r, w int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	var p [2]int
	if err := syscall.Pipe(p[:]); err != nil {
		return 0, 0, err
	}
	syscall.CloseOnExec(p[0])
	syscall.CloseOnExec(p[1])
	return p[0], p[1], nil
}

// lookPath finds the agent's executable as the agent's own shell would: in the
// PATH of its environment, never in the shim's.
func lookPath(s Spec) (string, error) {
	name := s.Argv[0]
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.Dir, name)
		}
		return name, executable(name)
	}
	search := ""
	for _, e := range s.Env {
		if v, ok := strings.CutPrefix(e, "PATH="); ok {
			search = v
		}
	}
	for _, dir := range filepath.SplitList(search) {
		if p := filepath.Join(dir, name); filepath.IsAbs(p) && executable(p) == nil {
			return p, nil
		}
	}
	return "", fmt.Errorf("%s: no such executable on the agent's PATH (%s)", name, search)
}

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("%s: no such executable", path)
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fmt.Errorf("%s is not executable", path)
	}
	return nil
}

// signal sends sig to the agent's process while it lives.
func (a *agent) signal(sig unix.Signal) error {
	h, err := openProc(a.proc)
	if err != nil {
		return &Error{CodeAgentGone, "the agent has ended"}
	}
	defer h.close()
	if err := h.signal(sig); err != nil {
		return &Error{CodeInvalid, fmt.Sprintf("signal %d: %v", int(sig), err)}
	}
	return nil
}

// reap is the only reaper of this process. It hands on the agent's status,
// takes the ends of everything that was inherited from it, and closes none when
// no child is left: on Linux the proof that the whole tree is gone.
func (a *agent) reap(ended func(syscall.WaitStatus), none chan<- struct{}) {
	defer close(none)
	for {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		case pid == a.proc.PID:
			ended(ws)
		}
	}
}
