package decide

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"baton"
)

// play gives commands and facts to one thread and keeps all that came of it.
// Ids are counted by prefix, time stands still unless a test moves it. When the
// test ends, the events are folded anew and must give the same state.
type play struct {
	t       *testing.T
	d       *Decider
	now     time.Time
	policy  Policy
	ids     map[string]int
	intents []SessionIntent // of the newest input
	caps    baton.Capabilities
	never   string // a provider that takes no handoff
	missing string // a provider that is not configured any more
	trusted bool   // the project
}

func newPlay(t *testing.T) *play {
	t.Helper()
	p := &play{t: t, d: NewDecider(&State{}, 1), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), policy: DefaultPolicy(), ids: map[string]int{},
		caps: baton.Capabilities{Interrupt: true, Approvals: true, Injection: baton.InjectSyntheticUser, Evidence: true}}
	p.do(baton.CommandCreateThread{Dir: "/w", Provider: "a", Settings: baton.Settings{Model: "thread-model", Effort: "high"}})
	t.Cleanup(p.refold)
	return p
}

func (p *play) env() Env {
	return Env{Now: p.now, Policy: p.policy, DefaultProvider: "a", Trusted: func(string) bool { return p.trusted },
		NewID: func(prefix string) string {
			p.ids[prefix]++
			return fmt.Sprintf("%s_%d", prefix, p.ids[prefix])
		},
		Provider: func(name string) (Provider, error) {
			if name == "none" || name == p.missing {
				return Provider{}, baton.Errorf(baton.CodeUnknownProvider, "no provider %q", name)
			}
			return Provider{Name: name, Driver: "script", Capabilities: p.caps, HandoffNever: name == p.never, Settings: baton.Settings{PermissionMode: "of-" + name, Model: "model-" + name}}, nil
		}}
}

// refold: what the events say after a trip through JSON is the live state.
func (p *play) refold() {
	if p.t.Failed() {
		return
	}
	folded := &State{}
	for i, e := range p.d.Out.Events {
		if e.Version != uint64(i+1) {
			p.t.Errorf("event %d has version %d", i+1, e.Version)
		}
		b, err := json.Marshal(e.Data)
		if err != nil {
			p.t.Fatal(err)
		}
		if e.Data, err = baton.DecodeEvent(e.Data.EventType(), baton.EventShape, b); err != nil {
			p.t.Fatal(err)
		}
		if err := folded.Apply(e); err != nil {
			p.t.Fatal(err)
		}
	}
	live := stateJSON(p.t, p.d.S)
	if got := stateJSON(p.t, folded); got != live {
		p.t.Errorf("the fold of the events differs from the live state:\n%s\n%s", got, live)
	}
	back := &State{}
	if err := json.Unmarshal([]byte(live), back); err != nil {
		p.t.Fatal(err)
	}
	if got := stateJSON(p.t, back); got != live {
		p.t.Errorf("the state changes on its way through JSON:\n%s\n%s", got, live)
	}
}

func stateJSON(t *testing.T, s *State) string { return stateOf(t, s) }

