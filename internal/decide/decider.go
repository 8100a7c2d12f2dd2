package decide

import (
	"fmt"

	"baton"
)

// Decider takes inputs one after another on a working copy of a thread's state
// and gathers what they give. It is thrown away where its unit can't be
// committed.
type Decider struct {
	S   *State
	Out Output

	prepared map[baton.RunID]baton.FactHandoffBuilt // see prepare

	env   Env
	actor baton.Actor
	cause baton.Cause
	epoch uint64
}

// Output is what the inputs so far have given, in order.
type Output struct {
	Events     []baton.Event
	Chunks     []Chunk
	DropChunks []baton.ItemID
	Effects    []baton.Effect
	Intents    []SessionIntent // taken by the owner after each input, see TakeIntents
}

// SessionIntent is an intent for the driver of a session.
type SessionIntent struct {
	Session baton.SessionID
	Intent  baton.Intent
}

// Chunk is text that was appended to an open item.
type Chunk struct {
	Item     baton.ItemID
	Revision int
	Output   bool
	Offset   int64 // bytes
	Text     string
}

// NewDecider starts a decision on s, which it changes. The epoch is the
// owner's.
func NewDecider(s *State, epoch uint64) *Decider {
	if s.Texts == nil {
		s.Texts = map[baton.ItemID]*Text{}
	}
	return &Decider{S: s, epoch: epoch}
}

// Begin sets what the next input happens in: its environment, who is behind it
// and what caused it.
func (d *Decider) Begin(env Env, actor baton.Actor, cause baton.Cause) {
	d.env, d.actor, d.cause = env, actor, cause
}

// TakeIntents returns the intents since the last call.
func (d *Decider) TakeIntents() []SessionIntent {
	taken := d.Out.Intents
	d.Out.Intents = nil
	return taken
}

// emit appends an event and folds it in. An illegal one panics with a
// *Violation: the owner catches it and sets the input aside.
func (d *Decider) emit(data baton.EventData) {
	e := baton.Event{Thread: d.S.ID, Version: d.S.Version + 1, Actor: d.actor, Cause: d.cause, Epoch: d.epoch, At: d.env.Now, Data: data}
	if err := d.S.Apply(e); err != nil {
		panic(err)
	}
	d.Out.Events = append(d.Out.Events, e)
}

// effect asks for a side effect behind a session's fence, which may be empty.
func (d *Decider) effect(lane baton.Lane, session baton.SessionID, data baton.EffectData) baton.EffectID {
	id := newID[baton.EffectID](d, baton.PrefixEffect)
	d.Out.Effects = append(d.Out.Effects, baton.Effect{ID: id, Thread: d.S.ID, Session: session, Lane: lane, Data: data})
	return id
}

// Write asks for bytes to be given to a session's agent, once the unit is durable.
func (d *Decider) Write(session baton.SessionID, data []byte, deliveries []baton.DeliveryID, tag string) {
	if d.S.Session(session) != nil {
		d.effect(baton.LaneControl, session, baton.EffectWrite{Data: data, Deliveries: deliveries, Tag: tag})
	}
}

func (d *Decider) intend(session baton.SessionID, in baton.Intent) {
	d.Out.Intents = append(d.Out.Intents, SessionIntent{Session: session, Intent: in})
}

func newID[T ~string](d *Decider, prefix string) T { return T(d.env.NewID(prefix)) }

// add shows an item that is complete at once.
func (d *Decider) add(run *Run, kind baton.ItemKind, body baton.ItemBody) baton.ItemID {
	id := newID[baton.ItemID](d, baton.PrefixItem)
	e := baton.EventItemOpened{Item: id, Kind: kind, Position: d.S.Position + 1, Body: body}
	if run != nil {
		e.Run = run.ID
		if run.Attempt != nil {
			e.Attempt, e.Node = run.Attempt.ID, run.Attempt.RootNode
		}
	}
	d.emit(e)
	return id
}

// notice shows a person what Baton did or found.
func (d *Decider) notice(run *Run, code baton.Code, format string, args ...any) {
	d.add(run, baton.ItemNotice, baton.ItemBody{Code: code, Text: fmt.Sprintf(format, args...)})
}

// Fact decides a fact of a session's driver or of an effect. The fence is the
// session: a fact of one that has ended changes nothing. Facts without a
// session (a handoff's) carry "".
func (d *Decider) Fact(session baton.SessionID, f baton.Fact) {
	x := d.S.Session(session)
	if x == nil && session != "" {
		if ev, ok := f.(baton.FactEvidence); ok {
			d.evidence(ev)
			d.advance()
		}
		return
	}
	switch f := f.(type) {
	case baton.FactSessionReady:
		d.sessionReady(x, f)
	case baton.FactSessionFailed:
		d.sessionFailed(x, f.Err, f.Err.Code == baton.CodeStartFailed)
	case baton.FactStartFailed:
		d.sessionFailed(x, f.Err, false)
	case baton.FactResumeFailed:
		d.resumeFailed(x, f)
	case baton.FactForeignTurns:
		d.foreignTurns(x, f)
	case baton.FactSessionGone:
		d.sessionGone(x, f)
	case baton.FactTurnStarted:
		d.turnStarted(x, f)
	case baton.FactTurnEnded:
		d.turnEnded(x, f)
	case baton.FactWritten:
		d.written(f)
	case baton.FactDeliveryAccepted:
		d.accepted(f.Delivery, f.Evidence)
	case baton.FactDeliveryConsumed:
		d.consumed(x, f)
	case baton.FactDeliveryDropped:
		d.dropped(f.Delivery, f.Err)
	case baton.FactEvidence:
		d.evidence(f)
	case baton.FactItemOpened:
		d.itemOpened(x, f)
	case baton.FactItemDelta:
		d.itemDelta(x, f)
	case baton.FactItemReset:
		d.itemReset(x, f)
	case baton.FactItemClosed:
		d.itemClosed(x, f)
	case baton.FactRequestOpened:
		d.requestOpened(x, f)
	case baton.FactRequestGone:
		d.requestGone(x, f)
	case baton.FactDetached:
		d.emit(baton.EventDetachedChanged{Session: x.ID, Names: f.Names})
	case baton.FactNotice:
		d.agentNotice(x, f)
	case baton.FactHandoffBuilt:
		d.handoffBuilt(f)
	case baton.FactHandoffFailed:
		d.handoffFailed(f)
	case baton.FactDeadline:
		d.deadline(f.Key)
	}
	d.advance()
}
