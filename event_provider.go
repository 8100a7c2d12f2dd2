package baton

import (
	"encoding/json"
	"time"
)

// OriginKind says where a provider thread came from.
type OriginKind string

// The origins.
const (
	OriginNew           OriginKind = "new"
	OriginNativeFork    OriginKind = "native_fork"
	OriginReconstructed OriginKind = "reconstructed" // from a handoff, in place of another
)

// Origin is where a provider thread came from, and through which handoff.
type Origin struct {
	Kind    OriginKind       `json:"kind"`
	From    ProviderThreadID `json:"from_provider_thread_id,omitempty"`
	Handoff HandoffID        `json:"handoff_id,omitempty"`
}

// Events of sessions, provider threads and provider turns.
type (
	EventSessionOpened struct {
		Session        SessionID        `json:"session_id"`
		Provider       string           `json:"provider"`
		Driver         string           `json:"driver"`
		ProviderThread ProviderThreadID `json:"provider_thread_id"`
		Generation     int              `json:"generation"` // counts the thread's sessions
		Resume         string           `json:"resume,omitempty"`
		NewID          string           `json:"new_id"` // native id that a new conversation may take
		Dir            string           `json:"dir"`
		Settings       Settings         `json:"settings,omitzero"`
		Trusted        bool             `json:"trusted,omitempty"` // the person trusted the project then
		Deadline       time.Time        `json:"deadline"`          // until it must be ready
	}
	EventSessionReady struct {
		Session      SessionID `json:"session_id"`
		AgentVersion string    `json:"agent_version,omitempty"`
		Demoted      []string  `json:"demoted,omitempty"`
		Native       NativeRef `json:"native,omitzero"` // the open conversation; bound once something is accepted
	}
	EventSessionStopping struct {
		Session SessionID     `json:"session_id"`
		Reason  string        `json:"reason"`
		Status  SessionStatus `json:"status"` // what it will end as
	}
	EventSessionEnded struct {
		Session  SessionID     `json:"session_id"`
		Status   SessionStatus `json:"status"`
		Reason   string        `json:"reason"`
		LeftOver []string      `json:"left_over,omitempty"`
	}
	EventDetachedChanged struct {
		Session SessionID `json:"session_id"`
		Names   []string  `json:"names"`
	}

	EventProviderThreadCreated struct {
		ProviderThread ProviderThreadID `json:"provider_thread_id"`
		Provider       string           `json:"provider"`
		Driver         string           `json:"driver"`
		Origin         Origin           `json:"origin"`
	}
	// EventProviderThreadBound: the native id is known, and a turn or an
	// injection was accepted under it.
	EventProviderThreadBound struct {
		ProviderThread ProviderThreadID `json:"provider_thread_id"`
		Native         NativeRef        `json:"native"`
	}
	EventProviderThreadChanged struct {
		ProviderThread ProviderThreadID     `json:"provider_thread_id"`
		Status         ProviderThreadStatus `json:"status"`
		Reason         string               `json:"reason,omitempty"`
	}
	EventProviderThreadDiverged struct {
		ProviderThread ProviderThreadID `json:"provider_thread_id"`
		Reason         string           `json:"reason"`
	}
	// EventCoverageChanged carries the whole new coverage.
	EventCoverageChanged struct {
		ProviderThread ProviderThreadID `json:"provider_thread_id"`
		Native         Intervals        `json:"native"`
		HandedOver     Intervals        `json:"handed_over"`
		Handoffs       []HandoffID      `json:"handoff_ids"`
		Chain          int              `json:"chain"` // handoffs in a row without a full one
	}

	EventTurnStarted struct {
		Turn           ProviderTurnID   `json:"provider_turn_id"`
		ProviderThread ProviderThreadID `json:"provider_thread_id"`
		Session        SessionID        `json:"session_id"`
		Run            RunID            `json:"run_id"`
		Key            string           `json:"key"` // the driver's
		Native         NativeRef        `json:"native"`
	}
	EventTurnEnded struct {
		Turn   ProviderTurnID `json:"provider_turn_id"`
		Status TurnStatus     `json:"status"`
		Err    *Error         `json:"error,omitempty"`
		Usage  Usage          `json:"usage,omitzero"`
		Head   string         `json:"head,omitempty"`
	}
)

