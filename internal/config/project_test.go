package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestProjectFiles(t *testing.T) {
	root := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret.json")
	sub := filepath.Join(root, "a", "b")
	for path, text := range map[string]string{
		filepath.Join(root, ".git", "HEAD"):                      "ref: refs/heads/main",
		filepath.Join(root, ".mcp.json"):                         `{"mcpServers":{"z":{"command":"z-server"},"a":{"command":"a-server","args":["--x","y"]},"r":{"url":"https://example.com/mcp"}}}`,
		filepath.Join(root, "a", ".claude", "settings.json"):     `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"hook-1"},{"command":"hook-2"}]}]},"apiKeyHelper":"helper"}`,
		filepath.Join(sub, ".codex", "config.toml"):              "notify = [\"notify\", \"me\"]\n[mcp_servers.own]\ncommand = \"own-server\"\nargs = [\"1\"]\n",
		filepath.Join(sub, ".claude", "agents", "reviewer.md"):   "x",
		filepath.Join(sub, ".claude", "settings.local.json"):     "not JSON",
		filepath.Join(filepath.Dir(root), "beside", ".mcp.json"): "{}",
		secret: `{"mcpServers":{"s":{"command":"outside"}}}`,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(sub, ".mcp.json")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range ProjectFiles(sub) {
		rel, _ := filepath.Rel(root, f.Path)
		got = append(got, f.Agent+" "+filepath.ToSlash(rel)+": "+strings.Join(f.Runs, ", "))
	}
	want := []string{
		"claude a/b/.mcp.json: ", // leads out of the directory, and is not followed
		"claude a/b/.claude/settings.local.json: ",
		"claude a/b/.claude/agents: ",
		"codex a/b/.codex/config.toml: own-server 1, notify me",
		"claude a/.claude/settings.json: hook-1, hook-2, helper",
		"claude .mcp.json: a-server --x y, https://example.com/mcp, z-server",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	// Outside of a repository only the directory itself counts.
	if err := os.RemoveAll(filepath.Join(root, ".git")); err != nil {
		t.Fatal(err)
	}
	if got := ProjectFiles(sub); len(got) != 4 {
		t.Errorf("found %+v", got)
	}
	if got := ProjectFiles(filepath.Join(root, "nowhere")); len(got) != 0 {
		t.Errorf("found %+v", got)
	}
}
