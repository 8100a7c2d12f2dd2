package owner

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/decide"
	"baton/internal/journal"
	"baton/internal/journal/memory"
)

// fakeDriver turns lines of words into facts: "ready", "take DELIVERY", "say
// TEXT", "end", "deadline", "panic".
type fakeDriver struct{}

func (fakeDriver) Name() string { return "script" }
func (fakeDriver) Capabilities() baton.Capabilities {
	return baton.Capabilities{Interrupt: true, Injection: baton.InjectSyntheticUser}
}
func (fakeDriver) MinVersion() string             { return "" }
func (fakeDriver) VersionArgs() []string          { return nil }
func (fakeDriver) Launch(agent.Spec) agent.Launch { return agent.Launch{Argv: []string{"fake"}} }
func (fakeDriver) New(spec agent.Spec) agent.Machine {
	return &fakeMachine{Native: spec.NewID}
}
func (fakeDriver) Load(b []byte) (agent.Machine, error) {
	m := &fakeMachine{}
	return m, json.Unmarshal(b, m)
}

type fakeMachine struct {
	Native string   `json:"native"`
	Seen   []string `json:"seen"` // every input, so that a lost or doubled one shows
	Turn   int      `json:"turn"`
}

func (m *fakeMachine) State() []byte { b, _ := json.Marshal(m); return b }

func (m *fakeMachine) Step(in agent.Input) (out agent.Output) {
	say := func(f baton.Fact) { out.Facts = append(out.Facts, f) }
	switch {
	case in.Started:
		m.Seen = append(m.Seen, "started")
		out.Writes = []agent.Write{{Data: []byte("hello\n"), Tag: "hello"}}
		out.Deadlines = map[string]time.Duration{"hello": time.Minute}
	case in.Written != nil:
		m.Seen = append(m.Seen, "written "+in.Written.Tag)
	case in.Deadline != "":
		m.Seen = append(m.Seen, "deadline "+in.Deadline)
	case in.Exited:
		m.Seen = append(m.Seen, "exited")
		if m.Native == "panics at its end" {
			panic("at the end")
		}
	case in.Intent != nil:
		m.Seen = append(m.Seen, fmt.Sprintf("intent %T", in.Intent))
		if d, ok := in.Intent.(baton.IntentDeliver); ok {
			out.Writes = []agent.Write{{Data: []byte("message\n"), Deliveries: []baton.DeliveryID{d.Message.Delivery}}}
		}
	case in.Frame != nil:
		word, rest, _ := strings.Cut(string(in.Frame.Data), " ")
		m.Seen = append(m.Seen, string(in.Frame.Data))
		turn := fmt.Sprint("turn ", m.Turn)
		switch word {
		case "ready":
			out.Deadlines = map[string]time.Duration{"hello": 0}
			say(baton.FactSessionReady{NativeID: m.Native, Strength: baton.Strong})
		case "take":
			m.Turn++
			id := baton.DeliveryID(rest)
			turn = fmt.Sprint("turn ", m.Turn)
			say(baton.FactDeliveryAccepted{Delivery: id})
			say(baton.FactTurnStarted{Key: turn, Deliveries: []baton.DeliveryID{id}})
			say(baton.FactItemOpened{Key: turn, Kind: baton.ItemAssistantMessage})
		case "say":
			say(baton.FactItemDelta{Key: turn, Text: rest})
		case "note":
			say(baton.FactNotice{Text: rest})
		case "end":
			say(baton.FactTurnEnded{Key: turn, Status: baton.TurnCompleted})
		case "deadline":
			out.Deadlines = map[string]time.Duration{rest: time.Hour}
		case "mortal":
			m.Native = "panics at its end"
		case "panic":
			panic("no such thing: " + rest)
		case "illegal": // the decision panics, not the driver
			say(baton.FactSessionFailed{}) // without an error
		}
	}
	return out
}

// bench runs one owner over a real journal in memory.
type bench struct {
	t    *testing.T
	j    *memory.Journal
	own  *Owner
	now  time.Time
	ids  int
	seq  map[baton.SessionID]uint64
	log  []journal.Unit
	cmds int
}

const thread = baton.ThreadID("thr_1")

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), seq: map[baton.SessionID]uint64{}}
	b.j = memory.New(memory.Options{Now: func() time.Time { return b.now }})
	b.own = New(b.config(), thread)
	b.handle(b.command(baton.CommandCreateThread{Dir: "/w"}))
	return b
}