// DeliveryKind is what a delivery gives to an agent.
type DeliveryKind string

// The kinds of deliveries.
const (
	DeliverMessage DeliveryKind = "message"
	DeliverHandoff DeliveryKind = "handoff"
	DeliverAnswer  DeliveryKind = "answer"
)

// TransferType is why context must move.
type TransferType string

// The types of transfers.
const (
	TransferProviderHandoff TransferType = "provider_handoff"
	TransferFork            TransferType = "fork"
	TransferMergeBack       TransferType = "merge_back"
	TransferSubagentSpawn   TransferType = "subagent_spawn"
	TransferSubagentResult  TransferType = "subagent_result"
	TransferRecovery        TransferType = "recovery"
)

// Strategy is how a provider thread gets what it misses.
type Strategy string

// The strategies.
const (
	StrategyNone       Strategy = "none"
	StrategyDelta      Strategy = "delta_since_target_last_seen"
	StrategyFull       Strategy = "full_thread_summary"
	StrategyCheckpoint Strategy = "checkpoint_summary"
	StrategyManual     Strategy = "manual_context"
	StrategyMergeBack  Strategy = "merge_back_delta"
	StrategyRefused    Strategy = "unsupported"
)

// Reason is one signal of a strategy's choice, with what was compared.
type Reason struct {
	Signal         string           `json:"signal"`
	Value          string           `json:"value,omitempty"`
	Threshold      string           `json:"threshold,omitempty"`
	Decisive       bool             `json:"decisive"`
	ProviderThread ProviderThreadID `json:"provider_thread_id,omitempty"` // the candidate it is about
}

// Events of deliveries, transfers and handoffs.
type (
	EventDeliveryOffered struct {
		Delivery       DeliveryID       `json:"delivery_id"`
		Kind           DeliveryKind     `json:"kind"`
		Session        SessionID        `json:"session_id"`
		ProviderThread ProviderThreadID `json:"provider_thread_id"`
		Run            RunID            `json:"run_id,omitempty"`
		Attempt        AttemptID        `json:"attempt_id,omitempty"`
		Message        MessageID        `json:"message_id,omitempty"`
		Handoff        HandoffID        `json:"handoff_id,omitempty"`
		Request        RequestID        `json:"request_id,omitempty"`
		Mode           InjectionMode    `json:"mode,omitempty"` // of a handoff
	}
	EventDeliveryChanged struct {
		Delivery DeliveryID     `json:"delivery_id"`
		Status   DeliveryStatus `json:"status"`
		Evidence string         `json:"evidence,omitempty"`
		Err      *Error         `json:"error,omitempty"`
		Run      RunID          `json:"run_id,omitempty"` // consumed: the run whose turn took it
	}

	EventTransferCreated struct {
		Transfer  TransferID       `json:"transfer_id"`
		Type      TransferType     `json:"type"`
		From      ProviderThreadID `json:"from_provider_thread_id,omitempty"` // newest source
		FromRun   RunID            `json:"from_run_id,omitempty"`
		TargetRun RunID            `json:"target_run_id"`
	}
	EventTransferChanged struct {
		Transfer   TransferID     `json:"transfer_id"`
		Status     TransferStatus `json:"status"`
		Resolution string         `json:"resolution,omitempty"` // native_resume, native_fork, portable
		Fidelity   string         `json:"fidelity,omitempty"`   // native, lower
		Reasons    []Reason       `json:"reasons,omitempty"`
		Handoff    HandoffID      `json:"handoff_id,omitempty"`
	}
	EventHandoffRequested struct {
		Handoff  HandoffID          `json:"handoff_id"`
		Transfer TransferID         `json:"transfer_id"`
		Run      RunID              `json:"run_id"`
		Strategy Strategy           `json:"strategy"`
		From     []ProviderThreadID `json:"from_provider_thread_ids"`
		To       ProviderThreadID   `json:"to_provider_thread_id"`
		Covered  Intervals          `json:"covered"`
		// Supersedes is the handoff that this one takes the place of.
		Supersedes HandoffID `json:"supersedes,omitempty"`
	}
	// EventHandoffAssigned gives a draft to a run, or takes it back (no run).
	EventHandoffAssigned struct {
		Handoff HandoffID `json:"handoff_id"`
		Run     RunID     `json:"run_id"`
	}
	// EventHandoffSqueezed: what matters most would have been cut to fit into the
	// provider thread, so the run goes to another one.
	EventHandoffSqueezed struct {
		Run            RunID            `json:"run_id"`
		ProviderThread ProviderThreadID `json:"provider_thread_id"`
	}
	// EventHandoffCompareAsked: the handoff of a queued run is made, to be compared
	// with the one that the person has seen.
	EventHandoffCompareAsked struct {
		Run     RunID     `json:"run_id"`
		Handoff HandoffID `json:"handoff_id"` // it will have, if it is the same
	}
	// EventHandoffCompared: whether it is the one.
	EventHandoffCompared struct {
		Run    RunID  `json:"run_id"`
		Same   bool   `json:"same"`
		Digest string `json:"digest"` // of the one that was made
	}
	EventHandoffReady struct {
		Handoff    HandoffID       `json:"handoff_id"`
		Document   json.RawMessage `json:"document"`
		Text       string          `json:"text"` // byte for byte what is sent
		Digest     string          `json:"digest"`
		Tokens     int             `json:"estimated_tokens"`
		Omitted    Omitted         `json:"omitted"`
		Redactions int             `json:"redactions"`
		CreatedBy  string          `json:"created_by_provider"` // "local", "person" or a provider
		// EditedFrom is the digest of the text that a person saw and replaced.
		EditedFrom string `json:"edited_from,omitempty"`
	}
	EventHandoffChanged struct {
		Handoff HandoffID     `json:"handoff_id"`
		Status  HandoffStatus `json:"status"`
		Err     *Error        `json:"error,omitempty"`
	}
)

