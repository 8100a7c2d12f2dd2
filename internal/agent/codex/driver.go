package codex

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"baton"
	"baton/internal/agent"
)

// Driver makes machines for sessions with codex. Its zero value is ready.
type Driver struct{}

var (
	_ agent.Driver         = Driver{}
	_ agent.EvidenceFinder = Driver{}
	_ agent.ForeignFinder  = Driver{}
)

// minVersion is the version that the facts in this package were measured with.
const minVersion = "0.171.0"

// Name is "codex".
func (Driver) Name() string { return "codex" }

// Capabilities are those that this driver uses, not all that codex has:
// steering, forks and reverts are not among the intents yet.
func (Driver) Capabilities() baton.Capabilities {
	return baton.Capabilities{
		Interrupt:       true,
		Approvals:       true,
		SessionApproval: true,
		Questions:       true,
		Todos:           true,
		Plans:           true,
		Injection:       baton.InjectSyntheticUser,
		Subagents:       true,
		Settings:        baton.SettingChanges{Model: baton.ChangeLive, Effort: baton.ChangeLive, PermissionMode: baton.ChangeLive},
		Evidence:        true,
	}
}

// MinVersion is the oldest version that is driven.
func (Driver) MinVersion() string { return minVersion }

// VersionArgs make codex print "codex-cli 0.171.0".
func (Driver) VersionArgs() []string { return []string{"--version"} }

// Launch adds what the command lacks: the app-server subcommand, the trust of
// the directory, and the tool behind the todo list (opt-in since 0.152) unless
// the command speaks of that itself. Nothing else of the person's configuration
// is touched.
func (Driver) Launch(spec agent.Spec) agent.Launch {
	argv := slices.Clone(spec.Command)
	if !slices.Contains(argv[1:], "app-server") && !strings.Contains(filepath.Base(argv[0]), "app-server") {
		argv = append(argv, "app-server")
	}
	if !strings.Contains(strings.Join(argv, " "), "tools.update_plan") {
		argv = append(argv, "-c", "tools.update_plan.enabled=true")
	}
	argv = append(argv, "-c", trustOverride(spec.Dir, spec.Trusted))
	return agent.Launch{Argv: argv, Pass: []string{
		"CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "SSL_CERT_FILE", "CODEX_CA_CERTIFICATE",
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
	}}
}

// trustOverride is the configuration override that settles whether codex loads
// what the project in dir says. The working directory itself is looked up
// before the root of its repository, and a dotted key can't hold a path, hence
// the inline table (codex 0.171.0).
func trustOverride(dir string, trusted bool) string {
	level := "untrusted"
	if trusted {
		level = "trusted"
	}
	key, _ := json.Marshal(dir) // a JSON string is a TOML basic string
	return `projects={` + string(key) + `={trust_level="` + level + `"}}`
}

// New makes the machine of a session that is about to start.
func (Driver) New(spec agent.Spec) agent.Machine {
	return &machine{s: state{V: stateVersion, Spec: spec, Phase: phaseNew}}
}

// Load restores a machine.
func (Driver) Load(b []byte) (agent.Machine, error) {
	var s state
	if err := agent.LoadState("codex", b, stateVersion, &s); err != nil {
		return nil, err
	}
	return &machine{s: s}, nil
}