func (b *bench) config() Config {
	return Config{Epoch: 1, Drivers: agent.NewRegistry(fakeDriver{}), Command: func(string) []string { return []string{"fake"} },

		Env: func(now time.Time) decide.Env {
			return decide.Env{Now: now, DefaultProvider: "a", Policy: decide.DefaultPolicy(),
				NewID: func(prefix string) string { b.ids++; return fmt.Sprintf("%s_%d", prefix, b.ids) },
				Provider: func(name string) (decide.Provider, error) {
					if name == "bomb" {
						panic("boom")
					}
					return decide.Provider{Name: name, Driver: "script", Capabilities: fakeDriver{}.Capabilities()}, nil
				}}
		}}
}

func (b *bench) command(data baton.CommandData) Input {
	b.cmds++
	return Input{Command: &baton.Command{ID: baton.CommandID(fmt.Sprint("cmd_", b.cmds)), Thread: thread, Actor: baton.ActorPerson, Data: data}}
}

// frame makes the session's next frame.
func (b *bench) frame(f Frame) Input {
	b.seq[f.Session]++
	f.Seq, f.Time = b.seq[f.Session], b.now
	return Input{Frame: &f}
}

func (b *bench) line(id baton.SessionID, text string) Input {
	return b.frame(Frame{Session: id, Kind: FrameOut, Data: []byte(text)})
}

// handle takes a batch to its end: again as often as inputs are left over.
func (b *bench) handle(inputs ...Input) (results []Result) {
	b.t.Helper()
	for len(inputs) > 0 {
		res := b.own.Handle(b.now, inputs)
		if res.Handled == 0 {
			b.t.Fatal("a batch was not handled at all")
		}
		b.commit(res)
		inputs = inputs[res.Handled:]
		results = append(results, res)
	}
	return results
}

func (b *bench) commit(res Result) {
	b.t.Helper()
	if _, err := b.j.Append(context.Background(), res.Unit); err != nil {
		b.t.Fatalf("append: %v", err)
	}
	b.own.Commit()
	b.log = append(b.log, res.Unit)
}

// reload makes the owner anew from the journal.
func (b *bench) reload() {
	b.t.Helper()
	l, err := b.j.Load(context.Background(), thread)
	if err != nil {
		b.t.Fatal(err)
	}
	texts := map[baton.ItemID]*decide.Text{}
	for _, c := range l.Chunks {
		chunks, err := b.j.Chunks(context.Background(), c.Item, false, 0, 0)
		if err != nil {
			b.t.Fatal(err)
		}
		texts[c.Item] = &decide.Text{}
		for _, ch := range chunks {
			texts[c.Item].Text.Append(ch.Text)
		}
	}
	if b.own, err = Load(b.config(), thread, l, texts); err != nil {
		b.t.Fatal(err)
	}
}

// running sends a message and brings its run to running.
func (b *bench) running(text string) (baton.SessionID, baton.RunID) {
	b.t.Helper()
	reply := b.handle(b.command(baton.CommandSend{Text: text}))[0].Replies[0].Reply
	id := b.session()
	if b.own.State().Session(id).Status == baton.SessionStarting {
		b.handle(b.frame(Frame{Session: id, Kind: FrameStarted}), b.line(id, "ready"))
	}
	b.handle(b.line(id, "take "+string(b.delivery())))
	if r := b.own.State().ActiveRun(); r == nil || r.ID != reply.Run || r.Status != baton.RunRunning {
		b.t.Fatalf("the run of %q is not running: %+v", text, r)
	}
	return id, reply.Run
}

func (b *bench) session() baton.SessionID {
	b.t.Helper()
	all := b.own.State().Sessions
	if len(all) != 1 {
		b.t.Fatalf("%d sessions", len(all))
	}
	return all[0].ID
}

func (b *bench) delivery() baton.DeliveryID {
	b.t.Helper()
	for _, v := range b.own.State().Deliveries {
		if v.Kind == baton.DeliverMessage && v.Status == baton.DeliveryOffered {
			return v.ID
		}
	}
	b.t.Fatal("no message is offered")
	return ""
}

func (b *bench) seen(id baton.SessionID) string {
	m := b.own.machines[id]
	if m == nil {
		return ""
	}
	return strings.Join(m.m.(*fakeMachine).Seen, ", ")
}

// writes returns the effects of all units so far that give bytes to an agent.
func (b *bench) writes() (ids []baton.EffectID) {
	for _, u := range b.log {
		for _, e := range u.Effects {
			if _, ok := e.Data.(baton.EffectWrite); ok {
				ids = append(ids, e.ID)
			}
		}
	}
	return ids
}

func eventsOf[E baton.EventData](results ...Result) (found []E) {
	for _, r := range results {
		for _, e := range r.Unit.Events {
			if d, ok := e.Data.(E); ok {
				found = append(found, d)
			}
		}
	}
	return found
}

func jsonOf(v any) string { b, _ := json.Marshal(v); return string(b) }