func init() {
	register(EventSessionOpened{}, EventSessionReady{}, EventSessionStopping{}, EventSessionEnded{}, EventDetachedChanged{},
		EventProviderThreadCreated{}, EventProviderThreadBound{}, EventProviderThreadChanged{}, EventProviderThreadDiverged{}, EventCoverageChanged{},
		EventTurnStarted{}, EventTurnEnded{}, EventDeliveryOffered{}, EventDeliveryChanged{},
		EventTransferCreated{}, EventTransferChanged{}, EventHandoffRequested{}, EventHandoffAssigned{},
		EventHandoffSqueezed{}, EventHandoffCompareAsked{}, EventHandoffCompared{}, EventHandoffReady{}, EventHandoffChanged{})
}

// The stored names of the types.
func (EventSessionOpened) EventType() string          { return "session.opened" }
func (EventSessionReady) EventType() string           { return "session.ready" }
func (EventSessionStopping) EventType() string        { return "session.stopping" }
func (EventSessionEnded) EventType() string           { return "session.ended" }
func (EventDetachedChanged) EventType() string        { return "session.detached_changed" }
func (EventProviderThreadCreated) EventType() string  { return "provider_thread.created" }
func (EventProviderThreadBound) EventType() string    { return "provider_thread.bound" }
func (EventProviderThreadChanged) EventType() string  { return "provider_thread.changed" }
func (EventProviderThreadDiverged) EventType() string { return "provider_thread.diverged" }
func (EventCoverageChanged) EventType() string        { return "provider_thread.coverage_changed" }
func (EventTurnStarted) EventType() string            { return "provider_turn.started" }
func (EventTurnEnded) EventType() string              { return "provider_turn.ended" }
func (EventDeliveryOffered) EventType() string        { return "delivery.offered" }
func (EventDeliveryChanged) EventType() string        { return "delivery.changed" }
func (EventTransferCreated) EventType() string        { return "transfer.created" }
func (EventTransferChanged) EventType() string        { return "transfer.changed" }
func (EventHandoffRequested) EventType() string       { return "handoff.requested" }
func (EventHandoffAssigned) EventType() string        { return "handoff.assigned" }
func (EventHandoffSqueezed) EventType() string        { return "handoff.squeezed" }
func (EventHandoffCompareAsked) EventType() string    { return "handoff.compare_asked" }
func (EventHandoffCompared) EventType() string        { return "handoff.compared" }
func (EventHandoffReady) EventType() string           { return "handoff.ready" }
func (EventHandoffChanged) EventType() string         { return "handoff.changed" }
