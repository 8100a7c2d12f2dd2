package engine

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/decide"
	"baton/internal/journal"
	"baton/internal/journal/memory"
	"baton/internal/owner"
	"baton/internal/shim"
)

// keeper is a driver whose machine remembers each frame; at "note" it tells the
// thread which it has seen.
type keeper struct{ Seen []string }

func (keeper) Name() string                     { return "script" }
func (keeper) Capabilities() baton.Capabilities { return baton.Capabilities{} }
func (keeper) MinVersion() string               { return "" }
func (keeper) VersionArgs() []string            { return nil }
func (keeper) Launch(agent.Spec) agent.Launch   { return agent.Launch{} }
func (keeper) New(agent.Spec) agent.Machine     { return &keeper{} }
func (keeper) Load(b []byte) (agent.Machine, error) {
	k := &keeper{}
	return k, json.Unmarshal(b, k)
}
func (k *keeper) State() []byte { b, _ := json.Marshal(k); return b }
func (k *keeper) Step(in agent.Input) (out agent.Output) {
	if in.Frame == nil {
		return out
	}
	if k.Seen = append(k.Seen, string(in.Frame.Data)); string(in.Frame.Data) == "note" {
		out.Facts = []baton.Fact{baton.FactNotice{Text: strings.Join(k.Seen, " ")}}
	}
	return out
}

type oneProvider struct{}

func (oneProvider) Get(name string) (Provider, error) {
	return Provider{Provider: decide.Provider{Name: name, Driver: "script"}}, nil
}
func (oneProvider) Default() string { return "a" }

// keeping is an actor that the test steps itself, with one session.
type keeping struct {
	*testing.T
	a       *actor
	session baton.SessionID
	seq     uint64
	appends int
	fail    error // of the next append
}

func newKeeping(t *testing.T) *keeping {
	k := &keeping{T: t}
	j := memory.New(memory.Options{Now: time.Now, FailAppend: func(int, journal.Unit) error {
		err := k.fail
		k.appends, k.fail = k.appends+1, nil
		return err
	}})
	ids := 0
	e, err := New(t.Context(), Config{Journal: j, Drivers: agent.NewRegistry(keeper{}), Providers: oneProvider{}, Policy: decide.DefaultPolicy(),
		Now: time.Now, Log: slog.New(slog.DiscardHandler), Sessions: t.TempDir(),
		NewID: func(prefix string) string { ids++; return fmt.Sprintf("%s_%d", prefix, ids) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	k.a = newActor(e, "thr_1")
	k.a.own = owner.New(e.ownerConfig(), "thr_1")
	// Its directory is not there, so that no process is started.
	for i, data := range []baton.CommandData{baton.CommandCreateThread{Dir: filepath.Join(t.TempDir(), "none")}, baton.CommandSend{Text: "go"}} {
		c := baton.Command{ID: baton.CommandID(fmt.Sprint("cmd_", i)), Thread: "thr_1", Actor: baton.ActorPerson, Data: data}
		if left := k.a.step([]entry{{input: owner.Input{Command: &c}}}); len(left) > 0 {
			t.Fatal("the command is left over")
		}
	}
	k.session = k.a.own.State().Sessions[0].ID
	return k
}

// frames takes frames as one batch, however often that must be tried, and
// returns what the link is told.
func (k *keeping) frames(kind owner.FrameKind, lines ...string) uint64 {
	k.Helper()
	taken := make(chan uint64, 1)
	en := entry{taken: taken}
	for _, l := range lines {
		k.seq++
		en.frames = append(en.frames, owner.Frame{Session: k.session, Seq: k.seq, Time: time.Now(), Kind: kind, Data: []byte(l)})
	}
	for left := []entry{en}; len(left) > 0; {
		left = k.a.step(left)
	}
	return <-taken
}

// noted returns the texts of the notices so far.
func (k *keeping) noted() (texts []string) {
	k.Helper()
	events, err := k.a.e.cfg.Journal.Events(k.Context(), "thr_1", 0, 0)
	if err != nil {
		k.Fatal(err)
	}
	for _, e := range events {
		if d, ok := e.Data.(baton.EventItemOpened); ok && d.Kind == baton.ItemNotice {
			texts = append(texts, d.Body.Text)
		}
	}
	return texts
}

func TestFramesAreKept(t *testing.T) {
	k := newKeeping(t)
	before := k.appends
	if got := k.frames(owner.FrameOut, "a", "b"); got != 0 || k.appends != before {
		t.Fatalf("durable %d after %d appends", got, k.appends-before)
	}
	if got := k.frames(owner.FrameOut, "note"); got != 3 || k.appends != before+1 {
		t.Fatalf("durable %d after %d appends", got, k.appends-before)
	}
	if got := k.noted(); len(got) != 1 || got[0] != "a b note" {
		t.Errorf("noted %q", got)
	}
}

// Where the fate of a unit is unknown the owner is loaded again, and what the
// former one had kept is not lost with it.
func TestKeptFramesSurviveAReload(t *testing.T) {
	for _, fault := range []error{journal.ErrUnknown, journal.ErrVersion} {
		k := newKeeping(t)
		k.frames(owner.FrameOut, "a")
		k.frames(owner.FrameOut, "b")
		k.fail = fault
		if got := k.frames(owner.FrameOut, "c", "note"); got != 4 {
			t.Errorf("%v: durable %d", fault, got)
		}
		if got := k.noted(); len(got) != 1 || got[0] != "a b c note" {
			t.Errorf("%v: noted %q", fault, got)
		}
	}
}

func TestKeptFramesAreBounded(t *testing.T) {
	k := newKeeping(t)
	for range keepFrames {
		if got := k.frames(owner.FrameOut, "x"); got != 0 {
			t.Fatalf("durable %d, too early", got)
		}
	}
	if got := k.frames(owner.FrameOut, "x"); got != keepFrames+1 {
		t.Errorf("durable %d after %d frames", got, keepFrames+1)
	}
	if got := k.frames(owner.FrameOut, strings.Repeat("x", keepBytes+1)); got != k.seq {
		t.Errorf("a large frame was kept: durable %d", got)
	}
	k.frames(owner.FrameOut, "x")
	if got := k.frames(owner.FrameOther, ""); got != k.seq { // the spool is full, perhaps
		t.Errorf("what the shim says was kept: durable %d", got)
	}
}

func TestUnsaid(t *testing.T) {
	var u unsaid
	for i := range keepFrames - 1 {
		if u.add([]shim.Frame{{Kind: shim.KindIn}}) {
			t.Fatalf("told after %d frames", i+1)
		}
	}
	if !u.add([]shim.Frame{{Kind: shim.KindIn}}) || u != (unsaid{}) {
		t.Errorf("not told: %+v", u)
	}
	for _, f := range []shim.Frame{{Kind: shim.KindExit}, {Kind: shim.KindBlocked}, {Kind: shim.KindIn, Data: make([]byte, keepBytes)}} {
		if !u.add([]shim.Frame{f}) {
			t.Errorf("not told of a frame %s of %d bytes", f.Kind, len(f.Data))
		}
	}
}
