package httpapi

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"strings"

	"baton"
	"baton/internal/shim"
)

// checkPeer refuses a peer of another user, and one that runs under an agent:
// it, or a process above it, carries the mark that shims put into an agent's
// environment. What this does not hold back is a process that took the mark
// out of its environment and left the tree; see docs/threat-model.md.
func checkPeer(c *net.UnixConn) error {
	pid, ours, err := shim.PeerPID(c)
	if err != nil {
		return err
	}
	if !ours {
		return baton.Errorf(baton.CodeForbidden, "this server belongs to another user").WithHint("start your own: it needs no port")
	}
	for hops := 0; pid > 1 && hops < 1000; hops++ {
		if underAgent(pid) {
			return baton.Errorf(baton.CodeForbidden, "an agent may not use this").
				WithDetail("the caller runs under one of this server's agents").WithHint("ask the person to do it")
		}
		pid = parent(pid)
	}
	return nil
}

func underAgent(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	for e := range bytes.SplitSeq(b, []byte{0}) {
		if bytes.HasPrefix(e, []byte(shim.NonceEnv+"=")) {
			return true
		}
	}
	return false
}

// parent returns the parent's pid, 0 where it can't be told.
func parent(pid int) int {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name stands in parentheses and may hold anything.
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.Atoi(f[1])
	return n
}
