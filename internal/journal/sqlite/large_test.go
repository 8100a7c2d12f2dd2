package sqlite

import (
	"bytes"
	"path/filepath"
	"reflect"
	"testing"

	"baton"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
)

// TestLargeEffects: data in parts comes back whole, and parts are gone with their
// effect, with their refused unit, and with a unit that never came.
func TestLargeEffects(t *testing.T) {
	path := filepath.Join(t.TempDir(), "baton.db")
	j := reopen(t, path, Options{})
	parts := func() (n int) {
		t.Helper()
		must(t, j.read.QueryRow("SELECT count(*) FROM parts").Scan(&n))
		return n
	}
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Create())
	effect := func(id baton.EffectID, size int) baton.Effect {
		return baton.Effect{ID: id, Thread: "thr_1", Lane: baton.LaneWork, Data: baton.EffectWrite{Data: bytes.Repeat([]byte{1, 2, 250}, size/3)}}
	}
	u := s.Unit()
	u.Effects = []baton.Effect{effect("eff_1", 3<<20), effect("eff_2", 30), effect("eff_3", 1<<20)}
	s.Must(t, j, u)
	l, err := j.Load(ctx, "thr_1")
	must(t, err)
	if !reflect.DeepEqual(l.Effects, u.Effects) {
		t.Fatal("the effects have changed")
	}
	before := parts()

	refused := s.Unit()
	refused.Effects = []baton.Effect{effect("eff_4", 1<<20), effect("eff_1", 1<<20)} // the second exists
	if s.Append(j, refused) == nil {
		t.Fatal("an effect was taken twice")
	}
	if n := parts(); n != before {
		t.Fatalf("a refused unit has left %d parts", n-before)
	}
	u = s.Unit()
	u.Done = []baton.EffectID{"eff_1"}
	s.Must(t, j, u)
	if n := parts(); n == 0 || n >= before {
		t.Fatalf("%d parts are left of %d", n, before)
	}

	// A crash between the parts and their unit.
	e, err := encode(journal.Unit{Thread: "thr_1", Effects: []baton.Effect{effect("eff_5", 1<<20)}})
	must(t, err)
	before = parts()
	must(t, j.stage(ctx, e))
	if parts() == before {
		t.Fatal("nothing was staged")
	}
	must(t, j.Close())
	j = reopen(t, path, Options{})
	if n := parts(); n != before {
		t.Fatalf("%d parts after reopening, want %d", n, before)
	}
	if l, err = j.Load(ctx, "thr_1"); err != nil || len(l.Effects) != 2 || !reflect.DeepEqual(l.Effects[1], effect("eff_3", 1<<20)) {
		t.Fatalf("the effects have changed (%v)", err)
	}
}
