package decide

import (
	"slices"
	"strings"
	"time"

	"baton"
)

func (d *Decider) sessionReady(x *Session, f baton.FactSessionReady) {
	if x.Status != baton.SessionStarting {
		return
	}
	d.emit(baton.EventSessionReady{Session: x.ID, AgentVersion: f.AgentVersion, Demoted: f.Demoted,
		Native: baton.NativeRef{ID: f.NativeID, Strength: f.Strength}})
	p := d.S.providerThread(x.ProviderThread)
	if p.Status == baton.ProviderThreadNotLoaded {
		d.emit(baton.EventProviderThreadChanged{ProviderThread: p.ID, Status: baton.ProviderThreadIdle})
	}
}

// sessionFailed: the agent could not be started, its handshake failed or it is
// of no use any more. The run that waited for it fails with the reason; its
// message stays in the thread. What was given to it already is settled once the
// session is gone. An agent that ended in the middle of its start is tried again
// instead (see orphaned).
func (d *Decider) sessionFailed(x *Session, err *baton.Error, again bool) {
	if x.Stopping == "" {
		d.stopSession(x, err.Error(), baton.SessionError, 0)
	}
	if again {
		return
	}
	for _, r := range d.waitingFor(x) {
		if d.untouched(r) {
			d.finish(r, baton.RunFailed, err)
		}
	}
}

// resumeFailed: the agent does not have the native conversation any more, or
// won't open it. It is given up visibly, and the run goes to a new one that is
// told the whole thread.
func (d *Decider) resumeFailed(x *Session, f baton.FactResumeFailed) {
	p := d.S.providerThread(x.ProviderThread)
	reason := "the native conversation could not be resumed (" + string(f.Class) + ")"
	if f.Detail != "" {
		reason += ": " + f.Detail
	}
	if baton.ProviderThreadTransitions.May(p.Status, baton.ProviderThreadError) {
		d.emit(baton.EventProviderThreadChanged{ProviderThread: p.ID, Status: baton.ProviderThreadError, Reason: reason})
	}
	if x.Stopping == "" {
		d.stopSession(x, reason, baton.SessionError, 0)
	}
	for _, r := range d.waitingFor(x) {
		d.add(r, baton.ItemNotice, baton.ItemBody{Code: baton.CodeResumeFailed, Text: x.Provider + ": " + reason + "."})
		if d.untouched(r) {
			d.again(r, baton.AttemptProviderRecovery)
		}
	}
}

// foreignTurns: somebody else has gone on with the native conversation, which so
// holds what this thread does not. It is left to them, visibly, and what waits
// goes to a new one that is told the whole thread.
func (d *Decider) foreignTurns(x *Session, f baton.FactForeignTurns) {
	d.notice(d.S.ActiveRun(), "", "The native conversation of %s holds turns that are not of this thread: %s", x.Provider, f.Detail)
	if p := d.S.providerThread(x.ProviderThread); !p.Divergent {
		d.emit(baton.EventProviderThreadDiverged{ProviderThread: p.ID, Reason: "foreign turns: " + f.Detail})
	}
	var waiting []*Run
	for _, r := range d.waitingFor(x) {
		if d.untouched(r) {
			waiting = append(waiting, r)
		}
	}
	if len(waiting) == 0 {
		return
	}
	if x.Stopping == "" {
		d.stopSession(x, "its conversation holds foreign turns", baton.SessionStopped, d.env.Policy.StopGrace)
	}
	for _, r := range waiting {
		d.again(r, baton.AttemptProviderRecovery)
	}
}

// waitingFor returns the runs whose pending attempt needs the session.
func (d *Decider) waitingFor(x *Session) []*Run {
	return slices.DeleteFunc(slices.Clone(d.S.Runs), func(r *Run) bool {
		return r.Attempt == nil || r.Attempt.Status != baton.AttemptPending || r.Attempt.ProviderThread != x.ProviderThread
	})
}

// untouched says that nothing of the run has been given to the agent.
func (d *Decider) untouched(r *Run) bool {
	return find(d.S.Deliveries, func(v *Delivery) bool { return v.Run == r.ID && v.Kind != baton.DeliverAnswer }) == nil
}

