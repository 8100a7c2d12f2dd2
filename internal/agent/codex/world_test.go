package codex

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/modelscript"
	"baton/internal/modelscript/harness"
)

// world is a model server and a home for the pinned codex.
type world struct {
	t     testing.TB
	ctx   context.Context
	model *modelscript.Server
	agent harness.Agent
	root  string
	dir   string
	ids   int
}

func newWorld(t testing.TB, o harness.CodexOptions) *world {
	t.Helper()
	s, err := modelscript.Start(modelscript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, err := harness.Codex(root, s.URL(), o)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, "project")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	t.Cleanup(cancel)
	return &world{t: t, ctx: ctx, model: s, agent: a, root: root, dir: dir}
}

func (w *world) spec() agent.Spec {
	return agent.Spec{Session: "ses_01a22e96-9e0a-7571-a44e-4913f99f1001", Command: []string{w.agent.Bin}, Dir: w.dir,
		NewID: "01a22e96-9e0a-7571-a44e-4913f99f2001", Trusted: true, ClientVersion: "0.0.0-test"}
}

// talk is a live session.
type talk struct {
	*world
	*agenttest.Talk
	native   string
	settings baton.Settings
}

func (w *world) open(change ...func(*agent.Spec)) *talk {
	w.t.Helper()
	spec := w.spec()
	for _, c := range change {
		c(&spec)
	}
	k := &talk{world: w, Talk: agenttest.StartTalk(w.ctx, w.t, Driver{}, spec, w.agent.Env)}
	ready := expect[baton.FactSessionReady](k)
	k.native = ready.NativeID
	if ready.AgentVersion != harness.CodexVersion || ready.Strength != baton.Strong || ready.Resumed != (spec.NativeID != "") {
		w.t.Fatalf("ready: %+v", ready)
	}
	return k
}

// expect waits for the next fact of type F.
func expect[F baton.Fact](k *talk) F {
	k.t.Helper()
	return agenttest.Next[F](k.Talk)
}

func (w *world) delivery() baton.DeliveryID {
	w.ids++
	return baton.DeliveryID(fmt.Sprintf("dlv_01a22e96-9e0a-7571-a44e-%012d", w.ids))
}

// say delivers a message after handoffs and returns its delivery.
func (k *talk) say(text string, handoffs ...baton.Payload) baton.DeliveryID {
	d := k.delivery()
	k.Step(agent.Input{Intent: baton.IntentDeliver{Message: baton.Payload{Delivery: d, Text: text}, Handoffs: handoffs, Settings: k.settings}})
	return d
}

func (k *talk) answer(r baton.FactRequestOpened, d baton.Decision) baton.DeliveryID {
	id := k.delivery()
	k.Step(agent.Input{Intent: baton.IntentAnswer{Delivery: id, Request: r.Key, Decision: d}})
	return id
}

func (w *world) await(what string, c <-chan struct{}) {
	w.t.Helper()
	agenttest.Await(w.ctx, w.t, what, c)
}

// finish replays what was lived through with a reload at every input, checks
// what holds for every session, and records it where that is asked for.
func (k *talk) finish(name string) {
	k.t.Helper()
	entries := k.Entries()
	outs := agenttest.Replay(k.t, Driver{}, *entries[0].Spec, entries[1:])
	checkFacts(k.t, agenttest.Facts(outs))
	k.keep(name)
}
