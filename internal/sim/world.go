// Package sim tries the thread machine against everything that can happen to
// it, in one goroutine: the real owner and decisions and a real (memory)
// journal, with simulated shims and agents as ports. A seed decides the order
// of all things: which input is taken next, which append fails, who dies and
// when. The same seed replays exactly. Invariants are checked after each step.
package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/decide"
	"baton/internal/journal"
	"baton/internal/journal/memory"
	"baton/internal/owner"
)

const threadID = baton.ThreadID("thr_sim")

// world is one simulated machine with one thread.
type world struct {
	rng  *rand.Rand
	now  time.Time
	ids  int
	calm bool // no more faults: all that is open must come to an end

	journal *memory.Journal
	epoch   uint64
	own     *owner.Owner // nil while the server is down
	inbox   []owner.Input
	effects []baton.Effect // asked for, not carried out

	shims         map[baton.SessionID]*fakeShim
	conversations map[string][]record // by native id: the agents' own disks
	received      map[string]int      // how often agents got a message's text
	turns         int

	sent     map[baton.CommandID]baton.Command
	accepted map[string]baton.Reply // by text, acknowledged to the person
	counter  int
	log      []string
	failNext error
	forgot   bool // an agent's disk has lost something
	repeated int  // frames that came again
	unkept   int  // owners that were lost with something that they had kept
	trusted  bool // the project
}

// fakeShim holds one agent and its spool.
type fakeShim struct {
	agent  *fakeAgent
	alive  bool // the shim
	exited bool // the exit frame is spooled, or the session is told to be over
	spool  []owner.Frame
	known  map[baton.EffectID]bool
	input  []baton.Effect // accepted, not read by the agent yet
	stop   bool
}

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		shims: map[baton.SessionID]*fakeShim{}, conversations: map[string][]record{}, received: map[string]int{},
		sent: map[baton.CommandID]baton.Command{}, accepted: map[string]baton.Reply{}}
	w.journal = memory.New(memory.Options{Now: func() time.Time { return w.now }, FailAppend: func(int, journal.Unit) error {
		err := w.failNext
		w.failNext = nil
		return err
	}})
	return w
}

