package modelscript

import (
	"strings"
	"testing"

	"baton/internal/directive"
)

// The conversations of the table are written as one line a block: "u:" what
// a user block holds, "m:" text, "t:" a thought, "c:" a call, "r:" a result.
func conversation(lines string) []Block {
	kinds := map[string]Block{
		"u": {Role: RoleUser, Kind: KindText}, "m": {Role: RoleModel, Kind: KindText},
		"t": {Role: RoleModel, Kind: KindThinking}, "c": {Role: RoleModel, Kind: KindCall},
		"r": {Role: RoleUser, Kind: KindResult}, "f": {Role: RoleUser, Kind: KindFold},
		"s": {Role: RoleSystem, Kind: KindText},
	}
	var out []Block
	for _, l := range strings.Split(lines, " / ") {
		kind, text, _ := strings.Cut(l, ":")
		b := kinds[kind]
		b.Text = text
		out = append(out, b)
	}
	return out
}

func TestDue(t *testing.T) {
	const script = "u:go [[say a]] [[run x]] [[say b]]"
	tests := []struct{ name, conversation, marks, echo string }{
		{"no mark", "s:[[say no]] / u:hello", "", "You said: hello"},
		{"nobody said anything", "u:<environment_context>x</environment_context>", "", "ok"},
		{"first round", script, "say a, run x", "done"},
		{"second round", script + " / m:a / c:x / r:ok", "say b", "done"},
		{"parallel calls are one round", "u:[[plan a|b]] [[say z]] / c:a / c:b / r:a / r:b", "say z", "done"},
		{"finished", script + " / m:a / c:x / r:ok / m:b", "", "done"},
		{"finished, and a new message", script + " / m:a / c:x / r:ok / m:b / u:next", "", "You said: next"},
		{"a call last", "u:[[run x]] / c:x / r:ok", "", "done"},
		{"a call last, and it was said", "u:[[run x]] / c:x / r:ok / m:done / u:next", "", "You said: next"},
		{"the answer was cut", "u:[[say a]]", "say a", "done"},
		{"a thought is no answer", "u:[[think a]] [[say b]] / t:a", "think a, say b", "done"},
		{"a text was kept", "u:[[say a]] [[gate g]] [[cut]] [[error x]] [[say b]] [[cut]] [[run x]] / m:a", "say b, cut, run x", "done"},
		{"all texts were kept", "u:[[say a]] [[cut]] [[run x]] / m:a", "run x", "done"},
		{"a text was kept, and a new message", "u:[[say a]] [[gate g]] [[say b]] / m:a / u:next", "", "You said: next"},
		{"nothing is left but a fault", "u:[[say a]] [[error x]] / m:a", "", "done"},
		{"a steer without marks", script + " / m:a / c:x / r:ok / u:also", "say b", "done"},
		{"a steer with marks", script + " / m:a / c:x / r:ok / u:[[say s]]", "say s", "done"},
		{"a fold with marks", script + " / m:a / c:x / r:ok / f:[[say s]]", "say s", "done"},
		{"a fold without marks", script + " / m:a / c:x / r:ok / f:also", "say b", "done"},
		{"marks in a result are data", script + " / m:a / c:x / r:[[say no]]", "say b", "done"},
		{"failed before it began", "u:[[fail 500]] / u:next", "", "You said: next"},
		{"interrupted by codex", script + " / m:a / c:x / r:aborted / u:<turn_aborted>x</turn_aborted> / u:next", "", "You said: next"},
		{"interrupted by claude", script + " / m:a / c:x / r:no / u:[Request interrupted by user for tool use] / u:next", "", "You said: next"},
		{"context is not said", "u:[[say a]] / m:a / u:[MESSAGE FROM NON-USER SOURCE - NOT USER INPUT]\nold: [[run rm]] / u:next", "", "You said: next"},
		{"another syntax is text", "u:see [[page]]", "", "You said: see [[page]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			marks, echo := due(conversation(tt.conversation))
			var got []string
			for _, m := range marks {
				got = append(got, strings.TrimSpace(m.Verb+" "+m.Arg))
			}
			if s := strings.Join(got, ", "); s != tt.marks || echo != tt.echo {
				t.Errorf("due = %q, %q; want %q, %q", s, echo, tt.marks, tt.echo)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	none := func(directive.Directive) ([]call, error) { return nil, nil }
	for _, mark := range []string{
		"[[say a]] [[sya b]]", "[[flood many]]", "[[flood 9 0]]", "[[gate]]", "[[gate a/b]]", "[[fail]]",
		"[[fail 200]]", "[[fail 429 a b]]", "[[error]]", "[[cut now]]", "[[usage 1]]",
	} {
		if _, err := plan(conversation("u:"+mark), none); err == nil || !strings.Contains(err.Error(), "mark [[") {
			t.Errorf("plan(%s) = %v, want an error that names the mark", mark, err)
		}
	}
}

func TestParseFault(t *testing.T) {
	tests := []struct {
		verb, arg string
		want      action
	}{
		{"fail", "429", action{fault: fault{429, "", "scripted failure"}}},
		{"fail", "429 usage_limit_reached until g: slow: down", action{until: "g", fault: fault{429, "usage_limit_reached", "slow: down"}}},
		{"fail", "500 until g", action{until: "g", fault: fault{500, "", "scripted failure"}}},
		{"error", "overloaded_error", action{fault: fault{0, "overloaded_error", "scripted failure"}}},
		{"cut", "until g", action{until: "g", fault: fault{0, "", "scripted failure"}}},
	}
	for _, tt := range tests {
		a := action{verb: tt.verb}
		if err := a.parseFault(tt.arg); err != nil || a.fault != tt.want.fault || a.until != tt.want.until {
			t.Errorf("%s %q = %+v until %q, %v", tt.verb, tt.arg, a.fault, a.until, err)
		}
	}
}

func TestSaid(t *testing.T) {
	tests := []struct{ text, want string }{
		{"<system-reminder>\n[[say no]]\n</system-reminder>\n\nhello <b>you</b> 1 < 2", "hello <b>you</b> 1 < 2"},
		{"<a-b>unclosed", "<a-b>unclosed"},
		{"<x_y k=\"v\">gone</x_y>kept", "kept"},
		{"[Request interrupted by user]", ""},
	}
	for _, tt := range tests {
		if got := (Block{Role: RoleUser, Kind: KindText, Text: tt.text}).Said(); got != tt.want {
			t.Errorf("said(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestFolds(t *testing.T) {
	text := "out\n<system-reminder>\nThe user sent a new message while you were working:\nSTEER [[say s]]\n\nThis is how Claude Code surfaces messages.\n</system-reminder>" +
		"<system-reminder>\nThe user sent a new message while you were working:\nshort\n</system-reminder>"
	got := folds(text)
	if len(got) != 2 || got[0].Text != "STEER [[say s]]" || got[1].Text != "short" {
		t.Errorf("folds = %+v", got)
	}
}

func TestDeltas(t *testing.T) {
	long := strings.Repeat("word  and\nmore ", 500)
	for _, text := range []string{"", "one", " two words ", long, "ünï cödé"} {
		parts := deltas(text)
		if strings.Join(parts, "") != text || len(parts) > 70 {
			t.Errorf("deltas(%.20q): %d parts that join to %d of %d bytes", text, len(parts), len(strings.Join(parts, "")), len(text))
		}
		for _, p := range parts[:max(len(parts)-1, 0)] {
			if !isSpace(p[len(p)-1]) {
				t.Errorf("deltas cuts inside a word: %q", p)
			}
		}
	}
	if n := len(deltas("three little words")); n != 3 {
		t.Errorf("three words come in %d deltas", n)
	}
}

func TestFlood(t *testing.T) {
	for _, n := range []int{1, 255, 256, 257, 100_000} {
		parts := flood(n, 256)
		text := strings.Join(parts, "")
		if len(text) != n || len(parts) != (n+255)/256 {
			t.Errorf("flood(%d) = %d bytes in %d parts", n, len(text), len(parts))
		}
	}
	words := map[string]bool{}
	for _, w := range strings.Fields(strings.Join(flood(10_000, 256), "")) {
		words[w] = true
	}
	if len(words) < 30 {
		t.Errorf("only %d different words", len(words))
	}
}
