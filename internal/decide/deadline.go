package decide

import (
	"strings"
	"time"

	"baton"
)

// Deadline is a moment at which the thread has to be looked at again. Deadlines
// follow from the state, so they survive every restart.
type Deadline struct {
	Key string
	At  time.Time
}

// The kinds of keys: kind, colon, id.
const (
	deadlineReady     = "ready"     // of a session that is starting
	deadlineInterrupt = "interrupt" // of a run: its next stage is due
	deadlineIdle      = "idle"      // of a session: it may be released
)

// Deadlines returns what is due, and when.
func (s *State) Deadlines(p Policy) []Deadline {
	var all []Deadline
	for _, x := range s.Sessions {
		switch {
		case x.Stopping != "":
		case x.Status == baton.SessionStarting:
			all = append(all, Deadline{deadlineReady + ":" + string(x.ID), x.Deadline})
		case p.IdleAfter > 0 && !x.IdleSince.IsZero() && s.idle(x):
			all = append(all, Deadline{deadlineIdle + ":" + string(x.ID), x.IdleSince.Add(p.IdleAfter)})
		}
	}
	for _, r := range s.Runs {
		if r.Stage == "ask" {
			all = append(all, Deadline{deadlineInterrupt + ":" + string(r.ID), r.Deadline})
		}
	}
	return all
}

// idle says that nothing needs the session: no turn, no detached work, no
// pending request, no run that waits for it.
func (s *State) idle(x *Session) bool {
	return x.Turn == nil && len(x.Detached) == 0 &&
		!s.Pending(x.ID) &&
		find(s.Runs, func(r *Run) bool { return r.Attempt != nil && r.Attempt.ProviderThread == x.ProviderThread }) == nil
}

// deadline acts on one that has come, if it still stands.
func (d *Decider) deadline(key string) {
	stands := false
	for _, dl := range d.S.Deadlines(d.env.Policy) {
		stands = stands || dl.Key == key && !dl.At.After(d.env.Now)
	}
	if !stands {
		return
	}
	kind, id, _ := strings.Cut(key, ":")
	switch kind {
	case deadlineReady:
		x := d.S.Session(baton.SessionID(id))
		d.sessionFailed(x, baton.Errorf(baton.CodeStartFailed, "%s did not answer in time", x.Provider).
			WithDetail("it was given %s; the message is kept in the thread", d.env.Policy.ReadyWithin).
			WithHint("try `baton doctor`, then send the message again"), false)
	case deadlineInterrupt:
		r := d.S.run(baton.RunID(id))
		d.emit(baton.EventInterruptRequested{Run: r.ID, Stage: "stop_session", Deadline: d.env.Now.Add(d.env.Policy.InterruptGrace)})
		if x := d.S.sessionOf(r.Attempt.ProviderThread); x != nil && x.Stopping == "" {
			d.stopSession(x, "it did not end its turn when asked", baton.SessionStopped, d.env.Policy.StopGrace)
		}
	case deadlineIdle:
		d.stopSession(d.S.Session(baton.SessionID(id)), "idle", baton.SessionStopped, d.env.Policy.StopGrace)
	}
}
