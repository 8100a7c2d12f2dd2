package codex

import (
	"syscall"
	"testing"

	"baton"
)

// checkFacts holds what every stream of facts must: nothing is closed twice
// but what was detached, a delta has an open item, requests end once, and a
// turn leaves nothing of its own open.
func checkFacts(t testing.TB, facts []baton.Fact) {
	t.Helper()
	items := map[string]baton.NodeStatus{}
	requests := map[string]bool{}
	turn := ""
	for _, f := range facts {
		switch f := f.(type) {
		case baton.FactTurnStarted:
			if turn != "" {
				t.Errorf("turn %s began in turn %s", f.Key, turn)
			}
			turn = f.Key
		case baton.FactTurnEnded:
			if turn != f.Key {
				t.Errorf("turn %s ended in turn %q", f.Key, turn)
			}
			turn = ""
			for k, s := range items {
				if s == baton.NodeRunning && len(k) > len(f.Key) && k[:len(f.Key)] == f.Key {
					t.Errorf("item %s is open after its turn", k)
				}
			}
		case baton.FactItemOpened:
			if _, ok := items[f.Key]; ok {
				t.Errorf("item %s opened twice", f.Key)
			}
			if f.Parent != "" && items[f.Parent] == "" {
				t.Errorf("item %s has the unknown parent %s", f.Key, f.Parent)
			}
			items[f.Key] = baton.NodeRunning
		case baton.FactItemDelta:
			if items[f.Key] != baton.NodeRunning {
				t.Errorf("delta for item %s, which is %q", f.Key, items[f.Key])
			}
		case baton.FactItemReset:
			if items[f.Key] != baton.NodeRunning {
				t.Errorf("reset of item %s, which is %q", f.Key, items[f.Key])
			}
		case baton.FactItemClosed:
			if s := items[f.Key]; s != "" && !baton.NodeTransitions.May(s, f.Status) {
				t.Errorf("item %s went from %s to %s", f.Key, s, f.Status)
			}
			items[f.Key] = f.Status
		case baton.FactRequestOpened:
			if requests[f.Key] {
				t.Errorf("request %s opened twice", f.Key)
			}
			requests[f.Key] = true
		case baton.FactRequestGone:
			if !requests[f.Key] {
				t.Errorf("request %s is gone and was not there", f.Key)
			}
		}
	}
}

func mkfifo(t testing.TB, path string) string {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
