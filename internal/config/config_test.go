package config

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
)

// fake is a driver that is only looked at.
type fake struct{ name string }

func (f fake) Name() string                     { return f.name }
func (fake) Capabilities() baton.Capabilities   { return baton.Capabilities{Interrupt: true} }
func (fake) MinVersion() string                 { return "0.171.0" }
func (f fake) VersionArgs() []string            { return []string{"--version"} }
func (fake) Launch(s agent.Spec) agent.Launch   { return agent.Launch{Argv: s.Command} }
func (fake) New(agent.Spec) agent.Machine       { return nil }
func (fake) Load([]byte) (agent.Machine, error) { return nil, errors.New("no") }

var drivers = agent.NewRegistry(fake{"codex"}, fake{"claude"}, fake{"acp"}, fake{"script"})

func TestParseErrorsNameFileLineAndKey(t *testing.T) {
	for name, test := range map[string]struct{ text, title, detail string }{
		"syntax":           {"[providers.a]\ndriver = \n", "c.toml:2: providers.a.driver", "value is missing"},
		"open quote":       {"[providers.a]\ndriver = \"codex\n", "c.toml:2: providers.a.driver", "closing quote"},
		"unknown key":      {"[providers.a]\ndriver = \"codex\"\nbrain = \"x\"\n", "c.toml:3: providers.a.brain", "model"},
		"unknown table":    {"\n[provider.a]\n", "c.toml:2: provider.a", "providers"},
		"wrong type":       {"[providers.a]\ndriver = \"codex\"\ncommand = \"codex\"\n", "c.toml:3: providers.a.command", ""},
		"no driver":        {"\n[providers.a]\nmodel = \"m\"\n", "c.toml:2: providers.a", "`driver` is missing"},
		"unknown driver":   {"[providers.a]\n\ndriver = \"cursor\"\n", "c.toml:3: providers.a.driver", `no driver "cursor"`},
		"empty command":    {"[providers.a]\ndriver = \"codex\"\ncommand = []\n", "c.toml:3: providers.a.command", "empty"},
		"acp alone":        {"[providers.a]\ndriver = \"acp\"\n", "c.toml:1: providers.a", "command"},
		"bad name":         {"[providers.\"a b\"]\ndriver = \"codex\"\n", "c.toml:1: providers.a b", "name"},
		"bad time":         {"[recovery]\nstop_grace = \"soon\"\n", "c.toml:2: recovery.stop_grace", "found the text \"soon\""},
		"negative time":    {"[recovery]\nidle_after = \"-1s\"\n", "c.toml:2: recovery.idle_after", "negative"},
		"negative number":  {"[handoff]\nchain_full = -1\n", "c.toml:2: handoff.chain_full", "negative"},
		"default unknown":  {"default_provider = \"b\"\n[providers.a]\ndriver = \"codex\"\n", "c.toml:1: default_provider", "providers.b"},
		"handoff":          {"[providers.a]\ndriver = \"codex\"\nhandoff = \"no\"\n", "c.toml:3: providers.a.handoff", "\"auto\" or \"never\""},
		"no tokens":        {"[providers.a]\ndriver = \"codex\"\nhandoff_tokens = 0\n", "c.toml:3: providers.a.handoff_tokens", "1 or more"},
		"summary source":   {"[providers.a]\ndriver = \"codex\"\nsummary_source = \"outgoing\"\n", "c.toml:3: providers.a.summary_source", "not built yet"},
		"blank effort":     {"[providers.a]\ndriver = \"codex\"\neffort = \"\"\n", "c.toml:3: providers.a.effort", "no effort"},
		"typing mistake":   {"[providers.a]\ndriver = \"codex\"\nmodell = \"x\"\n", "c.toml:3: providers.a.modell", "did you mean \"model\"?"},
		"driver's mistake": {"[providers.a]\ndriver = \"cluade\"\n", "c.toml:2: providers.a.driver", "did you mean \"claude\"?"},
		"table's mistake":  {"[provider.a]\n", "c.toml:1: provider.a", "did you mean \"providers\"?"},
		"text for number":  {"[handoff]\nchain_full = \"x\"\n", "c.toml:2: handoff.chain_full", "expected a whole number, found the text \"x\""},
		"part of a number": {"[handoff]\nchain_full = 1.5\n", "c.toml:2: handoff.chain_full", "expected a whole number, found 1.5"},
		"date for number":  {"[handoff]\nchain_full = 1979-05-27\n", "c.toml:2: handoff.chain_full", "found the date or time 1979-05-27"},
		"large number":     {"[handoff]\nchain_full = 99999999999999999999\n", "c.toml:2: handoff.chain_full", "too large"},
		"number for text":  {"[providers.a]\ndriver = 5\n", "c.toml:2: providers.a.driver", "expected a text in quotes, found 5"},
		"text for list":    {"[providers.a]\ndriver = \"codex\"\ncommand = \"codex\"\n", "c.toml:3: providers.a.command", "expected a list of texts"},
		"number in list":   {"[providers.a]\ndriver = \"codex\"\ncommand = [\"a\",\n # why\n 1]\n", "c.toml:3: providers.a.command", "a list with 1 in it"},
		"number in env":    {"[providers.a]\ndriver = \"codex\"\nenv = { A = 1 }\n", "c.toml:3: providers.a.env.A", "expected a text in quotes, found 1"},
		"number in [env]":  {"[providers.a]\ndriver = \"codex\"\n[providers.a.env]\nA = true\n", "c.toml:4: providers.a.env.A", "found true"},
		"text for table":   {"handoff = \"never\"\n", "c.toml:1: handoff", "expected a table, found the text \"never\""},
		"no provider":      {"[providers]\na = \"codex\"\n", "c.toml:2: providers.a", "expected a table"},
		"list of tables":   {"[[providers]]\ndriver = \"codex\"\n", "c.toml:1: providers", "found a list of tables"},
		"table for text":   {"[providers.a.driver]\nx = 1\n", "c.toml:1: providers.a.driver", "expected a text in quotes, found a table"},
		"dotted below":     {"[providers.a]\ndriver.name = 1\n", "c.toml:2: providers.a.driver", "expected a text in quotes, found a table"},
		"time as number":   {"[recovery]\nstop_grace = 5\n", "c.toml:2: recovery.stop_grace", "expected a time such as \"90s\" or \"15m\", found 5"},
		"no quotes":        {"[providers.a]\ndriver = codex # mine\n", "c.toml:2: providers.a.driver", "a text stands in quotes: \"codex\""},
		"variable's name":  {"[providers.a]\ndriver = \"codex\"\nenv = { \"A=B\" = \"x\" }\n", "c.toml:3: providers.a.env", "A=B"},
		"twice":            {"[providers.a]\ndriver = \"codex\"\n[providers.a]\n", "c.toml:3: providers.a", "twice"},
		"inline unknown":   {"providers = { a = { driver = \"codex\", x = 1 } }\n", "c.toml:1: providers.a.x", "not known"},
		"page outside":     {"[page]\naddress = \"0.0.0.0:80\"\n", "c.toml:2: page.address", "--listen"},
		"page nowhere":     {"[page]\naddress = \"here\"\n", "c.toml:2: page.address", "host:port"},
		"link for no time": {"[page]\nlink_life = \"0s\"\n", "c.toml:2: page.link_life", "no time"},
		"unknown recovery": {"[recovery]\n\nretry = 1\n", "c.toml:3: recovery.retry", "max_recoveries"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := Parse("c.toml", []byte(test.text), drivers)
			var e *baton.Error
			if !errors.As(err, &e) || e.Code != baton.CodeConfig {
				t.Fatalf("got %v", err)
			}
			if !strings.HasPrefix(e.Title, test.title+":") {
				t.Errorf("title %q, want it to begin with %q", e.Title, test.title)
			}
			if !strings.Contains(e.Detail, test.detail) || e.Detail == "" || e.Hint == "" {
				t.Errorf("detail %q (want %q in it), hint %q", e.Detail, test.detail, e.Hint)
			}
			for _, leak := range []string{"struct", "[]string", "int ", "unmarshal", "decode", "time: ", "strconv"} {
				if strings.Contains(e.Detail, leak) {
					t.Errorf("%q speaks of Go: %q", e.Detail, leak)
				}
			}
			if c.Providers != nil {
				t.Error("half of a configuration came back")
			}
		})
	}
}

