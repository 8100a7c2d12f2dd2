package shim

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestPeerPID(t *testing.T) {
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	c, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	if pid, ours, err := PeerPID(c); pid != os.Getpid() || !ours || err != nil {
		t.Errorf("%d, %v, %v", pid, ours, err)
	}
	c.Close()
	if _, ours, err := PeerPID(c); ours || err == nil {
		t.Errorf("of a closed connection: %v, %v", ours, err)
	}
}
