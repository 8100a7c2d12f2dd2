package claude_test

import (
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/claude"
)

// After a kill, what the evidence says is missing is given again, and nothing
// else: then the model reads the handoff once and the message once.
func TestLiveRecover(t *testing.T) {
	handoff, message := baton.DeliveryID("dlv_0b0c3fd1-5f4e-7a53-8f7e-000000000001"), baton.DeliveryID("dlv_0b0c3fd1-5f4e-7a53-8f7e-000000000002")
	for name, when := range map[string]func(agent.Input, agent.Output) bool{
		"handoff started":  line(`"started"`, baton.UUID(handoff)),
		"handoff accepted": accepted(handoff),
		"message started":  line(`"started"`, baton.UUID(message)),
		"message accepted": accepted(message),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			l := b.spawnKiller(when)
			l.say("the message itself", handoffText)
			<-l.Exited()

			verdict := func(id baton.DeliveryID) baton.Verdict {
				v, why := claude.Driver{}.FindEvidence(agent.EvidenceQuery{Delivery: id, NativeID: b.opts.NewID, Dir: b.dir, Env: b.home.Env, New: true})
				if v == baton.VerdictUnknown {
					t.Fatalf("evidence of %s: %s", id, why)
				}
				return v
			}
			var again baton.IntentDeliver
			change := func(s *agent.Spec) { s.NativeID = b.opts.NewID }
			if verdict(handoff) == baton.VerdictHasNot {
				change = nil // there is no conversation to resume
				again.Handoffs = []baton.Payload{{Delivery: handoff, Text: handoffText}}
			}
			again.Message = baton.Payload{Delivery: b.id(), Text: "go on"}
			if verdict(message) == baton.VerdictHasNot {
				again.Message = baton.Payload{Delivery: message, Text: "the message itself"}
			}
			next := b.start(change)
			next.Step(agent.Input{Intent: again})
			next.Ended(baton.TurnCompleted)
			said := 0
			for _, text := range b.lastRequest().UserTexts() {
				if text == "the message itself" {
					said++
				}
			}
			if n := b.lastRequest().Has("日本語"); n != 1 || said != 1 {
				t.Errorf("the model reads the handoff %d times and the message %d times", n, said)
			}
		})
	}
}
