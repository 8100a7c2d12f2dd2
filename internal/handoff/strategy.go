package handoff

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"baton"
)

// The thresholds that a zero Policy stands for.
const (
	DefaultChainFull   = 5
	DefaultChainNew    = 10
	DefaultForeignRuns = 50
)

// Policy holds the thresholds of the choice. A zero is the default.
type Policy struct {
	// ChainFull: with this many handoffs in a row on a provider thread, and more,
	// the next is a full one. Default 5.
	ChainFull int
	// ChainNew: with more than this many, the provider thread is stale. Default 10.
	ChainNew int
	// ForeignRuns: a provider thread that missed more runs than this since it was
	// last used is stale. Default 50; negative is no limit.
	ForeignRuns int
	// Clean: the person wants a conversation without the old context of the agent.
	Clean bool
	// Never: the provider is configured to take no handoff.
	Never bool
}

func (p Policy) withDefaults() Policy {
	p.ChainFull = cmp.Or(p.ChainFull, DefaultChainFull)
	p.ChainNew = cmp.Or(p.ChainNew, DefaultChainNew)
	p.ForeignRuns = cmp.Or(p.ForeignRuns, DefaultForeignRuns)
	return p
}

// Candidate is one provider thread of the thread, as the choice sees it.
type Candidate struct {
	ID           baton.ProviderThreadID
	Provider     string
	Status       baton.ProviderThreadStatus
	Divergent    bool
	Native       baton.Intervals
	HandedOver   baton.Intervals
	Chain        int    // handoffs in a row on it without a full one
	LastUsed     int    // the greatest ordinal that it took part in
	Resumable    bool   // it has a native id
	Incompatible string // the setting that changed and can't be changed on resume, or ""
	Squeezed     bool   // what it misses did not fit into it: its most important parts would be cut
}

// Plan is where the next run goes and what must be handed over before it.
type Plan struct {
	Strategy       baton.Strategy
	ProviderThread baton.ProviderThreadID // "" is a new one
	Missing        baton.Intervals        // what the target does not know
	Covered        baton.Intervals        // what the handoff covers: Missing, or all of a full one
	Replaces       baton.ProviderThreadID // with a new one: the newest candidate that was dropped, if any
	Reasons        []baton.Reason         // of the choice
	Rejected       []baton.Reason         // of the candidates that were dropped
}

// The signals that a Reason may name.
const (
	SignalResumable    = "resumable"    // no native id: nothing was ever accepted under it
	SignalStatus       = "status"       // error (its resume failed), closed, archived
	SignalDivergent    = "divergent"    // it holds something else than the thread
	SignalIncompatible = "incompatible" // a setting that only a new conversation can take has changed
	SignalClean        = "clean_context"
	SignalForeignRuns  = "foreign_runs" // runs that it missed since it was last used
	SignalChain        = "chain"        // handoffs in a row
	SignalNewer        = "newer"        // a newer candidate is as good
	SignalMissing      = "missing"      // what it does not know
	SignalSqueezed     = "squeezed"     // a document that fits into it would cut what matters most
	SignalCandidates   = "candidates"   // how many are left
	SignalRegenerated  = "regenerated"  // a person asked for the handoff again
	SignalNoHandoff    = "handoff"      // the provider is configured to take none
)

// Known is what a full handoff names and does not tell again.
func (p Plan) Known() baton.Intervals { return p.Covered.Minus(p.Missing) }

// Missing returns the surviving runs up to ordinal upTo that the candidate
// knows neither natively nor through a handoff.
func (c Candidate) Missing(surviving baton.Intervals, upTo int) baton.Intervals {
	return surviving.UpTo(upTo).Minus(c.Native).Minus(c.HandedOver)
}

