package codex

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/jsonl"
)

var record = flag.Bool("record", false, "rewrite testdata from live sessions")

// recorded are the live sessions that are kept, by name.
var recorded = map[string]bool{
	"text": true, "approval": true, "handoff": true, "failure": true, "retry": true, "interrupt": true,
	"question": true, "resume": true, "folded_in": true, "background": true, "resume_not_found": true, "subagent": true,
}

// keep writes the session so far to testdata, where asked to, with nothing of
// this machine in it.
func (k *talk) keep(name string) {
	k.t.Helper()
	if !*record || !recorded[name] {
		return
	}
	places := strings.NewReplacer(k.root, "/r", strings.TrimPrefix(k.model.URL(), "http://"), "127.0.0.1:1")
	var b bytes.Buffer
	for i, e := range k.Entries() {
		if !e.Time.IsZero() {
			e.Time = time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
		}
		if e.Spec != nil {
			e.Spec.Command = []string{"codex"}
		}
		if len(e.Frame) > 2<<10 {
			e.Frame = shorten(e.Frame)
		}
		b.WriteString(places.Replace(string(jsonl.Line(e))))
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", name+".jsonl"), b.Bytes(), 0o644); err != nil {
		k.t.Fatal(err)
	}
	agenttest.Golden(k.t, filepath.Join("testdata", name+".golden"), replayed(k.t, name), true)
}

// shorten cuts the long texts of a frame, such as instructions.
func shorten(frame string) string {
	var v any
	if json.Unmarshal([]byte(frame), &v) != nil {
		return frame
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			if len(v) > 400 {
				return agent.Head(v, 100)
			}
		case []any:
			for i := range v {
				v[i] = walk(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = walk(v[k])
			}
		}
		return v
	}
	return strings.TrimRight(string(jsonl.Line(walk(v))), "\n")
}

func replayed(t testing.TB, name string) string {
	t.Helper()
	spec, entries := agenttest.Load(t, filepath.Join("testdata", name+".jsonl"))
	outs := agenttest.Replay(t, Driver{}, spec, entries)
	checkFacts(t, agenttest.Facts(outs))
	var b strings.Builder
	for _, o := range outs {
		b.WriteString(agenttest.Show(o))
	}
	return b.String()
}

// TestRecordings replays every recording with a reload at every input. What
// the machine says must be what it said when it was recorded.
func TestRecordings(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatalf("recordings: %q, %v", files, err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".jsonl")
		t.Run(name, func(t *testing.T) {
			agenttest.Golden(t, filepath.Join("testdata", name+".golden"), replayed(t, name), false) // keep writes it
		})
	}
}
