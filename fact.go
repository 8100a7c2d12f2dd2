package baton

// A Fact reports what happened at an agent or in an effect. Drivers make the
// facts of the first group out of frames; effects make those of the second.
// A fact is decided against the thread's state, behind a fence: a fact of a
// dead session changes nothing.
//
// Keys: a driver names an item or request by a key of its own that is unique
// within the session's life and the same each time the thing is reported. The
// thread machine maps keys to ids.
type Fact interface{ isFact() }

// Facts of a driver.
type (
	// FactSessionReady: the handshake is done and the native conversation is
	// open; deliveries may be given. NativeID is the conversation's id.
	FactSessionReady struct {
		AgentVersion string
		NativeID     string
		Strength     Strength
		Resumed      bool
		Demoted      []string // capabilities that were claimed and failed
	}
	// FactSessionFailed: the handshake failed; the session is of no use.
	FactSessionFailed struct{ Err *Error }
	// FactResumeFailed: the agent does not have, or won't open, the native
	// conversation that was to be resumed. The session is of no use.
	FactResumeFailed struct {
		Class  ResumeFailure
		Detail string
	}
	// FactTurnStarted: a root turn of the agent began. Deliveries are those of
	// ours known to be its input; empty for a turn that nobody asked for.
	FactTurnStarted struct {
		Key        string // of the turn, unique in the session
		Native     NativeRef
		Deliveries []DeliveryID
	}
	// FactTurnEnded: the root turn is terminal. Open items of the turn that the
	// agent left open are closed by the driver before this fact.
	FactTurnEnded struct {
		Key    string
		Status TurnStatus
		Err    *Error // set for failed
		Usage  Usage
		Head   string // native reference to the conversation's newest point, if any
	}

	// FactDeliveryAccepted: the agent has the delivery durably; it must never be
	// sent again. What counts is measured (protocols): codex 0.171.0 has a
	// message from item/started userMessage on and an injected item from its
	// answer on; claude 2.1.332 has a uuid once its transcript has it.
	FactDeliveryAccepted struct {
		Delivery DeliveryID
		Evidence string
	}
	// FactDeliveryConsumed: the turn took the delivery as input.
	FactDeliveryConsumed struct {
		Delivery DeliveryID
		TurnKey  string
	}
	// FactDeliveryDropped: the agent refused or withdrew it.
	FactDeliveryDropped struct {
		Delivery DeliveryID
		Err      *Error
	}

	// FactItemOpened: an entry of the timeline began. Parent is the key of the
	// item under which it happens (a subagent's), or empty.
	FactItemOpened struct {
		Key, Parent string
		Kind        ItemKind
		Body        ItemBody
	}
	// FactItemDelta: text was appended to Text, or to Output where Output is set.
	FactItemDelta struct {
		Key    string
		Text   string
		Output bool
	}
	// FactItemReset: what has streamed so far is void; the agent starts over.
	FactItemReset struct{ Key string }
	// FactItemClosed: the entry ended. Non-empty fields of Body replace those of
	// the opening; an empty Text or Output means that what streamed is the text.
	// An item that was never opened is opened by its close, with Kind.
	FactItemClosed struct {
		Key    string
		Kind   ItemKind
		Status NodeStatus
		Body   ItemBody
	}

	// FactRequestOpened: the agent asks and waits. Item is the key of the item
	// it is about, or empty.
	FactRequestOpened struct {
		Key, Item string
		Kind      RequestKind
		Title     string
		Detail    string
		Options   []RequestOption
		Questions []Question
	}
	// FactRequestGone: the agent no longer waits.
	FactRequestGone struct{ Key, Reason string }

	// FactDetached: names of work that lives on beside turns (background shells
	// and tasks); replaces the former list.
	FactDetached struct{ Names []string }

	// FactNotice: something a person should know. Level is info, warning or error.
	FactNotice struct {
		Level string
		Code  Code
		Text  string
		Hint  string
	}
)

// Facts of effects and of the shim.
type (
	// FactWritten: the shim has begun to give these deliveries to the agent; from
	// here on they may have arrived.
	FactWritten struct{ Deliveries []DeliveryID }
	// FactSessionGone: the agent's process has ended and its spool is read to
	// the end. Lost means that the shim ended without telling how.
	FactSessionGone struct {
		Detail   string // "exit status 1", "killed by SIGKILL", …
		Lost     bool
		Released bool     // its shim ended it, since no server came in time
		LeftOver []string // processes that had to be ended after it
	}
	// FactForeignTurns: the native conversation that is to be resumed holds turns
	// that are not ours. No process was started for it.
	FactForeignTurns struct{ Detail string }
	// FactStartFailed: no process could be started.
	FactStartFailed struct{ Err *Error }
	// FactHandoffBuilt: the document of a handoff is made.
	FactHandoffBuilt struct {
		Handoff    HandoffID
		Document   []byte // JSON
		Text       string
		Digest     string // sha256:…
		Tokens     int    // estimated
		Omitted    Omitted
		Redactions int
		// Squeezed: what matters most had to be cut to fit.
		Squeezed bool
	}
	// FactHandoffFailed: the document could not be made.
	FactHandoffFailed struct {
		Handoff HandoffID
		Err     *Error
	}
	// FactEvidence answers the question whether the agent has an uncertain delivery.
	FactEvidence struct {
		Delivery DeliveryID
		Verdict  Verdict
		Detail   string
	}
	// FactDeadline: the deadline with this key has come.
	FactDeadline struct{ Key string }
)

// ResumeFailure classifies why a native conversation could not be resumed.
type ResumeFailure string

// The classes of resume failures.
const (
	ResumeNotFound ResumeFailure = "not_found" // the agent does not have it (any more)
	ResumeInUse    ResumeFailure = "in_use"    // another process holds it
	ResumeDamaged  ResumeFailure = "damaged"   // it can't be read
	ResumeOther    ResumeFailure = "other"
)

// Verdict is what evidence says about a delivery.
type Verdict string

// The verdicts.
const (
	VerdictHas     Verdict = "has"     // proof that the agent has it
	VerdictHasNot  Verdict = "has_not" // proof that it does not
	VerdictUnknown Verdict = "unknown" // no proof either way
)

// Omitted says what a handoff left out: how many things, of which runs, and
// which items. Where they are many, Runs and ItemIDs name the newest alone.
type Omitted struct {
	Count   int       `json:"count"`
	Runs    Intervals `json:"runs,omitempty"`
	ItemIDs []ItemID  `json:"item_ids,omitempty"`
}

func (FactSessionReady) isFact()     {}
func (FactSessionFailed) isFact()    {}
func (FactResumeFailed) isFact()     {}
func (FactForeignTurns) isFact()     {}
func (FactTurnStarted) isFact()      {}
func (FactTurnEnded) isFact()        {}
func (FactDeliveryAccepted) isFact() {}
func (FactDeliveryConsumed) isFact() {}
func (FactDeliveryDropped) isFact()  {}
func (FactItemOpened) isFact()       {}
func (FactItemDelta) isFact()        {}
func (FactItemReset) isFact()        {}
func (FactItemClosed) isFact()       {}
func (FactRequestOpened) isFact()    {}
func (FactRequestGone) isFact()      {}
func (FactDetached) isFact()         {}
func (FactNotice) isFact()           {}
func (FactWritten) isFact()          {}
func (FactSessionGone) isFact()      {}
func (FactStartFailed) isFact()      {}
func (FactHandoffBuilt) isFact()     {}
func (FactHandoffFailed) isFact()    {}
func (FactEvidence) isFact()         {}
func (FactDeadline) isFact()         {}
