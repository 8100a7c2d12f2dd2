package decide

import (
	"errors"

	"baton"
)

// ErrMoved answers a command whose Prepared was made for another version of the
// thread. Nothing was changed; the server prepares it again.
var ErrMoved = errors.New("decide: the thread has moved on")

// checkHandoff refuses a message that can't be given as its sender insists. A
// message that starts at once brings its handoff with it (baton.Prepared); one
// that is queued is compared when it starts.
func (d *Decider) checkHandoff(w wish, data baton.CommandSend, behind bool) error {
	if err := baton.CheckHandoff(data.HandoffText); err != nil {
		return err
	}
	if behind {
		return nil
	}
	if plan := d.S.plan(d.env, w); plan.Strategy == baton.StrategyRefused {
		return refused(w.provider.Name, plan)
	}
	if data.HandoffDigest == "" && data.HandoffText == "" {
		return nil
	}
	p := data.Prepared
	if p == nil || p.Version != d.S.Version {
		return ErrMoved
	}
	if data.HandoffDigest == "" || data.HandoffDigest == p.Built.Digest {
		return nil
	}
	now := "nothing is to be handed over now"
	if p.Built.Digest != "" {
		now = "its digest is " + p.Built.Digest + " now"
	}
	return baton.Errorf(baton.CodeConflict, "the handoff is not the one that was seen").
		WithDetail("%s; the message was not sent and nothing was changed", now).
		WithHint("look at `baton handoff preview` again, then send the message with the new digest")
}

// prepare keeps what was made with the plan for the run's first attempt, in this
// decision.
func (d *Decider) prepare(run baton.RunID, p baton.Prepared) {
	if p.Built.Digest == "" {
		return
	}
	for _, into := range p.Squeezed {
		d.emit(baton.EventHandoffSqueezed{Run: run, ProviderThread: into})
	}
	if d.prepared == nil {
		d.prepared = map[baton.RunID]baton.FactHandoffBuilt{}
	}
	d.prepared[run] = p.Built
}

// mustCompare says whether a queued run waits until its handoff is made and
// compared with the one that the person insists on, and asks for that.
func (d *Decider) mustCompare(r *Run) bool {
	if _, made := d.prepared[r.ID]; made || r.Digest == "" || r.Status != baton.RunQueued {
		return false
	}
	if r.Compare != "" {
		return true
	}
	w, err := d.wishOf(r)
	if err != nil {
		return false // start says so
	}
	plan := d.S.plan(d.env, w)
	if plan.Strategy == baton.StrategyRefused {
		return false
	}
	id := newID[baton.HandoffID](d, baton.PrefixHandoff)
	d.emit(baton.EventHandoffCompareAsked{Run: r.ID, Handoff: id})
	if plan.Covered.Empty() {
		d.compared(r, baton.FactHandoffBuilt{Handoff: id})
		return true
	}
	build := d.S.build(d.env, w, plan)
	build.Handoff, build.Run = id, r.ID
	d.effect(baton.LaneWork, "", build)
	return true
}

func (d *Decider) comparing(id baton.HandoffID) *Run {
	return find(d.S.Runs, func(r *Run) bool { return r.Compare != "" && r.Compare == id })
}

// compared starts the run with the document where it is the one that was seen;
// else the message is held, and a person goes on with it as it is (baton queue
// resume).
func (d *Decider) compared(r *Run, f baton.FactHandoffBuilt) {
	w, err := d.wishOf(r)
	if err == nil && d.squeezedOut(r, d.S.plan(d.env, w).ProviderThread, f) {
		d.emit(baton.EventHandoffCompared{Run: r.ID, Same: true, Digest: f.Digest})
		return // compared again, with the plan that follows
	}
	same := f.Digest == r.Digest
	d.emit(baton.EventHandoffCompared{Run: r.ID, Same: same, Digest: f.Digest})
	if same {
		d.prepare(r.ID, baton.Prepared{Built: f})
		return
	}
	d.hold(r, "the handoff is not the one that was seen")
}

func (d *Decider) hold(r *Run, why string) {
	if !d.S.QueueHeld {
		d.emit(baton.EventQueueHeld{Reason: "handoff_changed"})
	}
	d.notice(r, baton.CodeConflict, "The message of run %d is held: %s. `baton queue resume` sends it with the handoff as it is then.", r.Ordinal, why)
}

// notTheSame ends a run whose agent could not be reached as it was planned: the
// handoff that the person insists on does not fit any more. No agent was told
// anything.
func (d *Decider) notTheSame(r *Run, now string) {
	err := baton.Errorf(baton.CodeConflict, "the handoff of run %d is not the one that was seen", r.Ordinal).
		WithDetail("the former plan could not be carried out, and %s; no agent was told anything, and the message is kept in the thread", now).
		WithHint("look at `baton handoff preview` again, then send the message with the new digest")
	d.notice(r, err.Code, "%s: %s. %s.", err.Title, err.Detail, err.Hint)
	d.finish(r, baton.RunCancelled, err)
}
