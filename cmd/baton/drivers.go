package main

import (
	"baton/internal/agent"
	"baton/internal/agent/acp"
	"baton/internal/agent/claude"
	"baton/internal/agent/codex"
	"baton/internal/agent/script"
)

// drivers are those of this build.
func drivers() agent.Registry {
	return agent.NewRegistry(codex.Driver{}, claude.Driver{}, acp.New("acp", acp.Options{Capabilities: acp.Default}), script.Driver())
}
