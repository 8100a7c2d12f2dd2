package journal

import "baton"

// The document of a thread carries, beside what the API shows, what a list
// needs without reading on:
//
//	open_runs         {run_id: {ordinal, status, provider}} of runs that have not ended;
//	                  the active one is the one that is not queued
//	pending_requests  {request_id: {run_id, kind, title}}
//	last_run          {id, ordinal, status, provider, ended_at} of the run that ended last, cancelled ones apart
//
// They are maps by id because a merge patch can add and remove a key without
// knowing the rest.
func (p *projection) touch(active bool, fields patch) {
	fields.stamp("updated_at", p.event.At)
	c := Change{Kind: KindThread, ID: string(p.event.Thread)}
	if active && !p.event.At.IsZero() {
		c.Position = p.event.At.UnixMicro()
	}
	p.add(c, fields)
}

func (p *projection) thread(data baton.EventData) {
	at := p.event.At
	switch d := data.(type) {
	case baton.EventThreadCreated:
		f := patch{"id": p.event.Thread, "state": baton.ThreadActive, "dir": d.Dir, "workspace_id": d.Workspace,
			"queue_held": false, "stop_epoch": 0}
		put(f, "title", d.Title)
		put(f, "project_id", d.Project)
		put(f, "provider", d.Provider)
		put(f, "settings", d.Settings)
		f.stamp("created_at", at)
		p.touch(true, f)
	case baton.EventThreadTitled:
		p.touch(false, patch{"title": d.Title})
	case baton.EventThreadStateChanged:
		p.touch(false, patch{"state": d.State})
	case baton.EventQueueHeld:
		p.touch(false, patch{"queue_held": true, "queue_held_reason": d.Reason})
	case baton.EventQueueResumed:
		p.touch(false, patch{"queue_held": false, "queue_held_reason": nil})
	case baton.EventStopRequested:
		p.touch(false, patch{"stop_epoch": d.StopEpoch})
	case baton.EventMessageAccepted:
		f := patch{"text": d.Text}
		put(f, "author", d.Author)
		f.stamp("created_at", at)
		p.create(KindMessage, string(d.Message), d.Run, p.version(), f)
		p.touch(true, patch{})
	}
}

func (p *projection) run(data baton.EventData) {
	at := p.event.At
	switch d := data.(type) {
	case baton.EventRunQueued:
		f := patch{"ordinal": d.Ordinal, "status": baton.RunQueued, "trigger": d.Trigger, "provider": d.Provider}
		put(f, "message_id", d.Message)
		put(f, "settings", d.Settings)
		put(f, "clean_context", d.Clean)
		put(f, "handoff_digest", d.HandoffDigest)
		f.stamp("created_at", at)
		f["id"], f["thread_id"] = d.Run, p.event.Thread
		p.add(Change{Kind: KindRun, ID: string(d.Run), Run: d.Run, Position: int64(d.Ordinal)}, f)
		// What a message that names no provider gets: the newest run's choice.
		p.touch(false, patch{"provider": d.Provider, "settings": replaceSettings(d.Settings),
			"open_runs": patch{string(d.Run): patch{"ordinal": d.Ordinal, "status": baton.RunQueued, "provider": d.Provider}}})
	case baton.EventRunWaiting:
		p.change(KindRun, string(d.Run), patch{"waits_for": d.Reason})
	case baton.EventRunStarting:
		f := patch{"waits_for": nil}
		f.stamp("started_at", at)
		p.runStatus(d.Run, baton.RunStarting, f)
	case baton.EventRunRunning:
		p.runStatus(d.Run, baton.RunRunning, patch{})
	case baton.EventInterruptRequested:
		stage := patch{"stage": d.Stage}
		stage.stamp("deadline", d.Deadline)
		stage.stamp("asked_at", at)
		p.change(KindRun, string(d.Run), patch{"interrupt": stage})
	case baton.EventRunFinalizing:
		f := patch{"outcome": d.Outcome}
		put(f, "error", d.Err)
		put(f, "absorbed_by_run_id", d.AbsorbedBy)
		p.runStatus(d.Run, baton.RunFinalizing, f)
	case baton.EventRunEnded:
		f := patch{"status": d.Status, "outcome": nil}
		put(f, "error", d.Err)
		put(f, "answer_item_id", d.Answer)
		put(f, "usage", d.Usage)
		f.stamp("ended_at", at)
		p.change(KindRun, string(d.Run), f)
		t := patch{"open_runs": patch{string(d.Run): nil}}
		if d.Status != baton.RunCancelled {
			last := patch{"id": d.Run, "status": d.Status, "ordinal": nil, "provider": nil}
			put(last, "ordinal", d.Ordinal)
			put(last, "provider", d.Provider)
			last.stamp("ended_at", at)
			t["last_run"] = last
		}
		p.touch(true, t)
	}
}

// runStatus changes a run that has not ended, in its document and its thread's.
func (p *projection) runStatus(id baton.RunID, status baton.RunStatus, f patch) {
	f["status"] = status
	p.change(KindRun, string(id), f)
	p.touch(false, patch{"open_runs": patch{string(id): patch{"status": status}}})
}

func replaceSettings(s baton.Settings) patch {
	p := patch{"model": nil, "effort": nil, "permission_mode": nil}
	put(p, "model", s.Model)
	put(p, "effort", s.Effort)
	put(p, "permission_mode", s.PermissionMode)
	return p
}

func (p *projection) attempt(data baton.EventData) {
	at := p.event.At
	switch d := data.(type) {
	case baton.EventAttemptCreated:
		// The newest attempt is the selected one until its end says otherwise.
		f := patch{"ordinal": d.Ordinal, "root_node_id": d.RootNode, "provider_thread_id": d.ProviderThread,
			"reason": d.Reason, "status": baton.AttemptPending, "selected": true}
		put(f, "strategy", d.Strategy)
		putList(f, "reasons", d.Reasons)
		putList(f, "rejected", d.Rejected)
		f.stamp("created_at", at)
		p.create(KindAttempt, string(d.Attempt), d.Run, p.version(), f)
		p.create(KindNode, string(d.RootNode), d.Run, p.version(), patch{"attempt_id": d.Attempt, "kind": baton.NodeRootTurn,
			"counts_for_run": true, "provider_thread_id": d.ProviderThread})
		p.change(KindRun, string(d.Run), patch{"provider_thread_id": d.ProviderThread, "handoff_id": nil, "handoffs": nil})
		p.touch(false, patch{"active_provider_thread_id": d.ProviderThread})
	case baton.EventAttemptRunning:
		f := patch{"status": baton.AttemptRunning, "provider_turn_id": d.Turn}
		f.stamp("started_at", at)
		p.change(KindAttempt, string(d.Attempt), f)
	case baton.EventAttemptEnded:
		f := patch{"status": d.Status, "selected": d.Selected}
		put(f, "error", d.Err)
		f.stamp("ended_at", at)
		p.change(KindAttempt, string(d.Attempt), f)
	}
}
