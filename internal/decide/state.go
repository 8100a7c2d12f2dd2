// Package decide is the thread machine: pure decisions over one thread's
// state. A command or a fact goes in; events, effects, intents and text come
// out. Nothing here does I/O or reads a clock: time, ids and what providers can
// do come in with the Env.
//
// State is the fold of a thread's events (Apply). It holds what decisions need
// and nothing more: open runs, provider threads with their coverage, live
// sessions, open deliveries, items and requests. Ended runs are an interval
// set, so a thread of a million items opens as fast as one of ten.
package decide

import (
	"time"

	"baton"
)

// SnapshotShape is the version of State's JSON. A snapshot of another shape is
// ignored and the events are folded again.
const SnapshotShape = 2

// State is the hot state of one thread. Its zero value is a thread that does
// not exist yet.
type State struct {
	ID        baton.ThreadID    `json:"id,omitempty"`
	Version   uint64            `json:"version"`
	Status    baton.ThreadState `json:"status,omitempty"`
	Before    baton.ThreadState `json:"before,omitempty"` // of a deleted thread: what it was
	Title     string            `json:"title,omitempty"`
	Dir       string            `json:"dir,omitempty"`
	Provider  string            `json:"provider,omitempty"`
	Settings  baton.Settings    `json:"settings,omitzero"`
	QueueHeld bool              `json:"queue_held,omitempty"`
	StopEpoch int               `json:"stop_epoch,omitempty"`

	Ordinal    int `json:"ordinal"`    // greatest run ordinal given
	Position   int `json:"position"`   // greatest item position given
	Generation int `json:"generation"` // sessions opened

	Runs      []*Run          `json:"runs,omitempty"`      // not ended, in the order of the queue
	Surviving baton.Intervals `json:"surviving,omitempty"` // ordinals of ended runs that count for coverage
	Last      LastRun         `json:"last,omitzero"`       // the newest run that was started

	ProviderThreads []*ProviderThread `json:"provider_threads,omitempty"` // oldest first
	Sessions        []*Session        `json:"sessions,omitempty"`         // not ended
	Deliveries      []*Delivery       `json:"deliveries,omitempty"`       // of open runs, and answers on their way
	Items           []*OpenItem       `json:"items,omitempty"`            // open
	Requests        []*Request        `json:"requests,omitempty"`         // pending
	Transfers       []*Transfer       `json:"transfers,omitempty"`        // neither consumed nor ended
	Handoffs        []*Handoff        `json:"handoffs,omitempty"`         // pending and ready

	// Texts holds the streamed text of open items. It is no part of the fold:
	// chunks are stored beside events, and an owner fills it from them.
	Texts map[baton.ItemID]*Text `json:"-"`
}

// LastRun is what the next message takes its choices from.
type LastRun struct {
	Run            baton.RunID            `json:"run_id,omitempty"`
	Provider       string                 `json:"provider,omitempty"`
	ProviderThread baton.ProviderThreadID `json:"provider_thread_id,omitempty"`
	Settings       baton.Settings         `json:"settings,omitzero"`
}

// Run is a run that has not ended.
type Run struct {
	ID         baton.RunID              `json:"id"`
	Ordinal    int                      `json:"ordinal"`
	Trigger    baton.Trigger            `json:"trigger"`
	Message    baton.MessageID          `json:"message_id,omitempty"`
	Text       string                   `json:"text,omitempty"`
	Author     string                   `json:"author,omitempty"`
	Provider   string                   `json:"provider"`
	Settings   baton.Settings           `json:"settings,omitzero"`
	Status     baton.RunStatus          `json:"status"`
	Attempt    *Attempt                 `json:"attempt,omitempty"` // the selected one
	Attempts   int                      `json:"attempts,omitempty"`
	Clean      bool                     `json:"clean,omitempty"`
	Digest     string                   `json:"digest,omitempty"`      // of the handoff that the person insists on
	Edited     string                   `json:"edited,omitempty"`      // the person's text in its place
	Compare    baton.HandoffID          `json:"compare,omitempty"`     // it is being compared: see compare
	Differs    bool                     `json:"differs,omitempty"`     // it was found to be another one
	Handoffs   []baton.HandoffID        `json:"handoff_ids,omitempty"` // of the current attempt, in order
	Squeezed   []baton.ProviderThreadID `json:"squeezed,omitempty"`    // what it misses does not fit into these
	Stage      string                   `json:"stage,omitempty"`       // of an interrupt: ask, stop_session
	Deadline   time.Time                `json:"deadline,omitzero"`     // of the stage
	Waits      string                   `json:"waits,omitempty"`       // why a queued run waits, once said
	Outcome    baton.RunStatus          `json:"outcome,omitempty"`     // inside the barrier
	Err        *baton.Error             `json:"error,omitempty"`
	AbsorbedBy baton.RunID              `json:"absorbed_by,omitempty"`
	Answer     baton.ItemID             `json:"answer,omitempty"`
	Usage      baton.Usage              `json:"usage,omitzero"`
}

