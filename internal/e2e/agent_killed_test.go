package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// daemon leaves a process behind that has a session of its own and tells its
// start through a file; it is what an agent's own group would miss.
func (r *rig) daemon(name string) string {
	return fmt.Sprintf("setsid sh -c 'touch %s; exec sleep 600' >/dev/null 2>&1 & until [ -e %s ]; do sleep 0.02; done", name, name)
}

func isDaemon(p process) bool { return len(p.args) == 2 && p.args[0] == "sleep" && p.args[1] == "600" }

// deaths are the ways in which what holds a turn can die.
var deaths = []struct {
	name string
	kill func(r *rig)
	code string
}{
	{"agent", func(r *rig) { r.killed(r.agentProcesses()) }, "agent_died"},
	{"shim", func(r *rig) { r.killed(r.find(isShim)) }, "session_lost"},
	{"all", func(r *rig) { r.killed(append(append(r.find(isServer), r.find(isShim)...), r.agentProcesses()...)) }, "session_lost"},
}

// TestDeathInATurn: the agent, its shim, or everything dies while a turn is
// open. The run is interrupted with the reason, no descendant is left, not even
// one with a session of its own, and the next message goes on in the same
// native conversation.
func TestDeathInATurn(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		for _, death := range deaths {
			t.Run(provider+"/"+death.name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "")
				id := r.thread()
				r.say(id, provider, "remember tangerine [[say I will]]")
				native := r.coverage(id)[provider].NativeID
				r.offer(id, provider, "cmd_two", "go on [[say working]] [[run "+r.daemon("up")+"]] [[gate hold]] [[say never said]]")
				r.baton("approve", r.asked(id))
				<-r.model.Waiting("hold")
				if len(r.find(isDaemon)) != 1 {
					t.Fatalf("the daemon does not run: %v", r.processes())
				}
				r.offer(id, provider, "cmd_three", "queued behind [[say not yet]]")
				death.kill(r)

				x := r.ended(id, 2)
				if x.Status != "interrupted" || x.Error == nil || x.Error.Code != death.code {
					t.Errorf("run 2 is %s with %+v", x.Status, x.Error)
				}
				r.until("the end of all that the agent had started", func() bool { return len(r.find(isDaemon))+len(r.agentProcesses()) == 0 })
				th := r.show(id)
				if !th.QueueHeld || th.Runs[2].Status != "queued" {
					t.Errorf("the queue is held: %v, run 3 is %s", th.QueueHeld, th.Runs[2].Status)
				}

				r.say(id, provider, "what was it? [[say tangerine]]")
				now := r.coverage(id)[provider]
				if now.NativeID != native || now.Divergent {
					t.Errorf("the next message went to %s (divergent %v), the conversation was %s", now.NativeID, now.Divergent, native)
				}
				last := r.lastWith("what was it?")
				for text, want := range map[string]int{"remember tangerine": 1, "go on [[say working]]": 1, "what was it?": 1, "queued behind": 0} {
					if n := last.Has(text); n != want {
						t.Errorf("the model got %q %d times, want %d", text, n, want)
					}
				}
			})
		}
	}
}

// TestDeliveryCut: the shim dies right after it has given a delivery to the
// agent, at each write of a first run and of a later one behind a switch. The
// message is neither lost nor told to the model twice.
func TestDeliveryCut(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		for _, point := range []string{"shim.accepted", "shim.written"} {
			t.Run(provider+"/"+point, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "").plain()
				other := map[string]string{"codex": "claude", "claude": "codex"}[provider]
				for pass := 1; pass <= 6; pass++ {
					id := r.thread()
					mark := "cut-" + strings.TrimPrefix(id, "thr_")
					r.say(id, other, "before "+mark+" [[say noted]]")
					r.baton("serve", "--stop")
					server, died := r.serve(fmt.Sprintf("%s:%d", point, pass))
					r.offer(id, provider, "cmd_"+mark, "now "+mark+" [[say told]]")
					_ = server.Kill() // further shims shall live
					<-died
					x := r.ended(id, 2)
					where := fmt.Sprintf("%s %s:%d: run %s after %d attempts", provider, point, pass, x.Status, len(x.Attempts))
					if x.Status == "completed" {
						if n := r.count("now " + mark); n != 1 {
							t.Errorf("%s: the model was asked %d times", where, n)
						}
						if n := r.lastWith("now " + mark).Has("now " + mark); n != 1 {
							t.Errorf("%s: the message is in the request %d times", where, n)
						}
					} else if x.Status != "interrupted" {
						t.Errorf("%s: %+v", where, x.Error)
					}
					r.say(id, provider, "after "+mark+" [[say fine]]")
					last := r.lastWith("after " + mark)
					for _, text := range []string{"before " + mark, "now " + mark} {
						if n := last.Has(text); n != 1 {
							t.Errorf("%s: the next request holds %q %d times\n%s", where, text, n, r.last(id))
						}
					}
					r.baton("stop", id)
				}
			})
		}
	}
}

// TestDeliveryWithoutProof: a delivery is cut and the agent's own record is
// gone. Nobody can tell, so the conversation is replaced, visibly.
func TestDeliveryWithoutProof(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "")
			id := r.thread()
			r.say(id, provider, "first [[say noted]]")
			old := r.coverage(id)[provider]
			r.offer(id, provider, "cmd_two", "second [[say a]] [[gate hold]] [[say b]]")
			<-r.model.Waiting("hold")
			r.killServer()
			_ = filepath.WalkDir(r.agents[provider].Home, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() && strings.Contains(filepath.Base(path), old.NativeID) {
					return os.Remove(path)
				}
				return nil
			})
			r.killed(append(r.find(isShim), r.agentProcesses()...))
			x := r.ended(id, 2)
			if x.Status != "interrupted" {
				t.Errorf("run 2 is %s", x.Status)
			}
			r.say(id, provider, "third [[say noted]]")
			now := r.coverage(id)[provider]
			if now.ID == old.ID || now.Origin.Kind != "reconstructed" {
				t.Errorf("the conversation was not replaced: %+v", now)
			}
			last := r.lastWith("third [[say")
			for _, text := range []string{"first [[say", "second [[say"} {
				if n := last.Has(text); n != 1 {
					t.Errorf("the model was told %q %d times", text, n)
				}
			}
		})
	}
}

// TestHandoffOfAFailedTurn: a handoff that was accepted by a turn that then
// fails is not sent again with the next message.
func TestHandoffOfAFailedTurn(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, "")
			id := r.thread()
			other := map[string]string{"codex": "claude", "claude": "codex"}[provider]
			r.say(id, other, "the word is apricot [[say noted]]")
			_, _, code := r.try("send", id, "and then [[fail 429 until later]] [[say fine]]", "--provider", provider, "--wait")
			x := r.run(id, 2)
			if code != 1 || x.Status != "failed" || x.Error == nil || x.Error.Code != "rate_limited" {
				t.Fatalf("exit %d, run 2 is %s: %+v", code, x.Status, x.Error)
			}
			r.model.Release("later")
			r.say(id, provider, "again [[say fine]]")
			last := r.lastWith("again [[say")
			if n := last.Has("the word is apricot"); n != 1 {
				t.Errorf("the model was told the handoff %d times", n)
			}
			if h := r.run(id, 3).Handoffs; len(h) != 0 {
				t.Errorf("run 3 made a handoff again: %v", h)
			}
		})
	}
}
