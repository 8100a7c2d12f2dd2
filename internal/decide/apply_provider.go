package decide

import (
	"cmp"
	"slices"
	"time"

	"baton"
)

func (s *State) applySession(e baton.Event, data baton.EventData) (err error) {
	switch d := data.(type) {
	case baton.EventSessionOpened:
		s.Generation = d.Generation
		s.Sessions = append(s.Sessions, &Session{ID: d.Session, Provider: d.Provider, Driver: d.Driver, ProviderThread: d.ProviderThread,
			Status: baton.SessionStarting, Generation: d.Generation, Resume: d.Resume, NewID: d.NewID, Dir: d.Dir, Settings: d.Settings,
			Trusted: d.Trusted, Deadline: d.Deadline})
		return nil
	case baton.EventTurnStarted:
		x := s.Session(d.Session)
		if x == nil || x.Turn != nil {
			return missing(d, string(d.Turn))
		}
		x.Turn, x.IdleSince = &Turn{ID: d.Turn, Key: d.Key, Run: d.Run}, zeroTime
		return nil
	case baton.EventTurnEnded:
		x := find(s.Sessions, func(x *Session) bool { return x.Turn != nil && x.Turn.ID == d.Turn })
		if x == nil {
			return missing(d, string(d.Turn))
		}
		if _, err := move(baton.TurnTransitions, d, string(d.Turn), baton.TurnRunning, d.Status); err != nil {
			return err
		}
		if r := s.run(x.Turn.Run); r != nil {
			r.Usage = r.Usage.Add(d.Usage)
		}
		if p := s.providerThread(x.ProviderThread); p != nil {
			p.Held, p.Window = cmp.Or(d.Usage.ContextTokens, p.Held), cmp.Or(d.Usage.ContextWindow, p.Window)
		}
		x.Turn, x.IdleSince = nil, e.At
		return nil
	}
	var id baton.SessionID
	var to baton.SessionStatus
	switch d := data.(type) {
	case baton.EventSessionReady:
		id, to = d.Session, baton.SessionReady
	case baton.EventSessionStopping:
		id = d.Session
	case baton.EventSessionEnded:
		id, to = d.Session, d.Status
	case baton.EventDetachedChanged:
		id = d.Session
	}
	x := s.Session(id)
	if x == nil {
		return missing(data, string(id))
	}
	if to != "" {
		if x.Status, err = move(baton.SessionTransitions, data, string(id), x.Status, to); err != nil {
			return err
		}
	}
	switch d := data.(type) {
	case baton.EventSessionReady:
		x.Native, x.IdleSince = d.Native, e.At
	case baton.EventSessionStopping:
		x.Stopping, x.EndsAs = d.Reason, d.Status
	case baton.EventSessionEnded:
		s.Sessions = remove(s.Sessions, x)
	case baton.EventDetachedChanged:
		x.Detached = d.Names
		if len(d.Names) == 0 {
			x.IdleSince = e.At
		}
	}
	return nil
}

func (s *State) applyProviderThread(data baton.EventData) (err error) {
	if d, ok := data.(baton.EventProviderThreadCreated); ok {
		s.ProviderThreads = append(s.ProviderThreads, &ProviderThread{ID: d.ProviderThread, Provider: d.Provider, Driver: d.Driver,
			Status: baton.ProviderThreadNotLoaded})
		return nil
	}
	var id baton.ProviderThreadID
	switch d := data.(type) {
	case baton.EventProviderThreadBound:
		id = d.ProviderThread
	case baton.EventProviderThreadChanged:
		id = d.ProviderThread
	case baton.EventProviderThreadDiverged:
		id = d.ProviderThread
	case baton.EventCoverageChanged:
		id = d.ProviderThread
	}
	p := s.providerThread(id)
	if p == nil {
		return missing(data, string(id))
	}
	switch d := data.(type) {
	case baton.EventProviderThreadBound:
		p.Native = d.Native
	case baton.EventProviderThreadChanged:
		p.Status, err = move(baton.ProviderThreadTransitions, d, string(id), p.Status, d.Status)
	case baton.EventProviderThreadDiverged:
		p.Divergent = true
	case baton.EventCoverageChanged:
		p.Covered, p.HandedOver, p.Handoffs, p.Chain = d.Native, d.HandedOver, d.Handoffs, d.Chain
	}
	return err
}

