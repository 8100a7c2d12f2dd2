// Package harness puts the pinned real agents in front of a model server
// (package modelscript): private homes, settings and environments with nothing
// of the person who runs the tests, dummy keys, and no traffic but the loopback.
package harness

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"baton"
)

// The versions that agents/package.json pins.
const (
	CodexVersion  = "0.171.0"
	ClaudeVersion = "2.1.332"
)

// Agent is a real agent, ready to be started.
type Agent struct {
	Bin  string            // absolute path of the native binary
	Home string            // CODEX_HOME or CLAUDE_CONFIG_DIR
	Env  map[string]string // all of the environment; start the agent with nothing else
}

// Environ returns the environment as os/exec wants it, sorted.
func (a Agent) Environ() []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(a.Env)) {
		out = append(out, k+"="+a.Env[k])
	}
	return out
}

// CodexBin returns the pinned codex binary. It is started directly: the npm
// launcher would put a Node process in between (codex 0.171.0). An error names
// what installs it.
func CodexBin() (string, error) {
	pkg, triple, err := codexPlatform(runtime.GOOS, runtime.GOARCH)
	if err != nil {
		return "", err
	}
	return agentFile("@openai", pkg, "vendor", triple, "bin", "codex")
}

func codexPlatform(goos, goarch string) (pkg, triple string, err error) {
	cpu, ok := map[string][2]string{"amd64": {"x64", "x86_64"}, "arm64": {"arm64", "aarch64"}}[goarch]
	system, ok2 := map[string]string{"linux": "unknown-linux-musl", "darwin": "apple-darwin"}[goos]
	if !ok || !ok2 {
		return "", "", noBuild("codex", goos, goarch)
	}
	return "codex-" + goos + "-" + cpu[0], cpu[1] + "-" + system, nil
}

// ClaudeBin returns the pinned claude binary; see CodexBin.
func ClaudeBin() (string, error) {
	cpu, ok := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	if !ok || runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		return "", noBuild("claude", runtime.GOOS, runtime.GOARCH)
	}
	return agentFile("@anthropic-ai", "claude-code-"+runtime.GOOS+"-"+cpu, "claude")
}

func noBuild(agent, goos, goarch string) error {
	return baton.Errorf(baton.CodeAgentMissing, "%s has no pinned build for %s/%s", agent, goos, goarch)
}

// agentFile finds a file under agents/node_modules of the repository that the
// working directory lies in.
func agentFile(path ...string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	root, err := rootAbove(dir)
	if err != nil {
		return "", err
	}
	file := filepath.Join(append([]string{root, "agents", "node_modules"}, path...)...)
	if _, err := os.Stat(file); err != nil {
		return "", baton.Errorf(baton.CodeAgentMissing, "the pinned agent is not installed").
			WithDetail("no %s; `make agents` installs it", file).WithHint("run `make agents`")
	}
	return file, nil
}

// rootAbove walks up to the directory that holds the go.mod of this module.
func rootAbove(dir string) (string, error) {
	for at := dir; ; at = filepath.Dir(at) {
		mod, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if err == nil && strings.HasPrefix(string(mod), "module baton\n") {
			return at, nil
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if at == filepath.Dir(at) {
			return "", baton.Errorf(baton.CodeAgentMissing, "the pinned agents can't be found").
				WithDetail("%s lies in no checkout of this module", dir).
				WithHint("run this inside the checkout, after `make agents`")
		}
	}
}

// dirs makes the directories and returns an error that says for whom.
func dirs(agent string, paths ...string) error {
	for _, p := range paths {
		if err := os.MkdirAll(p, 0o700); err != nil {
			return fmt.Errorf("home of %s: %w", agent, err)
		}
	}
	return nil
}