func (w *world) say(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

func (w *world) newID(prefix string) string {
	w.ids++
	return fmt.Sprintf("%s_%08d", prefix, w.ids)
}

func (w *world) config() owner.Config {
	return owner.Config{Epoch: w.epoch, Drivers: agent.NewRegistry(driver{}), Command: func(string) []string { return []string{"sim"} },
		Env: func(now time.Time) decide.Env {
			trusted := w.trusted
			return decide.Env{Now: now, NewID: w.newID, DefaultProvider: "a", Policy: decide.DefaultPolicy(), Trusted: func(string) bool { return trusted },
				Provider: func(name string) (decide.Provider, error) {
					return decide.Provider{Name: name, Driver: "script", Capabilities: driver{}.Capabilities()}, nil
				}}
		}}
}

// boot starts a server: it claims an epoch, loads the thread and takes up what
// is open.
func (w *world) boot() error {
	ctx := context.Background()
	var err error
	if w.epoch, err = w.journal.ClaimEpoch(ctx); err != nil {
		return err
	}
	w.inbox, w.effects = nil, nil
	return w.load()
}

func (w *world) load() error {
	l, err := w.journal.Load(context.Background(), threadID)
	if errors.Is(err, journal.ErrNotFound) {
		w.own = owner.New(w.config(), threadID)
		return nil
	}
	if err != nil {
		return err
	}
	texts := map[baton.ItemID]*decide.Text{}
	for _, c := range l.Chunks {
		t := &decide.Text{}
		chunks, err := w.journal.Chunks(context.Background(), c.Item, false, 0, 1<<20)
		if err != nil {
			return err
		}
		for _, ch := range chunks {
			t.Text.Append(ch.Text)
		}
		texts[c.Item] = t
	}
	if w.own, err = owner.Load(w.config(), threadID, l, texts); err != nil {
		return err
	}
	w.effects = l.Effects
	return nil
}

// step lets one thing happen.
func (w *world) step() error {
	w.now = w.now.Add(time.Duration(w.rng.IntN(50)) * time.Millisecond)
	if w.own == nil {
		w.say("server starts")
		return w.boot()
	}
	switch n := w.rng.IntN(100); {
	case n < 30:
		return w.decide()
	case n < 45:
		w.perform()
	case n < 75:
		w.shimStep()
	case n < 80:
		w.client()
	case w.calm:
		if n < 85 {
			w.answerAll()
		}
		return w.decide()
	case n < 82:
		w.say("server dies")
		w.lose()
	case n < 83:
		w.kill()
	case n < 84:
		w.failNext = errors.New("disk full")
	case n < 85:
		w.failNext = journal.ErrUnknown
	case n < 86:
		w.now = w.now.Add(time.Duration(w.rng.IntN(120)) * time.Second)
	case n < 87 && w.rng.IntN(4) == 0:
		w.forget()
	}
	return nil
}

// lose forgets the owner: what it has not in the journal is gone.
func (w *world) lose() {
	for id := range w.shims {
		if w.own.Frame(id) > w.own.Durable(id) {
			w.unkept++
			break
		}
	}
	w.own = nil
}

// decide gives the owner a batch of what waits.
func (w *world) decide() error {
	inputs := slices.Clone(w.inbox[:w.rng.IntN(len(w.inbox)+1)])
	fromInbox := len(inputs)
	for _, id := range w.sessions() {
		s := w.shims[id]
		if w.own.State().ID != "" && w.own.State().Session(id) == nil {
			continue
		}
		from := w.own.Frame(id)
		again := uint64(0) // frames that come although they have taken effect
		if w.rng.IntN(20) == 0 {
			again = min(from, uint64(w.rng.IntN(5)))
		}
		upTo := from + 1 + uint64(w.rng.IntN(8))
		for i := range s.spool {
			if s.spool[i].Seq > from-again && s.spool[i].Seq <= upTo {
				inputs = append(inputs, owner.Input{Frame: &s.spool[i]})
				if s.spool[i].Seq <= from {
					w.repeated++
				}
				if w.rng.IntN(50) == 0 {
					inputs = append(inputs, owner.Input{Frame: &s.spool[i]})
				}
			}
		}
		if !s.alive && !s.exited && len(s.spool) == int(from) {
			s.exited = true
			inputs = append(inputs, owner.Input{Frame: &owner.Frame{Session: id, Time: w.now, Kind: owner.FrameExit, Exit: &owner.Exit{Lost: true, Detail: "shim killed"}}})
		}
	}
	inputs = append(inputs, owner.Input{Deadline: true})
	res := w.own.Handle(w.now, inputs)
	if res.Marks && w.rng.IntN(8) > 0 {
		w.own.Keep()
		return w.check()
	}
	if _, err := w.journal.Append(context.Background(), res.Unit); err != nil {
		w.own.Discard()
		w.say("append: %v", err)
		for _, s := range w.shims { // a synthetic end comes again
			s.exited = s.exited && s.hasExit()
		}
		if errors.Is(err, journal.ErrUnknown) {
			w.lose()
			return w.load()
		}
		if errors.Is(err, journal.ErrReceipt) {
			w.answered()
		}
		return nil
	}
	w.own.Commit()
	w.inbox = w.inbox[min(fromInbox, res.Handled):]
	for _, r := range res.Replies {
		w.moved(r)
		c := w.sent[r.Command]
		if send, ok := c.Data.(baton.CommandSend); ok && r.Err == nil {
			w.accepted[send.Text] = r.Reply
		}
	}
	for _, e := range res.Unit.Events {
		w.say("%d %s %s", e.Version, e.Data.EventType(), brief(e.Data))
	}
	w.effects = append(w.effects, res.Unit.Effects...)
	err := w.check()
	if w.rng.IntN(40) == 0 && !w.calm {
		w.say("server dies right after a commit")
		w.lose()
	}
	return err
}

// answered takes commands out of the inbox that have a receipt, as the engine
// does: their first answer stands.
func (w *world) answered() {
	w.inbox = slices.DeleteFunc(w.inbox, func(in owner.Input) bool {
		if in.Command == nil {
			return false
		}
		r, err := w.journal.Receipt(context.Background(), in.Command.ID)
		if send, ok := in.Command.Data.(baton.CommandSend); ok && err == nil {
			w.accepted[send.Text] = r.Reply
		}
		return err == nil
	})
}

func brief(v any) string {
	b, _ := json.Marshal(v)
	return string(b[:min(len(b), 160)])
}

func (s *fakeShim) hasExit() bool {
	return len(s.spool) > 0 && s.spool[len(s.spool)-1].Kind == owner.FrameExit
}

func (w *world) sessions() []baton.SessionID {
	var ids []baton.SessionID
	for id := range w.shims {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// perform carries out one effect, in order for a session's writes.
func (w *world) perform() {
	if len(w.effects) == 0 {
		return
	}
	i := w.rng.IntN(len(w.effects))
	if _, ok := w.effects[i].Data.(baton.EffectWrite); ok {
		for j := range w.effects[:i] {
			if _, write := w.effects[j].Data.(baton.EffectWrite); write && w.effects[j].Session == w.effects[i].Session {
				i = j
				break
			}
		}
	}
	eff := w.effects[i]
	done := func(f baton.Fact) {
		w.effects = slices.Delete(w.effects, i, i+1)
		w.inbox = append(w.inbox, owner.Input{Outcome: &owner.Outcome{Effect: eff.ID, Session: eff.Session, Fact: f}})
	}
	s := w.shims[eff.Session]
	switch data := eff.Data.(type) {
	case baton.EffectOpenSession:
		if s == nil {
			s = &fakeShim{alive: true, known: map[baton.EffectID]bool{}, agent: &fakeAgent{w: w, late: w.rng.IntN(3) == 0}}
			w.shims[eff.Session] = s
			w.spool(eff.Session, owner.Frame{Kind: owner.FrameStarted})
		}
		done(nil)
	case baton.EffectWrite:
		switch {
		case w.own.State().Session(eff.Session) == nil || s != nil && (!s.alive || s.hasExit()):
			w.effects = slices.Delete(w.effects, i, i+1)
		case s != nil:
			w.effects = slices.Delete(w.effects, i, i+1)
			if !s.known[eff.ID] {
				s.known[eff.ID] = true
				w.spool(eff.Session, owner.Frame{Kind: owner.FrameAccepted, Write: eff.ID})
				s.input = append(s.input, eff)
			}
		}
	case baton.EffectStopSession:
		if s == nil {
			if w.own.State().Session(eff.Session) == nil {
				done(nil)
			}
			return
		}
		s.stop = true
		done(nil)
	case baton.EffectBuildHandoff:
		f := built(data)
		f.Squeezed = data.To != "" && w.rng.IntN(10) == 0
		done(f)
	case baton.EffectFindEvidence:
		f := baton.FactEvidence{Delivery: data.Delivery, Verdict: baton.VerdictHasNot}
		if slices.ContainsFunc(w.conversations[data.NativeID], func(r record) bool { return r.Delivery == data.Delivery }) {
			f.Verdict = baton.VerdictHas
		}
		if w.rng.IntN(5) == 0 && !w.calm {
			f.Verdict = baton.VerdictUnknown
		}
		done(f)
	}
}

func (w *world) spool(id baton.SessionID, f owner.Frame) {
	s := w.shims[id]
	f.Session, f.Seq, f.Time = id, uint64(len(s.spool)+1), w.now
	s.spool = append(s.spool, f)
}

// shimStep lets one shim move bytes, its agent act, or end it.
func (w *world) shimStep() {
	ids := w.sessions()
	ids = slices.DeleteFunc(ids, func(id baton.SessionID) bool { return !w.shims[id].alive || w.shims[id].hasExit() })
	if len(ids) == 0 {
		return
	}
	id := ids[w.rng.IntN(len(ids))]
	s := w.shims[id]
	if s.stop && w.rng.IntN(3) == 0 {
		w.spool(id, owner.Frame{Kind: owner.FrameExit, Exit: &owner.Exit{Detail: "stopped"}})
		s.exited = true
		return
	}
	var out []line
	if len(s.input) > 0 && w.rng.IntN(2) == 0 {
		eff := s.input[0]
		s.input = s.input[1:]
		var l line
		if err := json.Unmarshal(eff.Data.(baton.EffectWrite).Data, &l); err != nil {
			panic(err)
		}
		w.spool(id, owner.Frame{Kind: owner.FrameWritten, Write: eff.ID})
		out = s.agent.take(l)
	} else {
		out = s.agent.act()
	}
	for _, l := range out {
		b, _ := json.Marshal(l)
		w.spool(id, owner.Frame{Kind: owner.FrameOut, Data: b})
		if w.rng.IntN(60) == 0 && !w.calm {
			w.say("agent of %s dies in the middle of what it says", id)
			w.spool(id, owner.Frame{Kind: owner.FrameExit, Exit: &owner.Exit{Detail: "killed"}})
			s.exited = true
			return
		}
	}
}

// kill ends an agent, or a shim with its agent.
func (w *world) kill() {
	for _, id := range w.sessions() {
		s := w.shims[id]
		if !s.alive || s.hasExit() || w.rng.IntN(2) == 0 {
			continue
		}
		if w.rng.IntN(2) == 0 {
			w.say("agent of %s dies", id)
			w.spool(id, owner.Frame{Kind: owner.FrameExit, Exit: &owner.Exit{Detail: "killed"}})
			s.exited = true
		} else {
			w.say("shim of %s dies", id)
			s.alive = false
		}
		return
	}
}

// forget deletes a native conversation.
func (w *world) forget() {
	var natives []string
	for n := range w.conversations {
		natives = append(natives, n)
	}
	slices.Sort(natives)
	if len(natives) > 0 {
		n := natives[w.rng.IntN(len(natives))]
		w.say("native conversation %s is deleted", n)
		delete(w.conversations, n)
		w.forgot = true
	}
}
