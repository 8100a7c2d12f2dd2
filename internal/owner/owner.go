// Package owner is the synchronous heart of a thread: Handle takes a batch of
// waiting inputs and gives one unit for the journal. It runs decisions (package
// decide) and the machines of the thread's sessions (package agent) in one
// order, so that a person's command and an agent's frame are decided by the
// same code. It does no I/O, starts no goroutine and reads no clock; package
// engine runs it, package sim simulates it.
//
// Handle works on a copy. Once its unit is durable the engine calls Commit;
// where the append failed, Discard, and decides again. A unit that says nothing
// but how far sessions have been read need not be stored: Keep holds it back,
// and the next unit says it too. Until then its frames must stay in their spool,
// since a crash has them read again.
package owner

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/decide"
	"baton/internal/journal"
)

// snapshotEvery is how many events may lie between two snapshots.
const snapshotEvery = 256

// Config is what all owners of a server share.
type Config struct {
	Epoch         uint64
	Drivers       agent.Registry
	Env           func(now time.Time) decide.Env
	Command       func(provider string) []string // of a configured provider, for the driver's spec
	ClientVersion string
}

// Owner holds one thread. It is used by one goroutine.
type Owner struct {
	cfg      Config
	id       baton.ThreadID
	state    *decide.State // as committed
	machines map[baton.SessionID]*machine
	writes   map[baton.EffectID]baton.Effect // given to a shim, not known as written
	kept     map[baton.SessionID]bool        // whose marks were held back
	snapshot uint64                          // version of the newest

	working *working // between Handle and Commit or Discard
}

// working is what a Handle has changed so far.
type working struct {
	state    *decide.State
	touched  map[baton.SessionID]bool
	writes   map[baton.EffectID]baton.Effect
	done     []baton.EffectID
	receipts []journal.Receipt
	replies  []Reply
	decider  *decide.Decider
	fault    string // of the input that panicked
	snapshot bool
	late     bool // something happened that reading the frames again would not bring back
}

// Input is one thing that happens to a thread; exactly one field is set.
type Input struct {
	Command  *baton.Command
	Frame    *Frame
	Outcome  *Outcome
	Deadline bool // look at what is due
}

// Outcome is what an effect gave. The effect is done with it.
type Outcome struct {
	Effect  baton.EffectID
	Session baton.SessionID // whose fact it is, may be empty
	Fact    baton.Fact      // nil where being done is all
}

// Reply answers a command of the batch.
type Reply struct {
	Command baton.CommandID
	Reply   baton.Reply
	Err     error
}

// Result is what a batch gave: a unit to append and, once that is durable,
// answers and effects.
type Result struct {
	Unit    journal.Unit
	Replies []Reply
	Handled int  // inputs that the unit accounts for; the rest comes again
	Marks   bool // the unit says only how far sessions have been read: Keep will do
}

// New makes the owner of a thread that does not exist yet.
func New(cfg Config, id baton.ThreadID) *Owner {
	return &Owner{cfg: cfg, id: id, state: &decide.State{}, machines: map[baton.SessionID]*machine{}, writes: map[baton.EffectID]baton.Effect{},
		kept: map[baton.SessionID]bool{}}
}

// Load makes the owner of a stored thread. texts gives the streamed text of
// items that are open.
func Load(cfg Config, id baton.ThreadID, l journal.Loaded, texts map[baton.ItemID]*decide.Text) (*Owner, error) {
	o := New(cfg, id)
	var err error
	if o.state, err = Fold(id, l); err != nil {
		return nil, err
	}
	if l.Snapshot != nil && l.Snapshot.Shape == decide.SnapshotShape {
		o.snapshot = l.Snapshot.Version
	}
	o.state.Texts = texts
	for _, mark := range l.Sessions {
		m, err := loadMachine(cfg, o.state, mark)
		if err != nil {
			return nil, fmt.Errorf("thread %s: session %s: %w", id, mark.Session, err)
		}
		if m != nil {
			o.machines[mark.Session] = m
		}
	}
	for _, e := range l.Effects {
		if _, ok := e.Data.(baton.EffectWrite); ok {
			o.writes[e.ID] = e
		}
	}
	return o, nil
}

// Fold makes the state of a stored thread, without the streamed text of open items.
func Fold(id baton.ThreadID, l journal.Loaded) (*decide.State, error) {
	s := &decide.State{}
	if l.Snapshot != nil && l.Snapshot.Shape == decide.SnapshotShape {
		if err := json.Unmarshal(l.Snapshot.State, s); err != nil {
			return nil, fmt.Errorf("thread %s: snapshot: %w", id, err)
		}
	}
	if len(l.Tail) > 0 && l.Tail[0].Version != s.Version+1 {
		return nil, fmt.Errorf("thread %s: the snapshot has a shape that this version does not read, and the events before it are not there", id)
	}
	for _, e := range l.Tail {
		if err := s.Apply(e); err != nil {
			return nil, fmt.Errorf("thread %s: event %d: %w", id, e.Version, err)
		}
	}
	return s, nil
}

