package journal

import "baton"

func (p *projection) item(data baton.EventData) {
	at := p.event.At
	switch d := data.(type) {
	case baton.EventItemOpened:
		f := patch{"kind": d.Kind, "position": d.Position, "revision": 0, "open": d.Open, "body": d.Body}
		put(f, "node_id", d.Node)
		f.stamp("created_at", at)
		p.create(KindItem, string(d.Item), d.Run, int64(d.Position), f)
		p.openNode(d)
	case baton.EventItemReset:
		p.change(KindItem, string(d.Item), patch{"revision": d.Revision, "body": patch{"text": nil, "output": nil, "cut": nil}})
	case baton.EventItemUpdated:
		p.change(KindItem, string(d.Item), patch{"body": d.Body})
	case baton.EventItemClosed:
		f := patch{"open": false, "body": d.Body}
		f.stamp("closed_at", at)
		p.change(KindItem, string(d.Item), f)
		if d.Node != "" {
			n := patch{"status": d.Status}
			put(n, "title", d.Body.Title)
			n.stamp("ended_at", at)
			p.change(KindNode, string(d.Node), n)
		}
	}
}

// openNode makes the node of an item that has one of its own. Other items name
// the node that they are shown under.
func (p *projection) openNode(d baton.EventItemOpened) {
	kind := d.Kind.Node()
	if kind == "" || d.Node == "" {
		return
	}
	status := baton.NodeRunning
	switch {
	case d.Body.Status != "":
		status = d.Body.Status
	case !d.Open:
		status = baton.NodeCompleted
	}
	f := patch{"kind": kind, "status": status, "counts_for_run": false, "item_id": d.Item}
	put(f, "parent_id", d.Parent)
	put(f, "attempt_id", d.Attempt)
	put(f, "title", d.Body.Title)
	put(f, "request_id", d.Body.RequestID)
	f.stamp("started_at", p.event.At)
	if !d.Open {
		f.stamp("ended_at", p.event.At)
	}
	p.create(KindNode, string(d.Node), d.Run, p.version(), f)
}

func (p *projection) request(data baton.EventData) {
	at := p.event.At
	switch d := data.(type) {
	case baton.EventRequestOpened:
		f := patch{"session_id": d.Session, "kind": d.Kind, "status": baton.RequestPending, "response": baton.AnswerLive, "title": d.Title}
		put(f, "node_id", d.Node)
		put(f, "item_id", d.Item)
		put(f, "detail", d.Detail)
		putList(f, "options", d.Options)
		putList(f, "questions", d.Questions)
		f.stamp("created_at", at)
		p.create(KindRequest, string(d.Request), d.Run, p.version(), f)
		if d.Node != "" {
			p.change(KindNode, string(d.Node), patch{"request_id": d.Request})
		}
		brief := patch{"kind": d.Kind, "title": d.Title}
		put(brief, "run_id", d.Run)
		p.touch(false, patch{"pending_requests": patch{string(d.Request): brief}})
	case baton.EventRequestResolved:
		f := patch{"status": baton.RequestResolved, "response": nil, "answered_by": d.By}
		put(f, "decision", d.Decision)
		put(f, "reason", d.Reason)
		if len(d.Answers) > 0 {
			f["answers"] = d.Answers
		}
		p.endRequest(d.Request, f)
	case baton.EventRequestExpired:
		f := patch{"status": d.Status, "response": d.Response}
		put(f, "reason", d.Reason)
		p.endRequest(d.Request, f)
	}
}

func (p *projection) endRequest(id baton.RequestID, f patch) {
	f.stamp("ended_at", p.event.At)
	p.change(KindRequest, string(id), f)
	p.touch(false, patch{"pending_requests": patch{string(id): nil}})
}
