package bench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
	"baton/internal/journal/sqlite"
)

// scriptServer is one with three scripted providers.
func scriptServer(b *testing.B) *server {
	b.Helper()
	toml := ""
	for _, name := range []string{"alpha", "beta", "gamma", "delta", "epsilon"} {
		toml += provider(name, "script", nil, map[string]string{"BATON_SCRIPT_HOME": b.TempDir()}, "")
	}
	return newServer(b, toml)
}

// BenchmarkStart is from the start of the process to its first answer, a list
// of threads, and what an idle server and an idle shim hold in memory.
func BenchmarkStart(b *testing.B) {
	s := scriptServer(b)
	s.start() // makes the database
	s.stop()
	starts := func() (took Samples) {
		for range 10 {
			took = append(took, s.start())
			s.stop()
		}
		return took
	}
	empty := starts()
	under("start to first answer, empty", show(empty.At(.5)), "", empty.At(.5), 30*time.Millisecond)

	s.start()
	id := s.thread("alpha")
	events := s.follow(id)
	s.send(id, "alpha", trivial)
	s.until(events, "run.ended")
	s.memory("idle server", s.cmd.Process.Pid, 40)
	s.memory("idle shim", s.processes("shim")[0], 15)
	s.stop()
	for _, pid := range s.processes("shim") {
		s.killed(pid)
	}
	s.start() // takes notice of the dead session
	events = s.follow(id)
	s.send(id, "alpha", trivial)
	s.until(events, "run.ended")
	if err := s.Post(s.ctx, "/api/threads/"+id+"/stop", nil, nil); err != nil {
		b.Fatal(err)
	}
	s.until(events, "session.ended")
	s.stop()

	s.journal(func(j journal.Journal) { grow(b, j, 10_000) })
	full := starts()
	r := ratio(float64(full.At(.5)), float64(empty.At(.5)))
	report(Row{Name: "start to first answer, 10,000 threads", Value: show(full.At(.5)), Versus: "empty: " + show(empty.At(.5)), Ratio: r,
		Budget: "≤ 150 ms", Over: full.At(.5) > 150*time.Millisecond})
	s.start()
	s.memory("idle server, 10,000 threads", s.cmd.Process.Pid, 40)
}

// journal opens the stopped server's journal.
func (s *server) journal(do func(journal.Journal)) {
	s.Helper()
	j, err := sqlite.Open(s.places.Database, sqlite.Options{})
	if err != nil {
		s.Fatal(err)
	}
	do(j)
	if err := j.Close(); err != nil {
		s.Fatal(err)
	}
}

// grow makes n threads that have had a run.
func grow(b *testing.B, j journal.Journal, n int) {
	var all sync.WaitGroup
	for w := range 64 {
		all.Go(func() {
			for i := w; i < n; i += 64 {
				t := journaltest.NewScribe("thr_" + uuid.Must(uuid.NewV7()).String())
				create := func() journal.Unit {
					return t.Unit(baton.EventThreadCreated{Title: title(i), Workspace: "wsp_1", Dir: "/project", Provider: "script"})
				}
				for _, u := range []func() journal.Unit{create, func() journal.Unit { return t.Command(1) }, func() journal.Unit { return t.End(1) }} {
					if err := t.Append(j, u()); err != nil {
						b.Error(err)
						return
					}
				}
			}
		})
	}
	all.Wait()
}

// title is a title as people's first messages make them, another for each n.
func title(n int) string {
	words := strings.Fields("fix the flaky test of login page add retry to upload why does build fail on arm rename config parser write docs for queue make search faster update deps remove old cache")
	r := rand.New(rand.NewPCG(uint64(n), 1))
	var out []string
	for range 4 + r.IntN(6) {
		out = append(out, words[r.IntN(len(words))])
	}
	return strings.Join(out, " ")
}

// items appends complete items to a thread that the stopped server knows.
func (s *server) items(j journal.Journal, thread string, n int) {
	s.Helper()
	runs, err := j.List(s.ctx, journal.Query{Kind: journal.KindRun, Thread: baton.ThreadID(thread)})
	if err != nil || len(runs) == 0 {
		s.Fatal("no runs: ", err)
	}
	l, err := j.Load(s.ctx, baton.ThreadID(thread))
	if err != nil {
		s.Fatal(err)
	}
	epoch, err := j.ClaimEpoch(s.ctx)
	if err != nil {
		s.Fatal(err)
	}
	t := journaltest.NewScribe(thread)
	t.Version, t.Epoch = l.Version, epoch
	kinds := []baton.ItemKind{baton.ItemReasoning, baton.ItemCommand, baton.ItemAssistantMessage, baton.ItemTool}
	for at := 0; at < n; {
		var events []baton.EventData
		for len(events) < 500 && at < n {
			at++
			kind := kinds[at%len(kinds)]
			body := baton.ItemBody{Text: fmt.Sprintf("what was said and done in step %d of many, in a sentence or two of some length, as agents do", at), Status: baton.NodeCompleted}
			if kind == baton.ItemCommand {
				body.Title, body.Output, body.Text = "go test ./...", body.Text, ""
			}
			events = append(events, baton.EventItemOpened{Item: baton.ItemID("itm_" + uuid.Must(uuid.NewV7()).String()), Run: baton.RunID(runs[0].ID), Kind: kind,
				Position: 1000 + at, Body: body})
		}
		u := t.Unit(events...)
		u.Settled = true
		if err := t.Append(j, u); err != nil {
			s.Fatal(err)
		}
	}
}

// memory reports what a process holds.
func (s *server) memory(what string, pid int, budget float64) {
	s.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		s.Fatal(err)
	}
	kb := map[string]float64{}
	for _, line := range strings.Split(string(b), "\n") {
		var n float64
		if name, rest, ok := strings.Cut(line, ":"); ok {
			if _, err := fmt.Sscan(rest, &n); err == nil {
				kb[name] = n
			}
		}
	}
	mb := kb["VmRSS"] / 1e3
	report(Row{Name: "resident memory, " + what, Value: fmt.Sprintf("%.1f MB", mb), Versus: fmt.Sprintf("of it %.1f MB of files, which processes share", kb["RssFile"]/1e3),
		Ratio: mb / budget, Budget: fmt.Sprintf("≤ %.0f MB", budget), Over: mb > budget})
}
