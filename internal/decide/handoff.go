package decide

import (
	"slices"

	"baton"
	"baton/internal/handoff"
)

// requestHandoff records why context has to move and asks for the document, or
// takes the one that was made with the plan.
func (d *Decider) requestHandoff(r *Run, w wish, plan handoff.Plan, source *ProviderThread, target baton.ProviderThreadID, hid baton.HandoffID) {
	kind, from := baton.TransferProviderHandoff, baton.ProviderThreadID("")
	if source != nil {
		from = source.ID
		if source.Provider == r.Provider {
			kind = baton.TransferRecovery
		}
	}
	strategy := plan.Strategy
	if r.Edited != "" {
		strategy = baton.StrategyManual
	}
	transfer := newID[baton.TransferID](d, baton.PrefixTransfer)
	d.emit(baton.EventTransferCreated{Transfer: transfer, Type: kind, From: from, TargetRun: r.ID})
	d.emit(baton.EventHandoffRequested{Handoff: hid, Transfer: transfer, Run: r.ID, Strategy: strategy, From: d.sources(target, plan.Covered),
		To: target, Covered: plan.Covered})
	d.emit(baton.EventTransferChanged{Transfer: transfer, Status: baton.TransferResolvedPortable, Resolution: "portable", Fidelity: "lower",
		Reasons: append(slices.Clone(plan.Reasons), plan.Rejected...), Handoff: hid})
	if p, ok := d.prepared[r.ID]; ok && r.Attempts == 1 {
		p.Handoff = hid
		d.handoffBuilt(p)
		return
	}
	build := d.S.build(d.env, w, plan)
	build.Handoff, build.Run, build.To = hid, r.ID, target
	d.effect(baton.LaneWork, "", build)
}

// sources are the provider threads that did the covered runs, but for the target.
func (d *Decider) sources(target baton.ProviderThreadID, covered baton.Intervals) (ids []baton.ProviderThreadID) {
	for _, p := range d.S.ProviderThreads {
		if p.ID != target && !p.Covered.Minus(p.Covered.Minus(covered)).Empty() {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// resolveNatively records a switch back to a conversation that misses nothing.
func (d *Decider) resolveNatively(r *Run, plan handoff.Plan, from baton.ProviderThreadID) {
	transfer := newID[baton.TransferID](d, baton.PrefixTransfer)
	d.emit(baton.EventTransferCreated{Transfer: transfer, Type: baton.TransferProviderHandoff, From: from, TargetRun: r.ID})
	d.emit(baton.EventTransferChanged{Transfer: transfer, Status: baton.TransferResolvedNative, Resolution: "native_resume", Fidelity: "native",
		Reasons: append(slices.Clone(plan.Reasons), plan.Rejected...)})
}

// handoffBuilt takes the finished document. One whose run has been planned anew
// meanwhile is superseded already and ignored.
func (d *Decider) handoffBuilt(f baton.FactHandoffBuilt) {
	if r := d.comparing(f.Handoff); r != nil {
		d.compared(r, f)
		return
	}
	h := d.S.handoff(f.Handoff)
	if h == nil || h.Status != baton.HandoffPending {
		return
	}
	r := d.S.run(h.Run)
	if r != nil && !h.Draft && d.squeezedOut(r, h.To, f) { // a draft is for that very conversation
		d.again(r, baton.AttemptProviderRecovery)
		return
	}
	ready := baton.EventHandoffReady{Handoff: h.ID, Document: f.Document, Text: f.Text, Digest: f.Digest, Tokens: f.Tokens,
		Omitted: f.Omitted, Redactions: f.Redactions, CreatedBy: "local"}
	if r != nil && r.Digest != "" && f.Digest != r.Digest && !h.Draft {
		d.notTheSame(r, "its digest is "+f.Digest+" now")
		return
	}
	if r != nil && r.Edited != "" && !h.Draft {
		e := handoff.Edit(r.Edited)
		ready.Text, ready.Digest, ready.Tokens, ready.Redactions, ready.CreatedBy = e.Text, e.Digest, e.Tokens, e.Redactions, "person"
		if !h.Covered.Empty() {
			ready.EditedFrom = f.Digest
		}
	}
	d.emit(ready)
	if r != nil { // a draft is shown with the run that takes it
		d.showHandoff(r, h)
	}
}

func (d *Decider) showHandoff(r *Run, h *Handoff) {
	d.add(r, baton.ItemHandoff, baton.ItemBody{HandoffID: h.ID, TransferID: h.Transfer, Title: string(h.Strategy)})
}

// squeezedOut: a document that had to cut what matters most to fit into an
// existing conversation marks that one, and the run is planned anew.
func (d *Decider) squeezedOut(r *Run, into baton.ProviderThreadID, f baton.FactHandoffBuilt) bool {
	p := d.S.providerThread(into)
	if !f.Squeezed || p == nil || p.Native.ID == "" || slices.Contains(r.Squeezed, into) {
		return false
	}
	d.emit(baton.EventHandoffSqueezed{Run: r.ID, ProviderThread: into})
	return true
}

// handoffFailed ends the run before anything was sent: no agent works without
// the context that it was to have.
func (d *Decider) handoffFailed(f baton.FactHandoffFailed) {
	if r := d.comparing(f.Handoff); r != nil {
		d.emit(baton.EventHandoffCompared{Run: r.ID})
		d.hold(r, f.Err.Error())
		return
	}
	h := d.S.handoff(f.Handoff)
	if h == nil || h.Status != baton.HandoffPending {
		return
	}
	r := d.S.run(h.Run)
	d.emit(baton.EventHandoffChanged{Handoff: h.ID, Status: baton.HandoffFailed, Err: f.Err})
	if t := d.S.transfer(h.Transfer); t != nil {
		d.emit(baton.EventTransferChanged{Transfer: t.ID, Status: baton.TransferFailed})
	}
	if r != nil {
		d.finish(r, baton.RunFailed, f.Err)
	}
}

// supersedeHandoffs drops what was made for an attempt that is planned anew. A
// draft waits for the next run.
func (d *Decider) supersedeHandoffs(r *Run) {
	for _, h := range slices.Clone(d.S.Handoffs) {
		switch {
		case h.Run != r.ID:
		case h.Draft:
			d.emit(baton.EventHandoffAssigned{Handoff: h.ID})
		default:
			d.emit(baton.EventHandoffChanged{Handoff: h.ID, Status: baton.HandoffSuperseded})
		}
	}
	for _, t := range slices.Clone(d.S.Transfers) {
		if t.Run == r.ID {
			d.emit(baton.EventTransferChanged{Transfer: t.ID, Status: baton.TransferSuperseded})
		}
	}
}
