package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"baton"
)

// StoredEvent is an event as stores keep it.
type StoredEvent struct {
	Seq       uint64
	Thread    baton.ThreadID
	Version   uint64
	Type      string
	Shape     int
	Actor     baton.Actor
	Cause     []byte // JSON
	Epoch     uint64
	At        int64 // nanoseconds since 1970, 0 for unknown
	Committed int64
	Data      []byte // JSON
}

// EncodeEvent gives the stored form of an event, without Seq and Committed.
func EncodeEvent(e baton.Event) (StoredEvent, error) {
	if e.Data == nil {
		return StoredEvent{}, fmt.Errorf("journal: event %d of %s has no data", e.Version, e.Thread)
	}
	cause, err := marshal(e.Cause)
	if err != nil {
		return StoredEvent{}, err
	}
	data, err := marshal(e.Data)
	if err != nil {
		return StoredEvent{}, fmt.Errorf("journal: event %s: %w", e.Data.EventType(), err)
	}
	return StoredEvent{Thread: e.Thread, Version: e.Version, Type: e.Data.EventType(), Shape: baton.EventShape, Actor: e.Actor,
		Cause: cause, Epoch: e.Epoch, At: Nanos(e.At), Data: data}, nil
}

// Event decodes the stored form. A type or shape that this build does not know
// becomes baton.EventUnknown.
func (s StoredEvent) Event() (baton.Event, error) {
	e := baton.Event{Seq: s.Seq, Thread: s.Thread, Version: s.Version, Actor: s.Actor, Epoch: s.Epoch, At: Time(s.At), Committed: Time(s.Committed)}
	if err := json.Unmarshal(s.Cause, &e.Cause); err != nil {
		return e, fmt.Errorf("journal: cause of event %d of %s: %w", s.Version, s.Thread, err)
	}
	var err error
	if e.Data, err = baton.DecodeEvent(s.Type, s.Shape, s.Data); err != nil {
		return e, fmt.Errorf("journal: event %d of %s: %w", s.Version, s.Thread, err)
	}
	return e, nil
}

// StoredEffect is an effect as stores keep it.
type StoredEffect struct {
	ID      baton.EffectID
	Thread  baton.ThreadID
	Session baton.SessionID
	Lane    baton.Lane
	Type    string
	Data    []byte // JSON
}

// EncodeEffect gives the stored form of an effect.
func EncodeEffect(e baton.Effect) (StoredEffect, error) {
	if e.Data == nil || e.ID == "" {
		return StoredEffect{}, fmt.Errorf("journal: an effect of %s has no id or no data", e.Thread)
	}
	data, err := marshal(e.Data)
	if err != nil {
		return StoredEffect{}, fmt.Errorf("journal: effect %s: %w", e.Data.EffectType(), err)
	}
	return StoredEffect{ID: e.ID, Thread: e.Thread, Session: e.Session, Lane: e.Lane, Type: e.Data.EffectType(), Data: data}, nil
}

// Effect decodes the stored form.
func (s StoredEffect) Effect() (baton.Effect, error) {
	data, err := baton.DecodeEffect(s.Type, s.Data)
	return baton.Effect{ID: s.ID, Thread: s.Thread, Session: s.Session, Lane: s.Lane, Data: data}, err
}

// Nanos gives a time as stores keep it, 0 for the zero time.
func Nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Time is the inverse of Nanos, in UTC.
func Time(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// receipt is a receipt's answer as stores keep it.
type receipt struct {
	Reply baton.Reply  `json:"reply"`
	Err   *baton.Error `json:"error,omitempty"`
}

// EncodeReceipt gives the stored form of what the receipt answers, as JSON.
func EncodeReceipt(r Receipt) ([]byte, error) {
	if r.Command == "" {
		return nil, fmt.Errorf("journal: a receipt without a command id")
	}
	return marshal(receipt{Reply: r.Reply, Err: r.Err})
}

// DecodeReceipt is the inverse of EncodeReceipt.
func DecodeReceipt(command baton.CommandID, hash string, data []byte) (Receipt, error) {
	var v receipt
	if err := json.Unmarshal(data, &v); err != nil {
		return Receipt{}, fmt.Errorf("journal: receipt of %s: %w", command, err)
	}
	return Receipt{Command: command, Hash: hash, Reply: v.Reply, Err: v.Err}, nil
}
