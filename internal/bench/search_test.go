package bench

import (
	"fmt"
	"os"
	"testing"
	"time"

	"baton/internal/journal"
)

// BenchmarkSearch is about finding text among 1,000 threads, one of which has
// 20,000 items, all with the same words but for a number. The first search
// follows what no search and no idle second has followed before.
func BenchmarkSearch(b *testing.B) {
	s := scriptServer(b)
	s.start()
	id := s.thread("alpha")
	events := s.follow(id)
	s.send(id, "alpha", trivial)
	s.until(events, "run.ended")
	s.stop()
	for _, pid := range s.processes("shim") {
		s.killed(pid)
	}
	s.start()
	s.stop()
	s.journal(func(j journal.Journal) {
		grow(b, j, 1000)
		s.items(j, id, 20_000)
	})
	_ = os.Remove(s.places.Database + ".search")
	s.start()
	began := time.Now()
	took, _, _ := s.reads("/api/search?q=sentence")
	all := min(time.Since(began), took.At(1))
	report(Row{Name: "first search, follows 32,000 events", Value: show(all), Versus: fmt.Sprintf("%.0f events/s", 32_000/all.Seconds())})
	rare, _, _ := s.reads("/api/search?q=17531")
	common, _, _ := s.reads("/api/search?q=sentence+length")
	prefix, _, _ := s.reads("/api/search?q=sen")
	for _, c := range []struct {
		name string
		took Samples
	}{{"a rare word", rare}, {"two words of all items", common}, {"a beginning of a word of all items", prefix}} {
		under("search of 1,000 threads, "+c.name, c.took.String(), "", c.took.At(.5), 100*time.Millisecond)
	}
	db, err := os.Stat(s.places.Database)
	if err != nil {
		b.Fatal(err)
	}
	index, err := os.Stat(s.places.Database + ".search")
	if err != nil {
		b.Fatal(err)
	}
	report(Row{Name: "index of the search on disk", Value: fmt.Sprintf("%.1f MB", float64(index.Size())/1e6), Versus: fmt.Sprintf("database: %.1f MB", float64(db.Size())/1e6),
		Ratio: ratio(float64(index.Size()), float64(db.Size()))})
}
