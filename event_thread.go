package baton

import "time"

// Trigger says what caused a run.
type Trigger string

// The triggers.
const (
	TriggerMessage    Trigger = "message"
	TriggerBackground Trigger = "background" // a turn that the agent began by itself
)

// AttemptReason says why an attempt was made.
type AttemptReason string

// The reasons.
const (
	AttemptInitial          AttemptReason = "initial"
	AttemptSteeringRestart  AttemptReason = "steering_restart"
	AttemptRetry            AttemptReason = "retry"
	AttemptProviderRecovery AttemptReason = "provider_recovery"
)

// Events of a thread, its queue and its messages.
type (
	EventThreadCreated struct {
		Title     string      `json:"title,omitempty"`
		Project   ProjectID   `json:"project_id,omitempty"`
		Workspace WorkspaceID `json:"workspace_id"`
		Dir       string      `json:"dir"` // absolute
		Provider  string      `json:"provider,omitempty"`
		Settings  Settings    `json:"settings,omitzero"`
	}
	EventThreadTitled struct {
		Title string `json:"title"`
	}
	// EventThreadStateChanged: archived, deleted, or back from there.
	EventThreadStateChanged struct {
		State ThreadState `json:"state"`
	}
	EventQueueHeld struct {
		Reason string `json:"reason"` // stop, failed, interrupted
	}
	EventQueueResumed struct{}
	// EventStopRequested raises the stop epoch: nothing automatic that was owed
	// before it may start the thread again.
	EventStopRequested struct {
		StopEpoch int `json:"stop_epoch"`
	}
	EventMessageAccepted struct {
		Message MessageID `json:"message_id"`
		Run     RunID     `json:"run_id"`
		Text    string    `json:"text"`
		Author  string    `json:"author"`
	}
)

// Events of runs and attempts.
type (
	EventRunQueued struct {
		Run      RunID     `json:"run_id"`
		Ordinal  int       `json:"ordinal"`
		Trigger  Trigger   `json:"trigger"`
		Message  MessageID `json:"message_id,omitempty"` // none for a background run
		Provider string    `json:"provider"`
		Settings Settings  `json:"settings,omitzero"`
		Clean    bool      `json:"clean_context,omitempty"`
		// What a person insists on, see CommandSend.
		HandoffDigest string `json:"handoff_digest,omitempty"`
		HandoffText   string `json:"handoff_text,omitempty"`
	}
	// EventRunWaiting: the run can't leave the queue yet, and why.
	EventRunWaiting struct {
		Run    RunID  `json:"run_id"`
		Reason string `json:"reason"`
	}
	EventRunStarting struct {
		Run RunID `json:"run_id"`
	}
	EventRunRunning struct {
		Run RunID `json:"run_id"`
	}
	// EventInterruptRequested: a person asked. Only the agent's own end ends the run.
	EventInterruptRequested struct {
		Run      RunID     `json:"run_id"`
		Stage    string    `json:"stage"`    // ask, stop_session
		Deadline time.Time `json:"deadline"` // when the next stage is due
	}
	// EventRunFinalizing: the run is inside the completion barrier.
	EventRunFinalizing struct {
		Run     RunID     `json:"run_id"`
		Outcome RunStatus `json:"outcome"`
		Err     *Error    `json:"error,omitempty"`
		// AbsorbedBy is the run whose turn took this run's message; then the
		// outcome is cancelled.
		AbsorbedBy RunID `json:"absorbed_by,omitempty"`
	}
	EventRunEnded struct {
		Run      RunID     `json:"run_id"`
		Ordinal  int       `json:"ordinal,omitempty"`
		Provider string    `json:"provider,omitempty"`
		Status   RunStatus `json:"status"`
		Err      *Error    `json:"error,omitempty"`
		Answer   ItemID    `json:"answer_item_id,omitempty"` // the last assistant message
		Usage    Usage     `json:"usage,omitzero"`
	}
	EventAttemptCreated struct {
		Attempt        AttemptID        `json:"attempt_id"`
		Run            RunID            `json:"run_id"`
		Ordinal        int              `json:"ordinal"`
		RootNode       NodeID           `json:"root_node_id"`
		ProviderThread ProviderThreadID `json:"provider_thread_id"`
		Reason         AttemptReason    `json:"reason"`
		// How it was decided where the attempt goes, see package handoff.
		Strategy Strategy `json:"strategy,omitempty"`
		Reasons  []Reason `json:"reasons,omitempty"`
		Rejected []Reason `json:"rejected,omitempty"`
	}
	EventAttemptRunning struct {
		Attempt AttemptID      `json:"attempt_id"`
		Turn    ProviderTurnID `json:"provider_turn_id"`
	}
	EventAttemptEnded struct {
		Attempt  AttemptID     `json:"attempt_id"`
		Status   AttemptStatus `json:"status"`
		Selected bool          `json:"selected"`
		Err      *Error        `json:"error,omitempty"`
	}
)

