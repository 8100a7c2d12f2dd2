package journaltest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"baton"
	"baton/internal/journal"
)

// Scribe writes units of one thread, one after another, as its owner would.
type Scribe struct {
	Thread  baton.ThreadID
	Version uint64
	Epoch   uint64
	Now     time.Time
	item    int
}

// NewScribe begins a thread that does not exist yet.
func NewScribe(thread string) *Scribe {
	return &Scribe{Thread: baton.ThreadID(thread), Epoch: 1, Now: epoch}
}

// Unit makes the next unit of the thread with the events and what they change.
func (s *Scribe) Unit(data ...baton.EventData) journal.Unit {
	u := journal.Unit{Thread: s.Thread, Expect: s.Version, Epoch: s.Epoch}
	for i, d := range data {
		s.Now = s.Now.Add(time.Millisecond)
		e := baton.Event{Thread: s.Thread, Version: s.Version + uint64(i) + 1, Actor: baton.ActorPerson,
			Cause: baton.Cause{Command: "cmd_1"}, Epoch: s.Epoch, At: s.Now, Data: d}
		u.Events = append(u.Events, e)
		u.Changes = append(u.Changes, journal.Project(e)...)
	}
	return u
}

// Append stores the unit and moves on.
func (s *Scribe) Append(j journal.Journal, u journal.Unit) error {
	if _, err := j.Append(context.Background(), u); err != nil {
		return err
	}
	s.Version = u.Version()
	return nil
}

// Must stores the unit; anything else ends the test.
func (s *Scribe) Must(t testing.TB, j journal.Journal, u journal.Unit) {
	t.Helper()
	if err := s.Append(j, u); err != nil {
		t.Fatalf("append to %s at %d: %v", s.Thread, u.Expect, err)
	}
}

// Create is the unit that makes the thread.
func (s *Scribe) Create() journal.Unit {
	return s.Unit(baton.EventThreadCreated{Title: "a thread", Workspace: "wsp_1", Dir: "/project", Provider: "script"})
}

// End is what the end of the n-th command's run writes.
func (s *Scribe) End(n int) journal.Unit {
	run := baton.RunID(fmt.Sprintf("run_%s_%d", s.Thread, n))
	u := s.Unit(baton.EventRunFinalizing{Run: run, Outcome: baton.RunCompleted}, baton.EventRunEnded{Run: run, Ordinal: n, Provider: "script", Status: baton.RunCompleted})
	u.Done = []baton.EffectID{baton.EffectID(fmt.Sprintf("eff_%s_%d", s.Thread, n))}
	u.Settled = true
	return u
}

// Command is what an accepted message writes: a receipt, a message, a run that
// is starting, an item, and the effect that gives it to the agent.
func (s *Scribe) Command(n int) journal.Unit {
	id := fmt.Sprintf("%s_%d", s.Thread, n)
	run, message := baton.RunID("run_"+id), baton.MessageID("msg_"+id)
	s.item++
	u := s.Unit(
		baton.EventRunQueued{Run: run, Ordinal: n, Trigger: baton.TriggerMessage, Message: message, Provider: "script"},
		baton.EventMessageAccepted{Message: message, Run: run, Text: "do the next thing, please, and say what you did", Author: "person"},
		baton.EventItemOpened{Item: baton.ItemID("itm_" + id), Run: run, Kind: baton.ItemUserMessage, Position: s.item,
			Body: baton.ItemBody{Text: "do the next thing, please, and say what you did", MessageID: message}},
		baton.EventRunStarting{Run: run},
		baton.EventAttemptCreated{Attempt: baton.AttemptID("att_" + id), Run: run, Ordinal: 1, RootNode: baton.NodeID("nod_" + id), ProviderThread: "pth_1", Reason: baton.AttemptInitial},
	)
	u.Receipts = []journal.Receipt{{Command: baton.CommandID("cmd_" + id), Hash: id, Reply: baton.Reply{Thread: s.Thread, Run: run, Ordinal: n}}}
	u.Effects = []baton.Effect{{ID: baton.EffectID("eff_" + id), Thread: s.Thread, Session: "ses_1", Lane: baton.LaneWork,
		Data: baton.EffectWrite{Data: []byte(`{"method":"turn/start"}`)}}}
	return u
}
