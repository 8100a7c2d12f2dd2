package acp

import (
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"baton"
	"baton/internal/agent/agenttest"
)

var golden = flag.Bool("golden", false, "rewrite testdata/*.golden from what the machine says now")

// The recordings are sessions of real agents (opencode 1.18.33, gemini-cli
// 0.61.0, qwen-code 0.15.10, copilot 1.0.102) with a scripted model: answers,
// tools, approvals and refusals, a cancel in the middle of a command.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings")
	}
	d := New("acp", Options{Capabilities: Default})
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			spec, entries := agenttest.Load(t, file)
			outs := agenttest.Replay(t, d, spec, entries)
			balanced(t, agenttest.Facts(outs))
			agenttest.Golden(t, strings.TrimSuffix(file, ".jsonl")+".golden", agenttest.Dialogue(entries, outs), *golden)
		})
	}
}

// balanced fails where an item, a request or a turn is opened twice, ends
// twice, or is left open.
func balanced(t *testing.T, facts []baton.Fact) {
	t.Helper()
	state := map[string]string{}
	to := func(key, want, next string) {
		if state[key] != want {
			t.Errorf("%s becomes %s and was %q", key, next, state[key])
		}
		state[key] = next
	}
	for _, f := range facts {
		switch f := f.(type) {
		case baton.FactTurnStarted:
			to("turn "+f.Key, "", "open")
		case baton.FactTurnEnded:
			to("turn "+f.Key, "open", "closed")
			for k, s := range state {
				if s == "open" {
					t.Errorf("%s is open at the end of turn %s", k, f.Key)
				}
			}
		case baton.FactItemOpened:
			to("item "+f.Key, "", "open")
		case baton.FactItemDelta:
			to("item "+f.Key, "open", "open")
		case baton.FactItemClosed:
			if state["item "+f.Key] != "" { // a close may open
				to("item "+f.Key, "open", "closed")
			}
		}
	}
}
