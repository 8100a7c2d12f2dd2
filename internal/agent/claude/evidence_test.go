package claude_test

import (
	"os"
	"path/filepath"
	"testing"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/claude"
)

func TestEvidence(t *testing.T) {
	const user = `{"type":"user","uuid":"u1","message":{}}` + "\n"
	for name, c := range map[string]struct {
		folder, text string // of the transcript; none where folder is empty
		isNew        bool
		want         baton.Verdict
	}{
		"user entry":         {"-w-a-b", `{"type":"summary"}` + "\n" + user, false, baton.VerdictHas},
		"folded":             {"-w-a-b", `{"type":"attachment","uuid":"x","attachment":{"type":"queued_command","source_uuid":"u1"}}` + "\n", false, baton.VerdictHas},
		"queue record only":  {"-w-a-b", `{"type":"queue-operation","commandUuid":"u1"}` + "\n", false, baton.VerdictHasNot},
		"answer to it":       {"-w-a-b", `{"type":"assistant","uuid":"x","parentUuid":"u1"}` + "\n", false, baton.VerdictHasNot},
		"quoted in a text":   {"-w-a-b", `{"type":"user","uuid":"x","message":{"content":"\"uuid\":\"u1\""}}` + "\n", false, baton.VerdictHasNot},
		"cut off":            {"-w-a-b", `{"type":"user","uuid":"x"}` + "\n" + user[:len(user)-4], false, baton.VerdictHasNot},
		"no line break":      {"-w-a-b", user[:len(user)-1], false, baton.VerdictHas},
		"empty":              {"-w-a-b", "", false, baton.VerdictHasNot},
		"in another folder":  {"-private-w-a-b", user, false, baton.VerdictHas},
		"not in another":     {"-private-w-a-b", "{}\n", true, baton.VerdictHasNot},
		"none, new":          {"", "", true, baton.VerdictHasNot},
		"none, was resumed":  {"", "", false, baton.VerdictUnknown},
		"garbage with an id": {"-w-a-b", `"u1" garbage` + "\n", false, baton.VerdictHasNot},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			if c.folder != "" {
				dir := filepath.Join(home, ".claude", "projects", c.folder)
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "conv.jsonl"), []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			q := agent.EvidenceQuery{Delivery: d1, NativeID: "conv", Dir: "/w/a.b", Env: map[string]string{"HOME": home}, New: c.isNew}
			if got, why := (claude.Driver{}).FindEvidence(q); got != c.want || why == "" {
				t.Errorf("%s (%s), want %s", got, why, c.want)
			}
		})
	}
	for name, q := range map[string]agent.EvidenceQuery{
		"no home":         {Delivery: d1, NativeID: "conv", Dir: "/w", New: true},
		"no conversation": {Delivery: d1, Dir: "/w", Env: map[string]string{"HOME": t.TempDir()}, New: true},
		"escaping id":     {Delivery: d1, NativeID: "../x", Dir: "/w", Env: map[string]string{"HOME": t.TempDir()}, New: true},
	} {
		if got, _ := (claude.Driver{}).FindEvidence(q); got != baton.VerdictUnknown {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The real path of a directory behind a symlink names the folder too.
func TestEvidenceSymlink(t *testing.T) {
	config, real := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	resolved, err := filepath.EvalSymlinks(link)
	if err != nil {
		t.Fatal(err)
	}
	folder := ""
	for _, r := range resolved {
		if r == '/' || r == '.' || r == '_' {
			r = '-'
		}
		folder += string(r)
	}
	dir := filepath.Join(config, "projects", folder)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "conv.jsonl"), []byte(`{"type":"user","uuid":"u1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	q := agent.EvidenceQuery{Delivery: d1, NativeID: "conv", Dir: link, Env: map[string]string{"CLAUDE_CONFIG_DIR": config}}
	if got, why := (claude.Driver{}).FindEvidence(q); got != baton.VerdictHas {
		t.Errorf("%s (%s)", got, why)
	}
}
