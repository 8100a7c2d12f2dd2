package httpapi

import (
	"encoding/json"
	"time"

	"baton"
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

// Opened is the first message of a stream.
type Opened struct {
	StreamID string `json:"stream_id" doc:"for POST /api/streams/{id}; it is this connection's and ends with it"`
}

// Snapshot is a thread as it is at a version. It replaces what a reader has of
// the thread.
type Snapshot struct {
	ThreadID string    `json:"thread_id"`
	Version  uint64    `json:"version"`
	Thread   Thread    `json:"thread" doc:"with its newest runs"`
	Items    []Item    `json:"items" doc:"the newest, in the timeline's order; text of open ones follows as deltas"`
	Earlier  string    `json:"earlier,omitempty" doc:"where there are earlier items: cursor for GET /api/threads/{thread}/items?newest=true"`
	Requests []Request `json:"requests" doc:"those that are pending"`
}

// Delta is text of an item that is open.
type Delta struct {
	ThreadID string `json:"thread_id"`
	ItemID   string `json:"item_id"`
	Revision int    `json:"revision" doc:"a greater one voids the text of those before it"`
	Output   bool   `json:"output,omitempty" doc:"of the body's output, else of its text; each is counted apart"`
	Offset   int64  `json:"offset" doc:"where the text belongs, in UTF-16 code units from the beginning"`
	Text     string `json:"text"`
}

// CaughtUp says that what follows of a thread, or of the list, is live.
type CaughtUp struct {
	ThreadID string `json:"thread_id,omitempty"`
	Version  uint64 `json:"version,omitempty" doc:"of the thread"`
	List     bool   `json:"list,omitempty"`
}

// Left says that nothing more of a thread comes, unless it is subscribed to again.
type Left struct {
	ThreadID string `json:"thread_id"`
}

// StreamChange changes what a stream brings.
type StreamChange struct {
	Subscribe   []StreamThread `json:"subscribe,omitempty" maxItems:"500"`
	Unsubscribe []string       `json:"unsubscribe,omitempty" maxItems:"500" doc:"ids of threads; they are taken before subscribe"`
	List        *bool          `json:"list,omitempty" doc:"absent: as it was"`
}

// StreamThread is a thread to follow.
type StreamThread struct {
	ThreadID string `json:"thread_id" doc:"id of a thread, or its unique beginning or end"`
	After    uint64 `json:"after,omitempty" doc:"version of the last event that the reader has; 0: nothing"`
}

// StreamState is what a stream brings.
type StreamState struct {
	StreamID string   `json:"stream_id"`
	Threads  []string `json:"threads"`
	List     bool     `json:"list"`
}

func eventOf(e baton.Event) (Event, error) {
	data, err := json.Marshal(e.Data)
	return eventWith(e, data), err
}

// eventWith is eventOf with the data encoded already.
func eventWith(e baton.Event, data json.RawMessage) Event {
	out := Event{ThreadID: string(e.Thread), Version: e.Version, Seq: e.Seq, Type: e.Data.EventType(), Actor: string(e.Actor), Cause: e.Cause,
		At: e.At.UTC(), Data: data}
	if !e.Committed.IsZero() {
		at := e.Committed.UTC()
		out.Committed = &at
	}
	return out
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