// State returns the committed state. It must not be changed.
func (o *Owner) State() *decide.State { return o.state }

// Frame returns the number of the last frame of the session that has taken
// effect, here if not yet in the journal.
func (o *Owner) Frame(id baton.SessionID) uint64 {
	if m := o.machines[id]; m != nil {
		return m.frame
	}
	return 0
}

// Durable returns the number of the last frame of the session whose effect is
// in the journal: its spool may forget that one and all before it.
func (o *Owner) Durable(id baton.SessionID) uint64 {
	if m := o.machines[id]; m != nil {
		return m.durable
	}
	return 0
}

// Handle decides the inputs in order and returns the unit that holds what they
// gave. It must be followed by Commit, Discard or, with Marks, Keep. An input that makes a machine
// or a decision panic is left out together with those behind it; it comes first
// the next time and is then set aside.
func (o *Owner) Handle(now time.Time, inputs []Input) Result {
	fault := ""
	for n := len(inputs); n > 0; {
		ok := o.try(now, inputs[:n], fault)
		if ok == n {
			return o.result(n)
		}
		w := o.working
		o.Discard()
		if ok == 0 && fault == "" {
			fault, n = w.fault, 1 // set the first aside, alone
			continue
		}
		if ok == 0 {
			panic(fmt.Sprintf("owner: an input could not even be set aside: %s", w.fault))
		}
		n = ok // everything before the bad one
	}
	return Result{}
}

// try runs inputs on a fresh working copy and returns how many went well.
func (o *Owner) try(now time.Time, inputs []Input, fault string) int {
	o.working = &working{state: o.state.Clone(), touched: map[baton.SessionID]bool{}, writes: map[baton.EffectID]baton.Effect{}}
	d := decide.NewDecider(o.working.state, o.cfg.Epoch)
	o.working.decider = d
	for i, in := range inputs {
		if !o.one(d, now, in, fault) {
			return i
		}
	}
	return len(inputs)
}

func (o *Owner) one(d *decide.Decider, now time.Time, in Input, fault string) (ok bool) {
	defer func() {
		if p := recover(); p != nil {
			o.working.fault = fmt.Sprint(p)
			ok = false
		}
	}()
	if fault != "" {
		o.setAside(d, now, in, fault)
		return true
	}
	switch {
	case in.Command != nil:
		o.command(d, now, *in.Command)
	case in.Frame != nil:
		o.frame(d, *in.Frame)
	case in.Outcome != nil:
		o.outcome(d, now, *in.Outcome)
	case in.Deadline:
		o.deadlines(d, now)
	}
	return true
}

func (o *Owner) command(d *decide.Decider, now time.Time, c baton.Command) {
	w := o.working
	w.late = true
	for _, r := range w.receipts { // the same command twice in one batch
		if r.Command == c.ID {
			reply := Reply{Command: c.ID, Reply: r.Reply}
			if r.Hash != c.Hash() {
				reply = Reply{Command: c.ID, Err: ErrReused(c.ID)}
			}
			w.replies = append(w.replies, reply)
			return
		}
	}
	d.Begin(o.cfg.Env(now), c.Actor, baton.Cause{Command: c.ID})
	reply, err := d.Command(c)
	o.settle(d, now)
	w.replies = append(w.replies, Reply{Command: c.ID, Reply: reply, Err: err})
	if err == nil {
		w.receipts = append(w.receipts, journal.Receipt{Command: c.ID, Hash: c.Hash(), Reply: reply})
	}
}

// ErrReused is the answer to a command id that was used for something else.
func ErrReused(id baton.CommandID) *baton.Error {
	return baton.Errorf(baton.CodeConflict, "the command id %s was used for something else", id).
		WithDetail("nothing was changed").WithHint("use a new command id")
}

func (o *Owner) outcome(d *decide.Decider, now time.Time, out Outcome) {
	o.working.late = true
	o.done(out.Effect)
	if out.Fact == nil {
		return
	}
	d.Begin(o.cfg.Env(now), baton.ActorSystem, baton.Cause{Effect: out.Effect, Session: out.Session})
	d.Fact(out.Session, out.Fact)
	o.settle(d, now)
}

func (o *Owner) done(id baton.EffectID) {
	if id != "" {
		o.working.done = append(o.working.done, id)
	}
}

