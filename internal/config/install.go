package config

import (
	"path/filepath"
	"strings"
)

// packages are the npm packages of agents, by the name of their command.
var packages = map[string]string{
	"codex":    "@openai/codex",
	"claude":   "@anthropic-ai/claude-code",
	"gemini":   "@google/gemini-cli",
	"qwen":     "@qwen-code/qwen-code",
	"opencode": "opencode-ai",
}

// install says how a person gets an agent, "" where that is not known.
func install(command string) string {
	name := filepath.Base(command)
	pkg := packages[name]
	if pkg == "" {
		return ""
	}
	return "`npm install -g " + pkg + "`, then run `" + name + "` once to sign in"
}

// update says how an agent that is there is made newer.
func update(command string) string {
	if pkg := packages[filepath.Base(command)]; pkg != "" {
		return "update it: `npm install -g " + pkg + "@latest`"
	}
	return "update it the way it was installed"
}

// commandName is what a provider's agent is called on PATH, or where it is.
func commandName(x Provider) string {
	if len(x.Command) > 0 && x.Command[0] != "" {
		return strings.TrimSpace(x.Command[0])
	}
	return x.Driver
}