// Choose decides for a run of provider, of which upTo is the ordinal before.
// Surviving are the thread's runs that are neither cancelled nor rolled back;
// candidates of other providers are passed over. The order of candidates does
// not matter.
//
// Dropped are candidates that can't be resumed, are divergent, incompatible or
// stale, and all where the context is to be clean. A candidate that misses
// nothing is not stale: there is nothing that the handoff would make worse.
// Among the rest the newest is taken: it misses nothing → none; fewer than
// Policy.ChainFull handoffs lie in a row on it → a delta of what it misses; else
// a full summary into it. No candidate left → a full summary into a new one, or
// none where the thread has no runs yet. A full summary covers all surviving
// runs; those that its target knows are named in it and not told again.
func Choose(provider string, surviving baton.Intervals, upTo int, candidates []Candidate, policy Policy) Plan {
	p := policy.withDefaults()
	whole := surviving.UpTo(upTo)

	mine := slices.DeleteFunc(slices.Clone(candidates), func(c Candidate) bool { return c.Provider != provider })
	slices.SortFunc(mine, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.LastUsed, a.LastUsed), strings.Compare(string(b.ID), string(a.ID)))
	})
	var plan Plan
	var best *Candidate
	var dropped baton.ProviderThreadID
	for i, c := range mine {
		switch why := drop(c, c.Missing(surviving, upTo), p); {
		case len(why) > 0:
			plan.Rejected = append(plan.Rejected, why...)
			dropped = cmp.Or(dropped, c.ID)
		case best == nil:
			best = &mine[i]
		default:
			plan.Rejected = append(plan.Rejected, baton.Reason{Signal: SignalNewer, Value: strconv.Itoa(c.LastUsed),
				Threshold: strconv.Itoa(best.LastUsed), Decisive: true, ProviderThread: c.ID})
		}
	}

	if best == nil {
		plan.Strategy, plan.Missing, plan.Covered, plan.Replaces = baton.StrategyFull, whole, whole, dropped
		plan.Reasons = []baton.Reason{
			{Signal: SignalCandidates, Value: "0", Threshold: "1", Decisive: true},
			{Signal: SignalMissing, Value: ranges(whole), Decisive: whole.Empty()},
		}
	} else {
		missing := best.Missing(surviving, upTo)
		full := best.Chain >= p.ChainFull && !missing.Empty()
		plan.Strategy, plan.ProviderThread, plan.Missing, plan.Covered = baton.StrategyDelta, best.ID, missing, missing
		if full {
			plan.Strategy, plan.Covered = baton.StrategyFull, whole
		}
		plan.Reasons = []baton.Reason{
			{Signal: SignalMissing, Value: ranges(missing), Decisive: !full, ProviderThread: best.ID},
			{Signal: SignalChain, Value: strconv.Itoa(best.Chain), Threshold: strconv.Itoa(p.ChainFull), Decisive: full, ProviderThread: best.ID},
		}
	}
	switch {
	case plan.Missing.Empty():
		plan.Strategy, plan.Missing, plan.Covered = baton.StrategyNone, nil, nil
	case p.Never:
		plan.Strategy = baton.StrategyRefused
		plan.Reasons = append(plan.Reasons, baton.Reason{Signal: SignalNoHandoff, Value: "never", Decisive: true})
	}
	return plan
}

// drop returns why a candidate can't be used, the decisive reason first; none
// where it can.
func drop(c Candidate, missing baton.Intervals, p Policy) []baton.Reason {
	var why []baton.Reason
	add := func(is bool, signal, value, threshold string) {
		if is {
			why = append(why, baton.Reason{Signal: signal, Value: value, Threshold: threshold, Decisive: len(why) == 0, ProviderThread: c.ID})
		}
	}
	add(!c.Resumable, SignalResumable, "false", "true")
	add(c.Status != baton.ProviderThreadIdle && c.Status != baton.ProviderThreadNotLoaded, SignalStatus, string(c.Status), "")
	add(c.Divergent, SignalDivergent, "true", "false")
	add(c.Incompatible != "", SignalIncompatible, c.Incompatible, "")
	add(p.Clean, SignalClean, "true", "false")
	if !missing.Empty() {
		add(c.Squeezed, SignalSqueezed, "true", "false")
		add(c.Chain > p.ChainNew, SignalChain, strconv.Itoa(c.Chain), strconv.Itoa(p.ChainNew))
		foreign := missing.Minus(missing.UpTo(c.LastUsed)).Count()
		add(p.ForeignRuns > 0 && foreign > p.ForeignRuns, SignalForeignRuns, strconv.Itoa(foreign), strconv.Itoa(p.ForeignRuns))
	}
	return why
}

// Ranges writes a set of ordinals for a reader.
func Ranges(s baton.Intervals) string { return ranges(s) }

// ranges writes a set of ordinals for a reader: "6-8", "1-3, 5", or, where that
// would be long, "1-40 (12 of them)".
func ranges(s baton.Intervals) string {
	switch {
	case s.Empty():
		return "none"
	case len(s) > 4:
		return fmt.Sprintf("%d-%d (%d of them)", s.First(), s.Last(), s.Count())
	}
	var parts []string
	for _, iv := range s {
		if iv.From == iv.To {
			parts = append(parts, strconv.Itoa(iv.From))
		} else {
			parts = append(parts, fmt.Sprintf("%d-%d", iv.From, iv.To))
		}
	}
	return strings.Join(parts, ", ")
}
