// Package agenttest is what the tests of all drivers share: recordings of
// sessions that replay through a machine with its state stored and loaded
// again at every input, and a live session that drives a real agent's process
// over bare pipes.
package agenttest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
)

// Entry is one input of a recording; exactly one of its fields is set, but for
// Spec, which stands alone in the first line. Files are JSON lines.
type Entry struct {
	Spec     *agent.Spec     `json:"spec,omitempty"`
	Started  bool            `json:"started,omitempty"`
	Time     time.Time       `json:"time,omitzero"`
	Frame    string          `json:"frame,omitempty"`
	Deliver  *DeliverEntry   `json:"deliver,omitempty"`
	Answer   *AnswerEntry    `json:"answer,omitempty"`
	Stop     *InterruptEntry `json:"interrupt,omitempty"`
	Written  string          `json:"written,omitempty"`
	Deadline string          `json:"deadline,omitempty"`
	Exited   bool            `json:"exited,omitempty"`
}

// The intents of a recording have entries of their own, so that a file reads
// without knowing Go.
type (
	DeliverEntry   baton.IntentDeliver
	AnswerEntry    baton.IntentAnswer
	InterruptEntry baton.IntentInterrupt
)

// EntryOf turns an input into its entry.
func EntryOf(in agent.Input) Entry {
	e := Entry{Started: in.Started, Deadline: in.Deadline, Exited: in.Exited}
	if in.Frame != nil {
		e.Time, e.Frame = in.Frame.Time, string(in.Frame.Data)
	}
	if in.Written != nil {
		e.Written = in.Written.Tag
	}
	switch i := in.Intent.(type) {
	case baton.IntentDeliver:
		d := DeliverEntry(i)
		e.Deliver = &d
	case baton.IntentAnswer:
		a := AnswerEntry(i)
		e.Answer = &a
	case baton.IntentInterrupt:
		s := InterruptEntry(i)
		e.Stop = &s
	}
	return e
}

// Input turns an entry back.
func (e Entry) Input() agent.Input {
	in := agent.Input{Started: e.Started, Deadline: e.Deadline, Exited: e.Exited}
	switch {
	case e.Frame != "":
		in.Frame = &agent.Frame{Time: e.Time, Data: []byte(e.Frame)}
	case e.Written != "":
		in.Written = &agent.WriteRef{Tag: e.Written}
	case e.Deliver != nil:
		in.Intent = baton.IntentDeliver(*e.Deliver)
	case e.Answer != nil:
		in.Intent = baton.IntentAnswer(*e.Answer)
	case e.Stop != nil:
		in.Intent = baton.IntentInterrupt(*e.Stop)
	}
	return in
}

// Load reads a recording.
func Load(t testing.TB, file string) (agent.Spec, []Entry) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var entries []Entry
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 1 {
			var e Entry
			if err := json.Unmarshal(line, &e); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			entries = append(entries, e)
		}
		if err != nil {
			break
		}
	}
	if len(entries) == 0 || entries[0].Spec == nil {
		t.Fatalf("%s: the first line of a recording holds its spec", file)
	}
	return *entries[0].Spec, entries[1:]
}

// Replay steps a machine through a recording twice, once in one life and once
// stored and loaded again before every input, and fails where facts, writes,
// deadlines or state differ. It returns the outputs, for the test to look at.
func Replay(t testing.TB, d agent.Driver, spec agent.Spec, entries []Entry) []agent.Output {
	t.Helper()
	straight := d.New(spec)
	state := d.New(spec).State()
	outs := make([]agent.Output, len(entries))
	for i, e := range entries {
		outs[i] = straight.Step(e.Input())
		reloaded, err := d.Load(state)
		if err != nil {
			t.Fatalf("input %d: load: %v", i, err)
		}
		again := reloaded.Step(e.Input())
		if !reflect.DeepEqual(again, outs[i]) {
			t.Fatalf("input %d (%s): after a reload the machine says\n%s\nand without\n%s", i, brief(e), Show(again), Show(outs[i]))
		}
		state = reloaded.State()
		if got := straight.State(); string(got) != string(state) {
			t.Fatalf("input %d (%s): states differ:\n%s\n%s", i, brief(e), state, got)
		}
	}
	return outs
}

// Facts returns the facts of all outputs in order.
func Facts(outs []agent.Output) []baton.Fact {
	var all []baton.Fact
	for _, o := range outs {
		all = append(all, o.Facts...)
	}
	return all
}

// Show renders an output for a golden file or a failure: one fact or write a line.
func Show(o agent.Output) string {
	s := ""
	for _, f := range o.Facts {
		b, _ := json.Marshal(f)
		s += fmt.Sprintf("%s %s\n", reflect.TypeOf(f).Name(), b)
	}
	for _, w := range o.Writes {
		s += fmt.Sprintf("write %v %q %s", w.Deliveries, w.Tag, w.Data)
	}
	return s
}

func brief(e Entry) string {
	b, _ := json.Marshal(e)
	if len(b) > 300 {
		b = b[:300]
	}
	return string(b)
}
