package agenttest

import (
	"context"
	"testing"

	"baton"
	"baton/internal/agent"
)

// Talk reads the facts of a live session one after another. Its methods fail the
// test when Ctx ends or the agent's process does.
type Talk struct {
	*Live
	Ctx context.Context
	At  int // facts read so far
}

// StartTalk starts the agent as StartLive does.
func StartTalk(ctx context.Context, t testing.TB, d agent.Driver, spec agent.Spec, env map[string]string) *Talk {
	t.Helper()
	return &Talk{Live: StartLive(t, d, spec, env), Ctx: ctx}
}

// Next reads on to the next fact of type F.
func Next[F baton.Fact](k *Talk) F {
	k.t.Helper()
	f, at := WaitFor[F](k.Ctx, k.Live, k.At)
	k.At = at
	return f
}

// Read reads on to the next fact that ok accepts.
func (k *Talk) Read(what string, ok func(baton.Fact) bool) {
	k.t.Helper()
	k.At = k.Wait(k.Ctx, k.At, what, ok)
}

// Ended reads on to the end of the turn, which must have this status.
func (k *Talk) Ended(status baton.TurnStatus) baton.FactTurnEnded {
	k.t.Helper()
	e := Next[baton.FactTurnEnded](k)
	if e.Status != status || (e.Err != nil) != (status == baton.TurnFailed) {
		k.t.Fatalf("the turn ended %s (%v), want %s; facts:\n%s", e.Status, e.Err, status, k.Show())
	}
	return e
}

// Closed returns the closes of a kind of items so far, read or not.
func (k *Talk) Closed(kind baton.ItemKind) []baton.FactItemClosed {
	var all []baton.FactItemClosed
	for _, f := range k.Facts() {
		if c, ok := f.(baton.FactItemClosed); ok && c.Kind == kind {
			all = append(all, c)
		}
	}
	return all
}

// Show renders all facts so far.
func (k *Talk) Show() string { return Show(agent.Output{Facts: k.Facts()}) }

// Await waits for a signal that no fact tells, such as a gate's.
func Await(ctx context.Context, t testing.TB, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-ctx.Done():
		t.Fatalf("no %s", what)
	}
}