// setAside accounts for an input that can't be taken.
func (o *Owner) setAside(d *decide.Decider, now time.Time, in Input, fault string) {
	switch {
	case in.Command != nil:
		o.working.replies = append(o.working.replies, Reply{Command: in.Command.ID, Err: &baton.Error{Code: baton.CodeInternal,
			Title: "Baton could not decide this command", Detail: fault, Hint: "nothing was changed; please report it"}})
	case in.Frame != nil:
		d.Begin(o.cfg.Env(in.Frame.Time), baton.ActorSystem, baton.Cause{Session: in.Frame.Session, Frame: in.Frame.Seq})
		m := o.machineOf(in.Frame.Session)
		if m != nil && in.Frame.Seq != 0 {
			m.frame = in.Frame.Seq
		}
		d.Rejected(in.Frame.Session, in.Frame.Seq, fault, in.Frame.Data)
		if m != nil && in.Frame.Kind == FrameExit { // it is over, whatever its driver makes of that
			m.gone(d, *in.Frame)
		}
		o.settle(d, in.Frame.Time)
	case in.Outcome != nil:
		o.done(in.Outcome.Effect)
		d.Begin(o.cfg.Env(now), baton.ActorSystem, baton.Cause{Effect: in.Outcome.Effect})
		d.Rejected(in.Outcome.Session, 0, fault, nil)
		o.settle(d, now)
	}
}

// result puts the unit together.
func (o *Owner) result(handled int) Result {
	w := o.working
	out := w.decider.Out
	u := journal.Unit{Thread: o.id, Expect: o.state.Version, Epoch: o.cfg.Epoch, Receipts: w.receipts, Events: out.Events,
		DropChunks: out.DropChunks, Effects: out.Effects, Settled: w.state.Settled()}
	for _, e := range out.Events {
		u.Changes = append(u.Changes, journal.Project(e)...)
	}
	for _, c := range out.Chunks {
		u.Chunks = append(u.Chunks, journal.Chunk(c))
	}
	for _, e := range out.Effects {
		if _, ok := e.Data.(baton.EffectWrite); ok {
			w.writes[e.ID] = e
		}
	}
	maps.Copy(w.touched, o.kept)
	for id := range w.touched {
		mark := journal.SessionMark{Session: id, Frame: o.machines[id].frame}
		if w.state.Session(id) == nil {
			mark.Gone = true
			w.done = append(w.done, o.effectsOf(id)...)
		} else {
			m := o.machines[id]
			m.pending = m.store()
			mark.State = m.pending
		}
		u.Sessions = append(u.Sessions, mark)
	}
	slices.SortFunc(u.Sessions, func(a, b journal.SessionMark) int { return cmpString(string(a.Session), string(b.Session)) })
	u.Done = w.done
	if w.state.Version-o.snapshot >= snapshotEvery {
		if b, err := json.Marshal(w.state); err == nil {
			u.Snapshot = &journal.Snapshot{Version: w.state.Version, Shape: decide.SnapshotShape, State: b}
			w.snapshot = true
		}
	}
	marks := len(u.Events) == 0 && len(u.Chunks) == 0 && len(u.DropChunks) == 0 && len(u.Effects) == 0 && len(u.Done) == 0 &&
		len(u.Receipts) == 0 && len(u.Sessions) > 0 && !w.late
	return Result{Unit: u, Replies: w.replies, Handled: handled, Marks: marks}
}

// effectsOf returns the writes to a session that is gone: nobody will take them.
func (o *Owner) effectsOf(id baton.SessionID) []baton.EffectID {
	var ids []baton.EffectID
	for _, all := range []map[baton.EffectID]baton.Effect{o.writes, o.working.writes} {
		for _, e := range all {
			if e.Session == id {
				ids = append(ids, e.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

func cmpString(a, b string) int {
	if a < b {
		return -1
	}
	return 1
}

// Commit makes the last result the owner's state. The unit is durable.
func (o *Owner) Commit() {
	w := o.working
	if w == nil {
		return // nothing was handled
	}
	o.take()
	if w.snapshot {
		o.snapshot = w.state.Version
	}
	for id, e := range w.writes {
		o.writes[id] = e
	}
	for _, id := range w.done {
		delete(o.writes, id)
	}
	for id := range w.touched {
		if o.state.Session(id) == nil {
			delete(o.machines, id)
			continue
		}
		o.machines[id].durable = o.machines[id].frame
	}
	clear(o.kept)
}

// Keep makes the last result the owner's state although its unit is stored
// nowhere; Result.Marks must have allowed it. The next unit carries its marks.
func (o *Owner) Keep() {
	for id := range o.working.touched {
		o.kept[id] = true
	}
	o.take()
}

// take makes the working copy what Discard goes back to.
func (o *Owner) take() {
	w := o.working
	o.working, o.state = nil, w.state
	for id := range w.touched {
		o.machines[id].commit()
	}
}

// Discard goes back to what was committed or kept.
func (o *Owner) Discard() {
	if o.working == nil {
		return
	}
	for id := range o.working.touched {
		if m := o.machines[id]; m != nil && !m.restore(o.cfg) {
			delete(o.machines, id)
			delete(o.kept, id)
		}
	}
	o.working = nil
}
