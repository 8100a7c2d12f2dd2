package shim

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// maxHops is how many ancestors a process may have before it is taken for one
// that can't be told.
const maxHops = 1000

// Held says whether a process is under an agent's shim: it, or a process above
// it, is a shim or carries a session's mark, or this process stands above it,
// which adopts the orphans of a shim that was killed. It fails for a process
// that is gone or whose ancestors can't be told, and callers must take that for
// held: a peer that ended after it connected may have left its connection to a
// child.
func Held(pid int) (bool, error) {
	self, at := os.Getpid(), pid
	for hops := 0; hops < maxHops; hops++ {
		if at <= 1 {
			return false, nil
		}
		if at == self && pid != self || hasMark(at) {
			return true, nil
		}
		p, err := stat(at)
		switch {
		case err == nil:
			at = p.parent
		case at == pid:
			return false, err
		default: // it ended just now, and its children have another parent
			at = pid
		}
	}
	return false, fmt.Errorf("the ancestors of process %d can't be told", pid)
}

// HeldNow returns the pids of all living processes that Held is true for.
func HeldNow() (map[int]bool, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	held := map[int]bool{}
	roots := []int{os.Getpid()}
	for _, p := range all {
		if p.PID != os.Getpid() && hasMark(p.PID) {
			held[p.PID] = true
			roots = append(roots, p.PID)
		}
	}
	for _, p := range descendants(all, roots...) {
		held[p.PID] = true
	}
	return held, nil
}

// hasMark says whether a process was started with a session's mark or a shim's
// own in its environment. An agent can hide its mark; it can't hide its shim's.
func hasMark(pid int) bool {
	// The main thread may have ended before the others: then they are asked.
	paths := []string{"/proc/" + strconv.Itoa(pid) + "/environ"}
	for i := 0; i < len(paths); i++ {
		b, _ := os.ReadFile(paths[i])
		if len(b) == 0 && i == 0 {
			threads, _ := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/environ")
			paths = append(paths, threads...)
		}
		for e := range bytes.SplitSeq(b, []byte{0}) {
			if bytes.HasPrefix(e, []byte(NonceEnv+"=")) || bytes.HasPrefix(e, []byte(shimNonceEnv+"=")) {
				return true
			}
		}
	}
	return false
}
