package httpapi

import (
	"encoding/json"
	"time"

	"baton"
)

// Coverage says which runs each provider thread of a thread knows.
type Coverage struct {
	ThreadID        string           `json:"thread_id"`
	ProviderThreads []ProviderThread `json:"provider_threads"`
}

// ProviderThread is an agent's own conversation.
type ProviderThread struct {
	ID              string   `json:"id"`
	Provider        string   `json:"provider"`
	NativeID        string   `json:"native_id,omitempty"`
	NativeHead      string   `json:"native_head,omitempty"`
	Status          string   `json:"status"`
	Reason          string   `json:"reason,omitempty"`
	Divergent       bool     `json:"divergent"`
	DivergentReason string   `json:"divergent_reason,omitempty"`
	Origin          Origin   `json:"origin"`
	FirstRunOrdinal int      `json:"first_run_ordinal,omitempty"`
	LastRunOrdinal  int      `json:"last_run_ordinal,omitempty"`
	Native          [][2]int `json:"native" doc:"inclusive pairs of run ordinals"`
	HandedOver      [][2]int `json:"handed_over" doc:"inclusive pairs of run ordinals"`
	HandoffIDs      []string `json:"handoff_ids"`
}

// Origin is where a provider thread came from.
type Origin struct {
	Kind                 string `json:"kind" enum:"new,native_fork,reconstructed"`
	FromProviderThreadID string `json:"from_provider_thread_id,omitempty"`
	HandoffID            string `json:"handoff_id,omitempty"`
}

// Point is where context comes from.
type Point struct {
	ThreadID         string `json:"thread_id"`
	RunID            string `json:"run_id,omitempty"`
	NodeID           string `json:"node_id,omitempty"`
	CheckpointID     string `json:"checkpoint_id,omitempty"`
	ProviderThreadID string `json:"provider_thread_id,omitempty"`
}

// Target is where context goes.
type Target struct {
	ThreadID string `json:"thread_id"`
	RunID    string `json:"run_id,omitempty"`
}

// Resolution is how a transfer was satisfied.
type Resolution struct {
	Strategy string         `json:"strategy"`
	Fidelity string         `json:"fidelity,omitempty"`
	Reasons  []baton.Reason `json:"reasons,omitempty"`
}

// Transfer is the record that context must move.
type Transfer struct {
	ID         string      `json:"id"`
	Type       string      `json:"type"`
	Status     string      `json:"status"`
	Source     Point       `json:"source"`
	Base       *Point      `json:"base"`
	Target     Target      `json:"target"`
	Resolution *Resolution `json:"resolution,omitempty"`
	HandoffID  string      `json:"handoff_id,omitempty"`
	CreatedAt  *time.Time  `json:"created_at,omitempty"`
	UpdatedAt  *time.Time  `json:"updated_at,omitempty"`
}

// Covered is the range of runs that a handoff tells of.
type Covered struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// HandoffDelivery is how a handoff reached its agent.
type HandoffDelivery struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Mode  string `json:"mode,omitempty"`
}

// Handoff is the document made for a transfer. A list leaves text and document out.
type Handoff struct {
	ID                    string           `json:"id"`
	TransferID            string           `json:"transfer_id"`
	ThreadID              string           `json:"thread_id"`
	SourceThreadID        string           `json:"source_thread_id"`
	RunID                 string           `json:"run_id,omitempty"`
	Strategy              string           `json:"strategy"`
	Status                string           `json:"status"`
	FromProviderThreadIDs []string         `json:"from_provider_thread_ids"`
	ToProviderThreadID    string           `json:"to_provider_thread_id"`
	CoveredRuns           *Covered         `json:"covered_runs,omitempty"`
	Covered               [][2]int         `json:"covered,omitempty" doc:"inclusive pairs; covered_runs is from the first to the last"`
	Text                  string           `json:"text,omitempty"`
	Digest                string           `json:"digest,omitempty"`
	EstimatedTokens       int              `json:"estimated_tokens,omitempty"`
	Omitted               *baton.Omitted   `json:"omitted,omitempty"`
	Redactions            int              `json:"redactions"`
	CreatedByProvider     string           `json:"created_by_provider,omitempty"`
	Delivery              *HandoffDelivery `json:"delivery,omitempty"`
	EditedFrom            string           `json:"edited_from,omitempty" doc:"digest of the text that a person saw and replaced"`
	Supersedes            string           `json:"supersedes,omitempty"`
	Document              json.RawMessage  `json:"document,omitempty"`
	Error                 *baton.Error     `json:"error,omitempty"`
	CreatedAt             *time.Time       `json:"created_at,omitempty"`
	UpdatedAt             *time.Time       `json:"updated_at,omitempty"`
}
