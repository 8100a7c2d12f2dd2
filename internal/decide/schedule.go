package decide

import (
	"fmt"
	"slices"
	"strings"

	"baton"
)

// advance does what the state now allows: it gives a starting run's message to
// its agent once all that it needs is there, and starts the next run. It is
// called after every input and does nothing twice.
func (d *Decider) advance() {
	for _, r := range slices.Clone(d.S.Runs) {
		if r.Status == baton.RunStarting && r.Trigger == baton.TriggerMessage {
			d.drive(r)
		}
	}
	if d.S.ActiveRun() != nil || len(d.S.Runs) == 0 {
		return
	}
	next := d.S.Runs[0]
	if d.S.QueueHeld { // but for a message that was sent past the held ones and had to wait
		if next = find(d.S.Runs, func(r *Run) bool { return r.Waits != "" }); next == nil {
			return
		}
	}
	d.start(next)
}

// start takes a run out of the queue and gives it an attempt. Two agents never
// write at once: while another provider's session has an open turn or detached
// work, the run waits and says for what. One that is idle is released, and gone
// before this run's message is given (see drive).
func (d *Decider) start(r *Run) {
	if why := d.mustWait(r); why != "" {
		if r.Waits == "" {
			d.emit(baton.EventRunWaiting{Run: r.ID, Reason: why})
			d.notice(r, "", "Run %d waits: %s. `baton stop` ends that work.", r.Ordinal, why)
		}
		return
	}
	if d.mustCompare(r) {
		return
	}
	d.emit(baton.EventRunStarting{Run: r.ID})
	d.add(r, baton.ItemUserMessage, baton.ItemBody{Text: r.Text, Author: r.Author, MessageID: r.Message})
	d.attempt(r, baton.AttemptInitial)
	d.drive(r)
}

// release lets go of the sessions that the run has no use for, once they have no
// open turn and no detached work. Until they are gone the message is not given.
func (d *Decider) release(r *Run) {
	for _, x := range slices.Clone(d.S.Sessions) {
		if x.Stopping != "" || x.Turn != nil || len(x.Detached) > 0 {
			continue
		}
		switch {
		case x.ProviderThread != r.Attempt.ProviderThread:
			d.stopSession(x, "another agent goes on with the thread", baton.SessionStopped, d.env.Policy.StopGrace)
		case x.Trusted != d.env.trusts(x.Dir):
			d.stopSession(x, "the trust in the project has changed", baton.SessionStopped, d.env.Policy.StopGrace)
		}
	}
}

func (d *Decider) mustWait(r *Run) string {
	for _, x := range d.S.Sessions {
		if x.Provider == r.Provider {
			continue
		}
		if x.Turn != nil {
			return x.Provider + " has an open turn"
		}
		if len(x.Detached) > 0 {
			return fmt.Sprintf("%s still runs %s", x.Provider, strings.Join(x.Detached, ", "))
		}
	}
	return ""
}

// attempt plans one execution of the run: which of the provider's threads takes
// it, what that one misses, and through which handoff it will be told.
func (d *Decider) attempt(r *Run, reason baton.AttemptReason) {
	w, err := d.wishOf(r)
	if err != nil {
		d.finish(r, baton.RunFailed, baton.AsError(err))
		return
	}
	plan := d.S.plan(d.env, w)
	if plan.Strategy == baton.StrategyRefused {
		d.finish(r, baton.RunFailed, refused(r.Provider, plan))
		return
	}
	if reason != baton.AttemptInitial && r.Digest != "" && plan.Covered.Empty() {
		d.notTheSame(r, "nothing is to be handed over any more")
		return
	}
	source := d.S.providerThread(d.S.Last.ProviderThread)
	target := plan.ProviderThread
	var hid baton.HandoffID
	if !plan.Covered.Empty() || r.Edited != "" {
		hid = newID[baton.HandoffID](d, baton.PrefixHandoff)
	}
	if target == "" {
		target = d.unused(r.Provider)
	}
	if target == "" {
		target = newID[baton.ProviderThreadID](d, baton.PrefixProviderThread)
		origin := baton.Origin{Kind: baton.OriginNew, Handoff: hid}
		if plan.Replaces != "" {
			origin.Kind, origin.From = baton.OriginReconstructed, plan.Replaces
		}
		d.emit(baton.EventProviderThreadCreated{ProviderThread: target, Provider: r.Provider, Driver: w.provider.Driver, Origin: origin})
		if plan.Replaces != "" {
			d.notice(r, baton.CodeResumeFailed, "A new %s conversation takes the place of the former one; it is told the whole thread.", r.Provider)
			d.dropDrafts(plan.Replaces)
		}
	}
	switched := source != nil && source.Provider != r.Provider
	if switched && r.Attempts == 0 {
		d.add(r, baton.ItemProviderSwitch, baton.ItemBody{From: source.Provider, To: r.Provider, Title: string(plan.Strategy)})
	}
	d.emit(baton.EventAttemptCreated{Attempt: newID[baton.AttemptID](d, baton.PrefixAttempt), Run: r.ID, Ordinal: r.Attempts + 1,
		RootNode: newID[baton.NodeID](d, baton.PrefixNode), ProviderThread: target, Reason: reason,
		Strategy: plan.Strategy, Reasons: plan.Reasons, Rejected: plan.Rejected})
	d.takeDrafts(r, target)
	switch {
	case hid != "":
		d.requestHandoff(r, w, plan, source, target, hid)
	case switched:
		d.resolveNatively(r, plan, source.ID)
	}
}

