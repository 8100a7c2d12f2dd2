package decide

import (
	"fmt"
	"slices"
	"strings"

	"baton"
)

// written: from here on the deliveries may have arrived.
func (d *Decider) written(f baton.FactWritten) {
	for _, id := range f.Deliveries {
		if v := d.S.delivery(id); v != nil && v.Status == baton.DeliveryOffered {
			d.emit(baton.EventDeliveryChanged{Delivery: id, Status: baton.DeliveryWritten})
			if v.Kind == baton.DeliverAnswer { // an answer is worth nothing beyond this process
				d.emit(baton.EventDeliveryChanged{Delivery: id, Status: baton.DeliveryAccepted})
			}
		}
	}
}

// accepted: the agent has the delivery durably; it is never sent again. This is
// the moment at which coverage grows.
func (d *Decider) accepted(id baton.DeliveryID, evidence string) {
	v := d.S.delivery(id)
	if v == nil || v.Status == baton.DeliveryAccepted {
		return
	}
	d.emit(baton.EventDeliveryChanged{Delivery: id, Status: baton.DeliveryAccepted, Evidence: evidence})
	p := d.S.providerThread(v.ProviderThread)
	if v.Kind == baton.DeliverAnswer || p == nil {
		return
	}
	native := baton.NativeRef{ID: v.NativeID, Strength: baton.Strong}
	if x := d.S.Session(v.Session); x != nil && x.Native.ID != "" {
		native = x.Native
	}
	if native.ID != "" && p.Native != native {
		d.emit(baton.EventProviderThreadBound{ProviderThread: p.ID, Native: native})
	}
	switch v.Kind {
	case baton.DeliverMessage:
		if r := d.S.run(v.Run); r != nil {
			d.cover(p, r.Ordinal, nil)
		}
		for _, t := range slices.Clone(d.S.Transfers) {
			if t.Run == v.Run && t.Status == baton.TransferResolvedNative {
				d.emit(baton.EventTransferChanged{Transfer: t.ID, Status: baton.TransferConsumed})
			}
		}
	case baton.DeliverHandoff:
		h := d.S.handoff(v.Handoff)
		if h == nil {
			return
		}
		d.cover(p, 0, h)
		d.emit(baton.EventHandoffChanged{Handoff: h.ID, Status: baton.HandoffUsed})
		if t := d.S.transfer(h.Transfer); t != nil {
			d.emit(baton.EventTransferChanged{Transfer: t.ID, Status: baton.TransferConsumed})
		}
	}
}

// cover adds a run that the provider thread knows natively, or what a handoff
// told it.
func (d *Decider) cover(p *ProviderThread, ordinal int, h *Handoff) {
	e := baton.EventCoverageChanged{ProviderThread: p.ID, Native: p.Covered, HandedOver: p.HandedOver, Handoffs: slices.Clone(p.Handoffs), Chain: p.Chain}
	if ordinal > 0 {
		e.Native = e.Native.Add(ordinal, ordinal)
	}
	if h != nil {
		e.HandedOver = e.HandedOver.Union(h.Covered.Minus(p.Covered))
		e.Handoffs = append(e.Handoffs, h.ID)
		e.Chain++
	}
	d.emit(e)
}

// consumed: a turn took the delivery. Where the turn belongs to another run,
// that run keeps it and the delivery's own run ends as absorbed.
func (d *Decider) consumed(x *Session, f baton.FactDeliveryConsumed) {
	v := d.S.delivery(f.Delivery)
	if v == nil || x.Turn == nil || x.Turn.Key != f.TurnKey {
		return
	}
	d.accepted(v.ID, "a turn of the agent took it")
	by := x.Turn.Run
	d.emit(baton.EventDeliveryChanged{Delivery: v.ID, Status: baton.DeliveryConsumed, Run: by})
	if v.Kind != baton.DeliverMessage {
		return
	}
	for _, other := range slices.Clone(d.S.Deliveries) {
		if other.Run == v.Run && other.Kind == baton.DeliverHandoff && other.Status == baton.DeliveryAccepted {
			d.emit(baton.EventDeliveryChanged{Delivery: other.ID, Status: baton.DeliveryConsumed, Run: by})
		}
	}
	r := d.S.run(v.Run)
	if r == nil || r.ID == by {
		return
	}
	d.emit(baton.EventRunFinalizing{Run: r.ID, Outcome: baton.RunCancelled, AbsorbedBy: by})
	if taker := d.S.run(by); taker != nil {
		d.notice(taker, "", "The message of run %d was taken into this turn by %s; it has no run of its own.", r.Ordinal, x.Provider)
	}
	d.finish(r, baton.RunCancelled, nil)
}

