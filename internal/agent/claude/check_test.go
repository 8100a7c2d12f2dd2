package claude_test

import (
	"fmt"

	"baton"
)

// broken returns what is wrong with the order of a session's facts: items open
// and close once, deltas have an open item, turns don't overlap, what is asked
// ends, deliveries are accepted before they are consumed.
func broken(facts []baton.Fact) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	items := map[string]baton.NodeStatus{}
	requests, accepted := map[string]bool{}, map[baton.DeliveryID]bool{}
	turn := ""
	for i, f := range facts {
		switch f := f.(type) {
		case baton.FactTurnStarted:
			if turn != "" {
				fault("%d: %s starts inside %s", i, f.Key, turn)
			}
			turn = f.Key
		case baton.FactTurnEnded:
			if f.Key != turn {
				fault("%d: %s ends, %q is open", i, f.Key, turn)
			}
			if f.Status == baton.TurnFailed && f.Err == nil {
				fault("%d: failed without an error", i)
			}
			turn = ""
			for key, status := range items {
				if status == baton.NodeRunning {
					fault("%d: %s is open at the end of %s", i, key, f.Key)
				}
			}
		case baton.FactItemOpened:
			if _, ok := items[f.Key]; ok || f.Key == "" {
				fault("%d: %q opens again", i, f.Key)
			}
			if _, ok := items[f.Parent]; f.Parent != "" && !ok {
				fault("%d: %s hangs under the unknown %s", i, f.Key, f.Parent)
			}
			items[f.Key] = baton.NodeRunning
		case baton.FactItemDelta:
			if items[f.Key] != baton.NodeRunning {
				fault("%d: a delta of %s, which is %q", i, f.Key, items[f.Key])
			}
		case baton.FactItemReset:
			if items[f.Key] != baton.NodeRunning {
				fault("%d: a reset of %s, which is %q", i, f.Key, items[f.Key])
			}
		case baton.FactItemClosed:
			if s, ok := items[f.Key]; ok && s != baton.NodeRunning && s != baton.NodeDetached || f.Key == "" {
				fault("%d: %q closes again", i, f.Key)
			}
			items[f.Key] = f.Status
		case baton.FactRequestOpened:
			if requests[f.Key] {
				fault("%d: request %s opens again", i, f.Key)
			}
			requests[f.Key] = true
		case baton.FactRequestGone:
			if !requests[f.Key] {
				fault("%d: request %s was never open", i, f.Key)
			}
		case baton.FactDeliveryAccepted:
			if accepted[f.Delivery] {
				fault("%d: %s accepted again", i, f.Delivery)
			}
			accepted[f.Delivery] = true
		case baton.FactDeliveryConsumed:
			if !accepted[f.Delivery] || f.TurnKey == "" {
				fault("%d: %s consumed by %q without being accepted", i, f.Delivery, f.TurnKey)
			}
		}
	}
	return faults
}
