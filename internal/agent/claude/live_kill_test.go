package claude_test

import (
	"os"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/agent/claude"
)

// killer is the driver with a hand on the agent's process: it is killed inside
// the step that when accepts, before anything else can happen.
type killer struct {
	claude.Driver
	kill func()
	when func(in agent.Input, out agent.Output) bool
}

func (k *killer) New(spec agent.Spec) agent.Machine { return &killing{k.Driver.New(spec), k} }

type killing struct {
	agent.Machine
	k *killer
}

func (m *killing) Step(in agent.Input) agent.Output {
	out := m.Machine.Step(in)
	if m.k.kill != nil && m.k.when(in, out) {
		m.k.kill()
		m.k.kill = nil
	}
	return out
}

// accepted is the moment when the driver says that claude has a delivery.
func accepted(id baton.DeliveryID) func(agent.Input, agent.Output) bool {
	return func(_ agent.Input, out agent.Output) bool {
		for _, f := range out.Facts {
			if a, ok := f.(baton.FactDeliveryAccepted); ok && a.Delivery == id {
				return true
			}
		}
		return false
	}
}

// line is the moment when a line with all the parts comes.
func line(parts ...string) func(agent.Input, agent.Output) bool {
	return func(in agent.Input, _ agent.Output) bool {
		for _, p := range parts {
			if in.Frame == nil || !strings.Contains(string(in.Frame.Data), p) {
				return false
			}
		}
		return true
	}
}

// spawnKiller starts a process that is killed when when says so.
func (b *bench) spawnKiller(when func(agent.Input, agent.Output) bool) *live {
	k := &killer{when: when}
	spec := b.opts
	spec.Command, spec.Dir = []string{b.home.Bin}, b.dir
	l := &live{agenttest.StartTalk(b.ctx, b.t, k, spec, b.home.Env), b}
	next[baton.FactSessionReady](l)
	k.kill = func() { l.Signal(os.Kill) }
	return l
}

// What counts as accepted is on disk when the process is killed at that very
// line. What was not called accepted is found to be there or not.
func TestLiveKill(t *testing.T) {
	handoff, message := baton.DeliveryID("dlv_0b0c3fd1-5f4e-7a53-8f7e-000000000001"), baton.DeliveryID("dlv_0b0c3fd1-5f4e-7a53-8f7e-000000000002")
	const has, hasNot = baton.VerdictHas, baton.VerdictHasNot
	for _, c := range []struct {
		name             string
		when             func(agent.Input, agent.Output) bool
		handoff, message baton.Verdict
	}{
		{"handoff queued", line(`"queued"`, baton.UUID(handoff)), hasNot, hasNot},
		{"handoff started", line(`"started"`, baton.UUID(handoff)), hasNot, hasNot},
		{"handoff accepted", accepted(handoff), has, hasNot},
		{"message started", line(`"started"`, baton.UUID(message)), has, hasNot},
		{"message accepted", accepted(message), has, has},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			l := b.spawnKiller(c.when)
			l.say("[[say something longer]]", handoffText)
			<-l.Exited()
			b.evidence(handoff, c.handoff)
			b.evidence(message, c.message)
		})
	}
}

// So it is at the result of a turn that failed or was interrupted.
func TestLiveKillBadEnd(t *testing.T) {
	message := baton.DeliveryID("dlv_0b0c3fd1-5f4e-7a53-8f7e-000000000001")
	for name, text := range map[string]string{"failed": "[[fail 400]]", "interrupted": "[[gate g]]"} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			l := b.spawnKiller(accepted(message))
			l.say(text)
			if name == "interrupted" {
				s := next[baton.FactTurnStarted](l)
				b.until("the gate", b.model.Waiting("g"))
				l.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: s.Key}})
			}
			<-l.Exited()
			b.evidence(message, baton.VerdictHas)
		})
	}
}

func TestLiveKillFold(t *testing.T) {
	folded := baton.DeliveryID("dlv_0b0c3fd1-5f4e-7a53-8f7e-000000000003")
	for name, c := range map[string]struct {
		when func(agent.Input, agent.Output) bool
		want baton.Verdict
	}{
		"started":  {line(`"started"`, baton.UUID(folded)), baton.VerdictHasNot},
		"accepted": {accepted(folded), baton.VerdictHas},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.fifo("up")
			b.fifo("go")
			l := b.spawnKiller(c.when)
			l.say("[[run echo up > up; cat go]] [[say never]]")
			l.answer(next[baton.FactRequestOpened](l), nil)
			b.hear("up")
			if id := l.say("[[say steered]]"); id != folded {
				t.Fatalf("the delivery is %s", id)
			}
			l.WaitFrame(b.ctx, "the queued message", func(s string) bool {
				return strings.Contains(s, `"queued"`) && strings.Contains(s, baton.UUID(folded))
			})
			b.tell("go")
			<-l.Exited()
			b.evidence(folded, c.want)
		})
	}
}
