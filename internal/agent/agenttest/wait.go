package agenttest

import (
	"context"
	"os"
)

// WaitFrame blocks until the agent has written a line that ok accepts, for
// what no fact tells. It fails the test like Wait.
func (l *Live) WaitFrame(ctx context.Context, what string, ok func(line string) bool) {
	l.t.Helper()
	for seen := 0; ; {
		l.mu.Lock()
		entries, changed := l.entries, l.changed
		l.mu.Unlock()
		for ; seen < len(entries); seen++ {
			if f := entries[seen].Frame; f != "" && ok(f) {
				return
			}
		}
		select {
		case <-changed:
		case <-l.exited:
			l.t.Fatalf("the agent ended before %s; stderr: %s", what, l.stderr.String())
		case <-ctx.Done():
			l.t.Fatalf("no %s; stderr: %s", what, l.stderr.String())
		}
	}
}

// Signal sends the agent's process a signal and does not wait.
func (l *Live) Signal(s os.Signal) { _ = l.cmd.Process.Signal(s) }

// Exited is closed when the agent's process is gone and all its lines are read.
func (l *Live) Exited() <-chan struct{} { return l.exited }
