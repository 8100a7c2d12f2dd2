package owner

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/decide"
	"baton/internal/journal"
)

// FrameKind is what a frame of a session's spool says.
type FrameKind string

// The kinds of frames, as the shim spools them.
const (
	FrameStarted  FrameKind = "start"    // the agent's process runs
	FrameOut      FrameKind = "in"       // a line of the agent's standard output
	FrameErr      FrameKind = "err"      // a line of its standard error
	FrameAccepted FrameKind = "accepted" // a write was begun
	FrameWritten  FrameKind = "written"  // a write is complete
	FrameExit     FrameKind = "exit"     // the process has ended
	FrameOversize FrameKind = "oversize" // a line that was too long to be kept
	FrameOther    FrameKind = "other"    // of no meaning here
)

// Frame is one record of a session's spool.
type Frame struct {
	Session baton.SessionID
	Seq     uint64
	Time    time.Time
	Kind    FrameKind
	Write   baton.EffectID // accepted, written
	Data    []byte         // out, err
	Over    *agent.Oversize
	Exit    *Exit
}

// Exit says how an agent's process ended.
type Exit struct {
	Detail      string
	StartFailed bool     // it could not be started at all
	LeftOver    []string // ended after it
	Lost        bool     // the shim is gone without telling
	Released    bool     // the shim ended it, since no server came in time
}

// machine is a session's driver with what the owner keeps beside it.
type machine struct {
	driver string
	m      agent.Machine
	side
	frame     uint64
	durable   uint64 // the newest frame whose effect is in the journal
	pending   []byte // stored, of the working copy
	committed []byte // or kept
	at        uint64 // frame of committed
}

// side is stored with the driver's state.
type side struct {
	Deadlines map[string]time.Time `json:"deadlines,omitempty"`
	Stderr    string               `json:"stderr,omitempty"` // its last lines, bounded
}

// stored is the envelope in the journal.
type stored struct {
	Driver string          `json:"driver"`
	State  json.RawMessage `json:"state"`
	side
}

func (m *machine) store() []byte {
	b, err := json.Marshal(stored{Driver: m.driver, State: m.m.State(), side: m.side})
	if err != nil {
		panic("owner: the state of driver " + m.driver + " is no JSON: " + err.Error())
	}
	return b
}

func (m *machine) commit() { m.committed, m.at = m.pending, m.frame }

func (m *machine) restore(cfg Config) bool {
	if m.committed == nil {
		return false // made in the unit that was discarded
	}
	back, err := decode(cfg, m.committed)
	if err != nil {
		return false
	}
	m.m, m.side, m.frame = back.m, back.side, m.at
	return true
}

func decode(cfg Config, b []byte) (*machine, error) {
	var s stored
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, err
	}
	driver, err := cfg.Drivers.Get(s.Driver)
	if err != nil {
		return nil, err
	}
	am, err := driver.Load(s.State)
	if err != nil {
		return nil, err
	}
	return &machine{driver: s.Driver, m: am, side: s.side}, nil
}

// loadMachine restores the machine of a stored session; nil for one that has
// ended.
func loadMachine(cfg Config, s *decide.State, mark journal.SessionMark) (*machine, error) {
	if s.Session(mark.Session) == nil {
		return nil, nil
	}
	m, err := decode(cfg, mark.State)
	if err != nil {
		return nil, err
	}
	m.frame, m.at, m.durable, m.committed = mark.Frame, mark.Frame, mark.Frame, mark.State
	return m, nil
}

// machineOf returns the machine of a live session, making it the first time.
func (o *Owner) machineOf(id baton.SessionID) *machine {
	if m := o.machines[id]; m != nil {
		o.working.touched[id] = true
		return m
	}
	x := o.working.state.Session(id)
	if x == nil {
		return nil
	}
	driver, err := o.cfg.Drivers.Get(x.Driver)
	if err != nil {
		return nil
	}
	m := &machine{driver: x.Driver, m: driver.New(SpecOf(o.cfg, x))}
	o.machines[id] = m
	o.working.touched[id] = true
	return m
}

// SpecOf returns what a driver needs to know of the session.
func SpecOf(cfg Config, x *decide.Session) agent.Spec {
	return agent.Spec{Session: x.ID, Command: cfg.Command(x.Provider), Dir: x.Dir, Settings: x.Settings, NativeID: x.Resume, NewID: x.NewID,
		Trusted: x.Trusted, ClientVersion: cfg.ClientVersion}
}

