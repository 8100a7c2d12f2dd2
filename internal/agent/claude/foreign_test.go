package claude_test

import (
	"os"
	"path/filepath"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/claude"
)

// Lines as claude 2.1.332 writes them, cut to what counts.
func TestFindForeign(t *testing.T) {
	const (
		ours    = `{"type":"user","uuid":"u1","promptSource":"sdk","message":{"content":"hello"}}` + "\n"
		typed   = `{"type":"user","uuid":"x1","promptSource":"typed","message":{"content":"hello"}}` + "\n"
		sdk     = `{"type":"user","uuid":"x2","promptSource":"sdk","message":{"content":"hello"}}` + "\n"
		handoff = `{"type":"user","uuid":"u2","isMeta":true,"origin":{"kind":"unclassified"},"message":{"content":"\"promptSource\""}}` + "\n"
		result  = `{"type":"user","uuid":"x3","message":{"content":[{"type":"tool_result"}]}}` + "\n"
		stopped = `{"type":"user","uuid":"x4","rowSource":"harness","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n"
		task    = `{"type":"user","uuid":"x5","origin":{"kind":"task-notification"},"promptSource":"system","message":{"content":"<task-notification>"}}` + "\n"
		summary = `{"type":"user","uuid":"x6","isCompactSummary":true,"message":{"content":"This session is being continued"}}` + "\n"
		below   = `{"type":"user","uuid":"x7","isSidechain":true,"promptSource":"sdk","message":{"content":"look"}}` + "\n"
		answer  = `{"type":"assistant","uuid":"x8","promptSource":"sdk"}` + "\n"
	)
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"nothing yet":          {"", 0},
		"our own":              {ours + handoff + result + stopped + task + summary + below + answer, 0},
		"two of somebody else": {ours + typed + sdk + ours, 2},
		"cut off":              {ours + typed[:len(typed)-9], 0},
		"behind garbage":       {`"promptSource" garbage` + "\n" + typed, 1},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			dir := filepath.Join(home, ".claude", "projects", "-w")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "conv.jsonl"), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			q := agent.ForeignQuery{NativeID: "conv", Dir: "/w", Env: map[string]string{"HOME": home},
				Ours: func(id baton.DeliveryID) bool { return id == d1 }}
			if n, err := (claude.Driver{}).FindForeign(q); n != c.want || err != nil {
				t.Errorf("%d, %v; want %d", n, err, c.want)
			}
			q.NativeID = "another"
			if _, err := (claude.Driver{}).FindForeign(q); err == nil {
				t.Error("a conversation that is not there: no error")
			}
		})
	}
}
