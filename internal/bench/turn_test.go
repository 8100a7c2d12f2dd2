package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
	"baton/internal/agent/agenttest"
	"baton/internal/agent/claude"
	"baton/internal/agent/codex"
	"baton/internal/client"
	"baton/internal/modelscript"
	"baton/internal/modelscript/harness"
)

const trivial = "[[say all is well]]"

// pair is the same real agent twice: behind Baton, and driven over bare pipes by
// the same driver.
type pair struct {
	*server
	name   string
	thread string
	events <-chan arrival
	direct *agenttest.Live
	at     int // facts of direct that are read
	number int
	set    baton.Settings
}

func newPair(b *testing.B, name string) *pair {
	b.Helper()
	model, err := modelscript.Start(modelscript.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = model.Close() })
	var driver agent.Driver = codex.Driver{}
	make2 := func() (harness.Agent, error) { return harness.Codex(b.TempDir(), model.URL(), harness.CodexOptions{}) }
	further, set := `permission_mode = "untrusted"`, baton.Settings{PermissionMode: "untrusted"}
	if name == "claude" {
		driver = claude.Driver{}
		make2 = func() (harness.Agent, error) {
			return harness.Claude(b.TempDir(), model.URL(), harness.ClaudeOptions{})
		}
		further, set = fmt.Sprintf("model = %q", harness.ClaudeModel), baton.Settings{Model: harness.ClaudeModel}
	}
	behind, err := make2()
	if err != nil {
		b.Fatal(err)
	}
	bare, err := make2()
	if err != nil {
		b.Fatal(err)
	}
	command := []string{behind.Bin}
	if name == "codex" {
		command = append(command, "app-server")
	}
	p := &pair{server: newServer(b, provider(name, name, command, behind.Env, further)), name: name, set: set}
	p.start()
	p.thread = p.server.thread(name)
	p.events = p.follow(p.thread)
	spec := agent.Spec{Session: "ses_bench", Command: []string{bare.Bin}, Dir: b.TempDir(), Settings: set, NewID: "0b0c3fd1-5f4e-4a53-8f7e-1f0e7b1d0001"}
	if name == "codex" {
		spec.Command = command
	}
	p.direct = agenttest.StartLive(b, driver, spec, bare.Env)
	_, p.at = agenttest.WaitFor[baton.FactSessionReady](p.ctx, p.direct, 0)
	for range 3 { // what is only slow the first time
		p.through()
		p.bare()
	}
	return p
}

// through is a turn by way of Baton: from the client's command to the run's end
// on the client's stream.
func (p *pair) through() time.Duration {
	p.Helper()
	began := time.Now()
	p.send(p.thread, p.name, trivial)
	end, _ := p.until(p.events, "run.ended")
	return end.at.Sub(began)
}

// bare is a turn of the agent alone: from the write to what says its end.
func (p *pair) bare() time.Duration {
	p.Helper()
	p.number++
	began := time.Now()
	p.direct.Step(agent.Input{Intent: baton.IntentDeliver{Settings: p.set,
		Message: baton.Payload{Delivery: baton.DeliveryID(fmt.Sprintf("dlv_0b0c3fd1-5f4e-7a53-8f7e-%012d", p.number)), Text: trivial}}})
	f, at := agenttest.WaitFor[baton.FactTurnEnded](p.ctx, p.direct, p.at)
	took := time.Since(began)
	if p.at = at; f.Status != baton.TurnCompleted {
		p.Fatalf("the bare turn: %+v", f)
	}
	return took
}

const (
	turns = 40
	gap   = 100 * time.Millisecond
)

func BenchmarkTurn(b *testing.B) {
	for _, name := range []string{"codex", "claude"} {
		b.Run(name, func(b *testing.B) {
			p := newPair(b, name)
			var through, bare Samples
			for n := range turns { // in turns, so that what the machine does meets both
				for i := range 2 {
					<-time.After(gap)
					if (n+i)%2 == 0 {
						through = append(through, p.through())
					} else {
						bare = append(bare, p.bare())
					}
				}
			}
			p.compare("spaced", through, bare)
			through, bare = nil, nil
			const block = 5
			for n := range 2 * turns / block {
				for range block {
					if n%2 == 0 {
						through = append(through, p.through())
					} else {
						bare = append(bare, p.bare())
					}
				}
			}
			p.compare("back to back", through, bare)
			p.wire()
		})
	}
}

func (p *pair) compare(how string, through, bare Samples) {
	r := ratio(float64(through.At(.5)), float64(bare.At(.5)))
	report(Row{Name: "trivial turn, " + p.name + ", " + how, Value: through.String(), Versus: "driven directly: " + bare.String(),
		Ratio: r, Budget: "≤ 1.15 ×", Over: r > 1.15})
}

// wire counts what a turn sends to a client: the answer to its command and the
// stream from there to the run's end.
func (p *pair) wire() {
	p.Helper()
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	count := &counter{}
	h := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		c, err := net.Dial("unix", p.places.Socket)
		return counting{c, count}, err
	}}}
	defer h.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://baton"+client.Path("streams")+"?thread="+p.thread, nil)
	if err != nil {
		p.Fatal(err)
	}
	res, err := h.Do(req)
	if err != nil {
		p.Fatal(err)
	}
	defer res.Body.Close()
	seen := ""
	read := func(mark string) {
		buf := make([]byte, 64<<10)
		for !strings.Contains(seen, mark) {
			n, err := res.Body.Read(buf)
			if err != nil {
				p.Fatal(err)
			}
			seen += string(buf[:n])
		}
	}
	read("event: live")
	before := count.n.Load()
	seen = ""
	post, err := h.Post("http://baton"+client.Path("threads", p.thread, "messages"), "application/json", strings.NewReader(`{"text":"`+trivial+`"}`))
	if err != nil {
		p.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, post.Body)
	post.Body.Close()
	read(`"run.ended"`)
	n := count.n.Load() - before
	report(Row{Name: "bytes to a client, trivial turn, " + p.name, Value: fmt.Sprintf("%.1f kB", float64(n)/1e3),
		Versus: fmt.Sprintf("%d events, %d deltas", strings.Count(seen, "event: event"), strings.Count(seen, "event: delta")),
		Ratio:  float64(n) / 10e3, Budget: "≤ 10 kB", Over: n > 10_000})
}