// Events of the timeline. An item that has a node of its own (see
// ItemKind.Node) opens and closes it with itself.
type (
	EventItemOpened struct {
		Item     ItemID    `json:"item_id"`
		Run      RunID     `json:"run_id,omitempty"`
		Attempt  AttemptID `json:"attempt_id,omitempty"`
		Node     NodeID    `json:"node_id,omitempty"`
		Parent   NodeID    `json:"parent_node_id,omitempty"` // of Node, where the item has one of its own
		Kind     ItemKind  `json:"kind"`
		Session  SessionID `json:"session_id,omitempty"` // of an item that an agent made
		Key      string    `json:"key,omitempty"`        // the driver's
		Position int       `json:"position"`             // counts the thread's items from 1
		Open     bool      `json:"open"`                 // false for an item that is complete at once
		Body     ItemBody  `json:"body"`
	}
	// EventItemReset voids what has streamed and raises the revision.
	EventItemReset struct {
		Item     ItemID `json:"item_id"`
		Revision int    `json:"revision"`
	}
	// EventItemUpdated changes fields of an open item's body (a todo list's steps).
	EventItemUpdated struct {
		Item ItemID   `json:"item_id"`
		Body ItemBody `json:"body"`
	}
	// EventItemClosed carries the final body. Text and Output are whole, or head
	// and tail with Body.Cut set; then the chunks of the item are kept.
	EventItemClosed struct {
		Item   ItemID     `json:"item_id"`
		Node   NodeID     `json:"node_id,omitempty"`
		Status NodeStatus `json:"status"`
		Body   ItemBody   `json:"body"`
	}
	EventRequestOpened struct {
		Request   RequestID       `json:"request_id"`
		Run       RunID           `json:"run_id,omitempty"`
		Node      NodeID          `json:"node_id,omitempty"`
		Item      ItemID          `json:"item_id,omitempty"` // the approval or question item
		Session   SessionID       `json:"session_id"`
		Key       string          `json:"key"` // the driver's
		Kind      RequestKind     `json:"kind"`
		Title     string          `json:"title"`
		Detail    string          `json:"detail,omitempty"`
		Options   []RequestOption `json:"options,omitempty"`
		Questions []Question      `json:"questions,omitempty"`
	}
	EventRequestResolved struct {
		Request  RequestID           `json:"request_id"`
		Decision Decision            `json:"decision,omitempty"`
		Reason   string              `json:"reason,omitempty"`
		Answers  map[string][]string `json:"answers,omitempty"`
		By       string              `json:"by"`
	}
	// EventRequestExpired: whoever asked is gone, or waits no longer.
	EventRequestExpired struct {
		Request  RequestID     `json:"request_id"`
		Status   RequestStatus `json:"status"` // expired or cancelled
		Reason   string        `json:"reason"`
		Response Answerability `json:"response"`
	}
	// EventFrameRejected: a frame could not be processed and was set aside.
	EventFrameRejected struct {
		Session SessionID `json:"session_id"`
		Frame   uint64    `json:"frame"`
		Fault   string    `json:"fault"`
		Head    string    `json:"head,omitempty"` // of the frame, at most 2 KB
	}
)

func init() {
	register(EventThreadCreated{}, EventThreadTitled{}, EventThreadStateChanged{}, EventQueueHeld{}, EventQueueResumed{}, EventStopRequested{}, EventMessageAccepted{},
		EventRunQueued{}, EventRunWaiting{}, EventRunStarting{}, EventRunRunning{}, EventInterruptRequested{}, EventRunFinalizing{}, EventRunEnded{},
		EventAttemptCreated{}, EventAttemptRunning{}, EventAttemptEnded{},
		EventItemOpened{}, EventItemReset{}, EventItemUpdated{}, EventItemClosed{},
		EventRequestOpened{}, EventRequestResolved{}, EventRequestExpired{}, EventFrameRejected{})
}

// The stored names of the types.
func (EventThreadCreated) EventType() string      { return "thread.created" }
func (EventThreadTitled) EventType() string       { return "thread.titled" }
func (EventThreadStateChanged) EventType() string { return "thread.state_changed" }
func (EventQueueHeld) EventType() string          { return "queue.held" }
func (EventQueueResumed) EventType() string       { return "queue.resumed" }
func (EventStopRequested) EventType() string      { return "thread.stop_requested" }
func (EventMessageAccepted) EventType() string    { return "message.accepted" }
func (EventRunQueued) EventType() string          { return "run.queued" }
func (EventRunWaiting) EventType() string         { return "run.waiting" }
func (EventRunStarting) EventType() string        { return "run.starting" }
func (EventRunRunning) EventType() string         { return "run.running" }
func (EventInterruptRequested) EventType() string { return "run.interrupt_requested" }
func (EventRunFinalizing) EventType() string      { return "run.finalizing" }
func (EventRunEnded) EventType() string           { return "run.ended" }
func (EventAttemptCreated) EventType() string     { return "attempt.created" }
func (EventAttemptRunning) EventType() string     { return "attempt.running" }
func (EventAttemptEnded) EventType() string       { return "attempt.ended" }
func (EventItemOpened) EventType() string         { return "item.opened" }
func (EventItemReset) EventType() string          { return "item.reset" }
func (EventItemUpdated) EventType() string        { return "item.updated" }
func (EventItemClosed) EventType() string         { return "item.closed" }
func (EventRequestOpened) EventType() string      { return "request.opened" }
func (EventRequestResolved) EventType() string    { return "request.resolved" }
func (EventRequestExpired) EventType() string     { return "request.expired" }
func (EventFrameRejected) EventType() string      { return "frame.rejected" }
