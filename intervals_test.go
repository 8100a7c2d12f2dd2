package baton

import (
	"encoding/json"
	"math/rand/v2"
	"testing"
)

// TestIntervalsAgainstMap compares every operation with the same operation on
// plain sets of numbers.
func TestIntervalsAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func() (Intervals, map[int]bool) {
		var s Intervals
		m := map[int]bool{}
		for range rng.IntN(6) {
			from := rng.IntN(20)
			to := from + rng.IntN(5) - 1
			s = s.Add(from, to)
			for n := from; n <= to; n++ {
				m[n] = true
			}
		}
		return s, m
	}
	check := func(op string, s Intervals, want func(int) bool) {
		t.Helper()
		count := 0
		for n := -1; n < 30; n++ {
			if s.Has(n) != want(n) {
				t.Fatalf("%s: Has(%d) = %v in %v", op, n, s.Has(n), s)
			}
			if s.Has(n) {
				count++
			}
		}
		if count != s.Count() {
			t.Fatalf("%s: Count() = %d, want %d in %v", op, s.Count(), count, s)
		}
		for i := 1; i < len(s); i++ {
			if s[i].From <= s[i-1].To+1 {
				t.Fatalf("%s: not sorted and apart: %v", op, s)
			}
		}
	}
	for range 5000 {
		a, ma := random()
		b, mb := random()
		n := rng.IntN(25)
		check("add", a, func(n int) bool { return ma[n] })
		check("union", a.Union(b), func(n int) bool { return ma[n] || mb[n] })
		check("minus", a.Minus(b), func(n int) bool { return ma[n] && !mb[n] })
		check("up to", a.UpTo(n), func(i int) bool { return ma[i] && i <= n })
		check("unchanged", a, func(n int) bool { return ma[n] })
	}
}

func TestIntervalsJSON(t *testing.T) {
	got, err := json.Marshal(map[string]Intervals{"a": Ordinals(1, 2, 3, 9), "b": nil})
	if err != nil || string(got) != `{"a":[[1,3],[9,9]],"b":[]}` {
		t.Fatalf("Marshal = %s, %v", got, err)
	}
	var back Intervals
	if err := json.Unmarshal([]byte(`[[1,3],[9,9]]`), &back); err != nil || back.Count() != 4 {
		t.Fatalf("Unmarshal = %v, %v", back, err)
	}
}
