package baton

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Lane orders a thread's effects: each lane is in order, and control overtakes work.
type Lane string

// The lanes.
const (
	LaneWork    Lane = "work"    // start, deliver, summarise, look for evidence
	LaneControl Lane = "control" // answer, interrupt, stop
)

// Effect is a durable side effect that a unit asks for. Its id is what makes it
// safe to try again: the shim knows the ids of writes that it has seen, a
// session is opened once for its id.
type Effect struct {
	ID      EffectID
	Thread  ThreadID
	Session SessionID // fence: an effect of an ended session is dropped
	Lane    Lane
	Data    EffectData
}

// EffectData is one of the Effect… structs.
type EffectData interface{ EffectType() string }

// The kinds of effects.
type (
	// EffectOpenSession starts a shim with the agent, or finds the one that was
	// started for this session already (check).
	EffectOpenSession struct {
		Provider string   `json:"provider"`
		Driver   string   `json:"driver"`
		Resume   string   `json:"resume,omitempty"`
		NewID    string   `json:"new_id"`
		Dir      string   `json:"dir"`
		Settings Settings `json:"settings,omitzero"`
		Trusted  bool     `json:"trusted,omitempty"`
	}
	// EffectWrite gives bytes to the agent (repeat: the shim drops a known id).
	EffectWrite struct {
		Data       []byte       `json:"data"`
		Deliveries []DeliveryID `json:"deliveries,omitempty"`
		Tag        string       `json:"tag,omitempty"`
	}
	// EffectStopSession ends the agent's process tree: close stdin, wait, SIGTERM,
	// wait, SIGKILL every descendant (repeat).
	EffectStopSession struct {
		Reason string        `json:"reason"`
		Grace  time.Duration `json:"grace"` // for closing stdin, and again for SIGTERM; 0 kills at once
	}
	// EffectBuildHandoff reads the covered runs and makes the document (repeat).
	EffectBuildHandoff struct {
		Handoff  HandoffID        `json:"handoff_id"`
		Run      RunID            `json:"run_id"` // that will get it; none for a draft
		Strategy Strategy         `json:"strategy"`
		Covered  Intervals        `json:"covered"`
		Known    Intervals        `json:"known,omitempty"`  // of those, the runs that need not be told again
		Budget   int              `json:"budget,omitempty"` // estimated tokens; 0 is the default
		To       ProviderThreadID `json:"to_provider_thread_id"`
		Target   string           `json:"target"` // provider name
	}
	// EffectFindEvidence looks up whether the agent has an uncertain delivery (repeat).
	EffectFindEvidence struct {
		Delivery DeliveryID `json:"delivery_id"`
		Provider string     `json:"provider"`
		NativeID string     `json:"native_id"`
		Dir      string     `json:"dir"`
		New      bool       `json:"new"`
	}
)

// EffectType names the kind in the journal.
func (EffectOpenSession) EffectType() string { return "session.open" }

// EffectType names the kind in the journal.
func (EffectWrite) EffectType() string { return "agent.write" }

// EffectType names the kind in the journal.
func (EffectStopSession) EffectType() string { return "session.stop" }

// EffectType names the kind in the journal.
func (EffectBuildHandoff) EffectType() string { return "handoff.build" }

// EffectType names the kind in the journal.
func (EffectFindEvidence) EffectType() string { return "evidence.find" }

var effectTypes = map[string]reflect.Type{}

func init() {
	for _, e := range []EffectData{EffectOpenSession{}, EffectWrite{}, EffectStopSession{}, EffectBuildHandoff{}, EffectFindEvidence{}} {
		effectTypes[e.EffectType()] = reflect.TypeOf(e)
	}
}

// DecodeEffect reads an effect's data as the journal keeps it.
func DecodeEffect(kind string, data []byte) (EffectData, error) {
	t, ok := effectTypes[kind]
	if !ok {
		return nil, Errorf(CodeDataNewer, "the journal asks for an effect %q that this version does not know", kind).
			WithHint("start the version of Baton that wrote it")
	}
	v := reflect.New(t)
	if err := json.Unmarshal(data, v.Interface()); err != nil {
		return nil, fmt.Errorf("effect %s: %w", kind, err)
	}
	return v.Elem().Interface().(EffectData), nil
}
