package config

import (
	"context"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"time"

	"baton"
	"baton/internal/agent"
)

// Check is one thing that `baton doctor` has looked at.
type Check struct {
	Name   string `json:"name"`
	Status string `json:"status"` // ok, warning, error
	Detail string `json:"detail"`
	Hint   string `json:"hint,omitempty"`
}

// The states of a check.
const (
	StatusOK      = "ok"
	StatusWarning = "warning"
	StatusError   = "error"
)

// Probe runs a command that ends by itself and returns its output.
type Probe func(ctx context.Context, argv, env []string) ([]byte, error)

// probeTime is how long an agent may take to say its version.
const probeTime = 20 * time.Second

// ProviderInfo is a provider as a list shows it.
type ProviderInfo struct {
	Name         string             `json:"name"`
	Driver       string             `json:"driver"`
	Default      bool               `json:"default"`
	BuiltIn      bool               `json:"built_in"` // the scripted agent, which is no real one
	Available    bool               `json:"available"`
	Command      []string           `json:"command,omitempty"`
	Settings     baton.Settings     `json:"settings,omitzero"`
	Capabilities baton.Capabilities `json:"capabilities"`
	Error        *baton.Error       `json:"error,omitempty"`
}

// List describes all providers, real ones first.
func (p *Providers) List() []ProviderInfo {
	out := []ProviderInfo{}
	for _, name := range p.order {
		x := p.all[name]
		info := ProviderInfo{Name: name, Driver: x.Driver, Default: name == p.def, BuiltIn: x.Driver == Script, Settings: x.Settings}
		if d, err := p.drivers.Get(x.Driver); err == nil {
			info.Capabilities = d.Capabilities()
		}
		if got, err := p.Get(name); err != nil {
			info.Error = baton.AsError(err)
		} else {
			info.Available, info.Command = true, got.Command
		}
		out = append(out, info)
	}
	return out
}

// Examine looks at the places and asks each agent for its version.
func (p *Providers) Examine(ctx context.Context, probe Probe) []Check {
	checks := []Check{{Name: "data", Status: StatusOK, Detail: p.places.Data}, {Name: "runtime", Status: StatusOK, Detail: p.places.Runtime}}
	if err := p.places.Make(); err != nil {
		e := baton.AsError(err)
		checks[0] = Check{Name: "data", Status: StatusError, Detail: e.Error(), Hint: e.Hint}
	}
	checks = append(checks, platform())
	real := 0
	for _, name := range p.order {
		c := p.examine(ctx, name, probe)
		if p.all[name].Driver != Script && c.Status == StatusOK {
			real++
		}
		checks = append(checks, c)
	}
	if real == 0 {
		checks = append(checks, Check{Name: "agents", Status: StatusWarning, Detail: "no agent can be used",
			Hint: "install one (" + install["codex"] + "); `baton demo` works without"})
	}
	return checks
}

func platform() Check {
	c := Check{Name: "platform", Status: StatusOK, Detail: runtime.GOOS + "/" + runtime.GOARCH}
	if runtime.GOOS != "linux" {
		c.Status = StatusWarning
		c.Detail += ": no subreaper and no peer check; an agent's stray processes are found by their environment, and sockets are guarded by their modes alone"
	}
	return c
}

func (p *Providers) examine(ctx context.Context, name string, probe Probe) Check {
	c := Check{Name: "provider " + name, Status: StatusOK}
	got, err := p.Get(name)
	if err != nil {
		e := baton.AsError(err)
		c.Status, c.Detail, c.Hint = StatusError, e.Error(), e.Hint
		if p.guessed {
			// Nobody asked for it.
			c.Status, c.Detail, c.Hint = StatusWarning, p.all[name].Driver+" is not on PATH", install[p.all[name].Driver]
		}
		return c
	}
	driver, err := p.drivers.Get(got.Driver)
	if err != nil || driver.VersionArgs() == nil {
		c.Detail = strings.Join(got.Command, " ")
		if got.Driver == Script {
			c.Detail = "built in; scripted, for the demo and for tests"
		}
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	argv := append([]string{got.Command[0]}, driver.VersionArgs()...)
	out, err := probe(ctx, argv, p.probeEnv(got.Env))
	version := versionIn(string(out))
	switch {
	case err != nil:
		c.Status, c.Detail = StatusError, fmt.Sprintf("%s does not say its version: %v %s", got.Command[0], err, head(string(out)))
		c.Hint = "run `" + strings.Join(argv, " ") + "` by hand"
	case version == "":
		c.Status, c.Detail = StatusWarning, fmt.Sprintf("%s: no version in %q", got.Command[0], head(string(out)))
	case tooOld(version, driver.MinVersion()):
		c.Status, c.Detail = StatusError, fmt.Sprintf("%s is version %s; the oldest that can be driven is %s", got.Command[0], version, driver.MinVersion())
		c.Hint = "update it: " + install[got.Driver]
	default:
		c.Detail = got.Command[0] + " " + version
	}
	return c
}

// probeEnv is a small environment to ask for a version in.
func (p *Providers) probeEnv(own map[string]string) []string {
	var env []string
	for _, k := range []string{"HOME", "PATH", "USER", "LANG", "TMPDIR"} {
		if v, ok := p.env[k]; ok && own[k] == "" {
			env = append(env, k+"="+v)
		}
	}
	for k, v := range own {
		env = append(env, k+"="+v)
	}
	return env
}

var versionPattern = regexp.MustCompile(`\d+(\.\d+)+`)

func versionIn(s string) string { return versionPattern.FindString(s) }

func tooOld(version, least string) bool {
	older, _ := agent.Older(version, least)
	return older
}

func head(s string) string {
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}