// Active says whether the run has left the queue.
func (r *Run) Active() bool { return r.Status != baton.RunQueued }

// Attempt is the selected attempt of an open run.
type Attempt struct {
	ID             baton.AttemptID        `json:"id"`
	RootNode       baton.NodeID           `json:"root_node_id"`
	ProviderThread baton.ProviderThreadID `json:"provider_thread_id"`
	Status         baton.AttemptStatus    `json:"status"`
	Turn           baton.ProviderTurnID   `json:"turn,omitempty"`
}

// ProviderThread is an agent's own conversation with what it knows.
type ProviderThread struct {
	ID         baton.ProviderThreadID     `json:"id"`
	Provider   string                     `json:"provider"`
	Driver     string                     `json:"driver"`
	Status     baton.ProviderThreadStatus `json:"status"`
	Native     baton.NativeRef            `json:"native,omitzero"` // empty until something was accepted
	Divergent  bool                       `json:"divergent,omitempty"`
	Covered    baton.Intervals            `json:"covered,omitempty"` // natively
	HandedOver baton.Intervals            `json:"handed_over,omitempty"`
	Handoffs   []baton.HandoffID          `json:"handoff_ids,omitempty"`
	Chain      int                        `json:"chain,omitempty"`
	Settings   baton.Settings             `json:"settings,omitzero"` // of the newest run in it
	Held       int64                      `json:"held,omitempty"`    // tokens, as the agent said last; 0 is unknown
	Window     int64                      `json:"window,omitempty"`  // tokens that it can hold; likewise
}

// Session is a session that has not ended.
type Session struct {
	ID             baton.SessionID        `json:"id"`
	Provider       string                 `json:"provider"`
	Driver         string                 `json:"driver"`
	ProviderThread baton.ProviderThreadID `json:"provider_thread_id"`
	Status         baton.SessionStatus    `json:"status"`
	Generation     int                    `json:"generation"`
	Resume         string                 `json:"resume,omitempty"`
	NewID          string                 `json:"new_id"`
	Dir            string                 `json:"dir"`
	Settings       baton.Settings         `json:"settings,omitzero"`
	Trusted        bool                   `json:"trusted,omitempty"` // the project was trusted when it was opened
	Deadline       time.Time              `json:"deadline"`          // until it must be ready
	Stopping       string                 `json:"stopping,omitempty"`
	EndsAs         baton.SessionStatus    `json:"ends_as,omitempty"`
	Native         baton.NativeRef        `json:"native,omitzero"` // as it reported
	Turn           *Turn                  `json:"turn,omitempty"`  // the open root turn
	Detached       []string               `json:"detached,omitempty"`
	IdleSince      time.Time              `json:"idle_since,omitzero"`
}

// Turn is an open root turn of an agent.
type Turn struct {
	ID  baton.ProviderTurnID `json:"id"`
	Key string               `json:"key"`
	Run baton.RunID          `json:"run_id"`
}

// Delivery is one thing given to an agent whose fate still matters.
type Delivery struct {
	ID             baton.DeliveryID       `json:"id"`
	Kind           baton.DeliveryKind     `json:"kind"`
	Status         baton.DeliveryStatus   `json:"status"`
	Session        baton.SessionID        `json:"session_id"`
	ProviderThread baton.ProviderThreadID `json:"provider_thread_id"`
	Run            baton.RunID            `json:"run_id,omitempty"`
	Handoff        baton.HandoffID        `json:"handoff_id,omitempty"`
	Request        baton.RequestID        `json:"request_id,omitempty"`
	// What evidence needs once the session is gone.
	Provider string `json:"provider,omitempty"`
	NativeID string `json:"native_id,omitempty"`
	New      bool   `json:"new,omitempty"`
}