func (s *State) applyContext(data baton.EventData) (err error) {
	switch d := data.(type) {
	case baton.EventDeliveryOffered:
		v := &Delivery{ID: d.Delivery, Kind: d.Kind, Status: baton.DeliveryOffered, Session: d.Session, ProviderThread: d.ProviderThread,
			Run: d.Run, Handoff: d.Handoff, Request: d.Request}
		if x := s.Session(d.Session); x != nil {
			v.Provider, v.NativeID, v.New = x.Provider, x.Native.ID, x.Resume == ""
			if r := s.run(d.Run); r != nil && d.Kind == baton.DeliverMessage {
				x.Settings = r.Settings
				if p := s.providerThread(d.ProviderThread); p != nil {
					p.Settings = r.Settings
				}
			}
		}
		s.Deliveries = append(s.Deliveries, v)
	case baton.EventDeliveryChanged:
		v := s.delivery(d.Delivery)
		if v == nil {
			return missing(d, string(d.Delivery))
		}
		if v.Status, err = move(baton.DeliveryTransitions, d, string(d.Delivery), v.Status, d.Status); err != nil {
			return err
		}
		if baton.DeliveryTransitions.Ended(v.Status) || v.Kind == baton.DeliverAnswer && v.Status == baton.DeliveryAccepted {
			s.Deliveries = remove(s.Deliveries, v)
		}
	case baton.EventTransferCreated:
		s.Transfers = append(s.Transfers, &Transfer{ID: d.Transfer, Status: baton.TransferPending, Run: d.TargetRun})
	case baton.EventTransferChanged:
		t := s.transfer(d.Transfer)
		if t == nil {
			return missing(d, string(d.Transfer))
		}
		if t.Status, err = move(baton.TransferTransitions, d, string(d.Transfer), t.Status, d.Status); err != nil {
			return err
		}
		if d.Handoff != "" {
			t.Handoff = d.Handoff
		}
		if baton.TransferTransitions.Ended(t.Status) {
			s.Transfers = remove(s.Transfers, t)
		}
	case baton.EventHandoffRequested:
		s.Handoffs = append(s.Handoffs, &Handoff{ID: d.Handoff, Status: baton.HandoffPending, Transfer: d.Transfer, Run: d.Run,
			Draft: d.Run == "", Strategy: d.Strategy, To: d.To, Covered: d.Covered})
		if r := s.run(d.Run); r != nil {
			r.Handoffs = append(r.Handoffs, d.Handoff)
		}
	case baton.EventHandoffAssigned:
		h := s.handoff(d.Handoff)
		if h == nil || !h.Draft {
			return missing(d, string(d.Handoff))
		}
		if r := s.run(h.Run); r != nil {
			r.Handoffs = slices.DeleteFunc(r.Handoffs, func(id baton.HandoffID) bool { return id == h.ID })
		}
		h.Run = d.Run
		if r := s.run(d.Run); r != nil {
			r.Handoffs = append(r.Handoffs, d.Handoff)
		}
	case baton.EventHandoffReady:
		h := s.handoff(d.Handoff)
		if h == nil {
			return missing(d, string(d.Handoff))
		}
		h.Text = d.Text
		h.Status, err = move(baton.HandoffTransitions, d, string(d.Handoff), h.Status, baton.HandoffReady)
	case baton.EventHandoffChanged:
		h := s.handoff(d.Handoff)
		if h == nil {
			return missing(d, string(d.Handoff))
		}
		if h.Status, err = move(baton.HandoffTransitions, d, string(d.Handoff), h.Status, d.Status); err != nil {
			return err
		}
		if baton.HandoffTransitions.Ended(h.Status) {
			s.Handoffs = remove(s.Handoffs, h)
		}
	}
	return err
}

// applyCompare folds what is known of a run's handoff before it has one.
func (s *State) applyCompare(data baton.EventData) error {
	var id baton.RunID
	switch d := data.(type) {
	case baton.EventHandoffSqueezed:
		id = d.Run
	case baton.EventHandoffCompareAsked:
		id = d.Run
	case baton.EventHandoffCompared:
		id = d.Run
	}
	r := s.run(id)
	if r == nil {
		return missing(data, string(id))
	}
	switch d := data.(type) {
	case baton.EventHandoffSqueezed:
		r.Squeezed = append(r.Squeezed, d.ProviderThread)
	case baton.EventHandoffCompareAsked:
		r.Compare = d.Handoff
	case baton.EventHandoffCompared:
		r.Compare, r.Differs = "", !d.Same
	}
	return nil
}

var zeroTime time.Time
