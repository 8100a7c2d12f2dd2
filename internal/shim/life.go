//go:build linux || darwin

package shim

import (
	"encoding/json"
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	tailTime  = time.Second      // for descendants of an ended agent to print the rest
	drainTime = 2 * time.Second  // to read what is left in a pipe that nobody should hold
	killTime  = 10 * time.Second // for the kernel to end what was killed
)

// life leads an agent from its start to the exit frame. All of it happens on
// one goroutine:
//
//	running ──agent ended─────────────────────────────┐
//	   └─stop·signal·lease→ stdin closed → SIGTERM → SIGKILL
//	                             └─agent ended→ finish → exit frame → linger
type life struct {
	h       *holder
	signals <-chan os.Signal
	quit    chan struct{} // closed: wait no longer for room, neither on disk nor under the cap

	ended     chan struct{} // closed when the agent has ended and status is set
	status    syscall.WaitStatus
	none      chan struct{} // closed when no child is left
	read      chan struct{} // closed when both streams are read to their end
	truncated atomic.Bool
	writing   chan struct{} // closed when no write is under way any more

	grace Grace
	left  []Proc
	exit  Exit
}

func newLife(h *holder, signals <-chan os.Signal, quit chan struct{}) *life {
	return &life{h: h, signals: signals, quit: quit, grace: h.spec.Grace, ended: make(chan struct{}),
		none: make(chan struct{}), read: make(chan struct{}), writing: make(chan struct{})}
}

// begin starts what runs beside: the reaper, both readers, the writer.
func (l *life) begin() {
	a := l.h.agent
	go a.reap(func(ws syscall.WaitStatus) { l.status = ws; close(l.ended) }, l.none)
	go func() {
		defer close(l.writing)
		l.h.writes.run()
	}()
	var open atomic.Int32
	open.Store(2)
	reader := func(kind Kind, f *os.File) {
		s := &lines{spool: l.h.spool, kind: kind, max: int64(l.h.spec.MaxFrame), quit: l.quit}
		if !s.run(f) {
			l.truncated.Store(true)
		}
		f.Close()
		if open.Add(-1) == 0 {
			close(l.read)
		}
	}
	go reader(KindIn, a.stdout)
	go reader(KindErr, a.stderr)
}

// run returns once the agent and all that it started are gone.
func (l *life) run() {
	l.exit.Reason = l.untilEnd()
	if l.exit.Reason != ReasonExited {
		l.ladder()
	}
	l.finish()
}

// untilEnd waits until the agent ends or must end.
func (l *life) untilEnd() Reason {
	for {
		select {
		case <-l.ended:
			return ReasonExited
		case g := <-l.h.stops:
			l.grace = g
			return ReasonStopped
		case <-l.signals:
			return ReasonSignal
		case <-l.h.lease.ended:
			if l.h.lease.over() {
				return ReasonLease
			}
		}
	}
}

func (l *life) ladder() {
	l.h.writes.close()
	if l.await(l.ended, func(g Grace) time.Duration { return g.Stdin }) {
		return
	}
	if procs, err := l.h.tree(); err == nil {
		signalAll(procs, unix.SIGTERM)
	}
	if l.await(l.ended, func(g Grace) time.Duration { return g.Term }) {
		return
	}
	l.kill()
	l.await(l.ended, func(Grace) time.Duration { return killTime })
}

// await waits for done, as long as the phase has time. A further Stop can only
// make it shorter.
func (l *life) await(done <-chan struct{}, phase func(Grace) time.Duration) bool {
	deadline := time.Now().Add(phase(l.grace))
	for {
		timer := time.NewTimer(time.Until(deadline))
		select {
		case <-done:
			timer.Stop()
			return true
		case <-timer.C:
			return false
		case g := <-l.h.stops:
			timer.Stop()
			l.grace = Grace{Stdin: min(g.Stdin, l.grace.Stdin), Term: min(g.Term, l.grace.Term)}
			if d := time.Now().Add(phase(l.grace)); d.Before(deadline) {
				deadline = d
			}
		}
	}
}

// kill ends every descendant, and notes those that were still there.
func (l *life) kill() {
	killed, survivors, _ := killAll(l.h.tree, killTime)
	l.note(killed)
	l.exit.Survivors = survivors
}

func (l *life) note(procs []Proc) {
	for _, p := range procs {
		known := p.PID == l.h.agent.proc.PID
		for _, k := range l.left {
			known = known || k.PID == p.PID && k.StartTime == p.StartTime
		}
		if !known {
			l.left = append(l.left, p)
		}
	}
}

// finish ends what the agent left running, reads the rest of its output and
// waits for a write that was under way.
func (l *life) finish() {
	l.h.writes.close()
	l.await(l.read, func(Grace) time.Duration { return tailTime })
	if procs, err := l.h.tree(); err == nil && len(procs) > 0 {
		l.note(procs)
		signalAll(procs, unix.SIGTERM)
		l.await(l.none, func(g Grace) time.Duration { return min(g.Term, tailTime) })
		l.kill()
	}
	l.drain()
	<-l.writing
	l.exit.Left = l.left
	l.exit.Truncated = l.truncated.Load()
	l.exit.Code = -1
	select {
	case <-l.ended:
		if l.exit.Code = l.status.ExitStatus(); l.status.Signaled() {
			l.exit.Signal = l.status.Signal().String()
		}
	default: // it could not be killed; it is among the survivors
	}
}

// drain waits until both streams are read to their end. While the spool takes
// nothing it waits for the server, and without one no longer than the lease.
func (l *life) drain() {
	abandoned := l.exit.Reason == ReasonLease
	for {
		timer := time.NewTimer(drainTime)
		giveUp := abandoned && l.h.spool.stalled() && l.h.lease.over()
		if !giveUp {
			select {
			case <-l.read:
				timer.Stop()
				return
			case <-timer.C:
				giveUp = !l.h.spool.stalled()
			case <-l.h.lease.ended:
				abandoned = true
			case <-l.signals:
				giveUp = true
			}
		}
		timer.Stop()
		if giveUp {
			break
		}
	}
	l.truncated.Store(true)
	close(l.quit)
	l.h.agent.stdout.Close()
	l.h.agent.stderr.Close()
	<-l.read
}

// last spools the exit frame and waits until it is committed or nobody will.
func (l *life) last() {
	data, _ := json.Marshal(l.exit)
	stop := make(chan struct{})
	spooled := make(chan uint64, 1)
	go func() { spooled <- l.h.spool.force(record{kind: KindExit, data: data}, stop) }()
	var seq uint64
	select {
	case seq = <-spooled:
	case <-l.signals: // a disk that stays full keeps nobody from ending us
		close(stop)
		return
	}
	if l.exit.Reason == ReasonLease && l.h.lease.over() {
		return
	}
	for {
		_, _, acked, changed := l.h.spool.state()
		if acked >= seq {
			return
		}
		select {
		case <-changed:
		case <-l.signals:
			return
		case <-l.h.lease.ended:
			if l.h.lease.over() {
				return
			}
		}
	}
}
