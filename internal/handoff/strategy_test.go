package handoff

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"baton"
)

func span(from, to int) baton.Intervals { return baton.Intervals{}.Add(from, to) }

// codex is a candidate that took runs 1-5 and can be resumed.
func codex(change func(*Candidate)) Candidate {
	c := Candidate{ID: "pth_c1", Provider: "codex", Status: baton.ProviderThreadNotLoaded, Native: span(1, 5), LastUsed: 5, Resumable: true}
	if change != nil {
		change(&c)
	}
	return c
}

func TestChoose(t *testing.T) {
	claude := Candidate{ID: "pth_l1", Provider: "claude", Status: baton.ProviderThreadIdle, Native: span(6, 8), HandedOver: span(1, 5), LastUsed: 8, Resumable: true}
	one := func(change func(*Candidate)) []Candidate { return []Candidate{claude, codex(change)} }
	tests := []struct {
		name       string
		upTo       int
		candidates []Candidate
		policy     Policy
		strategy   baton.Strategy
		into       baton.ProviderThreadID
		covers     string
		replaces   baton.ProviderThreadID
		decisive   string // signal of the choice
		rejected   string // signal of the drop
	}{
		{"first run", 0, nil, Policy{}, baton.StrategyNone, "", "none", "", SignalCandidates, ""},
		{"first run of this provider", 5, []Candidate{claude}, Policy{}, baton.StrategyFull, "", "1-5", "", SignalCandidates, ""},
		{"misses nothing", 5, one(nil), Policy{}, baton.StrategyNone, "pth_c1", "none", "", SignalMissing, ""},
		{"back after three runs", 8, one(nil), Policy{}, baton.StrategyDelta, "pth_c1", "6-8", "", SignalMissing, ""},
		{"chain just below full", 8, one(func(c *Candidate) { c.Chain = 4 }), Policy{}, baton.StrategyDelta, "pth_c1", "6-8", "", SignalMissing, ""},
		{"chain at full", 8, one(func(c *Candidate) { c.Chain = 5 }), Policy{}, baton.StrategyFull, "pth_c1", "1-8", "", SignalChain, ""},
		{"chain at new", 8, one(func(c *Candidate) { c.Chain = 10 }), Policy{}, baton.StrategyFull, "pth_c1", "1-8", "", SignalChain, ""},
		{"chain beyond new", 8, one(func(c *Candidate) { c.Chain = 11 }), Policy{}, baton.StrategyFull, "", "1-8", "pth_c1", SignalCandidates, SignalChain},
		{"long chain, misses nothing", 5, one(func(c *Candidate) { c.Chain = 11 }), Policy{}, baton.StrategyNone, "pth_c1", "none", "", SignalMissing, ""},
		{"own thresholds", 8, one(func(c *Candidate) { c.Chain = 2 }), Policy{ChainFull: 2, ChainNew: 3}, baton.StrategyFull, "pth_c1", "1-8", "", SignalChain, ""},
		{"foreign runs at the limit", 8, one(nil), Policy{ForeignRuns: 3}, baton.StrategyDelta, "pth_c1", "6-8", "", SignalMissing, ""},
		{"foreign runs beyond", 8, one(nil), Policy{ForeignRuns: 2}, baton.StrategyFull, "", "1-8", "pth_c1", SignalCandidates, SignalForeignRuns},
		{"foreign runs without limit", 8, one(nil), Policy{ForeignRuns: -1}, baton.StrategyDelta, "pth_c1", "6-8", "", SignalMissing, ""},
		{"never bound", 8, one(func(c *Candidate) { c.Resumable = false }), Policy{}, baton.StrategyFull, "", "1-8", "pth_c1", SignalCandidates, SignalResumable},
		{"resume failed", 8, one(func(c *Candidate) { c.Status = baton.ProviderThreadError }), Policy{}, baton.StrategyFull, "", "1-8", "pth_c1", SignalCandidates, SignalStatus},
		{"closed", 5, one(func(c *Candidate) { c.Status = baton.ProviderThreadClosed }), Policy{}, baton.StrategyFull, "", "1-5", "pth_c1", SignalCandidates, SignalStatus},
		{"archived", 5, one(func(c *Candidate) { c.Status = baton.ProviderThreadArchived }), Policy{}, baton.StrategyFull, "", "1-5", "pth_c1", SignalCandidates, SignalStatus},
		{"divergent", 8, one(func(c *Candidate) { c.Divergent = true }), Policy{}, baton.StrategyFull, "", "1-8", "pth_c1", SignalCandidates, SignalDivergent},
		{"incompatible", 8, one(func(c *Candidate) { c.Incompatible = "directory" }), Policy{}, baton.StrategyFull, "", "1-8", "pth_c1", SignalCandidates, SignalIncompatible},
		{"does not fit", 8, one(func(c *Candidate) { c.Squeezed = true }), Policy{}, baton.StrategyFull, "", "1-8", "pth_c1", SignalCandidates, SignalSqueezed},
		{"clean context", 5, one(nil), Policy{Clean: true}, baton.StrategyFull, "", "1-5", "pth_c1", SignalCandidates, SignalClean},
		{"the newest is taken", 8, append(one(nil), codex(func(c *Candidate) { c.ID, c.LastUsed, c.Native = "pth_c2", 7, span(1, 7) })), Policy{},
			baton.StrategyDelta, "pth_c2", "8", "", SignalMissing, SignalNewer},
		{"an older one where the newest is dropped", 8, append(one(nil), codex(func(c *Candidate) { c.ID, c.LastUsed, c.Divergent = "pth_c2", 7, true })), Policy{},
			baton.StrategyDelta, "pth_c1", "6-8", "", SignalMissing, SignalDivergent},
		{"takes none and needs none", 5, one(nil), Policy{Never: true}, baton.StrategyNone, "pth_c1", "none", "", SignalMissing, ""},
		{"takes none and needs one", 8, one(nil), Policy{Never: true}, baton.StrategyRefused, "pth_c1", "6-8", "", SignalMissing, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Choose("codex", span(1, tt.upTo), tt.upTo, tt.candidates, tt.policy)
			if got.Strategy != tt.strategy || got.ProviderThread != tt.into || ranges(got.Covered) != tt.covers || got.Replaces != tt.replaces {
				t.Errorf("got %s into %q covering %s replacing %q", got.Strategy, got.ProviderThread, ranges(got.Covered), got.Replaces)
			}
			if s := decisive(got.Reasons); s != tt.decisive {
				t.Errorf("decisive: %q, want %q (%v)", s, tt.decisive, got.Reasons)
			}
			if s := decisive(got.Rejected); s != tt.rejected {
				t.Errorf("rejected for %q, want %q", s, tt.rejected)
			}
		})
	}
}

