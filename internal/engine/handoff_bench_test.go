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

// BenchmarkReadSource10k reads what a handoff of a run with 10,000 items tells,
// and makes the document. Budget: 50 ms.
func BenchmarkReadSource10k(b *testing.B) {
	j, err := sqlite.Open(filepath.Join(b.TempDir(), "baton.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	s := journaltest.NewScribe("thr_1")
	s.Must(b, j, s.Create())
	s.Must(b, j, s.Command(1))
	kinds := []baton.ItemKind{baton.ItemReasoning, baton.ItemCommand, baton.ItemAssistantMessage, baton.ItemTool}
	for at := 10; at < 10_000; {
		var events []baton.EventData
		for range 500 {
			at++
			events = append(events, baton.EventItemOpened{Item: baton.ItemID(fmt.Sprintf("itm_01a22e96-0000-7000-8000-%012d", at)), Run: "run_thr_1_1", Kind: kinds[at%len(kinds)],
				Position: at, Body: baton.ItemBody{Text: fmt.Sprintf("what was said and done in step %d of many, in a sentence or two of some length, as agents do", at), Status: baton.NodeCompleted}})
		}
		s.Must(b, j, s.Unit(events...))
	}
	data := baton.EffectBuildHandoff{Covered: baton.Intervals{}.Add(1, 1)}
	for b.Loop() {
		var src handoff.Source
		err := j.View(context.Background(), func(r journal.Reader) (err error) {
			src, err = readSource(context.Background(), r, "thr_1", data)
			return err
		})
		if err != nil || len(src.Runs) != 1 || len(src.Runs[0].Items) < 7000 {
			b.Fatal(len(src.Runs), err)
		}
		if _, err := handoff.Build(src); err != nil {
			b.Fatal(err)
		}
	}
}