func stateOf(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func (p *play) try(data baton.CommandData) (baton.Reply, error) {
	p.d.Begin(p.env(), baton.ActorPerson, baton.Cause{})
	reply, err := p.d.Command(baton.Command{Thread: "thr_1", Actor: baton.ActorPerson, Author: "person:ada", Data: data})
	p.intents = p.d.TakeIntents()
	return reply, err
}

func (p *play) do(data baton.CommandData) baton.Reply {
	p.t.Helper()
	reply, err := p.try(data)
	if err != nil {
		p.t.Fatalf("%s: %v", data.CommandType(), err)
	}
	return reply
}

func (p *play) refused(data baton.CommandData, code baton.Code) *baton.Error {
	p.t.Helper()
	before := len(p.d.Out.Events)
	_, err := p.try(data)
	if baton.ErrorCode(err) != code || err == nil {
		p.t.Fatalf("%s: got %v, want a refusal with %s", data.CommandType(), err, code)
	}
	if len(p.d.Out.Events) != before || len(p.intents) > 0 {
		p.t.Errorf("a refused %s has changed something", data.CommandType())
	}
	var e *baton.Error
	errors.As(err, &e)
	return e
}

func (p *play) send(text, provider string) baton.Reply {
	p.t.Helper()
	return p.do(baton.CommandSend{Text: text, Provider: provider})
}

func (p *play) fact(session baton.SessionID, facts ...baton.Fact) {
	p.t.Helper()
	p.intents = nil
	for _, f := range facts {
		p.d.Begin(p.env(), baton.ActorAgent, baton.Cause{Session: session})
		p.d.Fact(session, f)
		p.intents = append(p.intents, p.d.TakeIntents()...)
	}
}

// session returns the newest session of the provider that has not ended.
func (p *play) session(provider string) *Session {
	p.t.Helper()
	for _, x := range slices.Backward(p.d.S.Sessions) {
		if x.Provider == provider {
			return x
		}
	}
	p.t.Fatalf("no session of %s is there", provider)
	return nil
}

// ready makes the newest session ready.
func (p *play) ready(provider string) {
	p.t.Helper()
	x := p.session(provider)
	native := x.Resume
	if native == "" {
		native = x.NewID
	}
	p.fact(x.ID, baton.FactSessionReady{NativeID: native, Strength: baton.Strong})
}

// built gives each pending handoff its document.
func (p *play) built() {
	p.t.Helper()
	var done []baton.Fact
	for _, h := range p.d.S.Handoffs {
		if h.Status == baton.HandoffPending {
			done = append(done, baton.FactHandoffBuilt{Handoff: h.ID, Document: []byte(`{}`), Text: fmt.Sprint("handoff ", h.Covered), Digest: "sha256:0"})
		}
	}
	p.fact("", done...)
}

// given returns what the newest input gave to an agent.
func (p *play) given() *baton.IntentDeliver {
	for _, in := range p.intents {
		if i, ok := in.Intent.(baton.IntentDeliver); ok {
			return &i
		}
	}
	return nil
}

func (p *play) deliveries(run baton.RunID) (ids []baton.DeliveryID) {
	for _, v := range p.d.S.Deliveries {
		if v.Run == run && v.Kind != baton.DeliverAnswer {
			ids = append(ids, v.ID)
		}
	}
	return ids
}

func (p *play) written(run baton.RunID) {
	p.t.Helper()
	v := p.d.S.delivery(p.message(run))
	p.fact(v.Session, baton.FactWritten{Deliveries: p.deliveries(run)})
}

func (p *play) message(run baton.RunID) baton.DeliveryID {
	p.t.Helper()
	v := find(p.d.S.Deliveries, func(v *Delivery) bool { return v.Run == run && v.Kind == baton.DeliverMessage })
	if v == nil {
		p.t.Fatalf("the message of %s was not given", run)
	}
	return v.ID
}

// takes lets the agent accept all of the run and begin its turn.
func (p *play) takes(run baton.RunID) {
	p.t.Helper()
	m := p.d.S.delivery(p.message(run))
	id, session := m.ID, m.Session
	for _, v := range p.deliveries(run) {
		p.fact(session, baton.FactDeliveryAccepted{Delivery: v})
	}
	p.fact(session, baton.FactTurnStarted{Key: "turn of " + string(run), Deliveries: []baton.DeliveryID{id}},
		baton.FactDeliveryConsumed{Delivery: id, TurnKey: "turn of " + string(run)})
}

// running sends a message to a provider and brings its run to running.
func (p *play) running(text, provider string) baton.Reply {
	p.t.Helper()
	reply := p.send(text, provider)
	r := p.d.S.run(reply.Run)
	if r.Attempt == nil {
		p.t.Fatalf("%q did not start", text)
	}
	for _, x := range slices.Clone(p.d.S.Sessions) { // those that had to go
		if x.Stopping != "" {
			p.gone(x.ID)
		}
	}
	if x := p.session(provider); x.Status == baton.SessionStarting {
		p.ready(provider)
	}
	p.built()
	p.written(reply.Run)
	p.takes(reply.Run)
	p.is(reply.Run, baton.RunRunning)
	return reply
}

func (p *play) end(provider string, status baton.TurnStatus) {
	p.t.Helper()
	x := p.session(provider)
	if x.Turn == nil {
		p.t.Fatalf("%s has no open turn", provider)
	}
	p.fact(x.ID, baton.FactTurnEnded{Key: x.Turn.Key, Status: status})
}

// whole plays a run from its message to its end.
func (p *play) whole(text, provider string) baton.Reply {
	p.t.Helper()
	reply := p.running(text, provider)
	p.end(provider, baton.TurnCompleted)
	p.is(reply.Run, baton.RunCompleted)
	return reply
}

func (p *play) gone(session baton.SessionID) {
	p.t.Helper()
	p.fact(session, baton.FactSessionGone{Detail: "exit status 1"})
}

// is checks a run's state: an open one's, or how it ended.
func (p *play) is(run baton.RunID, want baton.RunStatus) {
	p.t.Helper()
	if got := p.status(run); got != want {
		p.t.Errorf("%s is %s, want %s", run, got, want)
	}
}

func (p *play) status(run baton.RunID) baton.RunStatus {
	if r := p.d.S.run(run); r != nil {
		return r.Status
	}
	if e := p.ended(run); e != nil {
		return e.Status
	}
	return "unknown"
}

func (p *play) ended(run baton.RunID) *baton.EventRunEnded {
	for _, e := range events[baton.EventRunEnded](p) {
		if e.Run == run {
			return &e
		}
	}
	return nil
}

// endedWith checks how a run ended and with which error.
func (p *play) endedWith(run baton.RunID, status baton.RunStatus, code baton.Code) {
	p.t.Helper()
	e := p.ended(run)
	switch {
	case e == nil:
		p.t.Errorf("%s has not ended, it is %s", run, p.status(run))
	case e.Status != status:
		p.t.Errorf("%s ended as %s, want %s", run, e.Status, status)
	case (e.Err == nil) != (code == "") || e.Err != nil && e.Err.Code != code:
		p.t.Errorf("%s ended with error %v, want code %q", run, e.Err, code)
	}
}

func events[E baton.EventData](p *play) (found []E) {
	for _, e := range p.d.Out.Events {
		if d, ok := e.Data.(E); ok {
			found = append(found, d)
		}
	}
	return found
}

func last[E baton.EventData](p *play) E {
	p.t.Helper()
	all := events[E](p)
	if len(all) == 0 {
		var none E
		p.t.Fatalf("there is no %s", none.EventType())
	}
	return all[len(all)-1]
}

func effects[E baton.EffectData](p *play) (found []E) {
	for _, e := range p.d.Out.Effects {
		if d, ok := e.Data.(E); ok {
			found = append(found, d)
		}
	}
	return found
}

// shown says whether an item of the kind shows the text.
func (p *play) shown(kind baton.ItemKind, text string) bool {
	return slices.ContainsFunc(events[baton.EventItemOpened](p), func(e baton.EventItemOpened) bool {
		return e.Kind == kind && strings.Contains(e.Body.Title+" "+string(e.Body.Code)+" "+e.Body.Text, text)
	})
}

// fate is the newest state of a delivery.
func (p *play) fate(id baton.DeliveryID) baton.DeliveryStatus {
	status := baton.DeliveryStatus("")
	for _, e := range p.d.Out.Events {
		switch d := e.Data.(type) {
		case baton.EventDeliveryOffered:
			if d.Delivery == id {
				status = baton.DeliveryOffered
			}
		case baton.EventDeliveryChanged:
			if d.Delivery == id {
				status = d.Status
			}
		}
	}
	return status
}

func (p *play) held(want bool) {
	p.t.Helper()
	if p.d.S.QueueHeld != want {
		p.t.Errorf("queue held: %v, want %v", p.d.S.QueueHeld, want)
	}
}
