package harness

import (
	"os"
	"path/filepath"
	"strconv"
)

// ClaudeModel is a model that claude 2.1.332 knows; any would do.
const ClaudeModel = "claude-sonnet-4-5"

// ClaudeOptions are the settings that tests vary.
type ClaudeOptions struct {
	Retries int               // of model requests; claude's own default of 10 takes minutes
	Env     map[string]string // further variables, over the defaults
}

// Claude makes a private home for claude 2.1.332 below dir, with the model
// server at url. Flags are the caller's: `--setting-sources= --strict-mcp-config
// --model ClaudeModel` keep it hermetic.
func Claude(dir, url string, o ClaudeOptions) (Agent, error) {
	bin, err := ClaudeBin()
	if err != nil {
		return Agent{}, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return Agent{}, err
	}
	user, config, tmp := filepath.Join(dir, "home"), filepath.Join(dir, "claude"), filepath.Join(dir, "tmp")
	if err := dirs("claude", user, config, tmp); err != nil {
		return Agent{}, err
	}
	env := map[string]string{
		"HOME": user, "CLAUDE_CONFIG_DIR": config, "TMPDIR": tmp, "PATH": os.Getenv("PATH"),
		"CLAUDE_CODE_TMPDIR": tmp, // else the output of tasks goes to the shared temporary directory
		"ANTHROPIC_BASE_URL": url,
		"ANTHROPIC_API_KEY":  "dummy",

		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"DISABLE_TELEMETRY":                        "1",
		"DISABLE_ERROR_REPORTING":                  "1",
		"DISABLE_AUTOUPDATER":                      "1",

		"CLAUDE_CODE_MAX_RETRIES":                   strconv.Itoa(o.Retries),
		"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1",
		"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS":     "1",
	}
	for k, v := range o.Env {
		env[k] = v
	}
	return Agent{Bin: bin, Home: config, Env: env}, nil
}
