package config

import (
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// ProjectFile is a piece of a project's own agent configuration: what an agent
// loads of the project once a person trusts it, and not before.
type ProjectFile struct {
	Path  string   `json:"path"`  // absolute
	Agent string   `json:"agent"` // the driver whose agent reads it
	What  string   `json:"what"`
	Runs  []string `json:"runs,omitempty"` // commands that it would start, as far as they can be told
}

// projectFile says what an agent reads under a name, and how the commands in it
// are found.
type projectFile struct {
	name, agent, what string
	runs              func([]byte) []string
}

// The names were measured with claude 2.1.332 and codex 0.171.0.
var projectFiles = []projectFile{
	{".mcp.json", "claude", "MCP servers", mcpCommands},
	{".claude/settings.json", "claude", "settings, hooks", hookCommands},
	{".claude/settings.local.json", "claude", "settings, hooks", hookCommands},
	{"CLAUDE.md", "claude", "instructions", nil},
	{"CLAUDE.local.md", "claude", "instructions", nil},
	{".claude/CLAUDE.md", "claude", "instructions", nil},
	{".claude/rules", "claude", "instructions", nil},
	{".claude/commands", "claude", "commands for the agent", nil},
	{".claude/agents", "claude", "subagents", nil},
	{".claude/skills", "claude", "skills", nil},
	{".codex/config.toml", "codex", "settings, MCP servers", codexCommands},
	{".codex/hooks.json", "codex", "hooks", hookCommands},
	{".codex/rules", "codex", "rules for commands", nil},
	{".codex/agents", "codex", "subagents", nil},
}

// maxProjectFile is how much of a file is read for its commands, in bytes.
const maxProjectFile = 1 << 20

// ProjectFiles finds the agent configuration of the project in dir: there and
// above it up to the root of its repository, since agents look there too. A link
// that leads out of a directory is named and not followed.
func ProjectFiles(dir string) []ProjectFile {
	var out []ProjectFile
	for _, d := range upToRoot(dir) {
		root, err := os.OpenRoot(d)
		if err != nil {
			continue
		}
		for _, f := range projectFiles {
			if _, err := root.Lstat(filepath.FromSlash(f.name)); err != nil {
				continue
			}
			p := ProjectFile{Path: filepath.Join(d, filepath.FromSlash(f.name)), Agent: f.agent, What: f.what}
			if f.runs != nil {
				p.Runs = f.runs(readHead(root, filepath.FromSlash(f.name)))
			}
			out = append(out, p)
		}
		root.Close()
	}
	return out
}

// upToRoot lists dir and those above it as far as its repository goes, or dir
// alone where it is in none.
func upToRoot(dir string) []string {
	var out []string
	for d := dir; ; d = filepath.Dir(d) {
		out = append(out, d)
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return out
		}
		if d == filepath.Dir(d) {
			return []string{dir}
		}
	}
}

func readHead(root *os.Root, name string) []byte {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	f, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	b, _ := io.ReadAll(io.LimitReader(f, maxProjectFile))
	return b
}

type server struct {
	Command string   `json:"command" toml:"command"`
	Args    []string `json:"args" toml:"args"`
	URL     string   `json:"url" toml:"url"`
}

func (s server) line() string {
	if s.Command == "" {
		return s.URL
	}
	return strings.Join(append([]string{s.Command}, s.Args...), " ")
}

func commands(servers map[string]server) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(servers)) {
		if line := servers[name].line(); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func mcpCommands(b []byte) []string {
	var v struct {
		Servers map[string]server `json:"mcpServers"`
	}
	_ = json.Unmarshal(b, &v) // what can't be read is shown by its name alone
	return commands(v.Servers)
}

// hookCommands finds every "command" of hooks, and helpers that are commands.
func hookCommands(b []byte) []string {
	var v struct {
		Hooks map[string][]struct {
			Hooks []struct {
				Command string `json:"command"`
			} `json:"hooks"`
		} `json:"hooks"`
		APIKeyHelper string `json:"apiKeyHelper"`
		StatusLine   struct {
			Command string `json:"command"`
		} `json:"statusLine"`
	}
	_ = json.Unmarshal(b, &v)
	var out []string
	for _, event := range slices.Sorted(maps.Keys(v.Hooks)) {
		for _, group := range v.Hooks[event] {
			for _, h := range group.Hooks {
				out = append(out, h.Command)
			}
		}
	}
	return slices.DeleteFunc(append(out, v.APIKeyHelper, v.StatusLine.Command), func(s string) bool { return s == "" })
}

func codexCommands(b []byte) []string {
	var v struct {
		Servers map[string]server `toml:"mcp_servers"`
		Notify  []string          `toml:"notify"`
	}
	_ = toml.Unmarshal(b, &v)
	out := commands(v.Servers)
	if len(v.Notify) > 0 {
		out = append(out, strings.Join(v.Notify, " "))
	}
	return out
}
