package httpapi

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"baton"
)

// pair is a connection over TCP and its other end.
func pair(t *testing.T, address string) (server, client net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if client, err = net.Dial("tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); server.Close() })
	return server, client
}

func TestTheProcessBehindATCPConnection(t *testing.T) {
	addresses := []string{"127.0.0.1:0", "127.0.0.9:0"}
	if l, err := net.Listen("tcp", "[::1]:0"); err == nil { // not every machine has IPv6
		l.Close()
		addresses = append(addresses, "[::1]:0")
	}
	for _, address := range addresses {
		server, client := pair(t, address)
		if err := checkTCP(server); err != nil {
			t.Errorf("%s: this process itself: %v", address, err)
		}
		peer, own, _ := ends(server)
		uid, inode, err := socketOf(peer, own)
		if err != nil || uid != os.Getuid() {
			t.Fatalf("%s: %d %s %v", address, uid, inode, err)
		}
		socket := "socket:[" + inode + "]"
		if err := checkHolders(map[int]bool{os.Getpid(): true}, uid, socket); baton.ErrorCode(err) != baton.CodeForbidden || !strings.Contains(err.Error(), "an agent") {
			t.Errorf("%s: under a shim: %v", address, err)
		}
		client.Close()
		if err := checkTCP(server); baton.ErrorCode(err) != baton.CodeForbidden {
			t.Errorf("%s: closed by its process: %v", address, err)
		}
	}
}

func TestASocketThatNobodyIsSeenToHold(t *testing.T) {
	// Nothing holds it and nobody hides anything: no process has this user id.
	if err := checkHolders(nil, 1<<30, "socket:[0]"); baton.ErrorCode(err) != baton.CodeForbidden {
		t.Error(err)
	}
}

func TestHolds(t *testing.T) {
	dir := filepath.Join("/proc", strconv.Itoa(os.Getpid()))
	if has, readable := holds(dir, "socket:[0]"); has || !readable {
		t.Error(has, readable)
	}
	if _, readable := holds("/proc/0", "x"); !readable {
		t.Error("a process that is gone hides something")
	}
	if !runsAs(dir, os.Getuid()) || runsAs(dir, 1<<30) {
		t.Error("the user of this process is not known")
	}
}

func TestKernelAddr(t *testing.T) {
	for in, want := range map[string]string{
		"0100007F:5952":                         "127.0.0.1:22866",
		"00000000000000000000000001000000:0050": "[::1]:80",
		"0000000000000000FFFF00000100007F:0050": "127.0.0.1:80",
		"local_address":                         "invalid AddrPort",
		"7F:0":                                  "invalid AddrPort",
	} {
		if got := kernelAddr(in); got.String() != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

func TestLocalAddresses(t *testing.T) {
	ip := netip.MustParseAddr
	if !local(ip("127.0.0.9"), ip("127.0.0.1")) || !local(ip("192.0.2.1"), ip("192.0.2.1")) || local(ip("203.0.113.9"), ip("192.0.2.1")) {
		t.Error("an address of this machine and one of another are not told apart")
	}
}
