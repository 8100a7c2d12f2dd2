package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"baton/internal/modelscript"
)

// nine plays the example of the design: runs 1–5 first, 6–8 second, then stops
// before run 9.
func (r *rig) eight(id, first, second string) {
	r.Helper()
	for n := 1; n <= 5; n++ {
		r.say(id, first, fmt.Sprintf("fact-%d: the answer to %d is kept by %s [[say noted fact %d]]", n, n, first, n))
	}
	for n := 6; n <= 8; n++ {
		r.say(id, second, fmt.Sprintf("fact-%d: the answer to %d is kept by %s [[say noted fact %d]]", n, n, second, n))
	}
}

// lastWith returns the newest request of the model server that holds the text.
func (r *rig) lastWith(text string) *modelscript.Request {
	r.Helper()
	all := r.model.Requests()
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Has(text) > 0 {
			return &all[i]
		}
	}
	r.Fatalf("no request holds %q", text)
	return nil
}

func (r *rig) coverage(id string) map[string]providerThread {
	r.Helper()
	out := map[string]providerThread{}
	for _, p := range read[coverage](r, "coverage", id).ProviderThreads {
		out[p.Provider] = p // the newest of each provider
	}
	return out
}

// handoffOf returns the handoff of a run.
func (r *rig) handoffOf(id string, ordinal int) handoffDoc {
	r.Helper()
	x := r.run(id, ordinal)
	if len(x.Handoffs) != 1 {
		r.Fatalf("run %d has handoffs %v", ordinal, x.Handoffs)
	}
	return read[handoffDoc](r, "handoff", "show", x.Handoffs[0])
}

// TestNineRuns: the example of section 7 with the real agents.
func TestNineRuns(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	r.eight(id, "codex", "claude")
	r.say(id, "codex", "fact-9: back again [[say noted fact 9]]")

	h1, h2 := r.handoffOf(id, 6), r.handoffOf(id, 9)
	if h1.Covered.From != 1 || h1.Covered.To != 5 || h2.Covered.From != 6 || h2.Covered.To != 8 {
		t.Errorf("H1 covers %v, H2 covers %v", h1.Covered, h2.Covered)
	}

	six := r.lastWith("fact-6:")
	for _, q := range r.model.Requests() {
		if q.Has("fact-6:") > 0 {
			six = &q // the first one: run 6 itself
			break
		}
	}
	if n := six.Has(h1.Text); n != 1 {
		t.Errorf("run 6's request holds H1 %d times", n)
	}
	message := "fact-6: the answer to 6 is kept by claude [[say noted fact 6]]"
	if !hasBlock(six, message) {
		t.Errorf("the person's message is no block of its own in run 6: %q", six.UserTexts())
	}

	nine := r.lastWith("fact-9:")
	if n := nine.Has(h2.Text); n != 1 {
		t.Errorf("run 9's request holds H2 %d times", n)
	}
	for n := 1; n <= 5; n++ {
		if c := nine.Has(fmt.Sprintf("fact-%d:", n)); c != 1 {
			t.Errorf("run 9's request holds fact %d %d times, natively once is right", n, c)
		}
	}
	if nine.Has("fact-7: the answer to 7 is kept by claude") != 1 {
		t.Error("the fact that was told only in run 7 is not in run 9's request once")
	}

	got := r.coverage(id)
	want := map[string][2][][2]int{
		"codex":  {{{1, 5}, {9, 9}}, {{6, 8}}},
		"claude": {{{6, 8}}, {{1, 5}}},
	}
	for name, w := range want {
		if !reflect.DeepEqual(got[name].Native, w[0]) || !reflect.DeepEqual(got[name].HandedOver, w[1]) {
			t.Errorf("%s covers natively %v and by handoff %v, want %v", name, got[name].Native, got[name].HandedOver, w)
		}
	}
	for _, h := range []handoffDoc{h1, h2} {
		if h.Status != "used" {
			t.Errorf("handoff %s is %s", h.ID, h.Status)
		}
	}
}

func hasBlock(q *modelscript.Request, text string) bool {
	for _, b := range q.UserTexts() {
		if b == text {
			return true
		}
	}
	return false
}

// forget deletes an agent's own files of a conversation.
func (r *rig) forget(provider, nativeID string) {
	r.Helper()
	removed := 0
	_ = filepath.WalkDir(r.agents[provider].Home, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(filepath.Base(path), nativeID) {
			removed++
			return os.Remove(path)
		}
		return nil
	})
	if removed == 0 {
		r.Fatalf("found no file of the conversation %s", nativeID)
	}
}

// TestNativeConversationDeleted: before run 9 the agent's own file is gone. A
// new provider thread takes its place, visibly, and is told everything.
func TestNativeConversationDeleted(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	r.eight(id, "codex", "claude")
	old := r.coverage(id)["codex"]
	r.forget("codex", old.NativeID)
	r.say(id, "codex", "fact-9: back again [[say noted fact 9]]")

	now := r.coverage(id)["codex"]
	if now.ID == old.ID || now.Origin.Kind != "reconstructed" || now.Origin.From != old.ID {
		t.Errorf("the conversation was not replaced: %+v", now)
	}
	h := r.handoffOf(id, 9)
	if h.Strategy != "full_thread_summary" || h.Covered.From != 1 || h.Covered.To != 8 {
		t.Errorf("handoff %+v", h)
	}
	nine := r.lastWith("fact-9:")
	if nine.Has(h.Text) != 1 {
		t.Error("the full handoff is not in run 9's request")
	}
	seen := false
	for _, it := range r.items(id) {
		seen = seen || it.Kind == "notice" && it.Body.Code == "resume_failed"
	}
	if !seen {
		t.Error("the timeline does not say that the conversation was lost")
	}
}