// unused returns a provider thread that no agent has ever taken anything under:
// it can still become the new conversation that is wanted.
func (d *Decider) unused(provider string) baton.ProviderThreadID {
	for _, p := range d.S.ProviderThreads {
		if p.Provider == provider && p.Native.ID == "" && !p.Divergent && p.Status != baton.ProviderThreadError &&
			p.Covered.Empty() && p.HandedOver.Empty() {
			return p.ID
		}
	}
	return ""
}

// openSession starts an agent for the attempt's provider thread.
func (d *Decider) openSession(r *Run, p Provider) {
	pth := d.S.providerThread(r.Attempt.ProviderThread)
	id := newID[baton.SessionID](d, baton.PrefixSession)
	newNative := baton.UUID(newID[string](d, baton.PrefixSession))
	e := baton.EventSessionOpened{Session: id, Provider: r.Provider, Driver: p.Driver, ProviderThread: pth.ID, Generation: d.S.Generation + 1,
		Resume: pth.Native.ID, NewID: newNative, Dir: d.S.Dir, Settings: r.Settings, Trusted: d.env.trusts(d.S.Dir), Deadline: d.env.Now.Add(d.env.Policy.ReadyWithin)}
	d.emit(e)
	d.effect(baton.LaneWork, id, baton.EffectOpenSession{Provider: r.Provider, Driver: p.Driver, Resume: e.Resume, NewID: e.NewID, Dir: e.Dir, Settings: e.Settings, Trusted: e.Trusted})
}

// drive gives the run's message, behind its handoff, to the agent: once, when
// the session is ready, no turn is open in it and the handoff is made. A thread
// has one session at a time: another one has to be gone before this one's agent
// is started, so that two never work at once. Nor is anything given again while
// evidence of the same run is still to come.
func (d *Decider) drive(r *Run) {
	if r.Attempt == nil || r.Attempt.Status != baton.AttemptPending || r.Stage != "" {
		return
	}
	offered := find(d.S.Deliveries, func(v *Delivery) bool { return v.Run == r.ID && v.Kind == baton.DeliverMessage })
	if offered != nil || d.uncertain(r) { // evidence comes back here
		return
	}
	p, err := d.env.Provider(r.Provider)
	if err != nil {
		d.finish(r, baton.RunFailed, baton.AsError(err))
		return
	}
	d.release(r)
	x := d.S.sessionOf(r.Attempt.ProviderThread)
	if x == nil && len(d.S.Sessions) == 0 {
		d.openSession(r, p)
		return
	}
	if x == nil {
		return // sessionGone comes back here
	}
	if len(d.S.Sessions) > 1 || x.Status != baton.SessionReady || x.Stopping != "" || x.Turn != nil || !d.handoffsReady(r) {
		return
	}
	if d.restartFor(x, r, p) {
		return
	}
	in := baton.IntentDeliver{Settings: r.Settings}
	for _, hid := range r.Handoffs {
		h := d.S.handoff(hid)
		if h == nil {
			continue // told already
		}
		id := newID[baton.DeliveryID](d, baton.PrefixDelivery)
		d.emit(baton.EventDeliveryOffered{Delivery: id, Kind: baton.DeliverHandoff, Session: x.ID, ProviderThread: x.ProviderThread, Run: r.ID,
			Attempt: r.Attempt.ID, Handoff: h.ID, Mode: p.Capabilities.Injection})
		in.Handoffs = append(in.Handoffs, baton.Payload{Delivery: id, Text: h.Text})
	}
	id := newID[baton.DeliveryID](d, baton.PrefixDelivery)
	d.emit(baton.EventDeliveryOffered{Delivery: id, Kind: baton.DeliverMessage, Session: x.ID, ProviderThread: x.ProviderThread, Run: r.ID,
		Attempt: r.Attempt.ID, Message: r.Message})
	in.Message = baton.Payload{Delivery: id, Text: r.Text}
	d.intend(x.ID, in)
}

// handoffsReady says whether all that the attempt has to tell is made.
func (d *Decider) handoffsReady(r *Run) bool {
	for _, id := range r.Handoffs {
		if h := d.S.handoff(id); h != nil && h.Status != baton.HandoffReady {
			return false
		}
	}
	return true
}

// restartFor ends a session whose agent takes a changed setting only at its
// start; the next one resumes the conversation. What the agent left running is
// not ended for it: then the setting waits, and the person is told.
func (d *Decider) restartFor(x *Session, r *Run, p Provider) bool {
	name := changed(p, r.Settings, x.Settings, baton.ChangeOnResume)
	switch {
	case name == "":
		return false
	case len(x.Detached) > 0:
		d.notice(r, "", "%s takes another %s only when it is started again, and still runs %s: this run goes on with the former one.",
			r.Provider, name, strings.Join(x.Detached, ", "))
		return false
	}
	d.stopSession(x, "its "+name+" changes", baton.SessionStopped, d.env.Policy.StopGrace)
	return true
}
