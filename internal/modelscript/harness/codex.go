package harness

import (
	_ "embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// CodexModel is the only model of the catalog. It takes plain function tools
// and apply_patch as free text.
const CodexModel = "mock-model"

// CodexOptions are the settings of config.toml that tests vary.
type CodexOptions struct {
	ApprovalPolicy string          // on-request (default) or never; codex 0.171.0 takes untrusted only in thread/start
	SandboxMode    string          // read-only, workspace-write or danger-full-access (default: needs nothing of the machine)
	RequestRetries int             // of HTTP errors
	StreamRetries  int             // of broken streams; the two multiply
	IdleTimeoutMS  int             // of a silent stream; 600,000 where 0, so that gates may hold
	Features       map[string]bool // of [features], over the defaults
	Tables         string          // further TOML tables, such as [mcp_servers.x]
}

//go:embed models.json
var codexModels []byte

// Codex makes a private home for codex 0.171.0 below dir, whose provider is the
// model server at url (without /v1).
func Codex(dir, url string, o CodexOptions) (Agent, error) {
	bin, err := CodexBin()
	if err != nil {
		return Agent{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return Agent{}, err
	}
	home, user, tmp := filepath.Join(dir, "codex"), filepath.Join(dir, "home"), filepath.Join(dir, "tmp")
	if err := dirs("codex", home, user, tmp); err != nil {
		return Agent{}, err
	}
	catalog := filepath.Join(home, "models.json") // must be absolute in the config
	if err := os.WriteFile(catalog, codexModels, 0o600); err != nil {
		return Agent{}, fmt.Errorf("home of codex: %w", err)
	}
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(o.config(catalog, url)), 0o600); err != nil {
		return Agent{}, fmt.Errorf("home of codex: %w", err)
	}
	return Agent{Bin: bin, Home: home, Env: map[string]string{
		"CODEX_HOME": home, "HOME": user, "TMPDIR": tmp, "PATH": os.Getenv("PATH"), "RUST_LOG": "warn",
	}}, nil
}

// config renders config.toml. It is accepted under --strict-config.
func (o CodexOptions) config(catalog, url string) string {
	features := map[string]bool{
		"apps": false, "remote_plugin": false,
		"plugins":                      false, // the one that keeps codex from asking the outside
		"unbounded_connection_retries": false, // else a refused connection is tried for ever
	}
	maps.Copy(features, o.Features)
	var list strings.Builder
	for _, k := range slices.Sorted(maps.Keys(features)) {
		fmt.Fprintf(&list, "%s = %v\n", k, features[k])
	}
	idle := o.IdleTimeoutMS
	if idle == 0 {
		idle = 600_000
	}
	return fmt.Sprintf(codexConfig, CodexModel, either(o.ApprovalPolicy, "on-request"),
		either(o.SandboxMode, "danger-full-access"), catalog, url, o.RequestRetries, o.StreamRetries, idle,
		list.String(), o.Tables)
}

func either(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

const codexConfig = `model = %q
model_provider = "mock"
approval_policy = %q
sandbox_mode = %q
check_for_update_on_startup = false
web_search = "disabled"
model_catalog_json = %q

[model_providers.mock]
name = "mock"
base_url = "%s/v1"
wire_api = "responses"
request_max_retries = %d
stream_max_retries = %d
stream_idle_timeout_ms = %d
requires_openai_auth = false
supports_websockets = false

[analytics]
enabled = false
[feedback]
enabled = false
[otel]
exporter = "none"
trace_exporter = "none"
metrics_exporter = "none"
[tools.update_plan]
enabled = true
[skills.bundled]
enabled = false
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
[features]
%s%s`