// stopSession asks for the end of the agent's process tree; grace 0 kills it at
// once. The session ends when the shim says so.
func (d *Decider) stopSession(x *Session, reason string, endsAs baton.SessionStatus, grace time.Duration) {
	d.emit(baton.EventSessionStopping{Session: x.ID, Reason: reason, Status: endsAs})
	d.effect(baton.LaneControl, x.ID, baton.EffectStopSession{Reason: reason, Grace: grace})
}

// sessionGone: the process has ended and its spool is read. What it was doing
// ends truthfully, and what may have reached it is looked up.
func (d *Decider) sessionGone(x *Session, f baton.FactSessionGone) {
	asked := x.Stopping != ""
	status, reason := x.EndsAs, x.Stopping
	switch {
	case !asked && f.Released:
		status, reason = baton.SessionStopped, "released: no server came for it in time"
	case !asked:
		status, reason = baton.SessionError, f.Detail
	}
	detail := f.Detail
	if asked && x.EndsAs == baton.SessionError {
		detail = reason
	}
	why := baton.Errorf(baton.CodeAgentDied, "%s ended in the middle of its work", x.Provider).WithDetail("%s", detail).
		WithHint("the next message goes on in the same conversation")
	if f.Lost {
		why.Code, why.Title = baton.CodeSessionLost, "the process that holds "+x.Provider+" is gone"
	}
	if x.Turn != nil {
		var cause *baton.Error
		if r := d.S.run(x.Turn.Run); r != nil && r.Stage == "" {
			cause = why
		}
		run := x.Turn.Run
		d.emit(baton.EventTurnEnded{Turn: x.Turn.ID, Status: baton.TurnInterrupted, Err: cause})
		if r := d.S.run(run); r != nil {
			// The barrier stays open until it is known what the agent took.
			d.emit(baton.EventRunFinalizing{Run: r.ID, Outcome: baton.RunInterrupted, Err: cause})
		}
	}
	for _, it := range slices.Clone(d.S.Items) {
		if it.Session == x.ID {
			d.closeItem(it, baton.NodeInterrupted, baton.ItemBody{})
		}
	}
	for _, q := range slices.Clone(d.S.Requests) {
		if q.Session == x.ID {
			d.expire(q, baton.RequestExpired, "the agent that asked is gone: "+f.Detail)
		}
	}
	d.seekEvidence(x)
	if len(f.LeftOver) > 0 {
		d.notice(nil, "", "Ended what %s had left running: %s", x.Provider, strings.Join(f.LeftOver, ", "))
	}
	d.emit(baton.EventSessionEnded{Session: x.ID, Status: status, Reason: reason, LeftOver: f.LeftOver})
	if p := d.S.providerThread(x.ProviderThread); p.Status == baton.ProviderThreadIdle {
		d.emit(baton.EventProviderThreadChanged{ProviderThread: p.ID, Status: baton.ProviderThreadNotLoaded, Reason: reason})
	}
	for _, r := range slices.Clone(d.S.Runs) {
		switch {
		case r.Attempt == nil || r.Attempt.ProviderThread != x.ProviderThread || d.uncertain(r):
		case r.Status == baton.RunFinalizing:
			d.finish(r, r.Outcome, r.Err)
		case r.Status == baton.RunStarting && r.Attempt.Status == baton.AttemptPending:
			d.orphaned(r, x, asked)
		}
	}
}

// orphaned decides about a run whose session ended before a turn began and
// whose deliveries are all settled. A session that was asked to stop for
// another reason (idle release) is simply opened again.
func (d *Decider) orphaned(r *Run, x *Session, asked bool) {
	if asked && x.EndsAs == baton.SessionStopped && r.Stage == "" && d.untouched(r) {
		return // drive opens another
	}
	d.goOn(r, x.Stopping)
}

// gone is the error of a run that its agent had accepted and did not end.
func (r *Run) gone() *baton.Error {
	if r.Stage != "" {
		return nil
	}
	return baton.Errorf(baton.CodeAgentDied, "%s ended in the middle of its work", r.Provider).
		WithDetail("it had taken the message").WithHint("the next message goes on in the same conversation")
}
