package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"baton/internal/modelscript"
)

// TestNoHiddenText: whatever happens to a thread, no word of Baton's reaches a
// model but in the person's messages and in stored handoffs. What agents add by
// themselves never speaks of Baton, and they are told nothing in its place:
// their own prompts are those of a thread that has seen nothing yet.
func TestNoHiddenText(t *testing.T) {
	r := newRig(t, "")
	own := map[string]map[string]bool{} // by wire: what an agent itself tells its model
	visible := map[string]bool{}
	say := func(id, provider, text string) {
		t.Helper()
		visible[text] = true
		r.say(id, provider, text)
	}
	for _, provider := range []string{"codex", "claude"} {
		say(r.thread(), provider, "the first word of a thread [[say noted]]")
	}
	for _, q := range r.model.Requests() {
		if own[q.Wire] == nil {
			own[q.Wire] = map[string]bool{}
		}
		for _, text := range instructions(q) {
			own[q.Wire][text] = true
			if strings.Contains(strings.ToLower(text), "baton") {
				t.Errorf("the agent's own prompt speaks of Baton: %q", text)
			}
		}
	}

	id := r.thread()
	say(id, "codex", "one [[say noted]]")
	// A request is declined.
	visible["two [[run touch no.txt]] [[say noted]]"] = true
	r.offer(id, "claude", "cmd_two", "two [[run touch no.txt]] [[say noted]]")
	r.baton("decline", r.asked(id), "-m", "rather not")
	r.ended(id, 2)
	say(id, "codex", "three [[say noted]]")
	// A run is stopped in its middle, and the server killed.
	visible["four [[say half]] [[gate stop]] [[say whole]]"] = true
	r.offer(id, "codex", "cmd_four", "four [[say half]] [[gate stop]] [[say whole]]")
	<-r.model.Waiting("stop")
	r.baton("stop", id)
	r.ended(id, 4)
	r.model.Release("stop")
	r.killServer()
	say(id, "claude", "five [[say noted]]")
	// A conversation is lost and told everything again.
	r.forget("codex", r.coverage(id)["codex"].NativeID)
	say(id, "codex", "six [[say noted]]")
	// A handoff is made again, and another one is written by the person.
	r.baton("handoff", "regenerate", r.handoffOf(id, 5).ID)
	say(id, "claude", "seven [[say noted]]")

	for _, h := range read[[]handoffDoc](r, "handoff", "list", id) {
		visible[read[handoffDoc](r, "handoff", "show", h.ID).Text] = true
	}
	longestFirst := slices.SortedFunc(maps.Keys(visible), func(a, b string) int { return len(b) - len(a) })
	for _, q := range r.model.Requests() {
		for _, b := range q.Texts() {
			if b.Role != modelscript.RoleUser {
				continue
			}
			for _, v := range longestFirst {
				b.Text = strings.ReplaceAll(b.Text, v, "")
			}
			if left := b.Said(); left != "" {
				t.Errorf("request %d holds what no person and no handoff said: %q", q.N, left)
			}
		}
		for _, text := range instructions(q) {
			if !own[q.Wire][text] {
				t.Errorf("request %d: the agent's own prompt is not that of a new thread: %q", q.N, text)
			}
		}
	}
}

// instructions are the texts that neither person nor model nor tool said.
func instructions(q modelscript.Request) (out []string) {
	for _, b := range q.Texts() {
		// The header counts requests, among other things.
		if b.Role == modelscript.RoleSystem && !strings.HasPrefix(b.Text, "x-anthropic-billing-header:") {
			out = append(out, b.Text)
		}
	}
	return out
}
