package baton

import "slices"

// A set of states with its legal transitions. The tables below are the only
// place that says what may follow what; docs/state_machine.md is generated
// from them, and a unit that breaks one is refused.

// States of a thread.
type ThreadState string

const (
	ThreadActive   ThreadState = "active"
	ThreadArchived ThreadState = "archived"
	ThreadDeleted  ThreadState = "deleted" // keeps what its forks inherit
)

// RunStatus is the state of a run. "waiting" is derived: a request of it is pending.
type RunStatus string

const (
	RunQueued      RunStatus = "queued"
	RunStarting    RunStatus = "starting"
	RunRunning     RunStatus = "running"
	RunFinalizing  RunStatus = "finalizing" // inside the completion barrier
	RunCompleted   RunStatus = "completed"
	RunInterrupted RunStatus = "interrupted"
	RunFailed      RunStatus = "failed"
	RunCancelled   RunStatus = "cancelled" // never reached an agent
	RunRolledBack  RunStatus = "rolled_back"
)

// AttemptStatus is the state of one execution of a run.
type AttemptStatus string

const (
	AttemptPending     AttemptStatus = "pending"
	AttemptRunning     AttemptStatus = "running"
	AttemptCompleted   AttemptStatus = "completed"
	AttemptInterrupted AttemptStatus = "interrupted"
	AttemptFailed      AttemptStatus = "failed"
	AttemptCancelled   AttemptStatus = "cancelled"
	AttemptSuperseded  AttemptStatus = "superseded"
)

// NodeStatus is the state of one unit of work inside an attempt.
type NodeStatus string

const (
	NodePending     NodeStatus = "pending"
	NodeRunning     NodeStatus = "running"
	NodeDetached    NodeStatus = "detached" // lives on after its run has ended
	NodeCompleted   NodeStatus = "completed"
	NodeInterrupted NodeStatus = "interrupted"
	NodeFailed      NodeStatus = "failed"
	NodeCancelled   NodeStatus = "cancelled"
	NodeRolledBack  NodeStatus = "rolled_back"
)

// SessionStatus is the state of one agent process.
type SessionStatus string

const (
	SessionStarting SessionStatus = "starting"
	SessionReady    SessionStatus = "ready"
	SessionStopped  SessionStatus = "stopped" // ended as asked
	SessionError    SessionStatus = "error"   // ended by itself or never came up
)

// ProviderThreadStatus is the state of an agent's own conversation. The marks
// `divergent` and `head` stand beside it.
type ProviderThreadStatus string

const (
	ProviderThreadNotLoaded ProviderThreadStatus = "not_loaded"
	ProviderThreadIdle      ProviderThreadStatus = "idle"
	ProviderThreadArchived  ProviderThreadStatus = "archived"
	ProviderThreadClosed    ProviderThreadStatus = "closed"
	ProviderThreadError     ProviderThreadStatus = "error"
)

// TurnStatus is the state of an agent's own turn.
type TurnStatus string

const (
	TurnRunning     TurnStatus = "running"
	TurnCompleted   TurnStatus = "completed"
	TurnInterrupted TurnStatus = "interrupted"
	TurnFailed      TurnStatus = "failed"
	TurnCancelled   TurnStatus = "cancelled"
)

// DeliveryStatus is how far a delivery is known to have come.
type DeliveryStatus string

const (
	DeliveryOffered   DeliveryStatus = "offered"   // decided; no byte may have left
	DeliveryWritten   DeliveryStatus = "written"   // the shim may have given bytes to the agent
	DeliveryAccepted  DeliveryStatus = "accepted"  // the agent has it, durably
	DeliveryConsumed  DeliveryStatus = "consumed"  // a turn of the agent took it
	DeliveryDropped   DeliveryStatus = "dropped"   // the agent does not have it
	DeliveryUncertain DeliveryStatus = "uncertain" // being resolved by evidence
)

// RequestStatus is the state of something an agent asked.
type RequestStatus string

const (
	RequestPending   RequestStatus = "pending"
	RequestResolved  RequestStatus = "resolved"
	RequestExpired   RequestStatus = "expired"
	RequestCancelled RequestStatus = "cancelled"
)

// TransferStatus is the state of the record that context must move.
type TransferStatus string

const (
	TransferPending          TransferStatus = "pending"
	TransferResolvedNative   TransferStatus = "resolved_native"
	TransferResolvedPortable TransferStatus = "resolved_portable"
	TransferConsumed         TransferStatus = "consumed"
	TransferFailed           TransferStatus = "failed"
	TransferSuperseded       TransferStatus = "superseded"
)

// HandoffStatus is the state of the document made for a transfer.
type HandoffStatus string

const (
	HandoffPending    HandoffStatus = "pending"
	HandoffReady      HandoffStatus = "ready"
	HandoffUsed       HandoffStatus = "used"
	HandoffFailed     HandoffStatus = "failed"
	HandoffSuperseded HandoffStatus = "superseded"
)

