package harness

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton"
)

func TestMissingAgentNamesWhatInstallsIt(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for name, find := range map[string]func() (string, error){"codex": CodexBin, "claude": ClaudeBin} {
		_, err := find()
		if baton.ErrorCode(err) != baton.CodeAgentMissing || !strings.Contains(baton.AsError(err).Hint, "make agents") {
			t.Errorf("%s outside of a checkout: %v", name, err)
		}
	}
	if err := os.WriteFile(filepath.Join(root, "go.mod"), []byte("module baton\n\ngo 1.26\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(inner)
	_, err := Codex(t.TempDir(), "http://127.0.0.1:1", CodexOptions{})
	var e *baton.Error
	if !errors.As(err, &e) || e.Code != baton.CodeAgentMissing || e.Hint != "run `make agents`" || !strings.Contains(e.Detail, "node_modules") {
		t.Errorf("without agents: %+v", err)
	}
	if !strings.Contains(err.Error(), "make agents") {
		t.Errorf("a failing test would only show %q", err)
	}
}

func TestCodexPlatform(t *testing.T) {
	tests := []struct{ goos, goarch, pkg, triple string }{
		{"linux", "amd64", "codex-linux-x64", "x86_64-unknown-linux-musl"},
		{"linux", "arm64", "codex-linux-arm64", "aarch64-unknown-linux-musl"},
		{"darwin", "arm64", "codex-darwin-arm64", "aarch64-apple-darwin"},
		{"plan9", "amd64", "", ""},
	}
	for _, tt := range tests {
		pkg, triple, err := codexPlatform(tt.goos, tt.goarch)
		if pkg != tt.pkg || triple != tt.triple || (err == nil) != (tt.pkg != "") {
			t.Errorf("%s/%s: %s %s %v", tt.goos, tt.goarch, pkg, triple, err)
		}
	}
}

func TestCodexConfig(t *testing.T) {
	got := CodexOptions{SandboxMode: "read-only", RequestRetries: 2, Features: map[string]bool{"apps": true, "goals": false},
		Tables: "[mcp_servers.x]\ncommand = \"x\"\n"}.config("/h/models.json", "http://127.0.0.1:9")
	for _, want := range []string{
		`approval_policy = "on-request"`, `sandbox_mode = "read-only"`, `base_url = "http://127.0.0.1:9/v1"`,
		`model_catalog_json = "/h/models.json"`, "request_max_retries = 2\nstream_max_retries = 0\nstream_idle_timeout_ms = 600000",
		"[features]\napps = true\ngoals = false\nplugins = false\nremote_plugin = false\nunbounded_connection_retries = false\n[mcp_servers.x]\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Nothing of whoever runs the tests may reach an agent.
func TestEnvironmentIsPrivate(t *testing.T) {
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "mine")
	t.Setenv("OPENAI_API_KEY", "mine")
	dir := t.TempDir()
	codex, err := Codex(filepath.Join(dir, "x"), "http://127.0.0.1:1", CodexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	claude, err := Claude(filepath.Join(dir, "y"), "http://127.0.0.1:1", ClaudeOptions{Env: map[string]string{"EXTRA": "1"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range []Agent{codex, claude} {
		for _, kv := range a.Environ() {
			name, value, _ := strings.Cut(kv, "=")
			if value == "mine" || strings.HasPrefix(value, "/") && name != "PATH" && !strings.HasPrefix(value, dir) {
				t.Errorf("%s: %s", a.Bin, kv)
			}
		}
	}
	if claude.Env["EXTRA"] != "1" || claude.Env["CLAUDE_CODE_MAX_RETRIES"] != "0" {
		t.Errorf("env = %v", claude.Env)
	}
}
