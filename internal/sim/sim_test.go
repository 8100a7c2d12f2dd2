package sim

import (
	"os"
	"strconv"
	"sync"
	"testing"
)

// TestSim plays BATON_SIM_SEEDS seeds, 500 where that is not set. A seed that
// fails replays exactly; its situation becomes a test of package decide or owner.
func TestSim(t *testing.T) {
	seeds := 500
	if s := os.Getenv("BATON_SIM_SEEDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("BATON_SIM_SEEDS: %v", err)
		}
		seeds = n
	}
	const workers = 2
	var wg sync.WaitGroup
	next := make(chan uint64)
	for range workers {
		wg.Go(func() {
			for seed := range next {
				if err := Run(seed, steps); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for seed := range seeds {
		if t.Failed() {
			break
		}
		next <- uint64(seed)
	}
	close(next)
	wg.Wait()
}

// TestReplay: the same seed gives the same world.
func TestReplay(t *testing.T) {
	for seed := range uint64(20) {
		a, b := newWorld(seed), newWorld(seed)
		for range 400 {
			if err := a.step(); err != nil {
				t.Fatal(err)
			}
			if err := b.step(); err != nil {
				t.Fatal(err)
			}
		}
		if la, lb := len(a.log), len(b.log); la != lb {
			t.Fatalf("seed %d: %d against %d log lines", seed, la, lb)
		}
		for i := range a.log {
			if a.log[i] != b.log[i] {
				t.Fatalf("seed %d: line %d: %q against %q", seed, i, a.log[i], b.log[i])
			}
		}
	}
}