// frame gives one record of the spool to the session's machine.
func (o *Owner) frame(d *decide.Decider, f Frame) {
	m := o.machineOf(f.Session)
	if m == nil || f.Seq != 0 && f.Seq <= m.frame {
		return // of a session that has ended, or seen before
	}
	if f.Seq != 0 {
		m.frame = f.Seq
	} else {
		o.working.late = true
	}
	d.Begin(o.cfg.Env(f.Time), baton.ActorAgent, baton.Cause{Session: f.Session, Frame: f.Seq})
	switch f.Kind {
	case FrameStarted:
		o.step(d, f.Session, f.Time, agent.Input{Started: true})
	case FrameOut:
		o.step(d, f.Session, f.Time, agent.Input{Frame: &agent.Frame{Time: f.Time, Data: f.Data}})
	case FrameOversize:
		o.step(d, f.Session, f.Time, agent.Input{Frame: &agent.Frame{Time: f.Time, Oversize: f.Over}})
	case FrameErr:
		m.stderr(f.Data)
	case FrameAccepted:
		if e, ok := o.write(f.Write); ok && len(e.Deliveries) > 0 {
			d.Fact(f.Session, baton.FactWritten{Deliveries: e.Deliveries})
		}
	case FrameWritten:
		if e, ok := o.write(f.Write); ok {
			if e.Tag != "" {
				o.step(d, f.Session, f.Time, agent.Input{Written: &agent.WriteRef{Tag: e.Tag}})
			}
			o.done(f.Write)
		}
	case FrameExit:
		o.exit(d, m, f)
	}
	o.settle(d, f.Time)
}

func (o *Owner) exit(d *decide.Decider, m *machine, f Frame) {
	if f.Exit.StartFailed {
		d.Fact(f.Session, baton.FactStartFailed{Err: baton.Errorf(baton.CodeStartFailed, "the agent could not be started").
			WithDetail("%s; the message is kept in the thread", f.Exit.Detail).WithHint("look at `baton doctor`")})
	} else {
		o.step(d, f.Session, f.Time, agent.Input{Exited: true})
	}
	m.gone(d, f)
}

// gone tells the thread that the session is over.
func (m *machine) gone(d *decide.Decider, f Frame) {
	detail := f.Exit.Detail
	if m.Stderr != "" {
		detail += "; its last words: " + m.Stderr
	}
	d.Fact(f.Session, baton.FactSessionGone{Detail: detail, Lost: f.Exit.Lost, Released: f.Exit.Released, LeftOver: f.Exit.LeftOver})
}

func (o *Owner) write(id baton.EffectID) (baton.EffectWrite, bool) {
	e, ok := o.writes[id]
	if !ok {
		e, ok = o.working.writes[id]
	}
	w, _ := e.Data.(baton.EffectWrite)
	return w, ok
}

// step gives a machine one input and the thread what it says.
func (o *Owner) step(d *decide.Decider, id baton.SessionID, now time.Time, in agent.Input) {
	m := o.machineOf(id)
	if m == nil {
		return
	}
	out := m.m.Step(in)
	for key, after := range out.Deadlines {
		if after <= 0 {
			delete(m.Deadlines, key)
			continue
		}
		if m.Deadlines == nil {
			m.Deadlines = map[string]time.Time{}
		}
		m.Deadlines[key] = now.Add(after)
	}
	for _, w := range out.Writes {
		d.Write(id, w.Data, w.Deliveries, w.Tag)
	}
	for _, f := range out.Facts {
		d.Fact(id, f)
	}
}

// settle hands the intents of decisions to machines until none is left.
func (o *Owner) settle(d *decide.Decider, now time.Time) {
	for {
		intents := d.TakeIntents()
		if len(intents) == 0 {
			return
		}
		for _, in := range intents {
			o.step(d, in.Session, now, agent.Input{Intent: in.Intent})
		}
	}
}

const maxStderr = 600

func (m *machine) stderr(line []byte) {
	s := m.Stderr
	if s != "" {
		s += " / "
	}
	s += string(line)
	if len(s) > maxStderr {
		s = s[len(s)-maxStderr:]
	}
	m.Stderr = strings.ToValidUTF8(s, "") // it may have been cut inside a rune
}

// NextDeadline returns when the thread has to be looked at again, or the zero time.
func (o *Owner) NextDeadline(p decide.Policy) time.Time {
	var next time.Time
	see := func(t time.Time) {
		if next.IsZero() || t.Before(next) {
			next = t
		}
	}
	for _, dl := range o.state.Deadlines(p) {
		see(dl.At)
	}
	for _, m := range o.machines {
		for _, t := range m.Deadlines {
			see(t)
		}
	}
	return next
}

// deadlines acts on all that is due.
func (o *Owner) deadlines(d *decide.Decider, now time.Time) {
	env := o.cfg.Env(now)
	for _, dl := range o.working.state.Deadlines(env.Policy) {
		if !dl.At.After(now) {
			d.Begin(env, baton.ActorSystem, baton.Cause{})
			d.Fact("", baton.FactDeadline{Key: dl.Key})
			o.settle(d, now)
		}
	}
	var ids []baton.SessionID
	for id := range o.machines {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		var due []string
		for key, t := range o.machines[id].Deadlines {
			if !t.After(now) {
				due = append(due, key)
			}
		}
		slices.Sort(due)
		for _, key := range due {
			m := o.machineOf(id)
			if m == nil {
				break
			}
			o.working.late = true
			delete(m.Deadlines, key)
			d.Begin(env, baton.ActorSystem, baton.Cause{Session: id})
			o.step(d, id, now, agent.Input{Deadline: key})
			o.settle(d, now)
		}
	}
}
