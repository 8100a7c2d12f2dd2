package httpapi

import (
	"encoding/json"
	"time"

	"baton"
)

// Page is a part of a list. Next is the cursor of the part behind it.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}

// Lineage says where a thread came from.
type Lineage struct {
	ParentThreadID string `json:"parent_thread_id,omitempty"`
	Relation       string `json:"relation,omitempty"`
	RootThreadID   string `json:"root_thread_id"`
}

// PendingRequest is a request that a thread waits for, in brief.
type PendingRequest struct {
	ID    string `json:"id"`
	RunID string `json:"run_id,omitempty"`
	Kind  string `json:"kind"`
	Title string `json:"title"`
}

// LastRun is the run of a thread that ended last, cancelled ones apart.
type LastRun struct {
	ID       string     `json:"id"`
	Ordinal  int        `json:"ordinal,omitempty"`
	Status   string     `json:"status"`
	Provider string     `json:"provider,omitempty"`
	EndedAt  *time.Time `json:"ended_at,omitempty"`
}

// ThreadRow is what a list tells of a thread; the whole is Thread.
type ThreadRow struct {
	ID         string     `json:"id"`
	Title      string     `json:"title,omitempty"`
	State      string     `json:"state"`
	Activity   string     `json:"activity" enum:"idle,queued,starting,running,waiting,finalizing,held" doc:"derived: what goes on in it now; waiting is for a person"`
	Provider   string     `json:"provider,omitempty"`
	QueueHeld  bool       `json:"queue_held"`
	QueuedRuns int        `json:"queued_runs,omitempty" doc:"how many runs wait in its queue"`
	Requests   int        `json:"requests,omitempty" doc:"how many requests wait for a person"`
	LastRun    *RowRun    `json:"last_run,omitempty"`
	UpdatedAt  *time.Time `json:"updated_at,omitempty"`
}

// RowRun is the run of a thread that ended last, in a list.
type RowRun struct {
	Ordinal  int    `json:"ordinal,omitempty"`
	Status   string `json:"status"`
	Provider string `json:"provider,omitempty"`
}

// Thread is a thread with its runs.
type Thread struct {
	ID                     string           `json:"id"`
	Version                uint64           `json:"version,omitempty" doc:"cursor for its stream; only where one thread is shown"`
	Title                  string           `json:"title,omitempty"`
	State                  string           `json:"state"`
	Activity               string           `json:"activity" enum:"idle,queued,starting,running,waiting,finalizing,held" doc:"derived: what goes on in it now"`
	ProjectID              string           `json:"project_id,omitempty"`
	WorkspaceID            string           `json:"workspace_id"`
	Dir                    string           `json:"dir"`
	Provider               string           `json:"provider,omitempty"`
	Settings               baton.Settings   `json:"settings,omitzero"`
	Lineage                Lineage          `json:"lineage"`
	ActiveProviderThreadID string           `json:"active_provider_thread_id,omitempty"`
	QueueHeld              bool             `json:"queue_held"`
	QueueHeldReason        string           `json:"queue_held_reason,omitempty"`
	PendingRequests        []PendingRequest `json:"pending_requests,omitempty"`
	LastRun                *LastRun         `json:"last_run,omitempty"`
	Runs                   []Run            `json:"runs,omitzero"`
	CreatedAt              time.Time        `json:"created_at"`
	UpdatedAt              *time.Time       `json:"updated_at,omitempty"`
}

