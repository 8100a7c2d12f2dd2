//go:build linux || darwin

package shim

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/unix"
)

// The shim's live memory is a few buffers; the limit makes the collector keep
// it that way after a large write has passed through.
const (
	gcPercent   = 50
	memoryLimit = 32 << 20
)

const (
	readyFD   = 3 // inherited from Launch; the shim says here that it is up, or why not
	readyLine = "ready\n"
)

// Main is the shim process: it holds the agent of the session directory until
// the agent has ended and its exit frame is committed or nobody asks for it. It
// returns the exit status of the process and must be called on the main
// goroutine. Launch is what starts such a process.
func Main(dir string) int {
	// The kernel kills the agent when the thread that started it ends (Linux),
	// so that thread must be one that lives as long as the process.
	runtime.LockOSThread()
	runtime.GOMAXPROCS(min(2, runtime.NumCPU()))
	debug.SetGCPercent(gcPercent)
	debug.SetMemoryLimit(memoryLimit)

	say := func(b []byte) {}
	if os.Getenv(shimNonceEnv) != "" {
		syscall.CloseOnExec(readyFD)
		pipe := os.NewFile(readyFD, "ready")
		say = func(b []byte) { _, _ = pipe.Write(b); pipe.Close() }
	}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, unix.SIGTERM, unix.SIGHUP, unix.SIGINT)
	if err := hold(dir, signals, func() { say([]byte(readyLine)) }); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if b, e := json.Marshal(err); e == nil {
			say(b)
		}
		return 1
	}
	return 0
}

func hold(dir string, signals <-chan os.Signal, ready func()) error {
	if err := privateDir(dir); err != nil {
		return err
	}
	spec, err := ReadSpec(dir)
	if err != nil {
		return err
	}
	lock, err := claim(dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	listener, err := listen(spec.Socket)
	if err != nil {
		return err
	}
	defer listener.Close() // which removes the socket
	s, err := newSpool(dir, spec.SpoolCap)
	if err != nil {
		return &Error{CodeLaunch, "the spool can't be made: " + err.Error()}
	}
	_ = BecomeSubreaper() // where there is none, the package says what that means
	self, err := stat(os.Getpid())
	if err != nil {
		return &Error{CodeLaunch, err.Error()}
	}
	h := &holder{spec: spec, self: self.Proc, spool: s, lease: newLease(spec.Lease), stops: make(chan Grace, 8)}
	quit := make(chan struct{})
	l := newLife(h, signals, quit)

	var startErr error
	var stdin *os.File
	if h.agent, startErr = startAgent(spec); startErr == nil {
		stdin = h.agent.stdin
		data, _ := json.Marshal(Start{Agent: h.agent.proc})
		s.force(record{kind: KindStart, data: data}, nil)
	}
	h.writes = newWrites(s, stdin, quit)
	h.spec.Env = nil
	if err := writeSpec(dir, h.spec); err != nil {
		fmt.Fprintln(os.Stderr, "shim: the environment stays in the specification:", err)
	}
	go h.accept(listener)
	ready()
	if startErr != nil {
		l.exit = Exit{Reason: ReasonStartFailed, Code: -1, Error: startErr.Error()}
	} else {
		l.begin()
		l.run()
	}
	l.last()
	return nil
}

// claim makes sure that a session directory is used once: a living shim holds
// the lock, a dead one has left its spool.
func claim(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, &Error{CodeInvalid, err.Error()}
	}
	syscall.CloseOnExec(int(f.Fd()))
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		return nil, &Error{CodeInUse, dir + " is held by a living shim; attach to it instead"}
	}
	if segs, _ := filepath.Glob(filepath.Join(dir, "*.spool")); len(segs) > 0 {
		f.Close()
		return nil, &Error{CodeInUse, dir + " holds the spool of an earlier shim; a session gets a directory of its own"}
	}
	return f, nil
}

func listen(path string) (*net.UnixListener, error) {
	if err := privateDir(filepath.Dir(path)); err != nil {
		return nil, err
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&os.ModeSocket == 0 {
			return nil, &Error{CodeInvalid, path + " is there and is no socket"}
		}
		if c, err := net.Dial("unix", path); err == nil {
			c.Close()
			return nil, &Error{CodeInUse, path + " is served by a living process"}
		}
		os.Remove(path)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, &Error{CodeLaunch, err.Error()}
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, &Error{CodeLaunch, err.Error()}
	}
	return l, nil
}
