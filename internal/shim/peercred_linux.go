package shim

import (
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// PeerPID returns the process at the other end of a unix socket, as it was when
// it connected. ours is false where that is another user's.
func PeerPID(c *net.UnixConn) (pid int, ours bool, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false, err
	}
	var cred *unix.Ucred
	var credErr error
	if err := raw.Control(func(fd uintptr) {
		cred, credErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, false, err
	}
	if credErr != nil {
		return 0, false, credErr
	}
	return int(cred.Pid), int(cred.Uid) == os.Getuid(), nil
}
