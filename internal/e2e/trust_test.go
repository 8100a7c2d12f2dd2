package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestTrust: what a repository wants to be run with an agent is run from the
// person's trust on and until it is taken back, also in a thread that has an
// idle agent of before.
func TestTrust(t *testing.T) {
	r := newRig(t, "")
	marks := t.TempDir()
	mark := func(name string) string { return filepath.Join(marks, name) }
	for name, text := range map[string]string{
		".mcp.json":             fmt.Sprintf(`{"mcpServers":{"own":{"command":"touch","args":[%q]}}}`, mark("claude mcp")),
		".claude/settings.json": fmt.Sprintf(`{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"touch '%s'"}]}]}}`, mark("claude hook")),
		".codex/config.toml":    fmt.Sprintf("[mcp_servers.own]\ncommand = \"touch\"\nargs = [%q]\n", mark("codex mcp")),
	} {
		path := filepath.Join(r.project, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	threads := map[string]string{"claude": r.thread(), "codex": r.thread()}
	// ran lets both agents answer and tells what was run meanwhile.
	ran := func() (names []string) {
		t.Helper()
		for provider, id := range threads {
			r.say(id, provider, "hello [[say hi]]")
		}
		files, err := os.ReadDir(marks)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			names = append(names, f.Name())
			_ = os.Remove(mark(f.Name()))
		}
		return names
	}
	if got := ran(); len(got) > 0 {
		t.Fatalf("before any trust the repository ran %q", got)
	}
	out, errs, code := r.try("project", "trust")
	if code != 2 {
		t.Errorf("trust without a question: exit %d\n%s%s", code, out, errs)
	}
	for _, want := range []string{".mcp.json", "settings.json", "config.toml", "would run: touch " + mark("codex mcp")} {
		if !strings.Contains(errs, want) {
			t.Errorf("the question does not show %q:\n%s", want, errs)
		}
	}
	if got := ran(); len(got) > 0 {
		t.Fatalf("after a refused trust the repository ran %q", got)
	}
	r.baton("project", "trust", "--yes")
	r.baton("serve", "--stop") // the trust outlives the server
	if got, want := ran(), []string{"claude hook", "claude mcp", "codex mcp"}; !slices.Equal(got, want) {
		t.Errorf("with the trust the repository ran %q, want %q", got, want)
	}
	r.baton("project", "untrust")
	if got := ran(); len(got) > 0 {
		t.Errorf("after the trust was taken back the repository ran %q", got)
	}
	for provider, id := range threads {
		if runs := r.show(id).Runs; len(runs) != 4 || len(r.coverage(id)) != 1 || fmt.Sprint(r.coverage(id)[provider].Native) != "[[1 4]]" {
			t.Errorf("%s: %d runs, coverage %+v", provider, len(runs), r.coverage(id))
		}
	}
}
