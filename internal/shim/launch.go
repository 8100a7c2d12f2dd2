//go:build linux || darwin

package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Handle names a shim across restarts of the server. Store it; see Alive.
type Handle struct {
	PID       int    `json:"pid"`
	StartTime uint64 `json:"start_time"`
	Nonce     string `json:"nonce"`
}

// Launch starts `self shim DIR` in a session of its own with its log in
// DIR/shim.log, and returns when its socket answers. An agent that can't be
// started is no error here: the shim lives and its spool has an exit frame.
// DIR is made where it is missing and must not have held a shim before. If ctx
// ends first the shim is killed. The shim's own exit status is taken in the
// background, so the caller must not wait for all children.
func Launch(ctx context.Context, self, dir string, spec Spec) (*Handle, error) {
	if err := spec.check(); err != nil {
		return nil, err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, &Error{CodeInvalid, err.Error()}
	}
	if err := privateDir(dir); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, specFile)); err == nil {
		return nil, &Error{CodeInUse, dir + " holds a session already"}
	}
	if err := writeSpec(dir, spec); err != nil {
		return nil, &Error{CodeLaunch, err.Error()}
	}
	log, err := os.OpenFile(filepath.Join(dir, logFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, &Error{CodeLaunch, err.Error()}
	}
	defer log.Close()
	r, w, err := os.Pipe()
	if err != nil {
		return nil, &Error{CodeLaunch, err.Error()}
	}
	defer r.Close()
	cmd := exec.Command(self, "shim", dir)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = "/", log, log, []*os.File{w}
	cmd.Env = append(os.Environ(), shimNonceEnv+"="+spec.Nonce)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, &Error{CodeLaunch, err.Error()}
	}
	p, statErr := stat(cmd.Process.Pid)
	go func() { _ = cmd.Wait() }()

	// The pipe tells both: a line when the shim is up, its end when it is dead.
	cancel := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
	said, _ := io.ReadAll(io.LimitReader(r, 64<<10))
	if !cancel() {
		return nil, ctx.Err()
	}
	if string(said) == readyLine && statErr == nil {
		return &Handle{PID: p.PID, StartTime: p.StartTime, Nonce: spec.Nonce}, nil
	}
	cmd.Process.Kill()
	return nil, notUp(dir, said)
}

// notUp makes an error of what a shim said or logged before it ended.
func notUp(dir string, said []byte) error {
	e := &Error{}
	if json.Unmarshal(said, e) == nil && e.Code != "" {
		return e
	}
	log, err := os.ReadFile(filepath.Join(dir, logFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return &Error{CodeLaunch, err.Error()}
	}
	tail := string(log[max(0, len(log)-1000):])
	return &Error{CodeLaunch, fmt.Sprintf("the shim ended before it was up; its log ends with: %s", strings.TrimSpace(strings.ToValidUTF8(tail, "?")))}
}
