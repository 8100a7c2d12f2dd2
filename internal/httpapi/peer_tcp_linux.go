package httpapi

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"baton/internal/shim"
)

// checkTCP refuses a peer on this machine that belongs to another user or runs
// under an agent, and one of which neither can be told. The kernel's table of
// sockets gives user and inode of the peer's end, /proc the processes that hold
// it. A peer on another machine passes: it has no process here.
//
// Root may ask: it could read everything anyway, and relays that bring a
// browser from outside of a container or a virtual machine belong to it.
func checkTCP(c net.Conn) error {
	peer, own, ok := ends(c)
	if !ok {
		return noTelling(errors.New("the connection has no addresses"))
	}
	if !local(peer.Addr(), own.Addr()) {
		return nil
	}
	uid, inode, err := socketOf(peer, own)
	if err != nil {
		return noTelling(err)
	}
	if uid != os.Getuid() && uid != 0 {
		return otherUser()
	}
	held, err := shim.HeldNow()
	if err != nil {
		return noTelling(err)
	}
	return checkHolders(held, uid, "socket:["+inode+"]")
}

// checkHolders looks for the processes that hold a socket. None may be held by
// a shim. One that is not has to be found, unless there is a process of that
// user that hides what it holds, as some browsers do; where one of an agent
// hides it too, it can't be told.
func checkHolders(held map[int]bool, uid int, socket string) error {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(dirs) == 0 {
		return noTelling(errors.New("/proc can't be read"))
	}
	found, hidden, hiddenHeld := false, false, false
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		if !held[pid] {
			if found {
				continue
			}
			has, readable := holds(dir, socket)
			found = found || has
			hidden = hidden || !readable && runsAs(dir, uid)
			continue
		}
		// A thread may have descriptors of its own.
		tasks, _ := filepath.Glob(dir + "/task/*")
		for _, task := range append(tasks, dir) {
			has, readable := holds(task, socket)
			if has {
				return underAgent()
			}
			hiddenHeld = hiddenHeld || !readable && runsAs(dir, uid)
		}
	}
	if !found && (!hidden || hiddenHeld) {
		return noTelling(errors.New("no process is seen to hold the other end of the connection"))
	}
	return nil
}

// holds says whether a process or thread has the socket open, and whether that
// can be told. One that is gone holds nothing.
func holds(dir, socket string) (has, readable bool) {
	d, err := os.Open(dir + "/fd")
	if err != nil {
		return false, errors.Is(err, os.ErrNotExist)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return false, !errors.Is(err, os.ErrPermission)
	}
	for _, n := range names {
		link, err := os.Readlink(dir + "/fd/" + n)
		if link == socket {
			return true, true
		}
		if errors.Is(err, os.ErrPermission) {
			return false, false
		}
	}
	return false, true
}

// runsAs says whether one of a process's user ids is uid.
func runsAs(dir string, uid int) bool {
	b, err := os.ReadFile(dir + "/status")
	if err != nil {
		return false
	}
	_, rest, _ := bytes.Cut(b, []byte("\nUid:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return slices.Contains(strings.Fields(string(line)), strconv.Itoa(uid))
}

func ends(c net.Conn) (peer, own netip.AddrPort, ok bool) {
	p, ok1 := c.RemoteAddr().(*net.TCPAddr)
	o, ok2 := c.LocalAddr().(*net.TCPAddr)
	if !ok1 || !ok2 {
		return peer, own, false
	}
	unmap := func(a netip.AddrPort) netip.AddrPort {
		return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
	}
	return unmap(p.AddrPort()), unmap(o.AddrPort()), true
}

// local says whether the peer's address is one of this machine.
func local(peer, own netip.Addr) bool {
	if peer.IsLoopback() || peer == own {
		return true
	}
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return true // then it has to be found
	}
	return slices.ContainsFunc(addrs, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Unmap().WithZone("") == peer
	})
}

// socketOf finds the peer's end in the kernel's tables. A socket that its
// process has closed has no inode any more: nobody can be found behind it.
func socketOf(peer, own netip.AddrPort) (uid int, inode string, err error) {
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue // no IPv6 here
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			// sl local remote state queues timer retransmits uid timeout inode …
			c := strings.Fields(lines.Text())
			if len(c) < 10 || kernelAddr(c[1]) != peer || kernelAddr(c[2]) != own {
				continue
			}
			uid, err := strconv.Atoi(c[7])
			if err != nil || c[9] == "0" {
				return 0, "", errors.New("the other end of the connection is closed")
			}
			return uid, c[9], nil
		}
	}
	return 0, "", errors.New("the kernel's tables do not have the other end of the connection")
}

// kernelAddr reads an address as /proc/net/tcp writes it: words of 32 bits in
// the machine's order, a colon, the port. What is none gives the zero value.
func kernelAddr(s string) netip.AddrPort {
	host, port, _ := strings.Cut(s, ":")
	b, err := hex.DecodeString(host)
	n, portErr := strconv.ParseUint(port, 16, 16)
	if err != nil || portErr != nil || len(b)%4 != 0 {
		return netip.AddrPort{}
	}
	for i := 0; i < len(b); i += 4 {
		binary.BigEndian.PutUint32(b[i:], binary.NativeEndian.Uint32(b[i:]))
	}
	addr, ok := netip.AddrFromSlice(b)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n))
}
