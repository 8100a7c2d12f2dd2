package httpapi

import (
	"encoding/json"
	"time"

	"baton"
	"baton/internal/journal"
)

// Event is one transition of a thread.
type Event struct {
	ThreadID  string          `json:"thread_id"`
	Version   uint64          `json:"version" doc:"counts a thread's events without gaps: the cursor"`
	Seq       uint64          `json:"seq,omitempty"`
	Type      string          `json:"type"`
	Actor     string          `json:"actor"`
	Cause     baton.Cause     `json:"cause,omitzero"`
	At        time.Time       `json:"at"`
	Committed *time.Time      `json:"committed,omitempty"`
	Data      json.RawMessage `json:"data"`
}

// Delta is text of an item that is open. Offset counts bytes of UTF-8.
type Delta struct {
	ItemID   string `json:"item_id"`
	Revision int    `json:"revision"`
	Output   bool   `json:"output,omitempty"`
	Offset   int64  `json:"offset"`
	Text     string `json:"text"`
}

// CaughtUp says that what follows is live.
type CaughtUp struct {
	Version uint64 `json:"version"`
}

func eventOf(e baton.Event) (Event, error) {
	data, err := json.Marshal(e.Data)
	if err != nil {
		return Event{}, err
	}
	out := Event{ThreadID: string(e.Thread), Version: e.Version, Seq: e.Seq, Type: e.Data.EventType(), Actor: string(e.Actor), Cause: e.Cause,
		At: e.At.UTC(), Data: data}
	if !e.Committed.IsZero() {
		at := e.Committed.UTC()
		out.Committed = &at
	}
	return out, nil
}

func deltaOf(c journal.Chunk) Delta {
	return Delta{ItemID: string(c.Item), Revision: c.Revision, Output: c.Output, Offset: c.Offset, Text: c.Text}
}

// Effect is an effect that has not ended.
type Effect struct {
	ID        string          `json:"id"`
	ThreadID  string          `json:"thread_id"`
	SessionID string          `json:"session_id,omitempty"`
	Lane      string          `json:"lane"`
	Kind      string          `json:"kind"`
	Data      json.RawMessage `json:"data"`
}

// Frame is one record of a session's spool.
type Frame struct {
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`
	Partial bool      `json:"partial,omitempty"`
	ID      string    `json:"id,omitempty"`
	Data    string    `json:"data,omitempty"`
}

// Delivery is one thing given to an agent.
type Delivery struct {
	ID               string       `json:"id"`
	ThreadID         string       `json:"thread_id"`
	RunID            string       `json:"run_id,omitempty"`
	Kind             string       `json:"kind"`
	State            string       `json:"state"`
	SessionID        string       `json:"session_id"`
	ProviderThreadID string       `json:"provider_thread_id"`
	AttemptID        string       `json:"attempt_id,omitempty"`
	MessageID        string       `json:"message_id,omitempty"`
	HandoffID        string       `json:"handoff_id,omitempty"`
	RequestID        string       `json:"request_id,omitempty"`
	Mode             string       `json:"mode,omitempty"`
	Evidence         string       `json:"evidence,omitempty"`
	ConsumedByRunID  string       `json:"consumed_by_run_id,omitempty"`
	Error            *baton.Error `json:"error,omitempty"`
	OfferedAt        *time.Time   `json:"offered_at,omitempty"`
	UpdatedAt        *time.Time   `json:"updated_at,omitempty"`
}

// ServerInfo is the server that answers.
type ServerInfo struct {
	Version   string    `json:"version"`
	PID       int       `json:"pid"`
	StartedAt time.Time `json:"started_at"`
	Data      string    `json:"data"`
	Config    string    `json:"config"`
	Page      string    `json:"page,omitempty" doc:"where a browser finds the page; absent: nowhere"`
}
