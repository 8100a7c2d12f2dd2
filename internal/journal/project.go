package journal

import (
	"time"

	"baton"
)

// ProjectorVersion counts changes of what Project makes of the same event. A
// store whose documents come from another version rebuilds them.
const ProjectorVersion = 3

// Project says what an event changes in the read models. It is pure: the same
// event gives the same changes, and documents are the fold of all changes in
// the order of the events. Shapes are those of the API (snake_case, an absent
// field is unknown, times are RFC 3339 in UTC).
//
// An event changes only documents that it names. What belongs to a document by
// reference is a document of its own and is put together by who reads: a run's
// attempts and handoffs carry run_id, a handoff's delivery carries handoff_id,
// a provider thread's newest native head is that of its newest provider turn,
// and the state of a root node is its attempt's.
//
// Positions: an item's is its own, a run's is its ordinal, a thread's is the
// time of its last activity in microseconds since 1970 (so that a list has the
// liveliest first), all others' is the version of the event that made them.
func Project(e baton.Event) []Change {
	p := &projection{event: e}
	switch d := e.Data.(type) {
	case baton.EventThreadCreated, baton.EventThreadTitled, baton.EventThreadStateChanged, baton.EventQueueHeld, baton.EventQueueResumed,
		baton.EventStopRequested, baton.EventMessageAccepted:
		p.thread(d)
	case baton.EventRunQueued, baton.EventRunWaiting, baton.EventRunStarting, baton.EventRunRunning, baton.EventInterruptRequested,
		baton.EventRunFinalizing, baton.EventRunEnded:
		p.run(d)
	case baton.EventAttemptCreated, baton.EventAttemptRunning, baton.EventAttemptEnded:
		p.attempt(d)
	case baton.EventItemOpened, baton.EventItemReset, baton.EventItemUpdated, baton.EventItemClosed:
		p.item(d)
	case baton.EventRequestOpened, baton.EventRequestResolved, baton.EventRequestExpired:
		p.request(d)
	case baton.EventSessionOpened, baton.EventSessionReady, baton.EventSessionStopping, baton.EventSessionEnded, baton.EventDetachedChanged:
		p.session(d)
	case baton.EventProviderThreadCreated, baton.EventProviderThreadBound, baton.EventProviderThreadChanged,
		baton.EventProviderThreadDiverged, baton.EventCoverageChanged:
		p.providerThread(d)
	case baton.EventTurnStarted, baton.EventTurnEnded:
		p.turn(d)
	case baton.EventDeliveryOffered, baton.EventDeliveryChanged:
		p.delivery(d)
	case baton.EventTransferCreated, baton.EventTransferChanged:
		p.transfer(d)
	case baton.EventHandoffRequested, baton.EventHandoffReady, baton.EventHandoffChanged, baton.EventHandoffAssigned:
		p.handoff(d)
	}
	return p.changes
}

// noDocument lists the types of events that change no document: diagnostics
// that are read as events.
var noDocument = map[string]bool{
	baton.EventFrameRejected{}.EventType():       true,
	baton.EventHandoffSqueezed{}.EventType():     true,
	baton.EventHandoffCompareAsked{}.EventType(): true,
	baton.EventHandoffCompared{}.EventType():     true,
}

type projection struct {
	event   baton.Event
	changes []Change
}

// patch is a merge patch in the making. A nil value removes the field.
type patch map[string]any

// put sets a field unless the value is the zero value: unknown stays absent.
func put[T comparable](p patch, name string, v T) {
	var zero T
	if v != zero {
		p[name] = v
	}
}

// putList sets a field unless the list is empty.
func putList[T any](p patch, name string, v []T) {
	if len(v) > 0 {
		p[name] = v
	}
}

// stamp sets a time, unless it is unknown.
func (p patch) stamp(name string, t time.Time) {
	if !t.IsZero() {
		p[name] = t.UTC().Format(time.RFC3339Nano)
	}
}

// change adds a change of a document that exists.
func (p *projection) change(kind Kind, id string, fields patch) {
	p.add(Change{Kind: kind, ID: id}, fields)
}

// create adds the change that makes a document.
func (p *projection) create(kind Kind, id string, run baton.RunID, position int64, fields patch) {
	fields["id"] = id
	if kind != KindThread {
		fields["thread_id"] = p.event.Thread
	}
	put(fields, "run_id", run)
	p.add(Change{Kind: kind, ID: id, Run: run, Position: position}, fields)
}

// version is the position of documents that have no better one.
func (p *projection) version() int64 { return int64(p.event.Version) }

func (p *projection) add(c Change, fields patch) {
	body, err := marshal(fields)
	if err != nil {
		// Only raw JSON inside an event can fail, and decoding has checked it; an
		// event that never was decoded is refused by Check before it gets here.
		body, _ = marshal(patch{"projection_error": err.Error()})
	}
	c.Patch = body
	p.changes = append(p.changes, c)
}
