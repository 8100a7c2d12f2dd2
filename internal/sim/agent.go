package sim

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/jsonl"
)

// line is one message of the simulated protocol, in either direction.
type line struct {
	Op    string             `json:"op"`
	ID    string             `json:"id,omitempty"` // delivery, native conversation or request key
	IDs   []baton.DeliveryID `json:"ids,omitempty"`
	Key   string             `json:"key,omitempty"`
	Text  string             `json:"text,omitempty"`
	State string             `json:"state,omitempty"`
}

// driver is the simulated agent's driver: a thin one, so that what is tried is
// the thread machine and not a protocol.
type driver struct{}

func (driver) Name() string { return "script" }
func (driver) Capabilities() baton.Capabilities {
	return baton.Capabilities{Interrupt: true, Approvals: true, Injection: baton.InjectSyntheticUser, Evidence: true}
}
func (driver) MinVersion() string             { return "" }
func (driver) VersionArgs() []string          { return nil }
func (driver) Launch(agent.Spec) agent.Launch { return agent.Launch{Argv: []string{"sim"}} }
func (driver) New(spec agent.Spec) agent.Machine {
	return &machine{Native: spec.NativeID, NewID: spec.NewID}
}
func (driver) Load(b []byte) (agent.Machine, error) { m := &machine{}; return m, json.Unmarshal(b, m) }

// machine turns lines into facts one to one.
type machine struct {
	Native, NewID, Turn string
	Items, Jobs         []string
}

func (m *machine) State() []byte { return jsonl.Line(m) }

func (m *machine) Step(in agent.Input) (out agent.Output) {
	say := func(l line, ids ...baton.DeliveryID) {
		out.Writes = append(out.Writes, agent.Write{Data: jsonl.Line(l), Deliveries: ids})
	}
	fact := func(f baton.Fact) { out.Facts = append(out.Facts, f) }
	switch {
	case in.Started:
		say(line{Op: "open", ID: m.Native, Key: m.NewID})
		out.Deadlines = map[string]time.Duration{"open": time.Minute}
	case in.Deadline != "":
		fact(baton.FactSessionFailed{Err: baton.Errorf(baton.CodeStartFailed, "no answer")})
	case in.Frame != nil:
		var l line
		if json.Unmarshal(in.Frame.Data, &l) != nil {
			fact(baton.FactNotice{Level: "warning", Text: "not understood"})
			return out
		}
		if l.Op == "poison" {
			panic("a frame that this driver can't take")
		}
		m.frame(l, fact, &out)
	}
	switch i := in.Intent.(type) {
	case baton.IntentDeliver:
		for _, h := range i.Handoffs {
			say(line{Op: "context", ID: string(h.Delivery), Text: h.Text}, h.Delivery)
		}
		say(line{Op: "message", ID: string(i.Message.Delivery), Text: i.Message.Text}, i.Message.Delivery)
	case baton.IntentAnswer:
		say(line{Op: "answer", ID: i.Request, Text: string(i.Decision)}, i.Delivery)
	case baton.IntentInterrupt:
		say(line{Op: "interrupt", Key: i.TurnKey})
	}
	return out
}

func (m *machine) frame(l line, fact func(baton.Fact), out *agent.Output) {
	switch l.Op {
	case "ready":
		out.Deadlines = map[string]time.Duration{"open": 0}
		fact(baton.FactSessionReady{NativeID: l.ID, Strength: baton.Strong})
	case "missing":
		out.Deadlines = map[string]time.Duration{"open": 0}
		fact(baton.FactResumeFailed{Class: baton.ResumeNotFound, Detail: "gone"})
	case "accepted":
		fact(baton.FactDeliveryAccepted{Delivery: baton.DeliveryID(l.ID)})
	case "begun": // what it took is told at its end
		m.Turn = l.Key
		fact(baton.FactTurnStarted{Key: l.Key, Native: baton.NativeRef{ID: l.Key, Strength: baton.Strong}, Deliveries: l.IDs})
	case "job":
		m.Jobs = append(m.Jobs, l.Key)
		fact(baton.FactItemOpened{Key: l.Key, Kind: baton.ItemCommand, Body: baton.ItemBody{Command: "serve"}})
		fact(baton.FactItemClosed{Key: l.Key, Kind: baton.ItemCommand, Status: baton.NodeDetached})
		fact(baton.FactDetached{Names: slices.Clone(m.Jobs)})
	case "job done":
		m.Jobs = slices.DeleteFunc(m.Jobs, func(k string) bool { return k == l.Key })
		fact(baton.FactItemClosed{Key: l.Key, Kind: baton.ItemCommand, Status: baton.NodeCompleted})
		fact(baton.FactDetached{Names: slices.Clone(m.Jobs)})
	case "turn":
		m.Turn = l.Key
		fact(baton.FactTurnStarted{Key: l.Key, Native: baton.NativeRef{ID: l.Key, Strength: baton.Strong}, Deliveries: l.IDs})
		for _, id := range l.IDs {
			fact(baton.FactDeliveryConsumed{Delivery: id, TurnKey: l.Key})
		}
	case "folded":
		fact(baton.FactDeliveryConsumed{Delivery: baton.DeliveryID(l.ID), TurnKey: m.Turn})
	case "text":
		if !slices.Contains(m.Items, l.Key) {
			m.Items = append(m.Items, l.Key)
			fact(baton.FactItemOpened{Key: l.Key, Kind: baton.ItemAssistantMessage})
		}
		fact(baton.FactItemDelta{Key: l.Key, Text: l.Text})
	case "closed":
		m.Items = slices.DeleteFunc(m.Items, func(k string) bool { return k == l.Key })
		fact(baton.FactItemClosed{Key: l.Key, Kind: baton.ItemAssistantMessage, Status: baton.NodeCompleted, Body: baton.ItemBody{Text: l.Text}})
	case "ask":
		fact(baton.FactRequestOpened{Key: l.ID, Kind: baton.RequestCommand, Title: "may I?"})
	case "ended":
		m.Turn, m.Items = "", nil
		fact(baton.FactTurnEnded{Key: l.Key, Status: baton.TurnStatus(l.State)})
	}
}