// decisive returns the first decisive signal.
func decisive(rs []baton.Reason) string {
	if i := slices.IndexFunc(rs, func(r baton.Reason) bool { return r.Decisive }); i >= 0 {
		return rs[i].Signal
	}
	return ""
}

func TestReasonsOfADelta(t *testing.T) {
	got := Choose("codex", span(1, 8), 8, []Candidate{codex(func(c *Candidate) { c.Chain = 4 })}, Policy{})
	want := []baton.Reason{
		{Signal: "missing", Value: "6-8", Decisive: true, ProviderThread: "pth_c1"},
		{Signal: "chain", Value: "4", Threshold: "5", ProviderThread: "pth_c1"},
	}
	if !reflect.DeepEqual(got.Reasons, want) {
		t.Errorf("got %v", got.Reasons)
	}
}

// Whatever the coverage: after the handoff the target knows every surviving run,
// a delta repeats nothing, and the order of candidates changes nothing.
func TestChooseAlwaysCompletes(t *testing.T) {
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		set := func() (s baton.Intervals) {
			for n := range 20 {
				if r.IntN(3) > 0 {
					s = s.Add(n+1, n+1)
				}
			}
			return s
		}
		surviving, upTo := set(), r.IntN(22)
		var cs []Candidate
		for i := range r.IntN(5) {
			native := set()
			cs = append(cs, Candidate{ID: baton.ProviderThreadID(fmt.Sprintf("pth_%d", i)), Provider: []string{"a", "b"}[r.IntN(2)],
				Status:    []baton.ProviderThreadStatus{baton.ProviderThreadIdle, baton.ProviderThreadNotLoaded, baton.ProviderThreadError}[r.IntN(3)],
				Divergent: r.IntN(4) == 0, Native: native, HandedOver: set().Minus(native), Chain: r.IntN(13), LastUsed: native.Last(), Resumable: r.IntN(4) > 0})
		}
		plan := Choose("a", surviving, upTo, cs, Policy{})
		var into Candidate
		if i := slices.IndexFunc(cs, func(c Candidate) bool { return c.ID == plan.ProviderThread }); i >= 0 {
			into = cs[i]
		}
		known := plan.Missing.Union(into.Native).Union(into.HandedOver)
		if left := surviving.UpTo(upTo).Minus(known); !left.Empty() {
			t.Fatalf("seed %d: %v stays unknown after %+v", seed, left, plan)
		}
		if plan.ProviderThread != "" && plan.Missing.Count() != plan.Missing.Minus(into.Native).Minus(into.HandedOver).Count() {
			t.Fatalf("seed %d: what is known is told again: %+v", seed, plan)
		}
		if !plan.Missing.Minus(plan.Covered).Empty() {
			t.Fatalf("seed %d: what is missing is not covered: %+v", seed, plan)
		}
		if (plan.Strategy == baton.StrategyNone) != plan.Missing.Empty() {
			t.Fatalf("seed %d: %s covers %v", seed, plan.Strategy, plan.Missing)
		}
		if plan.ProviderThread != "" && (into.Divergent || !into.Resumable || into.Provider != "a" || into.Status == baton.ProviderThreadError) {
			t.Fatalf("seed %d: took %+v", seed, into)
		}
		r.Shuffle(len(cs), func(i, j int) { cs[i], cs[j] = cs[j], cs[i] })
		if again := Choose("a", surviving, upTo, cs, Policy{}); !reflect.DeepEqual(again, plan) {
			t.Fatalf("seed %d: the order of candidates matters:\n%+v\n%+v", seed, plan, again)
		}
	}
}
