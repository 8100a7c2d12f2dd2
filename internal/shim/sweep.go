//go:build linux || darwin

package shim

import (
	"fmt"
	"os"
	"time"
)

const sweepTime = 10 * time.Second

// Alive says whether the shim of h still runs: the same number, the same start
// time and the session's nonce in its environment. A name is never looked at.
func Alive(h Handle) bool {
	p, err := stat(h.PID)
	return err == nil && p.StartTime == h.StartTime && hasEnv(h.PID, shimNonceEnv+"="+h.Nonce)
}

// Sweep kills what a dead shim left behind: every process that has the nonce
// in its environment, every one of known that is still the same process, and
// all that descend from these. It returns when they are gone, with those that
// it killed; nothing to kill is no error. Children of the caller among them,
// and ended ones in known, are reaped. The shim must be dead (see Alive).
//
// What a process started with an emptied environment is found only while one
// of its ancestors lives, or if it is in known.
func Sweep(nonce string, known []Proc) (killed []Proc, err error) {
	if nonce == "" {
		return nil, &Error{CodeInvalid, "a sweep without a nonce would have to guess"}
	}
	killed, survivors, err := killAll(func() ([]Proc, error) { return marked(nonce, known) }, sweepTime)
	for _, p := range append(append([]Proc(nil), known...), killed...) {
		reapChild(p.PID)
	}
	if err == nil && len(survivors) > 0 {
		err = &Error{CodeUnsupported, fmt.Sprintf("%d processes could not be killed within %v, the first is %d (%s)",
			len(survivors), sweepTime, survivors[0].PID, survivors[0].Name)}
	}
	return killed, err
}

// marked returns the living processes that carry the nonce or are in known,
// and their descendants, never this process.
func marked(nonce string, known []Proc) ([]Proc, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	want := map[int]uint64{}
	for _, p := range known {
		want[p.PID] = p.StartTime
	}
	self := os.Getpid()
	var roots []int
	var out []Proc
	for _, p := range all {
		start, isKnown := want[p.PID]
		if p.PID != self && (isKnown && start == p.StartTime || hasEnv(p.PID, NonceEnv+"="+nonce)) {
			roots, out = append(roots, p.PID), append(out, p.Proc)
		}
	}
	for _, p := range descendants(all, roots...) {
		if p.PID != self {
			out = append(out, p)
		}
	}
	return out, nil
}
