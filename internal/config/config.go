// Package config reads the configuration file, knows the places where Baton
// keeps things, and finds the configured agents.
//
// The file is TOML and may be missing. What it can say:
//
//	default_provider = "codex-work"       # of threads that name none; default: the first in the file
//
//	[providers.codex-work]
//	driver = "codex"                      # codex | claude | acp | opencode | script
//	command = ["codex"]                   # found on PATH or absolute; default: the driver's own name
//	env = { CODEX_HOME = "~/.codex-work" }
//	model = "…"
//	effort = "…"
//	permission_mode = "…"                 # default: the agent asks
//	handoff = "auto"                      # or "never": a run that would need one is refused
//	handoff_tokens = 16000                # of one handoff to it; default: [handoff] budget_tokens
//	summary_source = "local"              # handoffs are made without a model
//
//	[handoff]
//	chain_full = 5                        # handoffs in a row after which the next tells everything
//	chain_new = 10                        # … after which a new conversation is begun
//	foreign_runs = 50                     # missed runs after which a conversation is stale; -1: never
//	budget_tokens = 16000                 # of one handoff, estimated
//
//	[recovery]
//	ready_within = "90s"                  # from an agent's start until it can take a message
//	interrupt_grace = "10s"               # from an interrupt until the agent is stopped
//	stop_grace = "3s"                     # for closing its input, and again for SIGTERM
//	idle_after = "15m"                    # until an idle agent is released; "0s": never
//	max_recoveries = 2                    # further attempts of a run that the agent never took
//
//	[page]
//	address = "127.0.0.1:0"               # of this machine alone, or "off"; default: port 22866, or any where that is taken
//	link_life = "60s"                     # how long a link of `baton open` can be used
//
// An error names file, line and key. A file with an error gives nothing at all:
// a server never starts with half of it.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"baton"
	"baton/internal/agent"
	"baton/internal/decide"
)

// Config is a checked configuration.
type Config struct {
	Path            string     // of the file, for messages; it need not exist
	DefaultProvider string     // "" where the file names none
	Providers       []Provider // in the order of the file
	Policy          decide.Policy
	BudgetTokens    int // of one handoff; 0 is the default
	Page            Page
}

// Page is the [page] table.
type Page struct {
	Address  string        // "": the default
	LinkLife time.Duration // 0: the default
}

// Provider is one [providers.NAME] table.
type Provider struct {
	Name     string
	Driver   string
	Command  []string
	Env      map[string]string // as written: a leading ~ is not expanded yet
	Settings baton.Settings

	HandoffNever  bool // no handoff is given to it: a run that needs one is refused
	HandoffTokens int  // of one handoff to it, estimated; 0: as [handoff] says
}

// file is the shape of the TOML file.
type file struct {
	DefaultProvider string                  `toml:"default_provider"`
	Providers       map[string]fileProvider `toml:"providers"`
	Handoff         struct {
		ChainFull    int `toml:"chain_full"`
		ChainNew     int `toml:"chain_new"`
		ForeignRuns  int `toml:"foreign_runs"`
		BudgetTokens int `toml:"budget_tokens"`
	} `toml:"handoff"`
	Recovery struct {
		ReadyWithin    *duration `toml:"ready_within"`
		InterruptGrace *duration `toml:"interrupt_grace"`
		StopGrace      *duration `toml:"stop_grace"`
		IdleAfter      *duration `toml:"idle_after"`
		MaxRecoveries  *int      `toml:"max_recoveries"`
	} `toml:"recovery"`
	Page struct {
		Address  string    `toml:"address"`
		LinkLife *duration `toml:"link_life"`
	} `toml:"page"`
}

type fileProvider struct {
	Driver         string            `toml:"driver"`
	Command        []string          `toml:"command"`
	Env            map[string]string `toml:"env"`
	Model          string            `toml:"model"`
	Effort         *string           `toml:"effort"`
	PermissionMode string            `toml:"permission_mode"`
	Handoff        *string           `toml:"handoff"`
	HandoffTokens  *int              `toml:"handoff_tokens"`
	SummarySource  *string           `toml:"summary_source"`
}

// duration is a time such as "90s" or "15m".
type duration time.Duration

func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err != nil {
		return fmt.Errorf("expected a time such as \"90s\" or \"15m\", found the text %q", b)
	}
	if v < 0 {
		return errors.New("a time can't be negative")
	}
	*d = duration(v)
	return nil
}

// Load reads and checks the file at path against the drivers of this build. A
// missing file is an empty one.
func Load(path string, drivers agent.Registry) (Config, error) {
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Config{}, baton.Errorf(baton.CodeConfig, "the configuration can't be read").WithDetail("%v", err).
			WithHint("see to the file's permissions")
	}
	return Parse(path, data, drivers)
}

