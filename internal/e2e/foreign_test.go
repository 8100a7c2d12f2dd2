package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"baton/internal/modelscript/harness"
)

// outside runs the agent's own command in the project, as a person would in a
// terminal, without Baton.
func (r *rig) outside(provider string, args ...string) {
	r.Helper()
	a := r.agents[provider]
	cmd := exec.CommandContext(r.ctx, a.Bin, args...)
	cmd.Dir = r.project
	for k, v := range a.Env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		r.Fatalf("%s %v: %v\n%s", provider, args, err, out)
	}
}

// goesOn gives a text to a native conversation from outside.
func (r *rig) goesOn(provider, native, text string) {
	r.Helper()
	if provider == "codex" {
		r.outside("codex", "exec", "--skip-git-repo-check", "resume", native, text)
		return
	}
	r.outside("claude", "--resume", native, "--print", "--model", harness.ClaudeModel, "--setting-sources=", "--strict-mcp-config", text)
}

// TestForeignTurns: somebody goes on with the agent's own conversation in a
// terminal. The next run says so, leaves that conversation to them and goes to a
// new one that is told the whole thread, and nothing of what it does not hold.
func TestForeignTurns(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "")
			id := r.thread()
			r.say(id, provider, "the word is quince [[say noted]]")
			old := r.coverage(id)[provider]
			r.killed(r.agentProcesses())
			r.goesOn(provider, old.NativeID, "a foreign word [[say a foreign answer]]")
			if n := r.lastWith("a foreign word").Has("the word is quince"); n != 1 {
				t.Fatalf("the foreign turn was not in the conversation: %d", n)
			}

			r.say(id, provider, "and now? [[say fine]]")
			x := r.run(id, 2)
			now := r.coverage(id)[provider]
			if now.ID == old.ID || now.NativeID == old.NativeID || now.Divergent || now.Origin.Kind != "reconstructed" || now.Origin.From != old.ID {
				t.Errorf("the conversation of run 2 is %+v", now)
			}
			for _, p := range read[coverage](r, "coverage", id).ProviderThreads {
				if p.ID == old.ID && !p.Divergent {
					t.Errorf("the former one is %+v", p)
				}
			}
			if h := r.handoffOf(id, 2); h.Strategy != "full_thread_summary" {
				t.Errorf("handed over by %s", h.Strategy)
			}
			told := ""
			for _, it := range r.itemsOf(id, x.ID, "notice") {
				told += it.Body.Text + "\n"
			}
			if !strings.Contains(told, "turns that are not of this thread: 1 message that somebody else gave") {
				t.Errorf("the notices of run 2:\n%s", told)
			}
			last := r.lastWith("and now?")
			for text, want := range map[string]int{"the word is quince": 1, "a foreign": 0} {
				if n := last.Has(text); n != want {
					t.Errorf("the model got %q %d times, want %d", text, n, want)
				}
			}

			// The new one is ours alone.
			r.killed(r.agentProcesses())
			r.say(id, provider, "and then? [[say fine]]")
			if again := r.coverage(id)[provider]; again.ID != now.ID || again.Divergent {
				t.Errorf("run 3 went to %+v", again)
			}
		})
	}
}

// TestOwnTurnsAreNotForeign: whatever an agent's conversation may hold of our
// own doing is resumed as ours: turns that were interrupted, failed or died,
// handoffs, folded-in work of the background, a summary.
func TestOwnTurnsAreNotForeign(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "")
			id := r.thread()
			fifo := filepath.Join(r.project, "go")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			ended := 0
			one := func(p, text string) { r.say(id, p, text); ended++ }
			one(provider, "one [[say noted]]")
			old := r.coverage(id)[provider]
			one("alpha", "two [[say noted]]")
			one(provider, "three, behind a handoff [[say noted]]")
			if provider == "claude" { // the end of work in the background is a turn of its own
				one(provider, "four [[run-background cat go]] [[say it runs]]")
				open, err := os.OpenFile(fifo, os.O_WRONLY, 0)
				if err != nil {
					t.Fatal(err)
				}
				_ = open.Close()
				ended++
				r.ended(id, ended)
			}
			r.offer(id, provider, "cmd_stopped", "stop this [[say half]] [[gate stopped]] [[say never]]")
			<-r.model.Waiting("stopped")
			r.baton("stop", id)
			ended++
			r.ended(id, ended)
			r.offer(id, provider, "cmd_failed", "fail at this [[fail 429 until later]]")
			ended++
			if x := r.ended(id, ended); x.Status != "failed" {
				t.Fatalf("run %d is %s", ended, x.Status)
			}
			r.offer(id, provider, "cmd_died", "die of this [[say half]] [[gate died]] [[say never]]")
			<-r.model.Waiting("died")
			r.killed(r.agentProcesses())
			ended++
			r.ended(id, ended)
			if provider == "claude" { // a summary that somebody asks for adds no message
				r.goesOn(provider, old.NativeID, "/compact")
			} else { // one is made as soon as a turn has filled the window
				one(provider, "grow [[usage 257000 20]] [[say big]]")
				one(provider, "shrink [[say fine]]")
				if len(r.itemsOf(id, r.run(id, ended).ID, "compaction")) == 0 {
					t.Errorf("run %d did not summarise:\n%s", ended, r.baton("show", id))
				}
				r.killed(r.agentProcesses())
			}
			one(provider, "and now? [[say fine]]")
			r.killed(r.agentProcesses())
			one(provider, "and then? [[say fine]]")
			now := r.coverage(id)[provider]
			if now.ID != old.ID || now.NativeID != old.NativeID || now.Divergent {
				t.Errorf("the conversation was %+v, is %+v\n%s", old, now, r.last(id))
			}
		})
	}
}
