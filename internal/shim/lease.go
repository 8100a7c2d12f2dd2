package shim

import (
	"sync"
	"time"
)

// lease counts only while no server is attached.
type lease struct {
	mu       sync.Mutex
	length   time.Duration
	attached bool
	timer    *time.Timer
	ended    chan struct{} // gets one value when it ends; never closed
}

func newLease(length time.Duration) *lease {
	l := &lease{length: length, ended: make(chan struct{}, 1)}
	l.restart()
	return l
}

// restart begins to count anew, or stops counting. With mu held, or before the
// lease is shared.
func (l *lease) restart() {
	if l.timer != nil {
		l.timer.Stop()
	}
	select {
	case <-l.ended: // from before
	default:
	}
	if l.attached {
		return
	}
	l.timer = time.AfterFunc(l.length, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.attached {
			select {
			case l.ended <- struct{}{}:
			default:
			}
		}
	})
}

func (l *lease) set(length time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.length = length
	l.restart()
}

func (l *lease) attach(yes bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.attached = yes
	l.restart()
}

// over says whether an end of the lease that was just received still counts: a
// server may have come in between.
func (l *lease) over() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.attached
}
