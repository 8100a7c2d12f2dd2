package codex

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/jsonl"
)

const (
	root = "01a22e96-0000-7000-8000-000000000001"
	kid  = "01a22e96-0000-7000-8000-00000000000c"
	msg1 = baton.DeliveryID("dlv_01a22e96-9e0a-7571-a44e-000000000001")
	msg2 = baton.DeliveryID("dlv_01a22e96-9e0a-7571-a44e-000000000002")
	hnd1 = baton.DeliveryID("dlv_01a22e96-9e0a-7571-a44e-00000000000a")
	hnd2 = baton.DeliveryID("dlv_01a22e96-9e0a-7571-a44e-00000000000b")
)

type obj = map[string]any

// bench steps a machine by hand. Before each input the machine is thrown away
// and loaded from its state.
type bench struct {
	t     *testing.T
	state []byte
	out   agent.Output // of the last step
	all   []baton.Fact
}

func newBench(t *testing.T, change ...func(*agent.Spec)) *bench {
	spec := agent.Spec{Session: "S", Command: []string{"codex"}, Dir: "/w"}
	for _, c := range change {
		c(&spec)
	}
	return &bench{t: t, state: Driver{}.New(spec).State()}
}

func resumes(s *agent.Spec) { s.NativeID = root }

// ready is a bench after its handshake, with root as its thread.
func ready(t *testing.T, change ...func(*agent.Spec)) *bench {
	b := newBench(t, change...)
	b.step(agent.Input{Started: true})
	b.result(1, obj{"userAgent": "baton/0.171.0 (x)"})
	b.result(2, obj{"config": obj{"sandbox_mode": "workspace-write"}})
	b.result(3, obj{"thread": obj{"id": root}, "model": "m"})
	want[baton.FactSessionReady](b)
	return b
}

func (b *bench) step(in agent.Input) *bench {
	b.t.Helper()
	m, err := Driver{}.Load(b.state)
	if err != nil {
		b.t.Fatal(err)
	}
	b.out = m.Step(in)
	b.state = m.State()
	b.all = append(b.all, b.out.Facts...)
	return b
}

func (b *bench) line(v any) *bench {
	b.t.Helper()
	return b.step(agent.Input{Frame: &agent.Frame{Data: jsonl.Line(v)}})
}

func (b *bench) result(n int, r any) *bench {
	b.t.Helper()
	return b.line(obj{"id": fmt.Sprintf("S-%d", n), "result": r})
}

func (b *bench) refusal(n, code int, text string) *bench {
	b.t.Helper()
	return b.line(obj{"id": fmt.Sprintf("S-%d", n), "error": obj{"code": code, "message": text}})
}

// told gives a notification of the root thread and its turn "T", where p does
// not say otherwise.
func (b *bench) told(method string, p obj) *bench {
	b.t.Helper()
	for k, v := range (obj{"threadId": root, "turnId": "T"}) {
		if _, ok := p[k]; !ok {
			p[k] = v
		}
	}
	return b.line(obj{"method": method, "params": p})
}

func (b *bench) started(it obj) *bench   { return b.told("item/started", obj{"item": it}) }
func (b *bench) completed(it obj) *bench { return b.told("item/completed", obj{"item": it}) }

func (b *bench) turn(id string) *bench { return b.told("turn/started", obj{"turn": obj{"id": id}}) }

func (b *bench) turnEnds(id, status string) *bench {
	return b.told("turn/completed", obj{"turn": obj{"id": id, "status": status}})
}

func (b *bench) asks(id int, method string, p obj) *bench {
	b.t.Helper()
	for k, v := range (obj{"threadId": root, "turnId": "T"}) {
		if _, ok := p[k]; !ok {
			p[k] = v
		}
	}
	return b.line(obj{"id": id, "method": method, "params": p})
}

func (b *bench) deliver(message baton.DeliveryID, handoffs ...baton.DeliveryID) *bench {
	b.t.Helper()
	i := baton.IntentDeliver{Message: baton.Payload{Delivery: message, Text: "text of " + string(message)}}
	for _, h := range handoffs {
		i.Handoffs = append(i.Handoffs, baton.Payload{Delivery: h, Text: "text of " + string(h)})
	}
	return b.step(agent.Input{Intent: i})
}

// facts fails unless the last step gave facts of these types, in order.
func (b *bench) facts(types ...baton.Fact) {
	b.t.Helper()
	var got, want []string
	for _, f := range b.out.Facts {
		got = append(got, reflect.TypeOf(f).Name())
	}
	for _, f := range types {
		want = append(want, reflect.TypeOf(f).Name())
	}
	if !slices.Equal(got, want) {
		b.t.Fatalf("got\n%s\nnot %q", agenttest.Show(b.out), want)
	}
}

// writes fails unless the last step wrote these lines: each argument is
// something that its line contains.
func (b *bench) writes(parts ...string) {
	b.t.Helper()
	if len(b.out.Writes) != len(parts) {
		b.t.Fatalf("wrote\n%s\nnot %d lines", agenttest.Show(b.out), len(parts))
	}
	for i, p := range parts {
		if !strings.Contains(string(b.out.Writes[i].Data), p) {
			b.t.Errorf("wrote %s, without %s", b.out.Writes[i].Data, p)
		}
	}
}

// want returns the only fact of type F of the last step.
func want[F baton.Fact](b *bench) F {
	b.t.Helper()
	var found []F
	for _, f := range b.out.Facts {
		if f, ok := f.(F); ok {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		b.t.Fatalf("want one %T in\n%s", *new(F), agenttest.Show(b.out))
	}
	return found[0]
}
