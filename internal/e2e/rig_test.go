// Package e2e shows what Baton promises with real things alone: the baton
// binary as server and command line, the pinned agents, the scripted model
// server, real processes that are killed for real. Tests assert on what the
// model received, what the thread became and what is on disk.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton/internal/modelscript"
	"baton/internal/modelscript/harness"
)

// The binaries under test. The matrices of kills use the plain one, since each
// round starts it a dozen times; all else uses the one with the race detector
// where the tests themselves are built with it.
var plainBin, raceBin string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "baton-e2e")
	if err != nil {
		panic(err)
	}
	plainBin = build(filepath.Join(dir, "baton"))
	raceBin = plainBin
	if raceEnabled {
		raceBin = build(filepath.Join(dir, "baton-race"), "-race")
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

func build(path string, flags ...string) string {
	args := append(append([]string{"build", "-o", path}, flags...), "baton/cmd/baton")
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	return path
}

// limit bounds every wait of a test; it is for hangs, not for pacing.
const limit = 3 * time.Minute

// rig is one data directory with its model server. Each test has its own.
type rig struct {
	*testing.T
	bin     string
	threads int // made so far
	ctx     context.Context
	home    string
	project string
	model   *modelscript.Server
	env     []string
	agents  map[string]harness.Agent
}

// plain makes the rig use the binary without the race detector.
func (r *rig) plain() *rig {
	r.bin = plainBin
	return r
}

// newRig makes the rig with codex, claude and two scripted providers. further
// is TOML that comes first in the configuration.
func newRig(t *testing.T, further string) *rig {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: drives real agents")
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	r := &rig{T: t, ctx: ctx, home: t.TempDir(), project: t.TempDir(), agents: map[string]harness.Agent{}, bin: raceBin}
	var err error
	if r.model, err = modelscript.Start(modelscript.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.model.Close() })
	codex, err := harness.Codex(t.TempDir(), r.model.URL(), harness.CodexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	claude, err := harness.Claude(t.TempDir(), r.model.URL(), harness.ClaudeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r.agents["codex"], r.agents["claude"] = codex, claude
	config := further
	config += provider("codex", "codex", []string{codex.Bin, "app-server"}, codex.Env, `permission_mode = "untrusted"`)
	config += provider("claude", "claude", []string{claude.Bin}, claude.Env, fmt.Sprintf("model = %q", harness.ClaudeModel))
	for _, name := range []string{"alpha", "beta"} {
		config += provider(name, "script", nil, map[string]string{"BATON_SCRIPT_HOME": filepath.Join(r.home, name)}, "")
	}
	if err := os.WriteFile(filepath.Join(r.home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	r.env = []string{"BATON_HOME=" + r.home, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	t.Cleanup(r.end)
	return r
}

func provider(name, driver string, command []string, env map[string]string, further string) string {
	s := fmt.Sprintf("[providers.%s]\ndriver = %q\n", name, driver)
	if command != nil {
		b, _ := json.Marshal(command)
		s += "command = " + string(b) + "\n"
	}
	s += further + "\n"
	s += fmt.Sprintf("[providers.%s.env]\n", name)
	for k, v := range env {
		s += fmt.Sprintf("%s = %q\n", k, v)
	}
	return s
}

// end stops the server and ends what the test has left running.
func (r *rig) end() {
	_, _, _ = r.try("serve", "--stop")
	if log, err := os.ReadFile(filepath.Join(r.home, "server.log")); err == nil && bytes.Contains(log, []byte("DATA RACE")) {
		r.Errorf("the server has a data race:\n%s", log)
	}
	for _, p := range r.processes() {
		_ = p.kill() // idle agents outlive a server by their lease
	}
}

// try runs the command line.
func (r *rig) try(args ...string) (stdout, stderr string, code int) {
	r.Helper()
	return r.input("", args...)
}

func (r *rig) input(stdin string, args ...string) (stdout, stderr string, code int) {
	r.Helper()
	cmd := exec.CommandContext(r.ctx, r.bin, args...)
	cmd.Env, cmd.Dir = r.env, r.project
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		r.Fatalf("baton %v: %v", args, err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// baton runs the command line, which must exit 0.
func (r *rig) baton(args ...string) string {
	r.Helper()
	out, errs, code := r.try(args...)
	if code != 0 {
		r.Fatalf("baton %v: exit %d\n%s%s", args, code, out, errs)
	}
	return out
}

// read decodes what a command prints with --json.
func read[T any](r *rig, args ...string) T {
	r.Helper()
	var v T
	out := r.baton(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		r.Fatalf("baton %v: %v in %s", args, err, out)
	}
	return v
}

// The shapes that scripts rely on, as far as the tests look at them.
type (
	thread struct {
		ID        string `json:"id"`
		QueueHeld bool   `json:"queue_held"`
		Runs      []run  `json:"runs"`
	}
	run struct {
		ID             string   `json:"id"`
		Ordinal        int      `json:"ordinal"`
		Status         string   `json:"status"`
		Trigger        string   `json:"trigger"`
		Provider       string   `json:"provider"`
		ProviderThread string   `json:"provider_thread_id"`
		Handoffs       []string `json:"handoff_ids"`
		Answer         string   `json:"answer"`
		AbsorbedBy     string   `json:"absorbed_by_run_id"`
		Attempts       []struct {
			Reason, Status string
			Rejected       []reason
		} `json:"attempts"`
		Error *struct{ Code, Detail, Hint string } `json:"error"`
	}
	coverage struct {
		ProviderThreads []providerThread `json:"provider_threads"`
	}
	providerThread struct {
		ID         string   `json:"id"`
		Provider   string   `json:"provider"`
		NativeID   string   `json:"native_id"`
		Status     string   `json:"status"`
		Divergent  bool     `json:"divergent"`
		Native     [][2]int `json:"native"`
		HandedOver [][2]int `json:"handed_over"`
		Handoffs   []string `json:"handoff_ids"`
		Origin     struct {
			Kind string `json:"kind"`
			From string `json:"from_provider_thread_id"`
		} `json:"origin"`
	}
	handoffDoc struct {
		ID       string                 `json:"id"`
		Text     string                 `json:"text"`
		Strategy string                 `json:"strategy"`
		Status   string                 `json:"status"`
		Digest   string                 `json:"digest"`
		Covered  struct{ From, To int } `json:"covered_runs"`
		Delivery struct{ State, Mode string }
	}
	item struct {
		ID   string `json:"id"`
		Run  string `json:"run_id"`
		Kind string `json:"kind"`
		Open bool   `json:"open"`
		Body struct {
			Text, Title, Code, Status, Output string
			Cut                               *struct{ Bytes, Omitted int64 }
		} `json:"body"`
	}
)

// thread makes a thread in the rig's project.
func (r *rig) thread() string {
	r.Helper()
	r.threads++
	return strings.TrimSpace(r.act(fmt.Sprintf("cmd_new_%d", r.threads), "new"))
}

func (r *rig) show(id string) thread { r.Helper(); return read[thread](r, "show", id) }

// run returns the run with the ordinal.
func (r *rig) run(id string, ordinal int) run {
	r.Helper()
	for _, x := range r.show(id).Runs {
		if x.Ordinal == ordinal {
			return x
		}
	}
	r.Fatalf("no run %d in %+v", ordinal, r.show(id).Runs)
	return run{}
}

// say sends a message and waits for its run's end.
func (r *rig) say(id, provider, text string) {
	r.Helper()
	out, errs, code := r.try("send", id, text, "--provider", provider, "--wait")
	if code != 0 {
		r.Fatalf("send to %s: exit %d\n%s%s\n%s", provider, code, out, errs, r.baton("show", id))
	}
}
