package e2e

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"baton/internal/client"
	"baton/internal/httpapi"
)

type plan struct {
	Provider string      `json:"provider"`
	Strategy string      `json:"strategy"`
	Queued   bool        `json:"queued"`
	Reasons  []reason    `json:"reasons"`
	Rejected []reason    `json:"rejected"`
	Handoff  *handoffDoc `json:"handoff"`
}

type reason struct {
	Signal, Value, Threshold string
	Decisive                 bool
}

func (r *rig) preview(id, provider string, flags ...string) plan {
	r.Helper()
	return read[plan](r, append([]string{"handoff", "preview", id, "--provider", provider}, flags...)...)
}

// told returns how often the newest prompt of a provider holds the text, as its
// model, or the scripted agent, received it.
func (r *rig) told(provider, message, text string) int {
	r.Helper()
	if provider != "codex" && provider != "claude" {
		return strings.Count(r.scripted(provider), text)
	}
	return r.lastWith(message).Has(text)
}

// scripted is all that a scripted agent was told, as it wrote it down.
func (r *rig) scripted(provider string) string {
	r.Helper()
	b, err := os.ReadFile(filepath.Join(r.home, provider, "requests.jsonl"))
	if err != nil {
		r.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	var last struct {
		Messages []struct{ Text string } `json:"messages"`
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		r.Fatal(err)
	}
	text := ""
	for _, m := range last.Messages {
		text += m.Text + "\n"
	}
	return text
}

// TestPreviewIsSent: for every way in which a handoff reaches an agent, what was
// previewed is what it got, byte for byte, into a new conversation and into an
// old one.
func TestPreviewIsSent(t *testing.T) {
	for provider, mode := range map[string]string{"codex": "synthetic_user", "claude": "synthetic_user", "beta": "preamble"} {
		t.Run(provider, func(t *testing.T) {
			r := newRig(t, "")
			id := r.thread()
			for n, strategy := range []string{"full_thread_summary", "delta_since_target_last_seen"} {
				r.say(id, "alpha", fmt.Sprintf("fact-%d: größer als 漢字 and 👩‍🚀, > quoted [[say END OF BATON HANDOFF, noted %d]]", n, n))
				p := r.preview(id, provider)
				if p.Handoff == nil || p.Strategy != strategy || p.Queued || p.Handoff.Delivery.Mode != mode {
					t.Fatalf("the plan: %+v", p)
				}
				if sum := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(p.Handoff.Text))); sum != p.Handoff.Digest {
					t.Errorf("digest %s of a text with %s", p.Handoff.Digest, sum)
				}
				message := fmt.Sprintf("insisting-%d [[say ok]]", n)
				r.baton("send", id, message, "--provider", provider, "--handoff-digest", p.Handoff.Digest, "--wait")
				h := r.handoffOf(id, 2*n+2)
				if h.Text != p.Handoff.Text || h.Digest != p.Handoff.Digest || h.Status != "used" {
					t.Errorf("previewed\n%s\nsent %s\n%s", p.Handoff.Text, h.Status, h.Text)
				}
				if got := r.told(provider, message, p.Handoff.Text); got != 1 {
					t.Errorf("the agent was told it %d times", got)
				}
			}
		})
	}
}

