package bench

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"
)

// BenchmarkCommand is a durable command through the socket: the answer means
// that it is on the disk. Messages go to threads whose agent hangs, and wait.
func BenchmarkCommand(b *testing.B) {
	s := newServer(b, provider("script", "script", nil, map[string]string{"BATON_SCRIPT_HOME": b.TempDir()}, ""))
	s.start()
	var create, queue Samples
	ids := make([]string, 64)
	for n := range 400 {
		began := time.Now()
		ids[n%len(ids)] = s.thread("script")
		create = append(create, time.Since(began))
	}
	for _, id := range ids {
		events := s.follow(id)
		s.send(id, "script", "[[hang]]")
		s.until(events, "run.running")
	}
	for n := range 400 {
		began := time.Now()
		s.send(ids[n%len(ids)], "script", "go on, please, when you can")
		queue = append(queue, time.Since(began))
	}
	flush := flushes(b, 200)
	for _, c := range []struct {
		name string
		took Samples
	}{{"make a thread", create}, {"queue a message", queue}} {
		against := "write and sync of 4 kB: " + flush.String()
		under("durable command, "+c.name+", p50", show(c.took.At(.5)), against, c.took.At(.5), time.Millisecond)
		under("durable command, "+c.name+", p99", show(c.took.At(.99)), against, c.took.At(.99), 10*time.Millisecond)
	}

	const each = 40
	began := time.Now()
	var all sync.WaitGroup
	for _, id := range ids {
		all.Go(func() {
			for range each {
				s.send(id, "script", "go on, please, when you can")
			}
		})
	}
	all.Wait()
	through := float64(len(ids)*each) / time.Since(began).Seconds()
	journal, bare := store(b, "Append64"), store(b, "Bare64")
	for _, c := range []struct {
		name string
		got  float64
	}{{"units of the journal", journal}, {"commands through the socket", through}} {
		r := ratio(c.got, bare)
		report(Row{Name: "sustained, 64 threads, " + c.name, Value: fmt.Sprintf("%.0f/s", c.got), Versus: fmt.Sprintf("bare SQLite group commit: %.0f/s", bare),
			Ratio: r, Budget: "≥ 0.5 ×", Over: r < .5})
	}
}

// store runs a benchmark of package sqlite, whose bare store this package can't
// import, and returns its units a second.
func store(b *testing.B, name string) float64 {
	b.Helper()
	out, err := exec.Command("go", "test", "-run", "^$", "-bench", "^Benchmark"+name+"$", "-benchtime", "2s", "baton/internal/journal/sqlite").CombinedOutput()
	if err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	fields := strings.Fields(string(out))
	for i, f := range fields {
		var v float64
		if f == "units/s" {
			if _, err := fmt.Sscan(fields[i-1], &v); err == nil {
				return v
			}
		}
	}
	b.Fatalf("no units/s in\n%s", out)
	return 0
}
