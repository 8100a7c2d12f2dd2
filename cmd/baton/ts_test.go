package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAClientOfAnotherLanguage generates a client in TypeScript from the
// description that the server gives, compiles it, and lets it run the example of
// nine runs over HTTP and server-sent events, let in by a link like a browser.
func TestAClientOfAnotherLanguage(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: needs node and what `make client` installs")
	}
	source, err := filepath.Abs("testdata/ts")
	if err != nil {
		t.Fatal(err)
	}
	modules := filepath.Join(source, "node_modules")
	if _, err := os.Stat(modules); err != nil {
		t.Fatalf("%v; `make client` installs it", err)
	}
	h := newHouse(t, "[providers.alpha]\ndriver = \"script\"\n[providers.beta]\ndriver = \"script\"\n")
	h.enter()
	dir := t.TempDir()
	for _, name := range []string{"nine.ts", "tsconfig.json", "package.json"} {
		b, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	spec := h.knock("GET /openapi.json HTTP/1.1\nConnection: close\n$GOOD")
	if err := os.WriteFile(filepath.Join(dir, "openapi.json"), spec.body, 0o600); err != nil {
		t.Fatal(err)
	}
	node := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "node", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("node %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	node(filepath.Join(modules, "openapi-typescript/bin/cli.js"), "openapi.json", "--output", "api.ts")
	node(filepath.Join(modules, "typescript/bin/tsc"), "--project", ".")
	if out := node("nine.js", h.url+h.link(), h.home); !strings.Contains(out, "nine runs") {
		t.Errorf("it said %q", out)
	}
}
