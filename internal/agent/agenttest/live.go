package agenttest

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"baton"
	"baton/internal/agent"
)

// Live drives one real agent process through a driver's machine over bare
// pipes: no shim, no journal. It is what shows that a driver speaks its agent's
// protocol; what the thread becomes is shown elsewhere. All inputs are kept, so
// that a live session can be written down as a recording.
type Live struct {
	t       testing.TB
	mu      sync.Mutex
	changed chan struct{} // closed and replaced at each new fact
	machine agent.Machine
	stdin   io.WriteCloser
	cmd     *exec.Cmd
	facts   []baton.Fact
	entries []Entry
	stderr  bytes.Buffer
	exited  chan struct{}
}

// StartLive starts the agent as the driver says, with env and nothing else as
// its environment, and ends it with the test.
func StartLive(t testing.TB, d agent.Driver, spec agent.Spec, env map[string]string) *Live {
	t.Helper()
	l := &Live{t: t, changed: make(chan struct{}), machine: d.New(spec), exited: make(chan struct{})}
	l.entries = []Entry{{Spec: &spec}}
	launch := d.Launch(spec)
	all := maps.Clone(launch.Env)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, env)
	l.cmd = exec.Command(launch.Argv[0], launch.Argv[1:]...)
	l.cmd.Dir = spec.Dir
	for _, k := range slices.Sorted(maps.Keys(all)) {
		l.cmd.Env = append(l.cmd.Env, k+"="+all[k])
	}
	l.cmd.Stderr = &l.stderr
	var err error
	if l.stdin, err = l.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := l.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.cmd.Start(); err != nil {
		t.Fatalf("start %s: %v", launch.Argv[0], err)
	}
	l.Step(agent.Input{Started: true})
	go l.read(out)
	t.Cleanup(l.Kill)
	return l
}

func (l *Live) read(out io.Reader) {
	r := bufio.NewReaderSize(out, 1<<16)
	for {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			l.Step(agent.Input{Frame: &agent.Frame{Time: time.Now().UTC(), Data: line}})
		}
		if err != nil {
			break
		}
	}
	_ = l.cmd.Wait()
	l.Step(agent.Input{Exited: true})
	close(l.exited)
}

// Step gives the machine one input and the agent what it writes.
func (l *Live) Step(in agent.Input) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, EntryOf(in))
	out := l.machine.Step(in)
	for _, w := range out.Writes {
		if _, err := l.stdin.Write(w.Data); err != nil {
			l.t.Logf("write: %v", err)
			break
		}
		if w.Tag != "" {
			l.entries = append(l.entries, Entry{Written: w.Tag})
			more := l.machine.Step(agent.Input{Written: &agent.WriteRef{Tag: w.Tag}})
			out.Facts = append(out.Facts, more.Facts...)
		}
	}
	l.facts = append(l.facts, out.Facts...)
	close(l.changed)
	l.changed = make(chan struct{})
}

// Wait blocks until a fact that ok accepts has come at or after position from,
// and returns the position behind it. It fails the test when the agent's
// process ends first or ctx does.
func (l *Live) Wait(ctx context.Context, from int, what string, ok func(baton.Fact) bool) int {
	l.t.Helper()
	for {
		l.mu.Lock()
		facts, changed := l.facts, l.changed
		l.mu.Unlock()
		for i := from; i < len(facts); i++ {
			if ok(facts[i]) {
				return i + 1
			}
		}
		select {
		case <-changed:
		case <-l.exited:
			l.mu.Lock()
			n := len(l.facts)
			l.mu.Unlock()
			if n == len(facts) {
				l.t.Fatalf("the agent ended before %s; facts:\n%s\nstderr: %s", what, Show(agent.Output{Facts: facts}), l.stderr.String())
			}
		case <-ctx.Done():
			l.t.Fatalf("no %s; facts:\n%s\nstderr: %s", what, Show(agent.Output{Facts: facts}), l.stderr.String())
		}
	}
}

// WaitFor waits for the next fact of type F at or after position from.
func WaitFor[F baton.Fact](ctx context.Context, l *Live, from int) (F, int) {
	l.t.Helper()
	var got F
	next := l.Wait(ctx, from, "fact of the wanted type", func(f baton.Fact) bool {
		g, ok := f.(F)
		if ok {
			got = g
		}
		return ok
	})
	return got, next
}

// Facts returns all facts so far.
func (l *Live) Facts() []baton.Fact {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.facts)
}

// Entries returns the recording so far, its spec first.
func (l *Live) Entries() []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}

// CloseStdin asks the agent to end, and waits until it has.
func (l *Live) CloseStdin() {
	_ = l.stdin.Close()
	<-l.exited
}

// Kill ends the agent's process at once and waits for it.
func (l *Live) Kill() {
	_ = l.cmd.Process.Signal(os.Kill)
	<-l.exited
}
