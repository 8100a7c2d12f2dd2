package shim

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var errGone = errors.New("the process is gone")

// BecomeSubreaper makes this process the parent of every orphan below it, so
// that nothing that was started here can leave the tree. The server calls it
// once, before it launches shims: the orphans of a killed shim then come to it.
// It must wait for such children itself; Sweep does so for those that it ends.
func BecomeSubreaper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return &Error{CodeUnsupported, "prctl(PR_SET_CHILD_SUBREAPER): " + err.Error()}
	}
	return nil
}

// stat reads one process. It fails with errGone for a zombie too, but not for
// one whose main thread has ended before its others: that looks like a zombie
// and runs on.
func stat(pid int) (process, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, errGone
	}
	// The name stands in parentheses and may hold anything, parentheses too.
	open, end := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if open < 0 || end < open {
		return process{}, fmt.Errorf("/proc/%d/stat can't be read", pid)
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 {
		return process{}, fmt.Errorf("/proc/%d/stat is too short", pid)
	}
	if threads := f[17]; f[0] == "X" || f[0] == "Z" && (threads == "0" || threads == "1") {
		return process{}, errGone
	}
	parent, _ := strconv.Atoi(f[1])
	start, err := strconv.ParseUint(f[19], 10, 64)
	return process{Proc{PID: pid, StartTime: start, Name: string(b[open+1 : end])}, parent}, err
}

// processes returns every living process of the system.
func processes() ([]process, error) {
	names, err := pids()
	if err != nil {
		return nil, err
	}
	var out []process
	for _, pid := range names {
		if p, err := stat(pid); err == nil {
			out = append(out, p)
		}
	}
	return out, nil
}

func pids() ([]int, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var out []int
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil {
			out = append(out, pid)
		}
	}
	return out, nil
}

// hasEnv says whether the environment that pid was started with has the entry
// "NAME=value". It is false where the environment can't be read.
func hasEnv(pid int, entry string) bool {
	dir := "/proc/" + strconv.Itoa(pid)
	b, err := os.ReadFile(dir + "/environ")
	if errors.Is(err, os.ErrPermission) || errors.Is(err, os.ErrNotExist) {
		return false
	}
	if len(b) == 0 { // perhaps only the main thread has ended: ask the others
		threads, _ := filepath.Glob(dir + "/task/*/environ")
		for _, t := range threads {
			if b, _ = os.ReadFile(t); len(b) > 0 {
				break
			}
		}
	}
	for e := range bytes.SplitSeq(b, []byte{0}) {
		if string(e) == entry {
			return true
		}
	}
	return false
}

// procHandle holds one process by a descriptor that no other can take over.
type procHandle struct{ fd int }

// openProc opens p, and only p: not another process that got its number.
func openProc(p Proc) (*procHandle, error) {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		return nil, errGone
	}
	if now, err := stat(p.PID); err != nil || now.StartTime != p.StartTime {
		unix.Close(fd)
		return nil, errGone
	}
	return &procHandle{fd}, nil
}

func (h *procHandle) signal(sig unix.Signal) error { return unix.PidfdSendSignal(h.fd, sig, nil, 0) }
func (h *procHandle) close()                       { unix.Close(h.fd) }

// wait returns true once the process runs no more.
func (h *procHandle) wait(within time.Duration) bool {
	deadline := time.Now().Add(within)
	for {
		left := max(time.Until(deadline), 0)
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(h.fd), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
		if n > 0 {
			return true
		}
		if left == 0 || err != nil && err != unix.EINTR {
			return false
		}
	}
}

// agentAttr starts the agent in a process group of its own. It dies with the
// shim: nobody would read it any more.
func agentAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// checkPeer refuses a peer of another user, or one below this process: an
// agent must not attach to its own shim.
func checkPeer(c *net.UnixConn) error {
	pid, ours, err := PeerPID(c)
	if err != nil {
		return err
	}
	if !ours {
		return &Error{CodeForbidden, "another user's process may not attach"}
	}
	for hops := 0; pid > 1 && hops < 1000; hops++ {
		if pid == os.Getpid() {
			return &Error{CodeForbidden, "a process that the agent started may not attach"}
		}
		p, err := stat(pid)
		if err != nil {
			break
		}
		pid = p.parent
	}
	return nil
}

// reapChild takes the exit status of pid if it is an ended child of this
// process that nobody else waits for.
func reapChild(pid int) {
	var ws syscall.WaitStatus
	_, _ = syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
}