// record is what a simulated agent's own conversation holds, on its own disk.
type record struct {
	Delivery baton.DeliveryID
	Context  bool
}

// fakeAgent is the simulated process.
type fakeAgent struct {
	w      *world
	native string
	turn   string
	item   string
	said   string
	asked  []string // requests that wait
	jobs   []string // what runs beside its turns

	// late agents tell only at the end of a turn what they have taken, as claude
	// 2.1.332 does; taken is what they will tell.
	late  bool
	taken []string
}

// take lets the agent act on one line and returns what it says. Everything it
// says is spooled before the next thing happens to it.
func (f *fakeAgent) take(l line) (out []line) {
	conv := f.w.conversations
	switch l.Op {
	case "open":
		if f.w.rng.IntN(40) == 0 && !f.w.calm {
			f.w.say("an agent never becomes ready")
			return nil
		}
		if l.ID == "" {
			f.native = l.Key
			return []line{{Op: "ready", ID: f.native}}
		}
		if _, ok := conv[l.ID]; !ok {
			return []line{{Op: "missing"}}
		}
		f.native = l.ID
		return []line{{Op: "ready", ID: f.native}}
	case "context":
		conv[f.native] = append(conv[f.native], record{baton.DeliveryID(l.ID), true})
		return f.has(l.ID)
	case "message":
		conv[f.native] = append(conv[f.native], record{Delivery: baton.DeliveryID(l.ID)})
		f.w.received[l.Text]++
		out = f.has(l.ID)
		switch {
		case f.turn == "":
			out = append(out, f.begin(baton.DeliveryID(l.ID)))
		case !f.late:
			out = append(out, line{Op: "folded", ID: l.ID})
		}
		return out
	case "answer":
		f.asked = slices.DeleteFunc(f.asked, func(k string) bool { return k == l.ID })
	case "interrupt":
		if f.turn != "" && f.w.rng.IntN(4) > 0 {
			return f.end("interrupted")
		}
	}
	return out
}

// has tells at once, or keeps for the end of the turn, that the agent has a delivery.
func (f *fakeAgent) has(id string) []line {
	if f.late {
		f.taken = append(f.taken, id)
		return nil
	}
	return []line{{Op: "accepted", ID: id}}
}

func (f *fakeAgent) begin(ids ...baton.DeliveryID) line {
	f.w.turns++
	f.turn = fmt.Sprintf("turn-%d", f.w.turns)
	if f.late {
		return line{Op: "begun", Key: f.turn, IDs: ids}
	}
	return line{Op: "turn", Key: f.turn, IDs: ids}
}

func (f *fakeAgent) end(state string) (out []line) {
	for _, id := range f.taken {
		out = append(out, line{Op: "accepted", ID: id}, line{Op: "folded", ID: id})
	}
	out = append(out, line{Op: "ended", Key: f.turn, State: state})
	f.turn, f.item, f.asked, f.said, f.taken = "", "", nil, "", nil
	return out
}

// act lets the agent do something by itself.
func (f *fakeAgent) act() []line {
	switch n := f.w.rng.IntN(20); {
	case f.native == "":
		return nil
	case len(f.jobs) > 0 && n > 17:
		l := line{Op: "job done", Key: f.jobs[0]}
		f.jobs = f.jobs[1:]
		return []line{l}
	case f.turn == "":
		if n == 0 && !f.w.calm && len(f.w.conversations[f.native]) > 0 {
			return []line{f.begin()}
		}
		return nil
	case n == 1 && !f.w.calm && len(f.asked) < 2:
		f.w.turns++
		id := fmt.Sprintf("ask-%d", f.w.turns)
		f.asked = append(f.asked, id)
		return []line{{Op: "ask", ID: id}}
	case len(f.asked) > 0:
		return nil
	case n == 2 && !f.w.calm:
		return f.end("failed")
	case n == 3 && !f.w.calm && len(f.jobs) < 2:
		f.w.turns++
		id := fmt.Sprintf("job-%d", f.w.turns)
		f.jobs = append(f.jobs, id)
		return []line{{Op: "job", Key: id}}
	case n < 9:
		if f.item == "" {
			f.w.turns++
			f.item = fmt.Sprintf("item-%d", f.w.turns)
		}
		f.said += "word "
		return []line{{Op: "text", Key: f.item, Text: "word "}}
	case n < 13 && f.item != "":
		l := line{Op: "closed", Key: f.item, Text: f.said}
		f.item, f.said = "", ""
		return []line{l}
	case n < 14 && !f.w.calm:
		return []line{{Op: "nonsense"}}
	case n == 14 && !f.w.calm && f.w.rng.IntN(20) == 0:
		return []line{{Op: "poison"}}
	case n > 16:
		return f.end("completed")
	}
	return nil
}
