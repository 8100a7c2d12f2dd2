package journaltest

import (
	"fmt"
	"sync"
	"testing"

	"baton"
	"baton/internal/journal"
)

// manyReaders: more readers at once than a store has connections, each inside a
// View that reads several things, right after the store was opened. None waits
// for another.
func manyReaders(t *testing.T, j journal.Journal) {
	var wg sync.WaitGroup
	errs := make(chan error, 64)
	for n := range 64 {
		wg.Go(func() {
			errs <- j.View(ctx, func(r journal.Reader) error {
				id := baton.ThreadID(fmt.Sprintf("thr_%d", n))
				if _, err := r.List(ctx, journal.Query{Kind: journal.KindItem, Thread: id}); err != nil {
					return err
				}
				if _, err := r.Events(ctx, id, 0, 10); err != nil {
					return err
				}
				_, err := r.Unsettled(ctx)
				return err
			})
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		if err != nil {
			t.Error(err)
		}
	}
}

// positions: where a thread was at a sequence, with units of others between.
func positions(t *testing.T, j journal.Journal) {
	a, b := NewScribe("thr_a"), NewScribe("thr_b")
	a.Must(t, j, a.Create())
	b.Must(t, j, b.Create())
	for n := range 5 {
		a.Must(t, j, a.Command(n+1))
		b.Must(t, j, b.Command(n+1))
	}
	want := map[baton.ThreadID]uint64{}
	for _, e := range AllEvents(t, j) {
		want[e.Thread] = e.Version
		for _, id := range []baton.ThreadID{"thr_a", "thr_b", "thr_none"} {
			if got := must[uint64](t)(j.VersionAt(ctx, id, e.Seq)); got != want[id] {
				t.Fatalf("%s is at version %d at %d, want %d", id, got, e.Seq, want[id])
			}
		}
	}
	for _, seq := range []uint64{0, 1 << 63, 1<<64 - 1} {
		if got := must[uint64](t)(j.VersionAt(ctx, "thr_a", seq)); seq == 0 && got != 0 || seq > 0 && got != a.Version {
			t.Errorf("at %d it is at version %d of %d", seq, got, a.Version)
		}
	}

	u := a.Unit(baton.EventItemOpened{Item: "itm_x", Kind: baton.ItemAssistantMessage, Open: true}, baton.EventItemOpened{Item: "itm_y", Kind: baton.ItemCommand, Open: true})
	u.Chunks = []journal.Chunk{{Item: "itm_y", Output: true, Text: "out"}, {Item: "itm_x", Text: "text"}}
	a.Must(t, j, u)
	equal(t, "open texts", must[[]journal.ChunkLength](t)(j.OpenTexts(ctx, "thr_a")), []journal.ChunkLength{{Item: "itm_x", Text: 4}, {Item: "itm_y", Output: 3}})
	a.Must(t, j, a.Unit(baton.EventItemClosed{Item: "itm_x"}))
	equal(t, "open texts", must[[]journal.ChunkLength](t)(j.OpenTexts(ctx, "thr_a")), []journal.ChunkLength{{Item: "itm_y", Output: 3}})
	equal(t, "open texts of the other", must[[]journal.ChunkLength](t)(j.OpenTexts(ctx, "thr_b")), []journal.ChunkLength(nil))
}
