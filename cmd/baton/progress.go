package main

import (
	"baton"
	"baton/internal/httpapi"
)

// progress is how far a thread that is watched has come.
type progress struct {
	follow bool
	open   map[string]bool // runs that have not ended; true once they have left the queue
	held   string          // why the queue is held, "" where it is not
	failed bool            // the run that ended last did
}

// begin takes the state that the watching begins with.
func begin(t httpapi.Thread, follow bool) progress {
	p := progress{follow: follow, open: map[string]bool{}, held: t.QueueHeldReason}
	if t.QueueHeld && p.held == "" {
		p.held = "held"
	}
	for _, r := range t.Runs {
		if !runEnded(r.Status) {
			p.open[r.ID] = r.Status != string(baton.RunQueued)
		} else {
			p.failed = runFailed(r.Status)
		}
	}
	return p
}

// take notes what an event changes, and says whether it changed anything.
func (p *progress) take(event any) bool {
	switch d := event.(type) {
	case baton.EventRunQueued:
		p.open[string(d.Run)] = false
	case baton.EventRunStarting:
		p.open[string(d.Run)] = true
	case baton.EventQueueHeld:
		p.held = d.Reason
	case baton.EventQueueResumed:
		p.held = ""
	case baton.EventRunEnded:
		delete(p.open, string(d.Run))
		p.failed = runFailed(string(d.Status))
	default:
		return false
	}
	return true
}

// over says whether there is nothing left to watch: all has ended, or the rest
// waits in a queue that is held.
func (p *progress) over() bool {
	if p.follow {
		return false
	}
	for _, active := range p.open {
		if active || p.held == "" {
			return false
		}
	}
	return true
}

// exit is how the command ends when it is over: as `send --wait` of the last run.
func (p *progress) exit() error {
	switch {
	case len(p.open) > 0:
		return exitWith(exitWaits)
	case p.failed:
		return exitWith(exitFailed)
	}
	return nil
}

// runFailed says whether a run's end is one that a script must see.
func runFailed(status string) bool {
	return status == string(baton.RunFailed) || status == string(baton.RunInterrupted)
}