// Transitions maps a state to the states that may follow it. The key "" holds
// the states in which an entity may be born.
type Transitions[S ~string] map[S][]S

// May says whether to may follow from.
func (t Transitions[S]) May(from, to S) bool { return slices.Contains(t[from], to) }

// Ended says whether nothing but a rollback may follow s.
func (t Transitions[S]) Ended(s S) bool {
	return !slices.ContainsFunc(t[s], func(to S) bool { return string(to) != "rolled_back" })
}

// The legal transitions.
var (
	ThreadTransitions = Transitions[ThreadState]{
		"":             {ThreadActive},
		ThreadActive:   {ThreadArchived, ThreadDeleted},
		ThreadArchived: {ThreadActive, ThreadDeleted},
		ThreadDeleted:  {ThreadActive, ThreadArchived},
	}
	RunTransitions = Transitions[RunStatus]{
		"":             {RunQueued},
		RunQueued:      {RunStarting, RunCancelled},
		RunStarting:    {RunRunning, RunFinalizing},
		RunRunning:     {RunFinalizing},
		RunFinalizing:  {RunCompleted, RunInterrupted, RunFailed, RunCancelled},
		RunCompleted:   {RunRolledBack},
		RunInterrupted: {RunRolledBack},
		RunFailed:      {RunRolledBack},
		RunCancelled:   {RunRolledBack},
		RunRolledBack:  {RunCompleted, RunInterrupted, RunFailed, RunCancelled},
	}
	AttemptTransitions = Transitions[AttemptStatus]{
		"":             {AttemptPending},
		AttemptPending: {AttemptRunning, AttemptInterrupted, AttemptFailed, AttemptCancelled, AttemptSuperseded},
		AttemptRunning: {AttemptCompleted, AttemptInterrupted, AttemptFailed, AttemptCancelled},
	}
	NodeTransitions = Transitions[NodeStatus]{
		"":              {NodePending, NodeRunning},
		NodePending:     {NodeRunning, NodeCompleted, NodeInterrupted, NodeFailed, NodeCancelled},
		NodeRunning:     {NodeDetached, NodeCompleted, NodeInterrupted, NodeFailed, NodeCancelled},
		NodeDetached:    {NodeCompleted, NodeInterrupted, NodeFailed, NodeCancelled},
		NodeCompleted:   {NodeRolledBack},
		NodeInterrupted: {NodeRolledBack},
		NodeFailed:      {NodeRolledBack},
		NodeCancelled:   {NodeRolledBack},
	}
	SessionTransitions = Transitions[SessionStatus]{
		"":              {SessionStarting},
		SessionStarting: {SessionReady, SessionStopped, SessionError},
		SessionReady:    {SessionStopped, SessionError},
	}
	ProviderThreadTransitions = Transitions[ProviderThreadStatus]{
		"":                      {ProviderThreadNotLoaded},
		ProviderThreadNotLoaded: {ProviderThreadIdle, ProviderThreadArchived, ProviderThreadClosed, ProviderThreadError},
		ProviderThreadIdle:      {ProviderThreadNotLoaded, ProviderThreadArchived, ProviderThreadClosed, ProviderThreadError},
	}
	TurnTransitions = Transitions[TurnStatus]{
		"":          {TurnRunning},
		TurnRunning: {TurnCompleted, TurnInterrupted, TurnFailed, TurnCancelled},
	}
	DeliveryTransitions = Transitions[DeliveryStatus]{
		"":                {DeliveryOffered},
		DeliveryOffered:   {DeliveryWritten, DeliveryAccepted, DeliveryDropped},
		DeliveryWritten:   {DeliveryAccepted, DeliveryUncertain, DeliveryDropped},
		DeliveryAccepted:  {DeliveryConsumed, DeliveryDropped},
		DeliveryUncertain: {DeliveryAccepted, DeliveryDropped},
	}
	RequestTransitions = Transitions[RequestStatus]{
		"":             {RequestPending},
		RequestPending: {RequestResolved, RequestExpired, RequestCancelled},
	}
	TransferTransitions = Transitions[TransferStatus]{
		"":                       {TransferPending},
		TransferPending:          {TransferResolvedNative, TransferResolvedPortable, TransferFailed, TransferSuperseded},
		TransferResolvedNative:   {TransferConsumed, TransferFailed, TransferSuperseded},
		TransferResolvedPortable: {TransferConsumed, TransferFailed, TransferSuperseded},
	}
	HandoffTransitions = Transitions[HandoffStatus]{
		"":             {HandoffPending},
		HandoffPending: {HandoffReady, HandoffFailed, HandoffSuperseded},
		HandoffReady:   {HandoffUsed, HandoffSuperseded},
	}
)
