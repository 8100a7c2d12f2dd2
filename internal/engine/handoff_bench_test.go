package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"baton"
	"baton/internal/handoff"
	"baton/internal/journal"
	"baton/internal/journal/journaltest"
	"baton/internal/journal/sqlite"
)

// BenchmarkReadSource10k reads what a handoff of 10,000 items tells, and makes the
// document. Budget: 50 ms.
func BenchmarkReadSource10k(b *testing.B) {
	for _, runs := range []int{1, 1000} {
		b.Run(fmt.Sprintf("runs=%d", runs), func(b *testing.B) {
			j, err := sqlite.Open(filepath.Join(b.TempDir(), "baton.db"), sqlite.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			write(b, j, runs, 10_000/runs)
			data := baton.EffectBuildHandoff{Covered: baton.Intervals{}.Add(1, runs)}
			for b.Loop() {
				var src handoff.Source
				err := j.View(context.Background(), func(r journal.Reader) (err error) {
					src, err = readSource(context.Background(), r, "thr_1", data)
					return err
				})
				if err != nil || len(src.Runs) != runs || len(src.Runs[runs-1].Items) < 7000/runs {
					b.Fatal(len(src.Runs), err)
				}
				if _, err := handoff.Build(src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// write makes thr_1 with runs that have ended and items of several kinds.
func write(t testing.TB, j journal.Journal, runs, items int) {
	s := journaltest.NewScribe("thr_1")
	s.Must(t, j, s.Create())
	kinds := []baton.ItemKind{baton.ItemReasoning, baton.ItemCommand, baton.ItemAssistantMessage, baton.ItemTool}
	at := 10_000
	for n := range runs {
		s.Must(t, j, s.Command(n+1))
		run := baton.RunID(fmt.Sprintf("run_thr_1_%d", n+1))
		for left := items; left > 0; left -= 500 {
			var events []baton.EventData
			for range min(left, 500) {
				at++
				events = append(events, baton.EventItemOpened{Item: baton.ItemID(fmt.Sprintf("itm_01a22e96-0000-7000-8000-%012d", at)), Run: run, Kind: kinds[at%len(kinds)],
					Position: at, Body: baton.ItemBody{Text: fmt.Sprintf("what was said and done in step %d of many, in a sentence or two of some length, as agents do", at), Status: baton.NodeCompleted}})
			}
			s.Must(t, j, s.Unit(events...))
		}
		s.Must(t, j, s.End(n+1))
	}
}
