package decide

import (
	"slices"

	"baton"
)

// turnStarted gives the root turn a run: the one whose delivery it takes, or a
// new one for a turn that nobody asked for.
func (d *Decider) turnStarted(x *Session, f baton.FactTurnStarted) {
	if x.Turn != nil { // the former turn's end was never told
		d.turnEnded(x, baton.FactTurnEnded{Key: x.Turn.Key, Status: baton.TurnInterrupted})
	}
	var r *Run
	for _, id := range f.Deliveries {
		if v := d.S.delivery(id); v != nil && v.Kind == baton.DeliverMessage {
			if r = d.S.run(v.Run); r != nil {
				break
			}
		}
	}
	if r == nil || r.Status != baton.RunStarting || r.Attempt.Status != baton.AttemptPending {
		r = d.background(x)
	}
	turn := newID[baton.ProviderTurnID](d, baton.PrefixProviderTurn)
	d.emit(baton.EventTurnStarted{Turn: turn, ProviderThread: x.ProviderThread, Session: x.ID, Run: r.ID, Key: f.Key, Native: f.Native})
	d.emit(baton.EventAttemptRunning{Attempt: r.Attempt.ID, Turn: turn})
	d.emit(baton.EventRunRunning{Run: r.ID})
	if r.Trigger == baton.TriggerBackground {
		d.cover(d.S.providerThread(x.ProviderThread), r.Ordinal, nil)
	}
	if r.Stage != "" { // a stop came while the turn was on its way
		d.intend(x.ID, baton.IntentInterrupt{TurnKey: f.Key})
	}
}

// background makes the run of a turn that the agent began by itself.
func (d *Decider) background(x *Session) *Run {
	id := newID[baton.RunID](d, baton.PrefixRun)
	d.emit(baton.EventRunQueued{Run: id, Ordinal: d.S.Ordinal + 1, Trigger: baton.TriggerBackground, Provider: x.Provider, Settings: x.Settings})
	d.emit(baton.EventRunStarting{Run: id})
	d.emit(baton.EventAttemptCreated{Attempt: newID[baton.AttemptID](d, baton.PrefixAttempt), Run: id, Ordinal: 1,
		RootNode: newID[baton.NodeID](d, baton.PrefixNode), ProviderThread: x.ProviderThread, Reason: baton.AttemptInitial})
	r := d.S.run(id)
	d.notice(r, "", "%s went on by itself.", x.Provider)
	return r
}

// turnEnded is the completion barrier: the turn, open text, requests, the
// attempt and the run end, in this order.
func (d *Decider) turnEnded(x *Session, f baton.FactTurnEnded) {
	if x.Turn == nil || x.Turn.Key != f.Key {
		return // a late end of a turn that is over changes nothing
	}
	r := d.S.run(x.Turn.Run)
	d.emit(baton.EventTurnEnded{Turn: x.Turn.ID, Status: f.Status, Err: f.Err, Usage: f.Usage, Head: f.Head})
	if r == nil {
		return
	}
	outcome := map[baton.TurnStatus]baton.RunStatus{baton.TurnCompleted: baton.RunCompleted, baton.TurnInterrupted: baton.RunInterrupted,
		baton.TurnFailed: baton.RunFailed, baton.TurnCancelled: baton.RunInterrupted}[f.Status]
	stopped := r.Stage != ""
	d.finish(r, outcome, f.Err)
	if stopped && x.Stopping == "" {
		d.stopSession(x, "stopped by a person", baton.SessionStopped, d.env.Policy.StopGrace)
	}
}

// finish takes a run through the completion barrier. A run that did not
// complete holds the queue. What was given to the agent and is not known to have
// arrived must have been settled before: see sessionGone.
func (d *Decider) finish(r *Run, outcome baton.RunStatus, err *baton.Error) {
	status := map[baton.RunStatus]baton.NodeStatus{baton.RunCompleted: baton.NodeCompleted, baton.RunFailed: baton.NodeFailed,
		baton.RunInterrupted: baton.NodeInterrupted, baton.RunCancelled: baton.NodeCancelled}[outcome]
	for _, it := range slices.Clone(d.S.Items) {
		if it.Run == r.ID && !it.Detached {
			d.closeItem(it, status, baton.ItemBody{})
		}
	}
	for _, q := range slices.Clone(d.S.Requests) {
		if q.Run == r.ID {
			d.expire(q, baton.RequestExpired, "the turn that asked has ended")
		}
	}
	for _, v := range slices.Clone(d.S.Deliveries) {
		if v.Run == r.ID && v.Kind != baton.DeliverAnswer && (v.Status == baton.DeliveryOffered || v.Status == baton.DeliveryWritten) {
			d.emit(baton.EventDeliveryChanged{Delivery: v.ID, Status: baton.DeliveryDropped, Err: err})
		}
	}
	d.supersedeHandoffs(r)
	switch {
	case outcome == baton.RunFailed && err != nil:
		d.add(r, baton.ItemError, baton.ItemBody{Code: err.Code, Title: err.Title, Text: err.Detail, Hint: err.Hint})
	case outcome == baton.RunInterrupted:
		body := baton.ItemBody{}
		if err != nil {
			body = baton.ItemBody{Code: err.Code, Title: err.Title, Text: err.Detail, Hint: err.Hint}
		}
		d.add(r, baton.ItemInterrupted, body)
	}
	if r.Attempt != nil && !baton.AttemptTransitions.Ended(r.Attempt.Status) {
		end := map[baton.RunStatus]baton.AttemptStatus{baton.RunCompleted: baton.AttemptCompleted, baton.RunFailed: baton.AttemptFailed,
			baton.RunInterrupted: baton.AttemptInterrupted, baton.RunCancelled: baton.AttemptCancelled}[outcome]
		d.emit(baton.EventAttemptEnded{Attempt: r.Attempt.ID, Status: end, Selected: true, Err: err})
	}
	if r.Status == baton.RunQueued {
		d.emit(baton.EventRunStarting{Run: r.ID})
	}
	if r.Status != baton.RunFinalizing {
		d.emit(baton.EventRunFinalizing{Run: r.ID, Outcome: outcome, Err: err, AbsorbedBy: r.AbsorbedBy})
	}
	d.emit(baton.EventRunEnded{Run: r.ID, Ordinal: r.Ordinal, Provider: r.Provider, Status: outcome, Err: err, Answer: r.Answer, Usage: r.Usage})
	if outcome != baton.RunCompleted && r.AbsorbedBy == "" && !d.S.QueueHeld {
		d.emit(baton.EventQueueHeld{Reason: string(outcome)})
	}
}
