package decide

import (
	"slices"

	"baton"
	"baton/internal/handoff"
)

// regenerate makes a handoff again. One that waits is superseded; of one that
// was used a draft is made, which the next run into the same provider thread
// brings along: what was sent stays as evidence of what the agent was told.
func (d *Decider) regenerate(data baton.CommandRegenerateHandoff) (baton.Reply, error) {
	if data.Source != "" && data.Source != "local" {
		return baton.Reply{}, baton.Errorf(baton.CodeUnsupported, "handoffs written by %s are not built yet", data.Source).
			WithDetail("nothing was changed").WithHint("leave the source out: Baton writes it itself")
	}
	if h := d.S.handoff(data.Handoff); h != nil {
		return d.replace(h)
	}
	p := (*ProviderThread)(nil)
	if data.Used != nil {
		p = d.S.providerThread(data.Used.To)
	}
	if p == nil || !slices.Contains(p.Handoffs, data.Handoff) {
		return baton.Reply{}, baton.Errorf(baton.CodeConflict, "the handoff %s waits for no run and was not used", data.Handoff).
			WithDetail("nothing was changed").WithHint("`baton handoff list` shows those that are ready or used")
	}
	if p.Divergent || p.Status == baton.ProviderThreadError || p.Status == baton.ProviderThreadClosed || p.Status == baton.ProviderThreadArchived {
		return baton.Reply{}, baton.Errorf(baton.CodeConflict, "the conversation that took the handoff %s is not used any more", data.Handoff).
			WithDetail("nothing was changed").WithHint("the next run on %s gets a whole handoff anyway", p.Provider)
	}
	return baton.Reply{Handoff: d.draft("", p, data.Used.Covered, baton.StrategyDelta, data.Handoff)}, nil
}

// replace supersedes a handoff that no agent has been given.
func (d *Decider) replace(h *Handoff) (baton.Reply, error) {
	if find(d.S.Deliveries, func(v *Delivery) bool { return v.Handoff == h.ID }) != nil {
		return baton.Reply{}, baton.Errorf(baton.CodeConflict, "the handoff %s is on its way to the agent", h.ID).
			WithDetail("nothing was changed").WithHint("once it is used, make it again for the next run")
	}
	p, run := d.S.providerThread(h.To), h.Run
	covered, strategy, draft, old := h.Covered, h.Strategy, h.Draft, h.ID
	d.emit(baton.EventHandoffChanged{Handoff: old, Status: baton.HandoffSuperseded})
	if t := d.S.transfer(h.Transfer); t != nil {
		d.emit(baton.EventTransferChanged{Transfer: t.ID, Status: baton.TransferSuperseded})
	}
	if draft {
		run = ""
	}
	return baton.Reply{Handoff: d.draft(run, p, covered, strategy, old)}, nil
}

// draft asks for a document of the covered runs for a provider thread: of a run
// that waits for it, or for the next run.
func (d *Decider) draft(run baton.RunID, p *ProviderThread, covered baton.Intervals, strategy baton.Strategy, old baton.HandoffID) baton.HandoffID {
	id := newID[baton.HandoffID](d, baton.PrefixHandoff)
	transfer := newID[baton.TransferID](d, baton.PrefixTransfer)
	d.emit(baton.EventTransferCreated{Transfer: transfer, Type: baton.TransferProviderHandoff, From: d.S.Last.ProviderThread, TargetRun: run})
	d.emit(baton.EventHandoffRequested{Handoff: id, Transfer: transfer, Run: run, Strategy: strategy, From: d.sources(p.ID, covered), To: p.ID,
		Covered: covered, Supersedes: old})
	d.emit(baton.EventTransferChanged{Transfer: transfer, Status: baton.TransferResolvedPortable, Resolution: "portable", Fidelity: "lower", Handoff: id,
		Reasons: []baton.Reason{{Signal: handoff.SignalRegenerated, Value: string(old), Decisive: true, ProviderThread: p.ID}}})
	w := wish{provider: Provider{Name: p.Provider}}
	if r := d.S.run(run); r != nil {
		if of, err := d.wishOf(r); err == nil {
			w = of
		}
	} else if provider, err := d.env.Provider(p.Provider); err == nil {
		w.provider = provider
	}
	build := d.S.build(d.env, w, handoff.Plan{Strategy: strategy, Covered: covered, Missing: covered, ProviderThread: p.ID})
	build.Handoff, build.Run = id, run
	d.effect(baton.LaneWork, "", build)
	return id
}

// takeDrafts gives the drafts for a provider thread to the run that goes there.
func (d *Decider) takeDrafts(r *Run, target baton.ProviderThreadID) {
	for _, h := range slices.Clone(d.S.Handoffs) {
		if h.Draft && h.Run == "" && h.To == target {
			d.emit(baton.EventHandoffAssigned{Handoff: h.ID, Run: r.ID})
			if h.Status == baton.HandoffReady {
				d.showHandoff(r, h)
			}
		}
	}
}

// dropDrafts supersedes the drafts for a provider thread that is given up.
func (d *Decider) dropDrafts(gone baton.ProviderThreadID) {
	for _, h := range slices.Clone(d.S.Handoffs) {
		if h.Draft && h.To == gone {
			d.emit(baton.EventHandoffChanged{Handoff: h.ID, Status: baton.HandoffSuperseded})
			if t := d.S.transfer(h.Transfer); t != nil {
				d.emit(baton.EventTransferChanged{Transfer: t.ID, Status: baton.TransferSuperseded})
			}
		}
	}
}
