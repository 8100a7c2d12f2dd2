package journal

import "baton"

func (p *projection) delivery(data baton.EventData) {
	switch d := data.(type) {
	case baton.EventDeliveryOffered:
		f := patch{"kind": d.Kind, "state": baton.DeliveryOffered, "session_id": d.Session, "provider_thread_id": d.ProviderThread}
		put(f, "attempt_id", d.Attempt)
		put(f, "message_id", d.Message)
		put(f, "handoff_id", d.Handoff)
		put(f, "request_id", d.Request)
		put(f, "mode", d.Mode)
		f.stamp("offered_at", p.event.At)
		p.create(KindDelivery, string(d.Delivery), d.Run, p.version(), f)
		if d.Handoff != "" {
			// The state is the delivery's own document's; see Project.
			link := patch{"id": d.Delivery}
			put(link, "mode", d.Mode)
			f := patch{"delivery": link}
			f.stamp("updated_at", p.event.At)
			p.change(KindHandoff, string(d.Handoff), f)
			if d.Run != "" { // in the order in which they are given
				p.change(KindRun, string(d.Run), patch{"handoffs": patch{string(d.Handoff): p.version()}})
			}
		}
	case baton.EventDeliveryChanged:
		f := patch{"state": d.Status}
		put(f, "evidence", d.Evidence)
		put(f, "error", d.Err)
		put(f, "consumed_by_run_id", d.Run)
		f.stamp("updated_at", p.event.At)
		p.change(KindDelivery, string(d.Delivery), f)
	}
}

func (p *projection) transfer(data baton.EventData) {
	switch d := data.(type) {
	case baton.EventTransferCreated:
		source := patch{"thread_id": p.event.Thread}
		put(source, "run_id", d.FromRun)
		put(source, "provider_thread_id", d.From)
		f := patch{"type": d.Type, "status": baton.TransferPending, "source": source,
			"target": patch{"thread_id": p.event.Thread, "run_id": d.TargetRun}}
		f.stamp("created_at", p.event.At)
		p.create(KindTransfer, string(d.Transfer), d.TargetRun, p.version(), f)
	case baton.EventTransferChanged:
		f := patch{"status": d.Status}
		put(f, "handoff_id", d.Handoff)
		resolution := patch{}
		put(resolution, "strategy", d.Resolution)
		put(resolution, "fidelity", d.Fidelity)
		putList(resolution, "reasons", d.Reasons)
		if len(resolution) > 0 {
			f["resolution"] = resolution
		}
		f.stamp("updated_at", p.event.At)
		p.change(KindTransfer, string(d.Transfer), f)
	}
}

func (p *projection) handoff(data baton.EventData) {
	at := p.event.At
	switch d := data.(type) {
	case baton.EventHandoffRequested:
		f := patch{"transfer_id": d.Transfer, "source_thread_id": p.event.Thread, "strategy": d.Strategy, "status": baton.HandoffPending,
			"from_provider_thread_ids": append([]baton.ProviderThreadID{}, d.From...), "to_provider_thread_id": d.To, "covered": d.Covered}
		if !d.Covered.Empty() {
			f["covered_runs"] = patch{"from": d.Covered.First(), "to": d.Covered.Last()}
		}
		put(f, "supersedes", d.Supersedes)
		f.stamp("created_at", at)
		f.stamp("updated_at", at)
		p.create(KindHandoff, string(d.Handoff), d.Run, p.version(), f)
		if d.Run != "" {
			p.change(KindRun, string(d.Run), patch{"handoff_id": d.Handoff})
		}
	case baton.EventHandoffAssigned:
		f := patch{"run_id": nil}
		put(f, "run_id", d.Run)
		f.stamp("updated_at", at)
		p.change(KindHandoff, string(d.Handoff), f)
	case baton.EventHandoffReady:
		f := patch{"status": baton.HandoffReady, "text": d.Text, "digest": d.Digest, "estimated_tokens": d.Tokens,
			"omitted": d.Omitted, "redactions": d.Redactions, "created_by_provider": d.CreatedBy}
		put(f, "edited_from", d.EditedFrom)
		if len(d.Document) > 0 {
			f["document"] = d.Document
		}
		f.stamp("updated_at", at)
		p.change(KindHandoff, string(d.Handoff), f)
	case baton.EventHandoffChanged:
		f := patch{"status": d.Status}
		put(f, "error", d.Err)
		f.stamp("updated_at", at)
		p.change(KindHandoff, string(d.Handoff), f)
	}
}
