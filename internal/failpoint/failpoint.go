// Package failpoint ends the process at a named boundary, so that a test can
// prove what survives a crash exactly there.
//
// The environment arms one point for the life of the process:
//
//	BATON_FAILPOINT=shim.accepted      the first time
//	BATON_FAILPOINT=shim.spooled:12    the twelfth time
//
// An armed point sends SIGKILL to its own process: nothing is flushed, no
// deferred call runs. Where nothing is armed, Hit costs one atomic load.
package failpoint

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// Env is the variable that arms a point.
const Env = "BATON_FAILPOINT"

type point struct {
	name string
	left atomic.Int64
	act  func()
}

var armed atomic.Pointer[point]

func init() {
	spec := os.Getenv(Env)
	if spec == "" {
		return
	}
	if _, err := Arm(spec, die); err != nil {
		// A crash test with a misspelt point would pass for nothing.
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

// Hit marks a boundary. It returns at once unless this very point is armed
// and its count is reached.
func Hit(name string) {
	p := armed.Load()
	if p == nil || p.name != name {
		return
	}
	if p.left.Add(-1) == 0 {
		p.act()
	}
}

// Arm arms "name" or "name:N" inside this process and calls act on the N-th
// hit, on the goroutine that hit it. It replaces what was armed before; disarm
// takes it away again. It is for tests that simulate a crash in place.
func Arm(spec string, act func()) (disarm func(), err error) {
	name, count, found := strings.Cut(spec, ":")
	n := int64(1)
	if found {
		n, err = strconv.ParseInt(count, 10, 64)
	}
	if err != nil || n < 1 || name == "" {
		return nil, fmt.Errorf("failpoint: %q is neither \"name\" nor \"name:N\" with N ≥ 1", spec)
	}
	p := &point{name: name, act: act}
	p.left.Store(n)
	armed.Store(p)
	return func() { armed.CompareAndSwap(p, nil) }, nil
}

func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal may take a moment; nothing may run after the boundary
}
