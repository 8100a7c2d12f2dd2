package baton

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// Event is one transition of one thread, as the journal keeps it. Version
// counts a thread's events from 1 without gaps and is a client's cursor of the
// thread; Seq counts those of the whole journal and may have gaps.
type Event struct {
	Seq       uint64
	Thread    ThreadID
	Version   uint64
	Actor     Actor
	Cause     Cause
	Epoch     uint64    // of the owner that wrote it
	At        time.Time // when it happened: the shim's time for a frame
	Committed time.Time // when it became durable
	Data      EventData
}

// Actor says who brought an event about. A person who is known by name is
// "person:<name>".
type Actor string

// The actors.
const (
	ActorPerson Actor = "person"
	ActorAgent  Actor = "agent"
	ActorSystem Actor = "system"
)

// Cause links an event to what was decided: a command, a frame, an effect.
type Cause struct {
	Command CommandID `json:"command_id,omitempty"`
	Session SessionID `json:"session_id,omitempty"`
	Frame   uint64    `json:"frame,omitempty"`
	Effect  EffectID  `json:"effect_id,omitempty"`
}

// EventShape is the version of the shapes of all event data. A field may be
// added under the same number; a change of meaning raises it and keeps a
// decoder, with a golden file, of the old one.
const EventShape = 1

// EventData is the payload of an event: one of the Event… structs. A type that
// this build does not know decodes as EventUnknown and only advances the cursor.
type EventData interface{ EventType() string }

// EventUnknown stands for an event of a newer version.
type EventUnknown struct {
	Type string
	Raw  json.RawMessage
}

// EventType returns the type as it was stored.
func (e EventUnknown) EventType() string { return e.Type }

// MarshalJSON gives the payload back as it was.
func (e EventUnknown) MarshalJSON() ([]byte, error) { return e.Raw, nil }

var eventTypes = map[string]reflect.Type{}

func register(all ...EventData) {
	for _, e := range all {
		eventTypes[e.EventType()] = reflect.TypeOf(e)
	}
}

// DecodeEvent reads the payload of an event of the given type and shape.
func DecodeEvent(kind string, shape int, data []byte) (EventData, error) {
	t, ok := eventTypes[kind]
	if !ok || shape > EventShape {
		return EventUnknown{Type: kind, Raw: append([]byte(nil), data...)}, nil
	}
	v := reflect.New(t)
	if err := json.Unmarshal(data, v.Interface()); err != nil {
		return nil, fmt.Errorf("event %s: %w", kind, err)
	}
	return v.Elem().Interface().(EventData), nil
}

// EventTypes returns the types that this build knows, for tests and docs.
func EventTypes() map[string]reflect.Type { return eventTypes }
