package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"baton/internal/client"
)

// serverPoints are the failpoints at which a server can be killed, each at the
// first and at later passes.
var serverPoints = []string{
	"engine.before_append", "journal.before_commit", "journal.after_commit", "engine.committed",
	"engine.answered", "engine.session_launched", "engine.frames_committed",
}

var passes = []int{1, 2, 4, 7, 12}

// scene is a turn that is open while the server dies.
type scene struct {
	name    string
	message func(gate, mark string) string
	finish  func(r *rig, id, gate string)
	answer  string
	models  int // requests that the turn needs
}

var scenes = []scene{
	{"streaming", func(gate, mark string) string {
		return fmt.Sprintf("%s [[say the first half, ]] [[gate %s]] [[say and the second half]]", mark, gate)
	}, func(r *rig, _, gate string) { r.model.Release(gate) }, "the first half,and the second half", 1},
	{"approval", func(gate, mark string) string {
		return fmt.Sprintf("%s [[gate %s]] [[run touch %s.txt]] [[say it is made]]", mark, gate, mark)
	}, func(r *rig, id, gate string) {
		r.model.Release(gate)
		r.act("cmd_approve_"+gate, "approve", r.asked(id))
	}, "it is made", 2},
}

// TestServerKilledAtFailpoints: at every boundary of a server, with a turn open.
// What was acknowledged is there, the turn goes on, its text is whole, the
// request can be answered, and the model was asked for nothing twice.
func TestServerKilledAtFailpoints(t *testing.T) {
	for _, provider := range []string{"codex", "claude"} {
		for _, sc := range scenes {
			t.Run(provider+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "").plain()
				for _, point := range serverPoints {
					for _, pass := range passes {
						r.killedServer(sc, provider, fmt.Sprintf("%s:%d", point, pass), 0)
					}
				}
			})
		}
	}
}

// TestServerKilledAtRandom: the same at 100 random moments.
func TestServerKilledAtRandom(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("BATON_E2E_SEED"); s != "" {
		seed, _ = strconv.ParseUint(s, 10, 64)
	}
	t.Logf("BATON_E2E_SEED=%d", seed)
	for _, provider := range []string{"codex", "claude"} {
		for _, sc := range scenes {
			t.Run(provider+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				r := newRig(t, "").plain()
				rng := rand.New(rand.NewPCG(seed, 1))
				for range 25 {
					r.killedServer(sc, provider, "", time.Duration(1+rng.IntN(500))*time.Millisecond)
				}
			})
		}
	}
}

// serve starts a server in the background that dies at the failpoint, and
// returns once it answers or is dead; died is closed when it is.
func (r *rig) serve(failpoint string) (server *os.Process, died <-chan struct{}) {
	r.Helper()
	cmd := exec.Command(r.bin, "serve")
	cmd.Env = append(append([]string{}, r.env...), "BATON_FAILPOINT="+failpoint)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	over := make(chan struct{})
	go func() { _ = cmd.Wait(); close(over) }()
	places := r.places()
	r.until("a server that answers", func() bool {
		c, _, err := client.Reachable(r.ctx, places.Socket)
		if err == nil {
			c.Close()
			return true
		}
		select {
		case <-over:
			return true
		default:
			return false
		}
	})
	return cmd.Process, over
}

// killedServer plays one scene in a thread of its own. The server dies at the
// failpoint, or after a while from the moment the message is sent; the scene
// goes on with the next one.
func (r *rig) killedServer(sc scene, provider, failpoint string, after time.Duration) {
	r.Helper()
	id := r.thread()
	mark := "mark-" + strings.ReplaceAll(strings.TrimPrefix(id, "thr_"), "-", "")
	gate := "gate-" + mark
	if failpoint != "" {
		r.baton("serve", "--stop")
		server, died := r.serve(failpoint)
		defer func() { <-died }()
		defer func() { _ = server.Kill() }() // where it never came to its failpoint
	} else {
		servers := r.find(isServer)
		timer := time.AfterFunc(after, func() {
			for _, p := range servers {
				_ = p.kill()
			}
		})
		defer timer.Stop()
	}
	command := "cmd_" + mark
	r.offer(id, provider, command, sc.message(gate, mark))
	sc.finish(r, id, gate)
	x := r.ended(id, 1)

	where := fmt.Sprintf("%s %s %s %v", provider, sc.name, failpoint, after)
	answer := ""
	for _, it := range r.itemsOf(id, x.ID, "assistant_message") {
		answer += it.Body.Text
	}
	if x.Status != "completed" || answer != sc.answer {
		r.Fatalf("%s: run %s, answer %q, error %+v\n%s", where, x.Status, answer, x.Error, r.last(id))
	}
	if n := len(r.show(id).Runs); n != 1 {
		r.Fatalf("%s: %d runs", where, n)
	}
	if len(x.Attempts) != 1 {
		r.Logf("%s: %d attempts", where, len(x.Attempts))
	}
	if n := r.count(mark); n != sc.models {
		r.Fatalf("%s: the model was asked %d times, %d are right", where, n, sc.models)
	}
	if n := r.lastWith(mark).Has("[[gate " + gate); n != 1 {
		r.Fatalf("%s: the message is in the request %d times", where, n)
	}
	r.act("cmd_stop_"+mark, "stop", id) // lets its agent go
}
