package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"os/exec"
	"strings"

	"baton"
	"baton/internal/client"
	"baton/internal/config"
)

// api returns a client of the server, which is started where none runs.
func (r *rig) api() *client.Client {
	r.Helper()
	r.alive()
	c := client.New(r.places().Socket)
	r.Cleanup(c.Close)
	return c
}

// alive makes sure that a server runs.
func (r *rig) alive() {
	r.Helper()
	for try := 0; ; try++ {
		out, errs, code := r.try("ls")
		if code == 0 {
			return
		}
		if try == 20 || !strings.Contains(errs, "server_unreachable") {
			r.Fatalf("ls: exit %d\n%s%s", code, out, errs)
		}
	}
}

func (r *rig) places() config.Places {
	r.Helper()
	places, err := config.Find(map[string]string{"BATON_HOME": r.home, "HOME": r.home}, os.Getuid())
	if err != nil {
		r.Fatal(err)
	}
	return places
}

// items returns the timeline.
func (r *rig) items(id string) []item {
	r.Helper()
	read := func() ([]item, error) {
		return client.All[item](r.ctx, r.api(), client.Path("threads", id, "items"), url.Values{"limit": {"1000"}})
	}
	items, err := read()
	for baton.ErrorCode(err) == baton.CodeServerUnreachable && r.ctx.Err() == nil {
		items, err = read() // the server was killed; api starts the next one
	}
	if err != nil {
		r.Fatal(err)
	}
	return items
}

func (r *rig) itemsOf(id, run, kind string) []item {
	r.Helper()
	var out []item
	for _, it := range r.items(id) {
		if it.Run == run && it.Kind == kind {
			out = append(out, it)
		}
	}
	return out
}

// event is one event of a thread with the fields that tests look at.
type event struct {
	Type string
	Data struct {
		Run        string `json:"run_id"`
		Ordinal    int    `json:"ordinal"`
		Status     string `json:"status"`
		Request    string `json:"request_id"`
		Session    string `json:"session_id"`
		Kind       string `json:"kind"`
		Trigger    string `json:"trigger"`
		AbsorbedBy string `json:"absorbed_by"`
		Delivery   string `json:"delivery_id"`
	}
}

// await follows the thread from its beginning until ok accepts an event. The
// stream survives restarts of the server; where none runs, one is started.
func (r *rig) await(id, what string, ok func(event) bool) event {
	r.Helper()
	var found event
	follow := func() error {
		return r.api().Stream(r.ctx, id, 0, func(m client.Message) error {
			if m.Event == nil {
				return nil
			}
			e := event{Type: m.Event.Type}
			if err := json.Unmarshal(m.Event.Data, &e.Data); err != nil {
				return err
			}
			if ok(e) {
				found = e
				return io.EOF
			}
			return nil
		})
	}
	err := follow()
	for baton.ErrorCode(err) == baton.CodeServerUnreachable && r.ctx.Err() == nil {
		err = follow() // the server was killed; api starts the next one
	}
	if err != nil && !errors.Is(err, io.EOF) {
		r.Fatalf("waiting for %s: %v\n%s\nprocesses: %v", what, err, r.last(id), r.processes())
	}
	return found
}

func (r *rig) last(id string) string {
	cmd := exec.CommandContext(context.WithoutCancel(r.ctx), r.bin, "show", id)
	cmd.Env = r.env
	out, _ := cmd.CombinedOutput()
	log, _ := os.ReadFile(r.home + "/server.log")
	return string(out) + "\n" + string(log[max(0, len(log)-3000):])
}

// ended waits until the run with the ordinal has ended and returns it.
func (r *rig) ended(id string, ordinal int) run {
	r.Helper()
	ids := map[int]string{}
	r.await(id, "the end of a run", func(e event) bool {
		if e.Type == "run.queued" {
			ids[e.Data.Ordinal] = e.Data.Run
		}
		return e.Type == "run.ended" && e.Data.Run == ids[ordinal]
	})
	return r.run(id, ordinal)
}

// asked waits for a request that is pending and returns its id.
func (r *rig) asked(id string) string {
	r.Helper()
	return r.await(id, "a request", func(e event) bool { return e.Type == "request.opened" }).Data.Request
}

// act gives a command that the server may die in the middle of: the same again,
// until it is acknowledged. It returns what was printed.
func (r *rig) act(command string, args ...string) string {
	r.Helper()
	for try := 0; ; try++ {
		out, errs, code := r.try(append(args, "--command-id", command)...)
		if code == 0 {
			return out
		}
		if try == 20 || !strings.Contains(errs, "server_unreachable") {
			r.Fatalf("baton %v: exit %d\n%s%s", args, code, out, errs)
		}
	}
}

// offer sends a message without waiting for its run.
func (r *rig) offer(id, provider, command, text string) {
	r.Helper()
	r.act(command, "send", id, text, "--provider", provider)
}

// count returns how many requests of the model server hold the text.
func (r *rig) count(text string) int {
	n := 0
	for _, q := range r.model.Requests() {
		if q.Has(text) > 0 {
			n++
		}
	}
	return n
}
