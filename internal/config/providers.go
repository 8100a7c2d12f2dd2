package config

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"baton"
	"baton/internal/agent"
	"baton/internal/decide"
	"baton/internal/engine"
)

// Script is the name of the provider of the built-in agent. It is always
// there, and is chosen only by name.
const Script = "script"

// found are the agents that are looked for where the configuration names none,
// in the order in which one of them becomes the default.
var found = []string{"codex", "claude"}

// Providers are the configured agents, or those found on PATH.
type Providers struct {
	drivers agent.Registry
	env     map[string]string
	places  Places
	self    string
	order   []string // real ones first, as configured; the built-in one last
	all     map[string]Provider
	def     string
	guessed bool // nothing is configured
}

var _ engine.Providers = (*Providers)(nil)

// NewProviders resolves a configuration. self is our own executable, env the
// server's environment.
func NewProviders(c Config, drivers agent.Registry, places Places, self string, env map[string]string) *Providers {
	p := &Providers{drivers: drivers, env: env, places: places, self: self, all: map[string]Provider{}, guessed: len(c.Providers) == 0}
	for _, x := range c.Providers {
		p.order = append(p.order, x.Name)
		p.all[x.Name] = x
	}
	if p.guessed {
		for _, name := range found {
			if _, built := drivers[name]; !built {
				continue
			}
			p.order = append(p.order, name)
			p.all[name] = Provider{Name: name, Driver: name}
		}
	}
	if _, taken := p.all[Script]; !taken && drivers[Script] != nil {
		p.order = append(p.order, Script)
		p.all[Script] = Provider{Name: Script, Driver: Script}
	}
	p.def = p.choose(c.DefaultProvider)
	return p
}

// choose is the configured default, else the first real agent that is there,
// else the first of the configured ones.
func (p *Providers) choose(configured string) string {
	if configured != "" {
		return configured
	}
	for _, name := range p.order {
		if p.all[name].Driver != Script {
			if _, ok := p.command(p.all[name]); ok || !p.guessed {
				return name
			}
		}
	}
	if !p.guessed {
		return p.order[0]
	}
	return ""
}

// Default is the provider of threads that name none, "" where no agent is there.
func (p *Providers) Default() string { return p.def }

// Names returns all providers, real ones first.
func (p *Providers) Names() []string { return slices.Clone(p.order) }

// Get returns a provider that can be used.
func (p *Providers) Get(name string) (engine.Provider, error) {
	if name == "" {
		return engine.Provider{}, baton.Errorf(baton.CodeAgentMissing, "there is no coding agent on this machine").
			WithDetail("looked for %s on PATH", strings.Join(found, " and ")).
			WithHint("get one, such as Codex (%s), or see how it works with `baton demo`", install("codex"))
	}
	x, ok := p.all[name]
	if !ok {
		return engine.Provider{}, baton.Errorf(baton.CodeUnknownProvider, "there is no provider %q", name).
			WithDetail("the providers are %s", strings.Join(p.order, ", ")).
			WithHint("name one of them with --provider, or add [providers.%s] to %s; a running server reads its configuration at its start: `baton serve --stop`, then try again", name, p.configPath())
	}
	driver, err := p.drivers.Get(x.Driver)
	if err != nil {
		return engine.Provider{}, err
	}
	argv, ok := p.command(x)
	if !ok {
		return engine.Provider{}, p.missing(x)
	}
	return engine.Provider{
		Provider: decide.Provider{Name: name, Driver: x.Driver, Capabilities: driver.Capabilities(), Settings: x.Settings,
			HandoffNever: x.HandoffNever, HandoffTokens: x.HandoffTokens},
		Command: argv, Env: p.environment(x),
	}, nil
}

// missing is the error of a provider whose command is not found.
func (p *Providers) missing(x Provider) *baton.Error {
	hint := "set `command` in [providers." + x.Name + "] of " + p.configPath() + " to where it is"
	if how := install(commandName(x)); how != "" {
		hint = how + "; or " + hint
	} else if how := install(x.Driver); how != "" {
		hint += ", or get it: " + how
	}
	return baton.Errorf(baton.CodeAgentMissing, "the agent of provider %q is not there", x.Name).
		WithDetail("looked for %s", p.lookedFor(x)).WithHint("%s", hint)
}

// command is the provider's argv with its executable found.
func (p *Providers) command(x Provider) ([]string, bool) {
	argv := slices.Clone(x.Command)
	if len(argv) == 0 {
		if x.Driver == Script {
			return []string{p.self, "agent", "script"}, true
		}
		argv = []string{x.Driver}
	}
	full, ok := lookPath(expand(argv[0], p.env["HOME"]), p.path(x))
	argv[0] = full
	return argv, ok
}

func (p *Providers) lookedFor(x Provider) string {
	name := x.Driver
	if len(x.Command) > 0 {
		name = expand(x.Command[0], p.env["HOME"])
	}
	if strings.ContainsRune(name, '/') {
		if !filepath.IsAbs(name) {
			return name + ", which is neither a plain name nor an absolute path"
		}
		return name
	}
	return name + " on PATH"
}

func (p *Providers) path(x Provider) string {
	if path, ok := x.Env["PATH"]; ok {
		return path
	}
	return p.env["PATH"]
}

// environment is the provider's own, with ~ expanded. The built-in agent keeps
// its conversations in our data directory unless it is told another place.
func (p *Providers) environment(x Provider) map[string]string {
	env := maps.Clone(x.Env)
	if env == nil {
		env = map[string]string{}
	}
	for k, v := range env {
		env[k] = expand(v, p.env["HOME"])
	}
	if x.Driver == Script && env["BATON_SCRIPT_HOME"] == "" && p.env["BATON_SCRIPT_HOME"] == "" {
		env["BATON_SCRIPT_HOME"] = filepath.Join(p.places.Script, x.Name)
	}
	return env
}

func (p *Providers) configPath() string { return p.places.Config }
