package sim

import (
	"context"
	"testing"

	"baton"
)

// TestSituations says that the worlds of some seeds hold what they are there to
// try. One that is never reached is tried by no seed.
func TestSituations(t *testing.T) {
	reached := map[string]int{}
	for seed := range uint64(60) {
		w := newWorld(seed)
		for range 600 {
			if err := w.step(); err != nil {
				t.Fatal(err)
			}
		}
		events, err := w.journal.Events(context.Background(), threadID, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		situations(events, reached)
		if w.repeated > 0 {
			reached["a frame that comes twice"]++
		}
		if w.unkept > 0 {
			reached["a crash that loses what an owner kept"]++
		}
	}
	for _, want := range []string{
		"a message that another turn took", "a background run", "a message accepted at the end of its turn", "detached work", "a detached item that ends after its run",
		"a run that waits for another agent's work", "two requests at once", "a request answered", "a session that never became ready",
		"evidence has", "evidence has_not", "evidence unknown", "another attempt", "attempts given up", "a frame set aside", "a conversation given up",
		"a full handoff", "a delta", "a run stopped before its agent had it", "a frame that comes twice", "a stop while a turn is open",
		"a crash that loses what an owner kept",
	} {
		if reached[want] == 0 {
			t.Errorf("no seed reaches: %s", want)
		}
	}
}

// situations counts what the events of one thread show.
func situations(events []baton.Event, reached map[string]int) {
	pending := 0
	uncertain := map[baton.DeliveryID]bool{}
	written := map[baton.DeliveryID]bool{}
	delivered := map[baton.RunID]baton.DeliveryID{}
	detached := map[baton.ItemID]baton.RunID{}
	itemRun := map[baton.ItemID]baton.RunID{}
	ended := map[baton.RunID]bool{}
	ready := map[baton.SessionID]bool{}
	for _, e := range events {
		switch d := e.Data.(type) {
		case baton.EventRunQueued:
			if d.Trigger == baton.TriggerBackground {
				reached["a background run"]++
			}
		case baton.EventRunWaiting:
			reached["a run that waits for another agent's work"]++
		case baton.EventRunFinalizing:
			if d.AbsorbedBy != "" {
				reached["a message that another turn took"]++
			}
		case baton.EventRunRunning:
			if written[delivered[d.Run]] {
				reached["a message accepted at the end of its turn"]++
			}
		case baton.EventRunEnded:
			ended[d.Run] = true
			if d.Status == baton.RunCancelled {
				reached["a run stopped before its agent had it"]++
			}
			if d.Err != nil && d.Err.Code == baton.CodeStartFailed {
				reached["attempts given up"]++
			}
		case baton.EventAttemptCreated:
			if d.Reason == baton.AttemptProviderRecovery {
				reached["another attempt"]++
			}
		case baton.EventInterruptRequested:
			if d.Stage == "ask" {
				reached["a stop while a turn is open"]++
			}
		case baton.EventDetachedChanged:
			if len(d.Names) > 0 {
				reached["detached work"]++
			}
		case baton.EventItemOpened:
			itemRun[d.Item] = d.Run
		case baton.EventItemUpdated:
			if d.Body.Status == baton.NodeDetached {
				detached[d.Item] = itemRun[d.Item]
			}
		case baton.EventItemClosed:
			if run, ok := detached[d.Item]; ok && ended[run] && d.Status == baton.NodeCompleted {
				reached["a detached item that ends after its run"]++
			}
		case baton.EventRequestOpened:
			if pending++; pending == 2 {
				reached["two requests at once"]++
			}
		case baton.EventRequestResolved:
			pending--
			reached["a request answered"]++
		case baton.EventRequestExpired:
			pending--
		case baton.EventSessionReady:
			ready[d.Session] = true
		case baton.EventSessionEnded:
			if !ready[d.Session] && d.Status == baton.SessionError {
				reached["a session that never became ready"]++
			}
		case baton.EventProviderThreadChanged:
			if d.Status == baton.ProviderThreadError {
				reached["a conversation given up"]++
			}
		case baton.EventHandoffRequested:
			if d.Strategy == baton.StrategyDelta {
				reached["a delta"]++
			} else {
				reached["a full handoff"]++
			}
		case baton.EventFrameRejected:
			reached["a frame set aside"]++
		case baton.EventDeliveryOffered:
			if d.Kind == baton.DeliverMessage {
				delivered[d.Run] = d.Delivery
			}
		case baton.EventDeliveryChanged:
			if uncertain[d.Delivery] {
				verdict := map[bool]string{true: "evidence has_not", false: "evidence unknown"}[d.Err == nil]
				if d.Status == baton.DeliveryAccepted {
					verdict = "evidence has"
				}
				reached[verdict]++
			}
			uncertain[d.Delivery] = d.Status == baton.DeliveryUncertain
			written[d.Delivery] = d.Status == baton.DeliveryWritten
		}
	}
}
