package main

import (
	"context"
	"encoding/json"
	"io"
	"net/url"

	"baton"
	"baton/internal/client"
	"baton/internal/httpapi"
)

// outcome is a run that has ended, or that waits for a person.
type outcome struct {
	httpapi.Run
	Requests []httpapi.Request `json:"requests,omitempty"`
	held     string            // why the thread's queue is held, where that is what it waits for
}

func (o outcome) waits() bool { return len(o.Requests) > 0 || o.held != "" }

// runEnded says whether a run's status is an end.
func runEnded(status string) bool {
	switch baton.RunStatus(status) {
	case baton.RunCompleted, baton.RunInterrupted, baton.RunFailed, baton.RunCancelled, baton.RunRolledBack:
		return true
	}
	return false
}

// await waits until a run has ended, or until it, or the one before it, waits
// for a person.
func await(ctx context.Context, c *client.Client, thread, run string) (outcome, error) {
	for {
		var t httpapi.Thread
		if err := c.Get(ctx, client.Path("threads", thread), url.Values{"runs": {"0"}}, &t); err != nil {
			return outcome{}, err
		}
		var out outcome
		if err := c.Get(ctx, client.Path("runs", run), nil, &out.Run); err != nil {
			return out, err
		}
		if runEnded(out.Status) {
			return out, nil
		}
		for _, q := range t.PendingRequests {
			var full httpapi.Request
			if err := c.Get(ctx, client.Path("requests", q.ID), nil, &full); err != nil {
				return out, err
			}
			out.Requests = append(out.Requests, full)
		}
		if t.QueueHeld && out.Status == string(baton.RunQueued) {
			out.held = t.QueueHeldReason
		}
		if out.waits() {
			return out, nil
		}
		// Anything that may have ended the waiting makes us look again.
		err := c.Stream(ctx, thread, t.Version, func(m client.Message) error {
			if m.Event == nil {
				return nil
			}
			switch m.Event.Type {
			case baton.EventRunEnded{}.EventType():
				var e baton.EventRunEnded
				if json.Unmarshal(m.Event.Data, &e) == nil && string(e.Run) == run {
					return io.EOF
				}
			case baton.EventRequestOpened{}.EventType(), baton.EventQueueHeld{}.EventType():
				return io.EOF
			}
			return nil
		})
		if err != nil {
			return outcome{}, err
		}
	}
}
