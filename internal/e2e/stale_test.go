package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// TestStale: each signal that makes a conversation stale, at its threshold and
// beside it. What the preview says is what happens.
func TestStale(t *testing.T) {
	long := strings.Repeat("a sentence that nobody may leave out. ", 200)
	for _, c := range []struct {
		name    string
		config  string
		foreign []string // what is said to another agent, after codex had run 1
		flags   []string // of the last message, to codex
		into    string   // "": the same conversation; else a new one, and the signal that says why
		value   string
		limit   string
	}{
		{"foreign runs at the limit", "foreign_runs = 2", []string{"a", "b"}, nil, "", "", ""},
		{"foreign runs beyond", "foreign_runs = 2", []string{"a", "b", "c"}, nil, "foreign_runs", "3", "2"},
		{"foreign runs without limit", "foreign_runs = -1", []string{"a", "b", "c"}, nil, "", "", ""},
		{"context as it is", "", []string{"a"}, nil, "", "", ""},
		{"clean context", "", []string{"a"}, []string{"--clean-context"}, "clean_context", "true", "false"},
		{"it fits", "budget_tokens = 1000", []string{"a"}, nil, "", "", ""},
		{"it does not fit", "budget_tokens = 1000", []string{long}, nil, "squeezed", "true", "false"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, "[handoff]\n"+c.config+"\n")
			id := r.thread()
			r.say(id, "codex", "one [[say noted]]")
			for i, text := range c.foreign {
				r.say(id, "alpha", fmt.Sprintf("%s %d [[say noted]]", text, i))
			}
			p := r.preview(id, "codex", c.flags...)
			r.baton(append([]string{"send", id, "back [[say ok]]", "--provider", "codex", "--wait", "--handoff-digest", p.Handoff.Digest}, c.flags...)...)
			x := r.run(id, len(c.foreign)+2)
			h := read[handoffDoc](r, "handoff", "show", x.Handoffs[0])
			if h.Text != p.Handoff.Text || h.Strategy != p.Strategy {
				t.Errorf("previewed %s\n%s\nsent %s\n%s", p.Strategy, p.Handoff.Text, h.Strategy, h.Text)
			}
			want := "delta_since_target_last_seen"
			if c.into != "" {
				want = "full_thread_summary"
			}
			if h.Strategy != want || (x.ProviderThread != r.run(id, 1).ProviderThread) != (c.into != "") {
				t.Fatalf("%s into %s, want %s", h.Strategy, x.ProviderThread, want)
			}
			for _, rejected := range [][]reason{p.Rejected, x.Attempts[len(x.Attempts)-1].Rejected} {
				found := c.into == ""
				for _, why := range rejected {
					found = found || why.Signal == c.into && why.Value == c.value && why.Threshold == c.limit && why.Decisive
				}
				if !found {
					t.Errorf("rejected for %+v, want %s %s of %s", rejected, c.into, c.value, c.limit)
				}
			}
			if n := r.lastWith("back [[say ok]]").Has(h.Text); n != 1 {
				t.Errorf("its model was told the handoff %d times", n)
			}
		})
	}
}

// TestTakesNoHandoff: a provider that may be told nothing is told nothing. Where
// it misses something, the message is refused before anything is sent.
func TestTakesNoHandoff(t *testing.T) {
	r := newRig(t, "[providers.shy]\ndriver = \"script\"\nhandoff = \"never\"\n")
	id := r.thread()
	r.say(id, "shy", "one [[say noted]]")
	if p := r.preview(id, "shy"); p.Strategy != "none" || p.Handoff != nil {
		t.Errorf("where it misses nothing: %+v", p)
	}
	r.say(id, "shy", "two [[say noted]]")
	r.say(id, "codex", "three [[say noted]]")
	if p := r.preview(id, "shy"); p.Strategy != "unsupported" || p.Handoff != nil {
		t.Errorf("where it misses a run: %+v", p)
	}
	_, errs, code := r.try("send", id, "four", "--provider", "shy")
	if code != 5 || !strings.Contains(errs, "misses runs 3") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if n := len(r.show(id).Runs); n != 3 {
		t.Errorf("%d runs after a refusal", n)
	}
}
