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
