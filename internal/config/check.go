package config

import (
	"fmt"
	"net"
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"baton"
	"baton/internal/agent"
)

// providerName is what a provider may be called: it is typed on command lines
// and is part of paths.
var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// checker keeps the first thing that is wrong in a decoded file.
type checker struct {
	path string
	pos  places
	err  *baton.Error
}

// fail notes an error at a key; only the first in the file's order of checks stays.
func (c *checker) fail(key, format string, args ...any) {
	if c.err == nil {
		c.err = at(c.path, c.pos.line(key), key).WithDetail(format, args...)
	}
}

func (c *checker) numbers(f file) {
	if f.Handoff.ChainFull < 0 {
		c.fail("handoff.chain_full", "it can't be negative")
	}
	if f.Handoff.ChainNew < 0 {
		c.fail("handoff.chain_new", "it can't be negative")
	}
	if f.Handoff.BudgetTokens < 0 {
		c.fail("handoff.budget_tokens", "it can't be negative")
	}
	if f.Handoff.ForeignRuns < -1 {
		c.fail("handoff.foreign_runs", "it can't be negative, but for -1: never")
	}
	if n := f.Recovery.MaxRecoveries; n != nil && *n < 0 {
		c.fail("recovery.max_recoveries", "it can't be negative")
	}
}

// page checks that a configured address is one of this machine alone: another
// one takes a certificate and a word of its own, on the command line.
func (c *checker) page(f file) {
	if d := f.Page.LinkLife; d != nil && *d == 0 {
		c.fail("page.link_life", "a link that lives for no time can't be used")
	}
	if f.Page.Address == "" || f.Page.Address == "off" {
		return
	}
	host, port, err := net.SplitHostPort(f.Page.Address)
	if _, portErr := strconv.ParseUint(port, 10, 16); err != nil || portErr != nil {
		c.fail("page.address", "%q is no host:port; write \"127.0.0.1:0\", or \"off\"", f.Page.Address)
		return
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.IsLoopback()) {
		c.fail("page.address", "other machines could reach %s; `baton serve --listen` takes it, with a certificate", f.Page.Address)
	}
}

func (c *checker) provider(name string, p fileProvider, drivers agent.Registry) Provider {
	key := "providers." + name
	if !providerName.MatchString(name) {
		c.fail(key, "a provider's name is made of lower-case letters, digits, dots, hyphens and underscores")
	}
	_, built := drivers[p.Driver]
	switch {
	case p.Driver == "":
		c.fail(key, "`driver` is missing: one of %s", strings.Join(agent.Known, ", "))
	case !slices.Contains(agent.Known, p.Driver):
		c.fail(key+".driver", "there is no driver %q%s; the drivers are %s", p.Driver, meant(p.Driver, agent.Known), strings.Join(agent.Known, ", "))
	case !built && c.err == nil:
		var have []string
		for _, n := range agent.Known {
			if _, ok := drivers[n]; ok {
				have = append(have, n)
			}
		}
		c.err = baton.Errorf(baton.CodeDriverNotBuilt, "%s:%d: %s: the driver %q is not in this build", c.path, c.pos.line(key+".driver"), key+".driver", p.Driver).
			WithDetail("Baton knows it but can't drive it yet; the server does not start with half a configuration").
			WithHint("remove the provider, or use one of the drivers %s", strings.Join(have, ", "))
	}
	if p.Command != nil && (len(p.Command) == 0 || p.Command[0] == "") {
		c.fail(key+".command", "the command is empty")
	}
	if p.Command == nil && p.Driver == "acp" {
		c.fail(key, "`command` is missing: a driver for any ACP agent can't guess which")
	}
	out := Provider{Name: name, Driver: p.Driver, Command: p.Command, Env: p.Env,
		Settings: baton.Settings{Model: p.Model, PermissionMode: p.PermissionMode}}
	c.handoff(key, p, &out)
	if e := p.Effort; e != nil {
		if !effortName.MatchString(*e) {
			c.fail(key+".effort", "%q is no effort; expected one word that the agent knows, such as \"low\" or \"high\"", *e)
		}
		out.Settings.Effort = *e
	}
	if built {
		c.settings(key, p.Driver, out.Settings, drivers[p.Driver].Capabilities().Settings)
	}
	for k := range p.Env {
		if k == "" || strings.ContainsAny(k, "=\x00") {
			c.fail(key+".env", "%q can't be the name of a variable", k)
		}
	}
	return out
}

// settings refuses those that the driver has no way to tell its agent.
func (c *checker) settings(key, driver string, s baton.Settings, can baton.SettingChanges) {
	for _, f := range []struct {
		name, value string
		change      baton.SettingChange
	}{{"model", s.Model, can.Model}, {"effort", s.Effort, can.Effort}, {"permission_mode", s.PermissionMode, can.PermissionMode}} {
		if f.value != "" && f.change == baton.ChangeNone {
			c.fail(key+"."+f.name, "the driver %q has no way to tell its agent; set it in the agent's own configuration", driver)
		}
	}
}

// handoff takes over what is said of handoffs to one provider.
func (c *checker) handoff(key string, p fileProvider, out *Provider) {
	if h := p.Handoff; h != nil {
		if *h != "auto" && *h != "never" {
			c.fail(key+".handoff", "expected \"auto\" or \"never\", found %q", *h)
		}
		out.HandoffNever = *h == "never"
	}
	if n := p.HandoffTokens; n != nil {
		if *n < 1 {
			c.fail(key+".handoff_tokens", "expected a number of tokens, 1 or more, found %d; to give it no handoff, write handoff = \"never\"", *n)
		}
		out.HandoffTokens = *n
	}
	if s := p.SummarySource; s != nil && *s != "local" {
		c.fail(key+".summary_source", "%q is not built yet: all handoffs are made without a model, which is \"local\"", *s)
	}
}

// effortName is what an effort may look like. Which ones there are differs from
// agent to agent and from model to model.
var effortName = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

// meant asks whether the nearest of the names was meant.
func meant(word string, names []string) string {
	if n := nearest(word, names); n != "" {
		return fmt.Sprintf(" (did you mean %q?)", n)
	}
	return ""
}

// suggestion lists what may stand where an unknown key does.
func suggestion(key []string) string {
	t := reflect.TypeFor[file]()
	for i, k := range key {
		if t.Kind() == reflect.Map {
			t = t.Elem()
			continue
		}
		if t.Kind() != reflect.Struct {
			return ""
		}
		var names []string
		next := reflect.Type(nil)
		for f := range t.NumField() {
			name := t.Field(f).Tag.Get("toml")
			names = append(names, name)
			if name == k {
				next = t.Field(f).Type
			}
		}
		if next == nil {
			slices.Sort(names)
			where := "at the top"
			if i > 0 {
				where = "in [" + strings.Join(key[:i], ".") + "]"
			}
			return fmt.Sprintf("%s; %s may stand %s", meant(k, names), where, strings.Join(names, ", "))
		}
		t = next
	}
	return ""
}