// OpenItem is an item that is still open.
type OpenItem struct {
	ID       baton.ItemID    `json:"id"`
	Key      string          `json:"key"` // the driver's
	Session  baton.SessionID `json:"session_id"`
	Run      baton.RunID     `json:"run_id"`
	Node     baton.NodeID    `json:"node_id,omitempty"`
	Kind     baton.ItemKind  `json:"kind"`
	Revision int             `json:"revision,omitempty"`
	Position int             `json:"position"`
	Detached bool            `json:"detached,omitempty"` // lives on after its run
}

// Request is a pending request.
type Request struct {
	ID        baton.RequestID       `json:"id"`
	Key       string                `json:"key"`
	Session   baton.SessionID       `json:"session_id"`
	Run       baton.RunID           `json:"run_id,omitempty"`
	Node      baton.NodeID          `json:"node_id,omitempty"`
	Item      baton.ItemID          `json:"item_id,omitempty"`
	Kind      baton.RequestKind     `json:"kind"`
	Options   []baton.RequestOption `json:"options,omitempty"`
	Questions []baton.Question      `json:"questions,omitempty"`
}

// Transfer is an open transfer.
type Transfer struct {
	ID      baton.TransferID     `json:"id"`
	Status  baton.TransferStatus `json:"status"`
	Run     baton.RunID          `json:"run_id"`
	Handoff baton.HandoffID      `json:"handoff_id,omitempty"`
}

// Handoff is a handoff that was not used yet. Text is there once it is ready.
type Handoff struct {
	ID       baton.HandoffID        `json:"id"`
	Status   baton.HandoffStatus    `json:"status"`
	Transfer baton.TransferID       `json:"transfer_id"`
	Run      baton.RunID            `json:"run_id,omitempty"` // none for a draft that no run has taken
	Draft    bool                   `json:"draft,omitempty"`  // made for the next run into To
	Strategy baton.Strategy         `json:"strategy"`
	To       baton.ProviderThreadID `json:"to"`
	Covered  baton.Intervals        `json:"covered"`
	Text     string                 `json:"text,omitempty"`
}

// Settled says that nothing of the thread is open: reconciliation need not visit it.
func (s *State) Settled() bool {
	return len(s.Runs) == 0 && len(s.Sessions) == 0 && len(s.Deliveries) == 0
}

// ActiveRun returns the run that the thread works on, or nil. Beside it a
// background run may be open; then the background run is returned, since it
// holds the agent's turn.
func (s *State) ActiveRun() *Run {
	var active *Run
	for _, r := range s.Runs {
		if r.Active() && (active == nil || r.Attempt != nil && r.Attempt.Status == baton.AttemptRunning) {
			active = r
		}
	}
	return active
}

// Pending says whether a request of the session waits for an answer.
func (s *State) Pending(id baton.SessionID) bool {
	return find(s.Requests, func(q *Request) bool { return q.Session == id }) != nil
}

// The finders return nil for what is not open.

func (s *State) run(id baton.RunID) *Run {
	return find(s.Runs, func(r *Run) bool { return r.ID == id })
}

// Session returns a session that has not ended, or nil.
func (s *State) Session(id baton.SessionID) *Session {
	return find(s.Sessions, func(x *Session) bool { return x.ID == id })
}

func (s *State) providerThread(id baton.ProviderThreadID) *ProviderThread {
	return find(s.ProviderThreads, func(p *ProviderThread) bool { return p.ID == id })
}

func (s *State) delivery(id baton.DeliveryID) *Delivery {
	return find(s.Deliveries, func(d *Delivery) bool { return d.ID == id })
}

func (s *State) item(id baton.ItemID) *OpenItem {
	return find(s.Items, func(i *OpenItem) bool { return i.ID == id })
}

func (s *State) request(id baton.RequestID) *Request {
	return find(s.Requests, func(r *Request) bool { return r.ID == id })
}

func (s *State) handoff(id baton.HandoffID) *Handoff {
	return find(s.Handoffs, func(h *Handoff) bool { return h.ID == id })
}

func (s *State) transfer(id baton.TransferID) *Transfer {
	return find(s.Transfers, func(t *Transfer) bool { return t.ID == id })
}

// sessionOf returns the live session of a provider thread.
func (s *State) sessionOf(id baton.ProviderThreadID) *Session {
	return find(s.Sessions, func(x *Session) bool { return x.ProviderThread == id })
}

func find[T any](list []*T, ok func(*T) bool) *T {
	for _, x := range list {
		if ok(x) {
			return x
		}
	}
	return nil
}
