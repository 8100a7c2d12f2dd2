package claude_test

import (
	"path/filepath"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
)

// FuzzFrames gives a busy session any two lines: the machine must not panic, its
// state must load, its writes must be lines of JSON, and what it says must stay
// in order.
func FuzzFrames(f *testing.F) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	last := ""
	for _, file := range files {
		_, entries := agenttest.Load(f, file)
		for _, e := range entries {
			if e.Frame != "" && len(e.Frame) < 2000 {
				f.Add(last, e.Frame)
				last = e.Frame
			}
		}
	}
	f.Fuzz(func(t *testing.T, one, two string) {
		u := turn(t).deliver(d2, "more", d3).frames(messageStart("m"), blockStart(0, "text"), textDelta(0, "a"),
			call("", "toolu_1", "Agent", `{}`), call("toolu_1", "toolu_2", "Bash", `{"command":"x"}`), asks("r1", "Bash", `{}`, rule))
		for _, line := range []string{one, two} {
			u.frames(line)
			for _, fact := range u.out.Facts {
				if r, ok := fact.(baton.FactRequestOpened); ok {
					u.step(agent.Input{Intent: baton.IntentAnswer{Delivery: "dlv_a", Request: r.Key, Decision: baton.ApproveSession}})
				}
			}
		}
		u.step(agent.Input{Exited: true})
		for _, fault := range broken(u.facts) {
			if !strings.Contains(fault, "request") { // the lines may repeat an id
				t.Error(fault)
			}
		}
	})
}
