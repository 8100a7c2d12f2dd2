package claude

import (
	"slices"

	"baton"
	"baton/internal/agent"
)

// MinVersion is the oldest version with command_lifecycle and
// result.user_message_uuids that was measured. 2.1.197 has neither, and without
// them nobody can tell what became of a message.
const MinVersion = "2.1.332"

// Driver makes machines for Claude Code. The zero value is ready.
type Driver struct{}

var (
	_ agent.Driver         = Driver{}
	_ agent.EvidenceFinder = Driver{}
	_ agent.ForeignFinder  = Driver{}
)

// Name is "claude".
func (Driver) Name() string { return "claude" }

// Capabilities is what Claude Code 2.1.332 can do and this driver uses. Steering
// is not claimed: what is sent while text streams waits for the turn's end, and
// what is sent while a tool runs is folded in. Forks and reverts exist (--resume
// with --fork-session, --resume-session-at) and are not driven yet.
func (Driver) Capabilities() baton.Capabilities {
	return baton.Capabilities{
		Interrupt:       true,
		Approvals:       true,
		SessionApproval: true,
		Questions:       true,
		Todos:           true,
		Plans:           true,
		Subagents:       true,
		Injection:       baton.InjectSyntheticUser,
		Settings:        baton.SettingChanges{Model: baton.ChangeLive, Effort: baton.ChangeOnResume, PermissionMode: baton.ChangeLive},
		Evidence:        true,
	}
}

// MinVersion is the oldest supported version.
func (Driver) MinVersion() string { return MinVersion }

// VersionArgs make claude print "2.1.332 (Claude Code)".
func (Driver) VersionArgs() []string { return []string{"--version"} }

// modes are our permission modes as --permission-mode has them.
var modes = map[string]string{
	"": "default", "ask": "default", "default": "default",
	"accept-edits": "acceptEdits", "acceptEdits": "acceptEdits",
	"plan": "plan", "auto": "auto",
	"dont-ask": "dontAsk", "dontAsk": "dontAsk",
	"full-access": "bypassPermissions", "bypassPermissions": "bypassPermissions",
}

// mode translates a permission mode; one that is unknown asks.
func mode(name string) string {
	if m, ok := modes[name]; ok {
		return m
	}
	return "default"
}

// Launch adds the flags of headless stream-json. Where the project is not
// trusted, only the person's own settings are loaded and no MCP server of the
// repository is started: by default claude runs what .mcp.json says without a
// question.
func (Driver) Launch(spec agent.Spec) agent.Launch {
	argv := append(slices.Clone(spec.Command), "--print", "--verbose",
		"--input-format", "stream-json", "--output-format", "stream-json", "--include-partial-messages",
		"--permission-prompt-tool", "stdio", "--permission-mode", mode(spec.Settings.PermissionMode))
	if spec.NativeID != "" {
		argv = append(argv, "--resume", spec.NativeID)
	} else {
		argv = append(argv, "--session-id", spec.NewID)
	}
	if spec.Settings.Model != "" {
		argv = append(argv, "--model", spec.Settings.Model)
	}
	if spec.Settings.Effort != "" {
		argv = append(argv, "--effort", spec.Settings.Effort)
	}
	if !spec.Trusted {
		argv = append(argv, "--setting-sources=user", "--strict-mcp-config")
	}
	return agent.Launch{
		Argv: argv,
		Env:  map[string]string{"DISABLE_AUTOUPDATER": "1"}, // a session must not change its version
		Pass: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
			"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR",
			"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
			"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS",
		},
	}
}

// New makes the machine of a session that is about to start.
func (Driver) New(spec agent.Spec) agent.Machine {
	s := state{V: stateVersion, Native: spec.NativeID, Resume: spec.NativeID != "",
		Model: spec.Settings.Model, Mode: mode(spec.Settings.PermissionMode)}
	if !s.Resume {
		s.Native = spec.NewID
	}
	return &machine{s: s}
}

// Load restores a machine.
func (Driver) Load(data []byte) (agent.Machine, error) {
	var s state
	if err := agent.LoadState("claude", data, stateVersion, &s); err != nil {
		return nil, err
	}
	return &machine{s: s}, nil
}
