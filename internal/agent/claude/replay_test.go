package claude_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/agent/agenttest"
	"baton/internal/agent/claude"
	"baton/internal/jsonl"
)

var record = flag.Bool("record", false, "write testdata anew, from sessions with the real agent")

// TestReplay replays every recording with a reload at every input and compares
// what the driver says with the golden file beside it.
func TestReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < 8 {
		t.Fatalf("recordings: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			spec, entries := agenttest.Load(t, file)
			outs := agenttest.Replay(t, claude.Driver{}, spec, entries)
			var got strings.Builder
			for i, o := range outs {
				if s := agenttest.Show(o); s != "" {
					fmt.Fprintf(&got, "%d:\n%s", i, s)
				}
			}
			agenttest.Golden(t, strings.TrimSuffix(file, ".jsonl")+".golden", got.String(), *record)
			for _, fault := range broken(agenttest.Facts(outs)) {
				t.Error(fault)
			}
			m := claude.Driver{}.New(spec)
			for i, e := range entries {
				m.Step(e.Input())
				if n := len(m.State()); n > 4<<10 {
					t.Errorf("input %d: the state has %d bytes", i, n)
				}
			}
		})
	}
}

// save writes what a live session did as a recording, where that is asked for.
func (l *live) save(name string) {
	l.b.t.Helper()
	l.check()
	if !*record {
		return
	}
	if err := os.MkdirAll("testdata", 0o755); err != nil {
		l.b.t.Fatal(err)
	}
	var out []byte
	for i, e := range l.Entries() {
		out = append(out, l.b.scrub(i, e)...)
	}
	if err := os.WriteFile(filepath.Join("testdata", name+".jsonl"), out, 0o644); err != nil {
		l.b.t.Fatal(err)
	}
}

// check looks at the order of what the driver said.
func (l *live) check() {
	l.b.t.Helper()
	for _, fault := range broken(l.Facts()) {
		l.b.t.Error(fault)
	}
}

// wordy are fields with the agent's own long lists and with the machine's ways;
// the driver reads none of them.
var wordy = []string{"commands", "agents", "models", "tools", "slash_commands", "terminal_slash_commands", "skills", "plugins",
	"capabilities", "available_output_styles", "user_output_styles_dir", "account", "pid", "memory_paths", "messaging_socket_path",
	"timestamp", "subagent_stats", "output_file", "outputFile", "signature", "request_sent_wall_ms", "model_usage_since_last_result",
	"duration_ms", "duration_api_ms", "ttft_ms", "ttft_stream_ms", "first_content_frame_ms", "time_to_request_ms", "end_time"}

var (
	loopback = regexp.MustCompile(`127\.0\.0\.1:\d+`)
	scratch  = regexp.MustCompile(`/tmp/claude-\d+`)
)

// scrub turns an entry into a line without what belongs to one machine or run.
func (b *bench) scrub(i int, e agenttest.Entry) []byte {
	if e.Spec != nil {
		spec := *e.Spec
		spec.Command = []string{"claude"}
		e.Spec = &spec
	}
	if e.Frame != "" {
		var v any
		if json.Unmarshal([]byte(e.Frame), &v) == nil {
			e.Frame = strings.TrimSpace(string(jsonl.Line(prune(v))))
		}
		e.Time = time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
	}
	line := string(jsonl.Line(e))
	slug := regexp.MustCompile(`[^A-Za-z0-9]`)
	for _, p := range [][2]string{{b.dir, "/w/project"}, {b.home.Home, "/w/claude"}, {filepath.Dir(b.home.Home), "/w"}} {
		line = strings.ReplaceAll(line, p[0], p[1])
		line = strings.ReplaceAll(line, slug.ReplaceAllString(p[0], "-"), slug.ReplaceAllString(p[1], "-"))
	}
	line = scratch.ReplaceAllString(line, "/w/tmp")
	return []byte(loopback.ReplaceAllString(line, "127.0.0.1:4141"))
}

func prune(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if slices.Contains(wordy, k) {
				delete(v, k)
				continue
			}
			v[k] = prune(v[k])
		}
	case []any:
		for i := range v {
			v[i] = prune(v[i])
		}
	case string:
		if len(v) > 300 {
			return strings.ToValidUTF8(v[:300], "")
		}
	}
	return v
}

// A machine that can't be read is refused with a typed error.
func TestLoad(t *testing.T) {
	for state, want := range map[string]baton.Code{`{`: baton.CodeInternal, `{"v":99}`: baton.CodeDataNewer} {
		if _, err := (claude.Driver{}).Load([]byte(state)); baton.ErrorCode(err) != want {
			t.Errorf("%s: %v", state, err)
		}
	}
}
