package decide

import (
	"fmt"
	"slices"

	"baton"
)

// Violation is a transition that the tables of package baton do not allow. It
// is a fault of a decision, never of a person's input.
type Violation struct {
	Event, ID, From, To string
}

func (v *Violation) Error() string {
	return fmt.Sprintf("illegal transition: %s of %s from %q to %q", v.Event, v.ID, v.From, v.To)
}

// Apply folds one event into the state. It fails with a *Violation, and the
// state is then of no further use, where the event breaks a table or names
// something that is not open. An event of a newer version only advances the
// cursor.
func (s *State) Apply(e baton.Event) error {
	s.Version = e.Version
	if s.ID == "" {
		s.ID = e.Thread
	}
	switch d := e.Data.(type) {
	case baton.EventThreadCreated, baton.EventThreadTitled, baton.EventThreadStateChanged, baton.EventQueueHeld, baton.EventQueueResumed, baton.EventStopRequested:
		return s.applyThread(d)
	case baton.EventMessageAccepted, baton.EventRunQueued, baton.EventRunWaiting, baton.EventRunStarting, baton.EventRunRunning,
		baton.EventInterruptRequested, baton.EventRunFinalizing, baton.EventRunEnded:
		return s.applyRun(d)
	case baton.EventAttemptCreated, baton.EventAttemptRunning, baton.EventAttemptEnded:
		return s.applyAttempt(d)
	case baton.EventSessionOpened, baton.EventSessionReady, baton.EventSessionStopping, baton.EventSessionEnded, baton.EventDetachedChanged,
		baton.EventTurnStarted, baton.EventTurnEnded:
		return s.applySession(e, d)
	case baton.EventProviderThreadCreated, baton.EventProviderThreadBound, baton.EventProviderThreadChanged,
		baton.EventProviderThreadDiverged, baton.EventCoverageChanged:
		return s.applyProviderThread(d)
	case baton.EventDeliveryOffered, baton.EventDeliveryChanged, baton.EventTransferCreated, baton.EventTransferChanged,
		baton.EventHandoffRequested, baton.EventHandoffReady, baton.EventHandoffChanged, baton.EventHandoffAssigned:
		return s.applyContext(d)
	case baton.EventHandoffSqueezed, baton.EventHandoffCompareAsked, baton.EventHandoffCompared:
		return s.applyCompare(d)
	case baton.EventItemOpened, baton.EventItemReset, baton.EventItemUpdated, baton.EventItemClosed,
		baton.EventRequestOpened, baton.EventRequestResolved, baton.EventRequestExpired:
		return s.applyTimeline(d)
	}
	return nil
}

// move checks one transition against its table and returns the new state.
func move[S ~string](table baton.Transitions[S], e baton.EventData, id string, from, to S) (S, error) {
	if !table.May(from, to) {
		return from, &Violation{Event: e.EventType(), ID: id, From: string(from), To: string(to)}
	}
	return to, nil
}

// missing reports an event about something that is not open.
func missing(e baton.EventData, id string) error {
	return &Violation{Event: e.EventType(), ID: id, From: "not open"}
}

func remove[T any](list []*T, gone *T) []*T {
	return slices.DeleteFunc(list, func(x *T) bool { return x == gone })
}

func (s *State) applyThread(data baton.EventData) (err error) {
	switch d := data.(type) {
	case baton.EventThreadCreated:
		s.Status, err = move(baton.ThreadTransitions, d, string(s.ID), s.Status, baton.ThreadActive)
		s.Title, s.Dir, s.Provider, s.Settings = d.Title, d.Dir, d.Provider, d.Settings
	case baton.EventThreadTitled:
		s.Title = d.Title
	case baton.EventThreadStateChanged:
		from := s.Status
		if s.Status, err = move(baton.ThreadTransitions, d, string(s.ID), from, d.State); err == nil {
			s.Before = ""
			if d.State == baton.ThreadDeleted {
				s.Before = from
			}
		}
	case baton.EventQueueHeld:
		s.QueueHeld = true
		s.holdWaiting()
	case baton.EventQueueResumed:
		s.QueueHeld = false
		for _, r := range s.Runs { // a person goes on: with the handoff as it is now
			if r.Differs {
				r.Digest, r.Differs = "", false
			}
		}
	case baton.EventStopRequested:
		s.StopEpoch = d.StopEpoch
		s.holdWaiting()
	}
	return err
}

// holdWaiting makes runs that wait for another agent's work wait for a person.
func (s *State) holdWaiting() {
	for _, r := range s.Runs {
		r.Waits = ""
	}
}

