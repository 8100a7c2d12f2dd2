package script

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
)

// TestMain makes the test's binary the agent when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "agent" && os.Args[2] == "script" {
		os.Exit(Main(os.Stdin, os.Stdout, os.Stderr, os.Getenv, "test"))
	}
	os.Exit(m.Run())
}

// bench is a live agent with a home and a directory of its own.
type bench struct {
	*agenttest.Live
	t         *testing.T
	ctx       context.Context
	home, dir string
	env       map[string]string
	native    string
	pos       int // behind the newest fact that was waited for
	sent      int
}

func newBench(t *testing.T) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	b := &bench{t: t, ctx: ctx, home: t.TempDir(), dir: t.TempDir()}
	b.env = map[string]string{"BATON_SCRIPT_HOME": b.home, "PATH": os.Getenv("PATH")}
	return b
}

// start starts the agent, on the conversation native if there is one.
func (b *bench) start(native string) *bench {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	b.Live = agenttest.StartLive(b.t, Driver(), agent.Spec{Session: "ses_1", Command: []string{self, "agent", "script"}, Dir: b.dir, NativeID: native}, b.env)
	b.pos = 0
	ready, pos := agenttest.WaitFor[baton.FactSessionReady](b.ctx, b.Live, 0)
	b.native, b.pos = ready.NativeID, pos
	if ready.AgentVersion != "test" || ready.Resumed != (native != "") || native != "" && native != ready.NativeID {
		b.t.Fatalf("ready: %+v", ready)
	}
	return b
}

func started(t *testing.T) *bench { t.Helper(); return newBench(t).start("") }

// send delivers a message and returns at once.
func (b *bench) send(text string, handoffs ...string) baton.DeliveryID {
	b.sent++
	id := baton.DeliveryID("dlv_" + string(rune('a'+b.sent)))
	in := baton.IntentDeliver{Message: baton.Payload{Delivery: id, Text: text}}
	for i, h := range handoffs {
		in.Handoffs = append(in.Handoffs, baton.Payload{Delivery: id + baton.DeliveryID(rune('0'+i)), Text: h})
	}
	b.Step(agent.Input{Intent: in})
	return id
}

// end waits for the turn's end and returns the facts since the last wait.
func (b *bench) end() ([]baton.Fact, baton.FactTurnEnded) {
	b.t.Helper()
	from := b.pos
	ended, pos := agenttest.WaitFor[baton.FactTurnEnded](b.ctx, b.Live, b.pos)
	b.pos = pos
	return b.Facts()[from:pos], ended
}

// do sends a message and waits for the end of its turn, which must be status.
func (b *bench) do(text string, status baton.TurnStatus) []baton.Fact {
	b.t.Helper()
	b.send(text)
	facts, ended := b.end()
	if ended.Status != status {
		b.t.Fatalf("%s: the turn ended %+v", text, ended)
	}
	return facts
}

func (b *bench) interrupt(turn string) {
	b.Step(agent.Input{Intent: baton.IntentInterrupt{TurnKey: turn}})
}

// item is what a timeline would hold.
type item struct {
	Kind         baton.ItemKind
	Status       baton.NodeStatus
	Parent       string
	Text, Output string
	Body         baton.ItemBody
	Deltas       int
}

// items folds facts as a timeline would.
func items(t *testing.T, facts []baton.Fact) []*item {
	t.Helper()
	byKey := map[string]*item{}
	var order []*item
	open := func(key string, kind baton.ItemKind) *item {
		it := &item{Kind: kind}
		byKey[key] = it
		order = append(order, it)
		return it
	}
	for _, f := range facts {
		switch f := f.(type) {
		case baton.FactItemOpened:
			if byKey[f.Key] != nil {
				t.Fatalf("item %s opened twice", f.Key)
			}
			it := open(f.Key, f.Kind)
			it.Parent, it.Body = f.Parent, f.Body
		case baton.FactItemDelta:
			it := byKey[f.Key]
			if it == nil || it.Status != "" {
				t.Fatalf("delta for %s, which is not open", f.Key)
			}
			it.Deltas++
			if f.Output {
				it.Output += f.Text
			} else {
				it.Text += f.Text
			}
		case baton.FactItemClosed:
			it := byKey[f.Key]
			if it == nil {
				it = open(f.Key, f.Kind)
			}
			if it.Status != "" {
				t.Fatalf("item %s closed twice", f.Key)
			}
			it.Status = f.Status
			if f.Body.Output != "" {
				it.Output = f.Body.Output
			}
			if f.Body.ExitCode != nil {
				it.Body.ExitCode = f.Body.ExitCode
			}
			if len(f.Body.Files) > 0 {
				it.Body.Files = f.Body.Files
			}
		}
	}
	for key, it := range byKey {
		if it.Status == "" {
			t.Errorf("item %s is left open", key)
		}
	}
	return order
}

// said joins the texts of the items of a kind.
func said(t *testing.T, facts []baton.Fact, kind baton.ItemKind) string {
	t.Helper()
	var all []string
	for _, it := range items(t, facts) {
		if it.Kind == kind {
			all = append(all, it.Text)
		}
	}
	return strings.Join(all, "\n")
}

// requests reads what a model would have been sent.
func (b *bench) requests() []Request {
	b.t.Helper()
	f, err := os.Open(filepath.Join(b.home, "requests.jsonl"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	var out []Request
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return out
		}
		var q Request
		if err := json.Unmarshal(line, &q); err != nil {
			b.t.Fatal(err)
		}
		out = append(out, q)
	}
}

// opens waits for the next opened item that ok accepts.
func (b *bench) opens(what string, ok func(baton.FactItemOpened) bool) {
	b.t.Helper()
	b.Wait(b.ctx, b.pos, what, func(f baton.Fact) bool { o, is := f.(baton.FactItemOpened); return is && ok(o) })
}

// alive says whether a process runs.
func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