func TestDriverNotBuiltNamesTheLine(t *testing.T) {
	_, err := Parse("c.toml", []byte("[providers.a]\ndriver = \"codex\"\n[providers.oc]\ndriver = \"opencode\"\n"), drivers)
	if baton.ErrorCode(err) != baton.CodeDriverNotBuilt || !strings.Contains(err.Error(), "c.toml:4: providers.oc.driver") {
		t.Fatalf("got %v", err)
	}
}

func TestParse(t *testing.T) {
	c, err := Parse("c.toml", []byte(`
[providers.work]
driver = "codex"
command = ["codex", "-c", "x=1"]
env = { CODEX_HOME = "~/.codex-work" }
model = "m"
[providers."z.ai"]
driver = "acp"
command = ["zai"]
[providers.b]
driver = "claude"
[handoff]
chain_full = 3
budget_tokens = 9000
[recovery]
idle_after = "0s"
stop_grace = "1500ms"
max_recoveries = 0
[page]
address = "localhost:0"
link_life = "5s"
`), drivers)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range c.Providers {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "work z.ai b" {
		t.Errorf("providers %q, not in the file's order", got)
	}
	if c.Policy.Handoff.ChainFull != 3 || c.BudgetTokens != 9000 || c.Policy.IdleAfter != 0 || c.Policy.StopGrace != 1500*time.Millisecond ||
		c.Policy.MaxRecoveries != 0 || c.Policy.ReadyWithin != 90*time.Second ||
		c.Page != (Page{Address: "localhost:0", LinkLife: 5 * time.Second}) {
		t.Errorf("got %+v", c)
	}
}

// deaf is a driver whose agent takes no settings.
type deaf struct{ fake }

func (deaf) Capabilities() baton.Capabilities {
	return baton.Capabilities{Settings: baton.SettingChanges{Model: baton.ChangeNone, Effort: baton.ChangeNone, PermissionMode: baton.ChangeNone}}
}

func TestSettingsThatNobodyTakesAreRefused(t *testing.T) {
	_, err := Parse("c.toml", []byte("[providers.a]\ndriver = \"acp\"\ncommand = [\"x\"]\neffort = \"high\"\n"), agent.NewRegistry(deaf{fake{"acp"}}))
	if baton.ErrorCode(err) != baton.CodeConfig || !strings.Contains(err.Error(), "c.toml:4: providers.a.effort") {
		t.Errorf("got %v", err)
	}
}

func TestHandoffsOfOneProvider(t *testing.T) {
	c, err := Parse("c.toml", []byte("[providers.a]\ndriver = \"codex\"\nhandoff = \"never\"\nhandoff_tokens = 4000\nsummary_source = \"local\"\neffort = \"high\"\n[providers.b]\ndriver = \"codex\"\nhandoff = \"auto\"\n"), drivers)
	if err != nil {
		t.Fatal(err)
	}
	a, b := c.Providers[0], c.Providers[1]
	if !a.HandoffNever || a.HandoffTokens != 4000 || a.Settings.Effort != "high" || b.HandoffNever || b.HandoffTokens != 0 {
		t.Errorf("got %+v and %+v", a, b)
	}
}

func TestMissingFileIsEmpty(t *testing.T) {
	c, err := Load(filepath.Join(t.TempDir(), "none.toml"), drivers)
	if err != nil || len(c.Providers) != 0 {
		t.Fatalf("got %+v, %v", c, err)
	}
}

// program puts an executable into a directory.
func program(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho codex-cli 0.9.0\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func providers(t *testing.T, text string, env map[string]string) *Providers {
	t.Helper()
	c, err := Parse("c.toml", []byte(text), drivers)
	if err != nil {
		t.Fatal(err)
	}
	return NewProviders(c, drivers, Places{Config: "c.toml", Script: "/data/script"}, "/bin/self", env)
}

func TestProvidersFoundOnPath(t *testing.T) {
	bin := t.TempDir()
	claude := program(t, bin, "claude")
	p := providers(t, "", map[string]string{"PATH": "relative:" + bin})
	if p.Default() != "claude" {
		t.Errorf("default %q", p.Default())
	}
	got, err := p.Get("claude")
	if err != nil || got.Command[0] != claude || !got.Capabilities.Interrupt {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = p.Get("codex")
	var e *baton.Error
	if !errors.As(err, &e) || e.Code != baton.CodeAgentMissing || !strings.Contains(e.Detail, "codex on PATH") || !strings.Contains(e.Hint, "npm install") {
		t.Errorf("got %v, hint %q", err, e.Hint)
	}
}

func TestTheScriptedAgentIsNeverTheDefaultByItself(t *testing.T) {
	p := providers(t, "", map[string]string{"PATH": t.TempDir()})
	if p.Default() != "" {
		t.Errorf("default %q", p.Default())
	}
	if _, err := p.Get(""); baton.ErrorCode(err) != baton.CodeAgentMissing {
		t.Errorf("got %v", err)
	}
	got, err := p.Get(Script)
	if err != nil || strings.Join(got.Command, " ") != "/bin/self agent script" || got.Env["BATON_SCRIPT_HOME"] != "/data/script/script" {
		t.Errorf("got %+v, %v", got, err)
	}
	p = providers(t, "[providers.s]\ndriver = \"script\"\n[providers.c]\ndriver = \"codex\"\n", map[string]string{})
	if p.Default() != "c" {
		t.Errorf("default %q, want the real agent", p.Default())
	}
}

func TestUnknownProviderListsThem(t *testing.T) {
	_, err := providers(t, "[providers.work]\ndriver = \"codex\"\n", nil).Get("play")
	var e *baton.Error
	if !errors.As(err, &e) || e.Code != baton.CodeUnknownProvider || !strings.Contains(e.Detail, "work, script") || e.Hint == "" {
		t.Fatalf("got %v", err)
	}
}

func TestHomeIsExpanded(t *testing.T) {
	home := t.TempDir()
	program(t, home, "agent")
	p := providers(t, "[providers.a]\ndriver = \"codex\"\ncommand = [\"~/agent\"]\nenv = { X = \"~/.x\", Y = \"a~/b\" }\n", map[string]string{"HOME": home})
	got, err := p.Get("a")
	if err != nil || got.Command[0] != filepath.Join(home, "agent") || got.Env["X"] != filepath.Join(home, ".x") || got.Env["Y"] != "a~/b" {
		t.Fatalf("got %+v, %v", got, err)
	}
}

func TestExamineRefusesAnOldAgent(t *testing.T) {
	bin := t.TempDir()
	program(t, bin, "codex")
	p := providers(t, "", map[string]string{"PATH": bin})
	c := p.examine(context.Background(), "codex", func(_ context.Context, argv, _ []string) ([]byte, error) {
		return []byte("codex-cli 0.99.0\n"), nil
	})
	if c.Status != StatusError || !strings.Contains(c.Detail, "0.171.0") || c.Hint == "" {
		t.Errorf("got %+v", c)
	}
}

func TestFind(t *testing.T) {
	p, err := Find(map[string]string{"BATON_HOME": "/h"}, 7)
	if err != nil || p.Config != "/h/config.toml" || p.Database != "/h/baton.db" || p.Socket != "/h/run/api.sock" {
		t.Errorf("got %+v, %v", p, err)
	}
	long := "/" + strings.Repeat("x", 90)
	if p, _ = Find(map[string]string{"BATON_HOME": long}, 7); !strings.HasPrefix(p.Runtime, "/tmp/baton-7-") {
		t.Errorf("runtime %q", p.Runtime)
	}
	p, _ = Find(map[string]string{"HOME": "/home/u", "XDG_RUNTIME_DIR": "/run/user/7"}, 7)
	if p.Config != "/home/u/.config/baton/config.toml" || p.Data != "/home/u/.local/share/baton" || !strings.HasPrefix(p.Runtime, "/run/user/7/baton-") {
		t.Errorf("got %+v", p)
	}
	if _, err = Find(map[string]string{}, 7); err == nil {
		t.Error("no home at all is no error")
	}
}

func TestMakeClosesDirectories(t *testing.T) {
	dir := t.TempDir()
	p, _ := Find(map[string]string{"BATON_HOME": filepath.Join(dir, "h")}, os.Getuid())
	if err := os.MkdirAll(p.Runtime, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := p.Make(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{p.Data, p.Sessions, p.Runtime} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, info.Mode(), err)
		}
	}
}

func TestExamineSaysWhatIsThereAndHowToGetTheRest(t *testing.T) {
	bin := t.TempDir()
	program(t, bin, "codex")
	home := t.TempDir()
	p := providers(t, "", map[string]string{"PATH": bin})
	p.places, _ = Find(map[string]string{"BATON_HOME": home}, os.Getuid())
	if err := os.WriteFile(p.places.Database, make([]byte, 1_234_567), 0o600); err != nil {
		t.Fatal(err)
	}
	said := func(_ context.Context, argv, _ []string) ([]byte, error) { return []byte("codex-cli 0.172.0\n"), nil }
	got := map[string]Check{}
	for _, c := range p.Examine(t.Context(), said) {
		got[c.Name] = c
	}
	codex, claude := got["provider codex"], got["provider claude"]
	if codex.Status != StatusOK || codex.Provider.Version != "0.172.0" || codex.Provider.Oldest != "0.171.0" || codex.Provider.Path != filepath.Join(bin, "codex") ||
		len(codex.Provider.Can) == 0 || len(codex.Provider.Cannot) == 0 || codex.Provider.Cannot[0].Instead == "" {
		t.Errorf("got %+v", codex)
	}
	if claude.Status != StatusNone || !strings.Contains(claude.Hint, "`npm install -g @anthropic-ai/claude-code`") {
		t.Errorf("got %+v", claude)
	}
	if d := got["data"].Detail; !strings.Contains(d, "1.2 MB of database") {
		t.Errorf("got %q", d)
	}
	if _, ok := got["agents"]; ok {
		t.Error("an agent is there")
	}
}

func TestAmount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 12_345: "12 kB", 5_400_000_000: "5.4 GB"} {
		if got := amount(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