func (s *State) applyRun(data baton.EventData) error {
	switch d := data.(type) {
	case baton.EventRunQueued:
		if s.run(d.Run) != nil || d.Ordinal <= s.Ordinal {
			return missing(d, string(d.Run))
		}
		s.Ordinal = d.Ordinal
		s.Runs = append(s.Runs, &Run{ID: d.Run, Ordinal: d.Ordinal, Trigger: d.Trigger, Message: d.Message,
			Provider: d.Provider, Settings: d.Settings, Status: baton.RunQueued, Clean: d.Clean, Digest: d.HandoffDigest, Edited: d.HandoffText})
		return nil
	}
	var id baton.RunID
	var to baton.RunStatus
	switch d := data.(type) {
	case baton.EventMessageAccepted:
		id = d.Run
	case baton.EventRunWaiting:
		id = d.Run
	case baton.EventRunStarting:
		id, to = d.Run, baton.RunStarting
	case baton.EventRunRunning:
		id, to = d.Run, baton.RunRunning
	case baton.EventInterruptRequested:
		id = d.Run
	case baton.EventRunFinalizing:
		id, to = d.Run, baton.RunFinalizing
	case baton.EventRunEnded:
		id, to = d.Run, d.Status
	}
	r := s.run(id)
	if r == nil {
		return missing(data, string(id))
	}
	if to != "" {
		var err error
		if r.Status, err = move(baton.RunTransitions, data, string(id), r.Status, to); err != nil {
			return err
		}
	}
	switch d := data.(type) {
	case baton.EventMessageAccepted:
		r.Text, r.Author = d.Text, d.Author
	case baton.EventRunWaiting:
		r.Waits = d.Reason
	case baton.EventRunStarting:
		r.Waits, r.Compare = "", ""
		s.Last.Run, s.Last.Provider, s.Last.Settings = r.ID, r.Provider, r.Settings
	case baton.EventInterruptRequested:
		r.Stage, r.Deadline = d.Stage, d.Deadline
	case baton.EventRunFinalizing:
		r.Outcome, r.Err, r.AbsorbedBy = d.Outcome, d.Err, d.AbsorbedBy
	case baton.EventRunEnded:
		if d.Status != r.Outcome {
			return &Violation{Event: d.EventType(), ID: string(id), From: string(r.Outcome), To: string(d.Status)}
		}
		if d.Status != baton.RunCancelled {
			s.Surviving = s.Surviving.Add(r.Ordinal, r.Ordinal)
		}
		s.Runs = remove(s.Runs, r)
		s.Deliveries = slices.DeleteFunc(s.Deliveries, func(x *Delivery) bool { return x.Run == r.ID && x.Kind != baton.DeliverAnswer })
	}
	return nil
}

func (s *State) applyAttempt(data baton.EventData) error {
	switch d := data.(type) {
	case baton.EventAttemptCreated:
		r := s.run(d.Run)
		if r == nil || r.Attempt != nil && !baton.AttemptTransitions.Ended(r.Attempt.Status) {
			return missing(d, string(d.Attempt))
		}
		r.Attempts++
		r.Handoffs = nil
		r.Attempt = &Attempt{ID: d.Attempt, RootNode: d.RootNode, ProviderThread: d.ProviderThread, Status: baton.AttemptPending}
		s.Last.ProviderThread = d.ProviderThread
		return nil
	case baton.EventAttemptRunning:
		return s.moveAttempt(d, d.Attempt, baton.AttemptRunning, d.Turn)
	case baton.EventAttemptEnded:
		return s.moveAttempt(d, d.Attempt, d.Status, "")
	}
	return nil
}

func (s *State) moveAttempt(e baton.EventData, id baton.AttemptID, to baton.AttemptStatus, turn baton.ProviderTurnID) (err error) {
	r := find(s.Runs, func(r *Run) bool { return r.Attempt != nil && r.Attempt.ID == id })
	if r == nil {
		return missing(e, string(id))
	}
	if turn != "" {
		r.Attempt.Turn = turn
	}
	r.Attempt.Status, err = move(baton.AttemptTransitions, e, string(id), r.Attempt.Status, to)
	return err
}

func (s *State) applyTimeline(data baton.EventData) error {
	switch d := data.(type) {
	case baton.EventItemOpened:
		if d.Position <= s.Position {
			return missing(d, string(d.Item))
		}
		s.Position = d.Position
		if d.Open {
			s.Items = append(s.Items, &OpenItem{ID: d.Item, Key: d.Key, Session: d.Session, Run: d.Run, Node: d.Node, Kind: d.Kind, Position: d.Position})
		}
	case baton.EventItemReset:
		it := s.item(d.Item)
		if it == nil {
			return missing(d, string(d.Item))
		}
		it.Revision = d.Revision
	case baton.EventItemUpdated:
		it := s.item(d.Item)
		if it == nil {
			return missing(d, string(d.Item))
		}
		it.Detached = it.Detached || d.Body.Status == baton.NodeDetached
	case baton.EventItemClosed:
		it := s.item(d.Item)
		if it == nil {
			return missing(d, string(d.Item))
		}
		if it.Kind == baton.ItemAssistantMessage {
			if r := s.run(it.Run); r != nil && d.Body.Text != "" {
				r.Answer = it.ID
			}
		}
		s.Items = remove(s.Items, it)
	case baton.EventRequestOpened:
		s.Requests = append(s.Requests, &Request{ID: d.Request, Key: d.Key, Session: d.Session, Run: d.Run, Node: d.Node, Item: d.Item,
			Kind: d.Kind, Options: d.Options, Questions: d.Questions})
	case baton.EventRequestResolved:
		return s.closeRequest(d, d.Request, baton.RequestResolved)
	case baton.EventRequestExpired:
		return s.closeRequest(d, d.Request, d.Status)
	}
	return nil
}

func (s *State) closeRequest(e baton.EventData, id baton.RequestID, to baton.RequestStatus) error {
	r := s.request(id)
	if r == nil {
		return missing(e, string(id))
	}
	if _, err := move(baton.RequestTransitions, e, string(id), baton.RequestPending, to); err != nil {
		return err
	}
	s.Requests = remove(s.Requests, r)
	return nil
}
