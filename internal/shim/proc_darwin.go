package shim

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

var errGone = errors.New("the process is gone")

// BecomeSubreaper has no equivalent on macOS: orphans go to launchd, and only
// the nonce in their environment leads back to the session.
func BecomeSubreaper() error {
	return &Error{CodeUnsupported, "macOS has no subreaper; orphans are found by the nonce in their environment alone"}
}

func fromKinfo(k *unix.KinfoProc) process {
	name := k.Proc.P_comm[:]
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	start := uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec)
	return process{Proc{PID: int(k.Proc.P_pid), StartTime: start, Name: string(name)}, int(k.Eproc.Ppid)}
}

const stateZombie = 5 // SZOMB in sys/proc.h

func stat(pid int) (process, error) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid || k.Proc.P_stat == stateZombie {
		return process{}, errGone
	}
	return fromKinfo(k), nil
}

func processes() ([]process, error) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, err
	}
	var out []process
	for i := range all {
		if all[i].Proc.P_stat != stateZombie {
			out = append(out, fromKinfo(&all[i]))
		}
	}
	return out, nil
}

// hasEnv reads kern.procargs2: a 32-bit count of arguments, the path of the
// executable, padding, the arguments, the environment, each ended by a zero.
func hasEnv(pid int, entry string) bool {
	b, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(b) < 4 {
		return false
	}
	args := int(binary.NativeEndian.Uint32(b))
	_, rest, _ := bytes.Cut(b[4:], []byte{0})
	rest = bytes.TrimLeft(rest, "\x00")
	for i, e := range bytes.Split(rest, []byte{0}) {
		if i >= args && string(e) == entry {
			return true
		}
	}
	return false
}

// procHandle is no more than a checked number here: between check and signal
// the process could end and its number be used again.
type procHandle struct{ p Proc }

func openProc(p Proc) (*procHandle, error) {
	if now, err := stat(p.PID); err != nil || now.StartTime != p.StartTime {
		return nil, errGone
	}
	return &procHandle{p}, nil
}

func (h *procHandle) signal(sig unix.Signal) error { return unix.Kill(h.p.PID, sig) }
func (h *procHandle) close()                       {}

func (h *procHandle) wait(within time.Duration) bool {
	kq, err := unix.Kqueue()
	if err != nil {
		return false
	}
	defer unix.Close(kq)
	var change unix.Kevent_t
	unix.SetKevent(&change, h.p.PID, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	change.Fflags = unix.NOTE_EXIT
	ts := unix.NsecToTimespec(int64(within))
	n, err := unix.Kevent(kq, []unix.Kevent_t{change}, make([]unix.Kevent_t, 1), &ts)
	return n > 0 || err == unix.ESRCH
}

func agentAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// checkPeer leaves it to the modes of directory and socket.
func checkPeer(*net.UnixConn) error { return nil }

func reapChild(pid int) {
	var ws syscall.WaitStatus
	_, _ = syscall.Wait4(pid, &ws, syscall.WNOHANG, nil)
}
