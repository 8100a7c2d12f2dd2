package decide

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"baton"
)

// shared are the types that a clone may share: they are only ever replaced.
var shared = []reflect.Type{
	reflect.TypeFor[baton.Intervals](), reflect.TypeFor[[]string](), reflect.TypeFor[[]baton.HandoffID](),
	reflect.TypeFor[[]baton.RequestOption](), reflect.TypeFor[[]baton.Question](), reflect.TypeFor[*baton.Error](),
}

// fill sets every field that lies below v to something that is not zero.
func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0))
		fill(t, v.Index(1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key)
		fill(t, val)
		v.SetMapIndex(key, val)
	case reflect.String:
		v.SetString("s")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Uint64:
		v.SetUint(7)
	default:
		t.Fatalf("a state holds a %s, which this test does not know", v.Type())
	}
}

// scramble changes every value below v in place, where a decision may.
func scramble(v reflect.Value) {
	if slices.Contains(shared, v.Type()) {
		v.SetZero()
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		scramble(v.Elem())
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.SetZero()
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				scramble(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
		v.Index(0).SetZero()
	case reflect.Map:
		for _, key := range v.MapKeys() {
			scramble(v.MapIndex(key).Elem())
			v.SetMapIndex(key, reflect.Value{})
		}
	default:
		v.SetZero()
	}
}

func TestCloneSharesNothingMutable(t *testing.T) {
	var s State
	fill(t, reflect.ValueOf(&s).Elem())
	for _, text := range s.Texts {
		text.Text.Append("streamed")
	}
	before, texts := stateJSON(t, &s), fmt.Sprint(textsOf(&s))
	c := s.Clone()
	if got := stateJSON(t, c); got != before || fmt.Sprint(textsOf(c)) != texts {
		t.Fatalf("the clone differs:\n%s\n%s", got, before)
	}
	for _, text := range c.Texts {
		text.Text.Append(" more")
	}
	scramble(reflect.ValueOf(c).Elem())
	if got := stateJSON(t, &s); got != before {
		t.Errorf("a change of the clone is seen in the original:\n%s\n%s", got, before)
	}
	if got := fmt.Sprint(textsOf(&s)); got != texts {
		t.Errorf("a change of the clone's texts is seen in the original: %s, want %s", got, texts)
	}
}

func textsOf(s *State) map[baton.ItemID]Text {
	out := map[baton.ItemID]Text{}
	for id, text := range s.Texts {
		out[id] = *text
	}
	return out
}

// What decisions do to a clone leaves the original as it was, at every step of
// a busy thread.
func TestDecisionsOnAClone(t *testing.T) {
	p := newPlay(t)
	p.whole("one", "a")
	p.running("two", "b")
	p.send("three", "a")
	x := p.session("b").ID
	p.fact(x, opened("i"), baton.FactItemDelta{Key: "i", Text: "half"}, approval, baton.FactDetached{Names: []string{"job"}})
	for name, input := range map[string]func(d *Decider){
		"gone": func(d *Decider) { d.Fact(x, baton.FactSessionGone{Detail: "x"}) },
		"end": func(d *Decider) {
			d.Fact(x, baton.FactTurnEnded{Key: d.S.Session(x).Turn.Key, Status: baton.TurnCompleted})
		},
		"delta":   func(d *Decider) { d.Fact(x, baton.FactItemDelta{Key: "i", Text: " more"}) },
		"stop":    func(d *Decider) { _, _ = d.Command(baton.Command{Data: baton.CommandStop{}}) },
		"message": func(d *Decider) { _, _ = d.Command(baton.Command{Data: baton.CommandSend{Text: "x"}}) },
		"answer": func(d *Decider) {
			_, _ = d.Command(baton.Command{Data: baton.CommandAnswer{Request: d.S.Requests[0].ID, Decision: baton.Decline}})
		},
	} {
		before, texts := stateJSON(t, p.d.S), fmt.Sprint(textsOf(p.d.S))
		d := NewDecider(p.d.S.Clone(), 1)
		d.Begin(p.env(), baton.ActorPerson, baton.Cause{})
		input(d)
		if len(d.Out.Events)+len(d.Out.Chunks) == 0 {
			t.Errorf("%s: nothing was decided", name)
		}
		if got := stateJSON(t, p.d.S); got != before || fmt.Sprint(textsOf(p.d.S)) != texts {
			t.Errorf("%s: the original has changed", name)
		}
	}
}

// Every field of a state survives JSON, so a snapshot loses nothing.
func TestStateThroughJSON(t *testing.T) {
	var s State
	fill(t, reflect.ValueOf(&s).Elem())
	back := &State{}
	if err := json.Unmarshal([]byte(stateJSON(t, &s)), back); err != nil {
		t.Fatal(err)
	}
	s.Texts = nil // no part of the fold
	if !reflect.DeepEqual(&s, back) {
		t.Errorf("\n%s\n%s", stateJSON(t, &s), stateJSON(t, back))
	}
}

// An illegal event is a fault of a decision: Apply refuses it, emit panics.
func TestIllegalEvents(t *testing.T) {
	state := func(t *testing.T) *play {
		p := newPlay(t)
		p.whole("one", "a")
		p.running("two", "a")
		p.fact(p.session("a").ID, opened("i"), approval)
		p.send("three", "a")
		return p
	}
	for name, e := range map[string]baton.EventData{
		"a thread twice":              baton.EventThreadCreated{},
		"a run twice":                 baton.EventRunQueued{Run: "run_2", Ordinal: 9},
		"an ordinal twice":            baton.EventRunQueued{Run: "run_9", Ordinal: 3},
		"a run that is not there":     baton.EventRunStarting{Run: "run_9"},
		"a run that has ended":        baton.EventRunRunning{Run: "run_1"},
		"a run that runs starts":      baton.EventRunStarting{Run: "run_2"},
		"an end past the barrier":     baton.EventRunEnded{Run: "run_2", Status: baton.RunCompleted},
		"a second attempt":            baton.EventAttemptCreated{Run: "run_2", Attempt: "att_9"},
		"an attempt that is unknown":  baton.EventAttemptEnded{Attempt: "att_9", Status: baton.AttemptCompleted},
		"an attempt superseded late":  baton.EventAttemptEnded{Attempt: "att_2", Status: baton.AttemptSuperseded},
		"a session ready twice":       baton.EventSessionReady{Session: "ses_1"},
		"a session that is unknown":   baton.EventSessionStopping{Session: "ses_9"},
		"a turn in an open turn":      baton.EventTurnStarted{Session: "ses_1", Turn: "ptn_9"},
		"a turn that is not open":     baton.EventTurnEnded{Turn: "ptn_1", Status: baton.TurnCompleted},
		"a turn that ends as running": baton.EventTurnEnded{Turn: "ptn_2", Status: baton.TurnRunning},
		"an unknown conversation":     baton.EventProviderThreadBound{ProviderThread: "pth_9"},
		"a conversation that is idle": baton.EventProviderThreadChanged{ProviderThread: "pth_1", Status: baton.ProviderThreadIdle},
		"a delivery that is consumed": baton.EventDeliveryChanged{Delivery: "dlv_2", Status: baton.DeliveryDropped},
		"an unknown transfer":         baton.EventTransferChanged{Transfer: "trf_9"},
		"an unknown handoff":          baton.EventHandoffReady{Handoff: "hnd_9"},
		"a position twice":            baton.EventItemOpened{Item: "itm_99", Position: 1},
		"an item that is closed":      baton.EventItemClosed{Item: "itm_1"},
		"an item that is unknown":     baton.EventItemUpdated{Item: "itm_99"},
		"a request that is unknown":   baton.EventRequestResolved{Request: "req_9"},
		"a request that ends pending": baton.EventRequestExpired{Request: "req_1", Status: baton.RequestPending},
	} {
		t.Run(name, func(t *testing.T) {
			p := state(t)
			s := p.d.S.Clone()
			var v *Violation
			if err := s.Apply(baton.Event{Thread: s.ID, Version: s.Version + 1, Data: e}); !errors.As(err, &v) || v.Event != e.EventType() {
				t.Fatalf("Apply: %v", err)
			}
			d := NewDecider(p.d.S.Clone(), 1)
			d.Begin(p.env(), baton.ActorSystem, baton.Cause{})
			defer func() {
				if _, ok := recover().(*Violation); !ok {
					t.Error("emit did not panic with a *Violation")
				}
				if len(d.Out.Events) > 0 {
					t.Error("the illegal event was given out")
				}
			}()
			d.emit(e)
		})
	}
}

// An event of a newer version only advances the cursor.
func TestUnknownEvent(t *testing.T) {
	s := &State{ID: "thr_1", Version: 4}
	if err := s.Apply(baton.Event{Version: 5, Data: baton.EventUnknown{Type: "moon.phase"}}); err != nil || s.Version != 5 {
		t.Errorf("version %d, %v", s.Version, err)
	}
}

// A frame that could not be taken ends the run of its session and nothing else.
func TestRejected(t *testing.T) {
	p := newPlay(t)
	first := p.running("one", "a")
	queued := p.send("two", "a")
	x := p.session("a").ID
	p.fact(x, opened("i"), baton.FactItemDelta{Key: "i", Text: "half"})
	p.d.Begin(p.env(), baton.ActorSystem, baton.Cause{})
	p.d.Rejected(x, 17, "index out of range", []byte(`{"strange":true}`))
	if e := last[baton.EventFrameRejected](p); e.Frame != 17 || e.Fault == "" || e.Head != `{"strange":true}` {
		t.Errorf("%+v", e)
	}
	p.endedWith(first.Run, baton.RunFailed, baton.CodeFrameRejected)
	p.held(true)
	if e := last[baton.EventItemClosed](p); e.Body.Text != "half" {
		t.Errorf("what was said is lost: %+v", e.Body)
	}
	p.gone(x)
	p.is(queued.Run, baton.RunQueued)
	p.d.Rejected(x, 18, "again", nil) // its session is gone
	p.do(baton.CommandResumeQueue{})
	p.ready("a")
	if p.given() == nil {
		t.Error("the thread does not go on")
	}
}
