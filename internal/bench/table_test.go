package bench

import (
	"strings"
	"testing"
	"time"
)

func TestSamples(t *testing.T) {
	var s Samples
	if s.At(.5) != 0 {
		t.Errorf("no samples have a median of %v", s.At(.5))
	}
	for n := 100; n > 0; n-- {
		s = append(s, time.Duration(n)*time.Millisecond)
	}
	for q, want := range map[float64]time.Duration{0: 1, .5: 51, .99: 100, 1: 100} {
		if got := s.At(q); got != want*time.Millisecond {
			t.Errorf("At(%v) = %v", q, got)
		}
	}
	if s[0] != 100*time.Millisecond {
		t.Error("the samples were put into another order")
	}
}

func TestPrint(t *testing.T) {
	var b strings.Builder
	err := Print(&b, []Row{
		{Name: "fast", Value: show(900 * time.Microsecond), Budget: "≤ 1 ms"},
		{Name: "slow", Value: show(2500 * time.Millisecond), Versus: "bare 1 s", Ratio: 2.5, Budget: "≤ 1.15", Over: true},
		{Name: "told", Value: show(12345 * time.Microsecond)},
	})
	var got []string
	for _, line := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{"what measured against ratio budget", "fast 900 µs ≤ 1 ms ok", "slow 2.5 s bare 1 s 2.50 ≤ 1.15 OVER", "told 12.3 ms", "",
		"3 rows, 1 over their budget"}
	if err != nil || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("printed %q, %v", got, err)
	}
}