// dropped: the agent refused or withdrew the delivery. A refused message ends
// its run; nothing was done with it.
func (d *Decider) dropped(id baton.DeliveryID, err *baton.Error) {
	v := d.S.delivery(id)
	if v == nil || !baton.DeliveryTransitions.May(v.Status, baton.DeliveryDropped) {
		return
	}
	d.emit(baton.EventDeliveryChanged{Delivery: id, Status: baton.DeliveryDropped, Err: err})
	r := d.S.run(v.Run)
	if r == nil || v.Kind == baton.DeliverAnswer || r.Status == baton.RunFinalizing {
		return
	}
	if r.Attempt != nil && r.Attempt.Status == baton.AttemptPending {
		outcome := baton.RunFailed
		if r.Stage != "" {
			outcome, err = baton.RunInterrupted, nil
		}
		d.finish(r, outcome, err)
	}
}

// uncertain says whether evidence is still to come for a delivery of the run.
func (d *Decider) uncertain(r *Run) bool {
	return find(d.S.Deliveries, func(v *Delivery) bool { return v.Run == r.ID && v.Status == baton.DeliveryUncertain }) != nil
}

// seekEvidence settles what a dead session leaves open: what no byte of had
// left is dropped, what may have arrived is looked up where the agent keeps its
// conversations.
func (d *Decider) seekEvidence(x *Session) {
	for _, v := range slices.Clone(d.S.Deliveries) {
		if v.Session != x.ID {
			continue
		}
		switch {
		case v.Status == baton.DeliveryOffered, v.Status == baton.DeliveryWritten && v.Kind == baton.DeliverAnswer:
			d.emit(baton.EventDeliveryChanged{Delivery: v.ID, Status: baton.DeliveryDropped, Evidence: "the session ended before it was given"})
		case v.Status == baton.DeliveryWritten:
			d.emit(baton.EventDeliveryChanged{Delivery: v.ID, Status: baton.DeliveryUncertain})
			native := x.Native.ID
			if native == "" {
				native = x.Resume
			}
			if native == "" {
				native = x.NewID
			}
			d.effect(baton.LaneWork, "", baton.EffectFindEvidence{Delivery: v.ID, Provider: x.Provider, NativeID: native, Dir: x.Dir, New: x.Resume == ""})
		}
	}
}

// evidence resolves an uncertain delivery. Once all of a run are resolved, the
// run goes on or ends.
func (d *Decider) evidence(f baton.FactEvidence) {
	v := d.S.delivery(f.Delivery)
	if v == nil || v.Status != baton.DeliveryUncertain {
		return
	}
	switch f.Verdict {
	case baton.VerdictHas:
		d.accepted(v.ID, f.Detail)
	case baton.VerdictHasNot:
		d.emit(baton.EventDeliveryChanged{Delivery: v.ID, Status: baton.DeliveryDropped, Evidence: f.Detail})
	default:
		d.emit(baton.EventDeliveryChanged{Delivery: v.ID, Status: baton.DeliveryDropped, Evidence: f.Detail,
			Err: baton.Errorf(baton.CodeDeliveryUncertain, "whether the agent took it can't be proved")})
		if p := d.S.providerThread(v.ProviderThread); p != nil && !p.Divergent {
			d.emit(baton.EventProviderThreadDiverged{ProviderThread: p.ID, Reason: "a delivery to it can be neither proved nor excluded: " + f.Detail})
		}
	}
	if r := d.S.run(v.Run); r != nil && !d.uncertain(r) {
		d.goOn(r, "")
	}
}

// goOn decides about a run whose session is gone and whose deliveries are
// settled: one that its agent had accepted is interrupted; one that it never
// accepted is tried again, a bounded number of times; why is the reason of the
// last failure, if it is known.
func (d *Decider) goOn(r *Run, why string) {
	message := find(d.S.Deliveries, func(v *Delivery) bool { return v.Run == r.ID && v.Kind == baton.DeliverMessage })
	switch {
	case r.Status == baton.RunFinalizing: // its turn had begun
		d.finish(r, r.Outcome, r.Err)
	case message != nil && message.Status == baton.DeliveryAccepted:
		d.finish(r, baton.RunInterrupted, r.gone())
	case r.Stage != "" && d.S.providerThread(r.Attempt.ProviderThread).Divergent: // it may have reached the agent
		d.finish(r, baton.RunInterrupted, nil)
	case r.Stage != "":
		d.finish(r, baton.RunCancelled, nil)
	case r.Attempts > d.env.Policy.MaxRecoveries:
		d.finish(r, baton.RunFailed, baton.Errorf(baton.CodeStartFailed, "%s could not be started", r.Provider).
			WithDetail("%s", strings.TrimPrefix(fmt.Sprintf("%s; the message is kept in the thread, it was given up after %d attempts", why, r.Attempts), "; ")).
			WithHint("look at `baton doctor`, then send the message again"))
	default:
		d.again(r, baton.AttemptProviderRecovery)
	}
}

// again gives the run another attempt, unless a person has stopped it.
func (d *Decider) again(r *Run, reason baton.AttemptReason) {
	if r.Stage != "" {
		d.finish(r, baton.RunCancelled, nil)
		return
	}
	d.supersedeHandoffs(r)
	if !baton.AttemptTransitions.Ended(r.Attempt.Status) {
		d.emit(baton.EventAttemptEnded{Attempt: r.Attempt.ID, Status: baton.AttemptSuperseded})
	}
	d.attempt(r, reason)
}
