package acp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
)

// rig drives a machine by hand. It is loaded from its state before each input,
// so every test is one of reloading too.
type rig struct {
	t         *testing.T
	d         agent.Driver
	state     []byte
	facts     []baton.Fact // since the last take
	writes    []string
	deadlines map[string]time.Duration
}

func newRig(t *testing.T, native string) *rig {
	t.Helper()
	d := New("acp", Options{Capabilities: Default})
	r := &rig{t: t, d: d, deadlines: map[string]time.Duration{}}
	r.state = d.New(agent.Spec{Command: []string{"agent"}, Dir: "/dir", NativeID: native, ClientVersion: "1"}).State()
	r.step(agent.Input{Started: true})
	return r
}

// ready is a rig whose session "s" is open and whose output is taken.
func ready(t *testing.T) *rig {
	t.Helper()
	r := newRig(t, "")
	r.frame(`{"id":"b1","result":{"protocolVersion":1,"agentInfo":{"name":"probe","version":"1.2"},"agentCapabilities":{}}}`)
	r.frame(`{"id":"b2","result":{"sessionId":"s"}}`)
	r.take()
	return r
}

// prompted is a ready rig with an open prompt b3 that the agent has shown no sign of.
func prompted(t *testing.T) *rig {
	t.Helper()
	r := ready(t)
	r.intent(baton.IntentDeliver{Message: baton.Payload{Delivery: "dlv_m", Text: "hi"}})
	r.take()
	return r
}

// running is a prompted rig whose turn has begun.
func running(t *testing.T) *rig {
	t.Helper()
	r := prompted(t)
	r.update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}`)
	r.take()
	return r
}

func (r *rig) step(in agent.Input) {
	r.t.Helper()
	m, err := r.d.Load(r.state)
	if err != nil {
		r.t.Fatal(err)
	}
	out := m.Step(in)
	r.state = m.State()
	r.facts = append(r.facts, out.Facts...)
	for _, w := range out.Writes {
		r.writes = append(r.writes, strings.TrimSuffix(string(w.Data), "\n"))
	}
	for k, v := range out.Deadlines {
		r.deadlines[k] = v
	}
}

func (r *rig) frame(s string) {
	r.t.Helper()
	r.step(agent.Input{Frame: &agent.Frame{Data: []byte(s)}})
}

func (r *rig) intent(i baton.Intent) { r.t.Helper(); r.step(agent.Input{Intent: i}) }

func (r *rig) update(u string) {
	r.t.Helper()
	r.frame(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + u + `}}`)
}

func (r *rig) take() { r.facts, r.writes = nil, nil }

// says fails where the facts since the last take are not these, as brief shows
// them, and takes them.
func (r *rig) says(want ...string) {
	r.t.Helper()
	var got []string
	for _, f := range r.facts {
		got = append(got, brief(f))
	}
	if !reflect.DeepEqual(got, want) {
		r.t.Errorf("facts\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
	r.facts = nil
}

// wrote fails where the writes since the last take do not hold these parts in order.
func (r *rig) wrote(want ...string) {
	r.t.Helper()
	ok := len(r.writes) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = strings.Contains(r.writes[i], want[i])
	}
	if !ok {
		r.t.Errorf("writes\n  %s\nwant\n  %s", strings.Join(r.writes, "\n  "), strings.Join(want, "\n  "))
	}
	r.writes = nil
}

func brief(f baton.Fact) string {
	body := func(b baton.ItemBody) string {
		s, _ := json.Marshal(b)
		return strings.TrimSuffix(" "+string(s), " {}")
	}
	switch f := f.(type) {
	case baton.FactSessionReady:
		return fmt.Sprintf("ready %s version %s resumed %t", f.NativeID, f.AgentVersion, f.Resumed)
	case baton.FactSessionFailed:
		return "session failed " + string(f.Err.Code)
	case baton.FactResumeFailed:
		return "resume failed " + string(f.Class)
	case baton.FactDeliveryAccepted:
		return fmt.Sprintf("accepted %s by %s", f.Delivery, f.Evidence)
	case baton.FactDeliveryConsumed:
		return fmt.Sprintf("consumed %s in %s", f.Delivery, f.TurnKey)
	case baton.FactDeliveryDropped:
		return fmt.Sprintf("dropped %s %s", f.Delivery, f.Err.Code)
	case baton.FactTurnStarted:
		return fmt.Sprintf("turn %s %v", f.Key, f.Deliveries)
	case baton.FactTurnEnded:
		s := fmt.Sprintf("turn %s %s", f.Key, f.Status)
		if f.Err != nil {
			s += " " + string(f.Err.Code)
		}
		return s
	case baton.FactItemOpened:
		return strings.TrimSpace(fmt.Sprintf("open %s %s %s", f.Key, f.Kind, f.Parent)) + body(f.Body)
	case baton.FactItemDelta:
		return fmt.Sprintf("delta %s %q %t", f.Key, f.Text, f.Output)
	case baton.FactItemReset:
		return "reset " + f.Key
	case baton.FactItemClosed:
		return fmt.Sprintf("close %s %s %s", f.Key, f.Kind, f.Status) + body(f.Body)
	case baton.FactRequestOpened:
		s := fmt.Sprintf("request %s %s %s %q", f.Key, f.Kind, f.Item, f.Detail)
		for _, o := range f.Options {
			s += " " + string(o.Decision) + "=" + o.NativeID
		}
		for _, q := range f.Questions {
			s += fmt.Sprintf(" %s:%s%v", q.Key, q.Text, q.Options)
		}
		return s
	case baton.FactRequestGone:
		return "gone " + f.Key + ": " + f.Reason
	case baton.FactNotice:
		return "notice " + f.Level
	case baton.FactDetached:
		return fmt.Sprintf("detached %v", f.Names)
	}
	return fmt.Sprintf("%T", f)
}