// Run is one counted turn of a thread.
type Run struct {
	ID               string          `json:"id"`
	ThreadID         string          `json:"thread_id"`
	Ordinal          int             `json:"ordinal"`
	Status           string          `json:"status" doc:"waiting is derived: a request of it is pending"`
	Trigger          string          `json:"trigger"`
	Provider         string          `json:"provider"`
	Settings         baton.Settings  `json:"settings,omitzero"`
	ProviderThreadID string          `json:"provider_thread_id,omitempty"`
	HandoffID        string          `json:"handoff_id,omitempty"`
	HandoffIDs       []string        `json:"handoff_ids"`
	Handoffs         map[string]int  `json:"handoffs,omitempty" hidden:"true"` // as stored; HandoffIDs is made of it
	CleanContext     bool            `json:"clean_context,omitempty"`
	HandoffDigest    string          `json:"handoff_digest,omitempty" doc:"the handoff that the person insists on"`
	Attempts         []Attempt       `json:"attempts"`
	MessageID        string          `json:"message_id,omitempty"`
	Answer           string          `json:"answer,omitempty"`
	AnswerItemID     string          `json:"answer_item_id,omitempty"`
	Error            *baton.Error    `json:"error,omitempty"`
	Usage            *baton.Usage    `json:"usage,omitempty"`
	Interrupt        json.RawMessage `json:"interrupt,omitempty"`
	AbsorbedByRunID  string          `json:"absorbed_by_run_id,omitempty"`
	CheckpointID     string          `json:"checkpoint_id,omitempty"`
	SupersedesRunID  string          `json:"supersedes_run_id,omitempty"`
	CreatedAt        *time.Time      `json:"created_at,omitempty"`
	StartedAt        *time.Time      `json:"started_at,omitempty"`
	EndedAt          *time.Time      `json:"ended_at,omitempty"`
}

// Attempt is one execution of a run.
type Attempt struct {
	ID               string         `json:"id"`
	RunID            string         `json:"run_id"`
	Ordinal          int            `json:"ordinal"`
	RootNodeID       string         `json:"root_node_id"`
	ProviderThreadID string         `json:"provider_thread_id"`
	ProviderTurnID   string         `json:"provider_turn_id,omitempty"`
	Reason           string         `json:"reason"`
	Status           string         `json:"status"`
	Selected         bool           `json:"selected"`
	Strategy         string         `json:"strategy,omitempty" doc:"how it got what it missed, and why there"`
	Reasons          []baton.Reason `json:"reasons,omitempty"`
	Rejected         []baton.Reason `json:"rejected,omitempty"`
	Error            *baton.Error   `json:"error,omitempty"`
}

// Item is one entry of the timeline.
type Item struct {
	ID        string         `json:"id"`
	ThreadID  string         `json:"thread_id"`
	RunID     string         `json:"run_id,omitempty"`
	NodeID    string         `json:"node_id,omitempty"`
	Kind      string         `json:"kind"`
	Position  int            `json:"position"`
	Revision  int            `json:"revision"`
	Open      bool           `json:"open"`
	Body      baton.ItemBody `json:"body"`
	CreatedAt *time.Time     `json:"created_at,omitempty"`
	ClosedAt  *time.Time     `json:"closed_at,omitempty"`
}

// Request is something that an agent asks.
type Request struct {
	ID         string                `json:"id"`
	ThreadID   string                `json:"thread_id"`
	RunID      string                `json:"run_id,omitempty"`
	NodeID     string                `json:"node_id,omitempty"`
	ItemID     string                `json:"item_id,omitempty"`
	Kind       string                `json:"kind"`
	Status     string                `json:"status"`
	Response   string                `json:"response,omitempty" doc:"how it can be answered now: live, message, not_resumable; absent once it is resolved"`
	Reason     string                `json:"reason,omitempty"`
	Title      string                `json:"title"`
	Detail     string                `json:"detail,omitempty"`
	Options    []baton.RequestOption `json:"options,omitempty"`
	Questions  []baton.Question      `json:"questions,omitempty"`
	Decision   string                `json:"decision,omitempty"`
	Answers    map[string][]string   `json:"answers,omitempty"`
	AnsweredBy string                `json:"answered_by,omitempty"`
	CreatedAt  *time.Time            `json:"created_at,omitempty"`
	EndedAt    *time.Time            `json:"ended_at,omitempty"`
}

// Session is one agent process, living or dead.
type Session struct {
	ID               string     `json:"id"`
	ThreadID         string     `json:"thread_id"`
	Provider         string     `json:"provider"`
	Driver           string     `json:"driver"`
	ProviderThreadID string     `json:"provider_thread_id"`
	Generation       int        `json:"generation"`
	Status           string     `json:"status"`
	Reason           string     `json:"reason,omitempty"`
	AgentVersion     string     `json:"agent_version,omitempty"`
	Demoted          []string   `json:"demoted,omitempty"`
	Detached         []string   `json:"detached,omitempty"`
	LeftOver         []string   `json:"left_over,omitempty"`
	OpenedAt         *time.Time `json:"opened_at,omitempty"`
	EndedAt          *time.Time `json:"ended_at,omitempty"`
}
