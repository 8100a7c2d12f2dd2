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
	Name     string         `json:"name"`
	Status   string         `json:"status"` // ok, none, warning, error
	Detail   string         `json:"detail"`
	Hint     string         `json:"hint,omitempty"`
	Provider *ProviderCheck `json:"provider,omitempty"`
}

// ProviderCheck is what was found of one provider's agent.
type ProviderCheck struct {
	Driver  string   `json:"driver"`
	Path    string   `json:"path,omitempty"`    // "" where it is not found
	Version string   `json:"version,omitempty"` // "" where it said none
	Oldest  string   `json:"oldest,omitempty"`  // that can be driven
	Can     []string `json:"can,omitempty"`
	Cannot  []Lack   `json:"cannot,omitempty"`
}

// The states of a check.
const (
	StatusOK      = "ok"
	StatusNone    = "none" // it is not there, and need not be
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
	checks := append(p.places.Examine(), platform())
	real, usable := 0, 0
	var agents []Check
	for _, name := range p.order {
		c := p.examine(ctx, name, probe)
		if p.all[name].Driver != Script {
			real++
			if c.Status == StatusOK {
				usable++
			}
		}
		agents = append(agents, c)
	}
	checks = append(checks, agents...)
	none := Check{Name: "agents", Status: StatusWarning, Hint: "get one, such as Codex: " + install("codex") + "; `baton demo` works without"}
	switch {
	case usable > 0:
		return checks
	case p.guessed:
		none.Detail = "no coding agent is on PATH"
	case real > 0:
		none.Detail = "none of the coding agents that the configuration names can be used"
		none.Hint = "see above what each of them lacks"
	default:
		none.Status, none.Detail, none.Hint = StatusNone, "the configuration names scripted agents alone: they have no model", ""
	}
	return append(checks, none)
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
	x := p.all[name]
	c := Check{Name: "provider " + name, Status: StatusOK, Provider: &ProviderCheck{Driver: x.Driver}}
	driver, err := p.drivers.Get(x.Driver)
	if err != nil {
		e := baton.AsError(err)
		c.Status, c.Detail, c.Hint = StatusError, e.Error(), e.Hint
		return c
	}
	c.Provider.Oldest = driver.MinVersion()
	c.Provider.Can, c.Provider.Cannot = powers(driver.Capabilities())
	got, err := p.Get(name)
	if err != nil {
		e := baton.AsError(err)
		c.Status, c.Detail, c.Hint = StatusError, e.Error(), e.Hint
		if p.guessed { // nobody asked for it
			c.Status, c.Detail, c.Hint = StatusNone, commandName(x)+" is not on PATH", install(commandName(x))
		}
		return c
	}
	c.Provider.Path = got.Command[0]
	if driver.VersionArgs() == nil {
		c.Detail = strings.Join(got.Command, " ")
		if got.Driver == Script {
			c.Detail = "built in: it has no model and does what marks in messages say"
		}
		return c
	}
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	argv := append([]string{got.Command[0]}, driver.VersionArgs()...)
	out, err := probe(ctx, argv, p.probeEnv(got.Env))
	version := versionIn(string(out))
	c.Provider.Version = version
	switch {
	case err != nil:
		c.Status, c.Detail = StatusError, fmt.Sprintf("%s does not say its version: %v %s", got.Command[0], err, head(string(out)))
		c.Hint = "run `" + strings.Join(argv, " ") + "` by hand"
	case version == "":
		c.Status, c.Detail = StatusWarning, fmt.Sprintf("%s: no version in %q", got.Command[0], head(string(out)))
	case tooOld(version, driver.MinVersion()):
		c.Status, c.Detail = StatusError, fmt.Sprintf("%s is version %s; the oldest that can be driven is %s", got.Command[0], version, driver.MinVersion())
		c.Hint = update(got.Command[0])
	default:
		c.Detail = fmt.Sprintf("version %s (%s or newer can be driven), %s", version, driver.MinVersion(), got.Command[0])
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