// Parse checks a configuration. Path is for messages alone.
func Parse(path string, data []byte, drivers agent.Registry) (Config, error) {
	if err := shape(path, data); err != nil {
		return Config{}, err
	}
	var f file
	dec := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return Config{}, decodeError(path, data, err)
	}
	pos := positions(data)
	c := Config{Path: path, DefaultProvider: f.DefaultProvider, Policy: decide.DefaultPolicy(), BudgetTokens: f.Handoff.BudgetTokens}
	c.Policy.Handoff.ChainFull = f.Handoff.ChainFull
	c.Policy.Handoff.ChainNew = f.Handoff.ChainNew
	c.Policy.Handoff.ForeignRuns = f.Handoff.ForeignRuns
	set(&c.Policy.ReadyWithin, f.Recovery.ReadyWithin)
	set(&c.Policy.InterruptGrace, f.Recovery.InterruptGrace)
	set(&c.Policy.StopGrace, f.Recovery.StopGrace)
	set(&c.Policy.IdleAfter, f.Recovery.IdleAfter)
	if n := f.Recovery.MaxRecoveries; n != nil {
		c.Policy.MaxRecoveries = *n
	}
	c.Page.Address = f.Page.Address
	set(&c.Page.LinkLife, f.Page.LinkLife)
	check := checker{path: path, pos: pos}
	check.numbers(f)
	check.page(f)
	for _, name := range pos.tables("providers") {
		if p, ok := f.Providers[name]; ok {
			c.Providers = append(c.Providers, check.provider(name, p, drivers))
		}
	}
	if f.DefaultProvider != "" {
		if _, ok := f.Providers[f.DefaultProvider]; !ok && len(f.Providers) > 0 {
			check.fail("default_provider", "there is no [providers.%s] in this file", f.DefaultProvider)
		}
	}
	if check.err != nil {
		return Config{}, check.err
	}
	return c, nil
}

func set(d *time.Duration, v *duration) {
	if v != nil {
		*d = time.Duration(*v)
	}
}

// decodeError names file, line and key of what the decoder refused.
func decodeError(path string, data []byte, err error) error {
	var missing *toml.StrictMissingError
	var de *toml.DecodeError
	switch {
	case errors.As(err, &missing) && len(missing.Errors) > 0:
		first := missing.Errors[0]
		line, _ := first.Position()
		return at(path, line, strings.Join(first.Key(), ".")).
			WithDetail("this key is not known%s", suggestion(first.Key()))
	case errors.As(err, &de):
		line, _ := de.Position()
		key := strings.Join(de.Key(), ".")
		if key == "" {
			key = positions(data).keyAt(data, line)
		}
		return at(path, line, key).WithDetail("%s", unreadable(data, line, de))
	}
	if p := positions(data); p.twice != "" {
		return at(path, p.again, p.twice).WithDetail("it is given twice")
	}
	return baton.Errorf(baton.CodeConfig, "%s can't be read", path).WithDetail("%v", err).WithHint(fixHint)
}

var bareWord = regexp.MustCompile(`^[^=#]*=\s*([A-Za-z_~/.][^"'\[\]{}#=]*?)\s*(#.*)?$`)

// unreadable says what the decoder could not take. The commonest mistake, a text
// without quotes, is called a broken number or nothing at all by it.
func unreadable(data []byte, line int, err *toml.DecodeError) string {
	if lines := strings.Split(string(data), "\n"); line >= 1 && line <= len(lines) {
		if m := bareWord.FindStringSubmatch(strings.TrimSuffix(lines[line-1], "\r")); m != nil {
			return fmt.Sprintf("expected a value, found %s; a text stands in quotes: %q", m[1], m[1])
		}
	}
	said := strings.TrimPrefix(err.Error(), "toml: ")
	switch {
	case strings.Contains(said, "value out of range"):
		return "the number is too large"
	case strings.Contains(said, "incomplete number"):
		return "the value is missing"
	case strings.Contains(said, "cannot have new lines"):
		return "the closing quote is missing"
	}
	return said
}

const fixHint = "correct the file; nothing of it is used until it is right"

// at begins an error about one place of the file.
func at(path string, line int, key string) *baton.Error {
	if key == "" {
		return baton.Errorf(baton.CodeConfig, "%s:%d: the configuration is not right", path, line).WithHint(fixHint)
	}
	return baton.Errorf(baton.CodeConfig, "%s:%d: %s: the configuration is not right", path, line, key).WithHint(fixHint)
}
