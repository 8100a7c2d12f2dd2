package claude_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/agent/claude"
	"baton/internal/modelscript"
	"baton/internal/modelscript/harness"
)

// bench is a model server, a home of claude and a workspace, which processes of
// one test share.
type bench struct {
	t      *testing.T
	ctx    context.Context
	model  *modelscript.Server
	home   harness.Agent
	dir    string
	opts   agent.Spec // defaults of a spec
	number int        // of deliveries
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	t.Cleanup(cancel)
	s, err := modelscript.Start(modelscript.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	a, err := harness.Claude(t.TempDir(), s.URL(), harness.ClaudeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return &bench{t: t, ctx: ctx, model: s, home: a, dir: t.TempDir(),
		opts: agent.Spec{NewID: "0b0c3fd1-5f4e-4a53-8f7e-1f0e7b1d0001", Settings: baton.Settings{Model: harness.ClaudeModel}}}
}

func (b *bench) id() baton.DeliveryID {
	b.number++
	return baton.DeliveryID(fmt.Sprintf("dlv_0b0c3fd1-5f4e-7a53-8f7e-%012d", b.number))
}

// live is a process.
type live struct {
	*agenttest.Talk
	b *bench
}

// start starts a process and waits until it is ready.
func (b *bench) start(change func(*agent.Spec)) *live {
	b.t.Helper()
	l := b.spawn(change)
	next[baton.FactSessionReady](l)
	return l
}

func (b *bench) spawn(change func(*agent.Spec)) *live {
	b.t.Helper()
	spec := b.opts
	spec.Command, spec.Dir = []string{b.home.Bin}, b.dir
	if change != nil {
		change(&spec)
	}
	return &live{agenttest.StartTalk(b.ctx, b.t, claude.Driver{}, spec, b.home.Env), b}
}

// say delivers a message behind handoffs and returns the message's delivery.
func (l *live) say(text string, handoffs ...string) baton.DeliveryID {
	var i baton.IntentDeliver
	for _, h := range handoffs {
		i.Handoffs = append(i.Handoffs, baton.Payload{Delivery: l.b.id(), Text: h})
	}
	i.Message = baton.Payload{Delivery: l.b.id(), Text: text}
	l.Step(agent.Input{Intent: i})
	return i.Message.Delivery
}

func (l *live) answer(r baton.FactRequestOpened, change func(*baton.IntentAnswer)) {
	i := baton.IntentAnswer{Delivery: l.b.id(), Request: r.Key, Decision: baton.ApproveOnce, Questions: r.Questions}
	if change != nil {
		change(&i)
	}
	l.Step(agent.Input{Intent: i})
}

// next waits for the next fact of a type.
func next[F baton.Fact](l *live) F {
	l.b.t.Helper()
	return agenttest.Next[F](l.Talk)
}

// closed returns the close of the first item of the kind.
func (l *live) closed(kind baton.ItemKind) baton.FactItemClosed {
	l.b.t.Helper()
	if all := l.Closed(kind); len(all) > 0 {
		return all[0]
	}
	l.b.t.Fatalf("no %s has closed; facts:\n%s", kind, l.Show())
	return baton.FactItemClosed{}
}

// until waits for a channel of the model server.
func (b *bench) until(what string, c <-chan struct{}) {
	b.t.Helper()
	agenttest.Await(b.ctx, b.t, what, c)
}

func (b *bench) file(name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return err.Error()
	}
	return string(data)
}

func (b *bench) lastRequest() modelscript.Request {
	all := b.model.Requests()
	return all[len(all)-1]
}

func TestLiveText(t *testing.T) {
	b := newBench(t)
	l := b.start(nil)
	id := l.say("[[think hm]] [[say all done]]")
	if s := next[baton.FactTurnStarted](l); len(s.Deliveries) != 1 || s.Deliveries[0] != id {
		t.Errorf("started with %v", s.Deliveries)
	}
	if a := next[baton.FactDeliveryAccepted](l); a.Delivery != id {
		t.Errorf("accepted %v", a)
	}
	e := l.Ended(baton.TurnCompleted)
	if e.Usage.InputTokens == 0 || e.Usage.ContextTokens == 0 || e.Usage.ContextWindow == 0 || e.Head == "" {
		t.Errorf("end: %+v", e)
	}
	if c := l.closed(baton.ItemReasoning); c.Body.Text != "hm" {
		t.Errorf("reasoning: %+v", c)
	}
	if c := l.closed(baton.ItemAssistantMessage); c.Body.Text != "all done" {
		t.Errorf("answer: %+v", c)
	}
	if !strings.Contains(l.Show(), "FactItemDelta") {
		t.Error("nothing streamed")
	}
	l.CloseStdin()
	l.save("text")
}
