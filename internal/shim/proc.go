//go:build linux || darwin

package shim

import (
	"time"

	"golang.org/x/sys/unix"
)

// process is one living process as a scan of the system sees it. Zombies are
// not living: they run nothing and hold nothing.
type process struct {
	Proc
	parent int
}

// descendants returns every living process below the roots, without them.
func descendants(all []process, roots ...int) []Proc {
	below := map[int]bool{}
	for _, r := range roots {
		below[r] = true
	}
	skip := map[int]bool{}
	for r := range below {
		skip[r] = true
	}
	var out []Proc
	for grew := true; grew; {
		grew = false
		for _, p := range all {
			if below[p.parent] && !skip[p.PID] {
				below[p.PID], skip[p.PID], grew = true, true, true
				out = append(out, p.Proc)
			}
		}
	}
	return out
}

// killAll sends SIGKILL to what list returns, waits until that is gone, and
// lists again, until nothing is left or the time is over: what is killed may
// have forked in between. It returns all that it killed and, where the time
// was not enough, what still lives.
func killAll(list func() ([]Proc, error), within time.Duration) (killed, survivors []Proc, err error) {
	deadline := time.Now().Add(within)
	seen := map[Proc]bool{}
	for {
		procs, err := list()
		if err != nil || len(procs) == 0 {
			return killed, nil, err
		}
		if time.Now().After(deadline) {
			return killed, procs, nil
		}
		for _, p := range procs {
			if !seen[p] {
				seen[p] = true
				killed = append(killed, p)
			}
		}
		killOnce(procs, time.Until(deadline))
	}
}

// killOnce sends SIGKILL to all of procs, then waits for each to be gone.
func killOnce(procs []Proc, within time.Duration) {
	deadline := time.Now().Add(within)
	var open []*procHandle
	for _, p := range procs {
		h, err := openProc(p)
		if err != nil {
			continue // gone already, or not ours to end: the next scan tells
		}
		if h.signal(unix.SIGKILL) != nil {
			h.close()
			continue
		}
		open = append(open, h)
	}
	for _, h := range open {
		h.wait(max(time.Until(deadline), time.Millisecond))
		h.close()
	}
	if len(open) == 0 {
		// Nothing could be signalled although the scan saw something: let the
		// system settle instead of scanning in a tight loop.
		time.Sleep(10 * time.Millisecond)
	}
}

// signalAll sends sig to all of procs, each checked to be still the same one.
func signalAll(procs []Proc, sig unix.Signal) {
	for _, p := range procs {
		if h, err := openProc(p); err == nil {
			_ = h.signal(sig)
			h.close()
		}
	}
}