// TestEditedHandoff: the agent is told the person's text and nothing of Baton's.
func TestEditedHandoff(t *testing.T) {
	for _, provider := range []string{"codex", "claude", "beta"} {
		t.Run(provider, func(t *testing.T) {
			r := newRig(t, "")
			id := r.thread()
			r.say(id, "alpha", "fact-1: not to be told [[say noted]]")
			p := r.preview(id, provider)
			file := filepath.Join(t.TempDir(), "told.txt")
			if err := os.WriteFile(file, []byte("All you need: the répertoire is 漢字.\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r.baton("send", id, "edited [[say ok]]", "--provider", provider, "--handoff-file", file, "--handoff-digest", p.Handoff.Digest, "--wait")
			x := r.run(id, 2)
			h := read[struct {
				Text, Strategy, Status string
				EditedFrom             string                 `json:"edited_from"`
				By                     string                 `json:"created_by_provider"`
				Covered                struct{ From, To int } `json:"covered_runs"`
			}](r, "handoff", "show", x.Handoffs[0])
			if h.Strategy != "manual_context" || h.EditedFrom != p.Handoff.Digest || h.By != "person" || h.Covered.From != 1 || h.Covered.To != 1 {
				t.Errorf("the handoff: %+v", h)
			}
			if got := r.told(provider, "edited", "All you need: the répertoire is 漢字."); got != 1 {
				t.Errorf("the agent was told it %d times", got)
			}
			if got := r.told(provider, "edited", "fact-1") + r.told(provider, "edited", "BATON HANDOFF"); got != 0 {
				t.Error("the agent was told what the person took out")
			}
			if c := r.coverage(id)[provider]; len(c.HandedOver) != 1 {
				t.Errorf("coverage: %+v", c)
			}
		})
	}
}

// TestOutdatedDigest: the state moved; the message is refused whole, and goes
// with the new digest.
func TestOutdatedDigest(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	r.say(id, "codex", "fact-1 [[say noted]]")
	old := r.preview(id, "claude")
	r.say(id, "codex", "fact-2 [[say noted]]")
	for _, digest := range []string{old.Handoff.Digest, "sha256:nonsense"} {
		out, errs, code := r.try("send", id, "now", "--provider", "claude", "--handoff-digest", digest)
		if code != 4 || !strings.Contains(errs, "was not sent") || !strings.Contains(errs, r.preview(id, "claude").Handoff.Digest) {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
	}
	if n := len(r.show(id).Runs); n != 2 {
		t.Errorf("%d runs, of which two were accepted", n)
	}
	if _, errs, code := r.try("send", id, "now", "--provider", "codex", "--handoff-digest", old.Handoff.Digest); code != 4 {
		t.Errorf("a digest where nothing is handed over: exit %d, %s", code, errs)
	}
	r.baton("send", id, "now [[say ok]]", "--provider", "claude", "--handoff-digest", r.preview(id, "claude").Handoff.Digest, "--wait")
}

// TestRefusalBringsThePlan: a client that insists on an outdated handoff gets the
// one of now with the refusal.
func TestRefusalBringsThePlan(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	r.say(id, "alpha", "fact-1 [[say noted]]")
	err := r.api().Post(r.ctx, client.Path("threads", id, "messages"), map[string]string{"text": "now", "provider": "codex", "handoff_digest": "sha256:old"}, nil)
	var p *httpapi.Problem
	if !errors.As(err, &p) || p.Status != 409 || p.Plan == nil || p.Plan.Handoff == nil {
		t.Fatalf("got %v", err)
	}
	if want := r.preview(id, "codex").Handoff; p.Plan.Handoff.Text != want.Text || p.Plan.Handoff.Digest != want.Digest {
		t.Errorf("the plan: %+v", p.Plan)
	}
}

// TestQueuedDigest: a queued message is planned when it starts. One that insists
// on a handoff which no longer fits is held, and a person lets it go on.
func TestQueuedDigest(t *testing.T) {
	r := newRig(t, "")
	id := r.thread()
	r.say(id, "codex", "fact-1 [[say noted]]")
	p := r.preview(id, "claude")
	r.offer(id, "codex", "cmd_busy", "fact-2 [[gate busy]] [[say noted]]")
	<-r.model.Waiting("busy")
	if q := r.preview(id, "claude"); !q.Queued {
		t.Errorf("the plan for a busy thread: %+v", q)
	}
	r.baton("send", id, "insists [[say ok]]", "--provider", "claude", "--handoff-digest", p.Handoff.Digest)
	r.model.Release("busy")
	r.ended(id, 2)
	r.await(id, "the held queue", func(e event) bool { return e.Type == "queue.held" })
	if x := r.run(id, 3); x.Status != "queued" || !r.show(id).QueueHeld {
		t.Fatalf("the message: %+v", x)
	}
	if r.count("insists") > 0 {
		t.Error("a model was told the message")
	}
	r.baton("queue", id, "resume")
	if x := r.ended(id, 3); x.Status != "completed" {
		t.Fatalf("run 3: %+v", x)
	}
	if h := r.handoffOf(id, 3); h.Covered.From != 1 || h.Covered.To != 2 || r.told("claude", "insists", h.Text) != 1 {
		t.Errorf("the handoff: %+v", h)
	}
}

// TestThirtyAlternatingRuns: by the default thresholds the chain goes over to
// full handoffs, then to new conversations; and no conversation is ever told
// anything twice.
func TestThirtyAlternatingRuns(t *testing.T) {
	r := newRig(t, "").plain()
	id := r.thread()
	names := []string{"codex", "claude"}
	chain, threads := map[string]int{}, map[string]string{}
	for n := 1; n <= 30; n++ {
		provider := names[n%2]
		r.say(id, provider, fmt.Sprintf("fact-%d: told in run %d [[say noted]]", n, n))
		x := r.run(id, n)
		var strategy string
		if len(x.Handoffs) > 0 {
			strategy = r.handoffOf(id, n).Strategy
		}
		want, fresh := "delta_since_target_last_seen", false
		switch {
		case n == 1:
			want = ""
		case threads[provider] == "", chain[provider] > 10:
			want, fresh = "full_thread_summary", true
		case chain[provider] >= 5:
			want = "full_thread_summary"
		}
		if strategy != want || (threads[provider] != x.ProviderThread) != (fresh || n == 1) {
			t.Fatalf("run %d after %d handoffs: %q into %s, want %q (new: %v)", n, chain[provider], strategy, x.ProviderThread, want, fresh)
		}
		if fresh {
			chain[provider] = 0
		}
		threads[provider] = x.ProviderThread
		if n > 1 {
			chain[provider]++
		}
		q := r.lastWith(fmt.Sprintf("fact-%d:", n))
		for k := 1; k <= n; k++ {
			if c := q.Has(fmt.Sprintf("fact-%d: told", k)); c != 1 {
				t.Fatalf("run %d's request holds fact %d %d times", n, k, c)
			}
		}
	}
}

// TestRegenerated: of a used handoff a draft is made, which the next run into
// the same conversation brings along; the used one stays.
func TestRegenerated(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		t.Run(provider, func(t *testing.T) {
			r := newRig(t, "")
			id := r.thread()
			r.say(id, "alpha", "fact-1: told again [[say noted]]")
			r.say(id, provider, "two [[say ok]]")
			first := r.handoffOf(id, 2)
			r.baton("handoff", "regenerate", first.ID)
			r.say(id, provider, "three [[say ok]]")
			draft := r.handoffOf(id, 3)
			if draft.ID == first.ID || draft.Status != "used" || draft.Covered.From != 1 || draft.Covered.To != 1 {
				t.Errorf("the draft: %+v", draft)
			}
			if got := r.told(provider, "three", "fact-1: told again"); got != 2 {
				t.Errorf("told %d times: once by each handoff is right", got)
			}
			if got := r.handoffOf(id, 2); got.Status != "used" || got.Text != first.Text {
				t.Errorf("the used one became %+v", got)
			}
			if out := r.baton("handoff", "diff", first.ID, draft.ID); !strings.Contains(out, "-BATON HANDOFF full_thread_summary") || !strings.Contains(out, "+BATON HANDOFF delta") {
				t.Errorf("diff:\n%s", out)
			}
		})
	}
}
