package journal

import "baton"

func (p *projection) session(data baton.EventData) {
	at := p.event.At
	switch d := data.(type) {
	case baton.EventSessionOpened:
		f := patch{"provider": d.Provider, "driver": d.Driver, "provider_thread_id": d.ProviderThread, "generation": d.Generation,
			"status": baton.SessionStarting, "dir": d.Dir}
		put(f, "settings", d.Settings)
		put(f, "trusted", d.Trusted)
		f.stamp("opened_at", at)
		p.create(KindSession, string(d.Session), "", p.version(), f)
	case baton.EventSessionReady:
		f := patch{"status": baton.SessionReady}
		put(f, "agent_version", d.AgentVersion)
		putList(f, "demoted", d.Demoted)
		f.stamp("ready_at", at)
		p.change(KindSession, string(d.Session), f)
	case baton.EventSessionStopping:
		f := patch{"stopping": patch{"reason": d.Reason, "status": d.Status}}
		p.change(KindSession, string(d.Session), f)
	case baton.EventSessionEnded:
		f := patch{"status": d.Status, "reason": d.Reason, "stopping": nil, "detached": nil}
		putList(f, "left_over", d.LeftOver)
		f.stamp("ended_at", at)
		p.change(KindSession, string(d.Session), f)
	case baton.EventDetachedChanged:
		f := patch{"detached": nil}
		putList(f, "detached", d.Names)
		p.change(KindSession, string(d.Session), f)
	}
}

func (p *projection) providerThread(data baton.EventData) {
	at := p.event.At
	switch d := data.(type) {
	case baton.EventProviderThreadCreated:
		f := patch{"provider": d.Provider, "driver": d.Driver, "origin": d.Origin, "status": baton.ProviderThreadNotLoaded, "divergent": false,
			"native": baton.Intervals{}, "handed_over": baton.Intervals{}, "handoff_ids": []baton.HandoffID{}}
		f.stamp("created_at", at)
		p.create(KindProviderThread, string(d.ProviderThread), "", p.version(), f)
	case baton.EventProviderThreadBound:
		f := patch{"native_id": nil, "native_strength": nil}
		put(f, "native_id", d.Native.ID)
		put(f, "native_strength", d.Native.Strength)
		p.change(KindProviderThread, string(d.ProviderThread), f)
	case baton.EventProviderThreadChanged:
		f := patch{"status": d.Status, "reason": nil}
		put(f, "reason", d.Reason)
		p.change(KindProviderThread, string(d.ProviderThread), f)
	case baton.EventProviderThreadDiverged:
		p.change(KindProviderThread, string(d.ProviderThread), patch{"divergent": true, "divergent_reason": d.Reason})
	case baton.EventCoverageChanged:
		f := patch{"native": d.Native, "handed_over": d.HandedOver, "handoff_ids": append([]baton.HandoffID{}, d.Handoffs...),
			"first_run_ordinal": nil, "last_run_ordinal": nil, "chain": d.Chain}
		put(f, "first_run_ordinal", d.Native.First())
		put(f, "last_run_ordinal", d.Native.Last())
		p.change(KindProviderThread, string(d.ProviderThread), f)
	}
}

func (p *projection) turn(data baton.EventData) {
	switch d := data.(type) {
	case baton.EventTurnStarted:
		f := patch{"provider_thread_id": d.ProviderThread, "session_id": d.Session, "status": baton.TurnRunning}
		put(f, "native_id", d.Native.ID)
		put(f, "native_strength", d.Native.Strength)
		f.stamp("started_at", p.event.At)
		p.create(KindTurn, string(d.Turn), d.Run, p.version(), f)
	case baton.EventTurnEnded:
		f := patch{"status": d.Status}
		put(f, "error", d.Err)
		put(f, "usage", d.Usage)
		put(f, "native_head", d.Head)
		f.stamp("ended_at", p.event.At)
		p.change(KindTurn, string(d.Turn), f)
	}
}
