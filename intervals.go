package baton

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Interval is an inclusive range of run ordinals. It is written as a pair:
// [6,8].
type Interval struct{ From, To int }

// MarshalJSON writes the pair.
func (i Interval) MarshalJSON() ([]byte, error) { return json.Marshal([2]int{i.From, i.To}) }

// UnmarshalJSON reads the pair.
func (i *Interval) UnmarshalJSON(b []byte) error {
	var pair [2]int
	if err := json.Unmarshal(b, &pair); err != nil {
		return fmt.Errorf("interval: %w", err)
	}
	i.From, i.To = pair[0], pair[1]
	return nil
}

// Intervals is a set of run ordinals, kept sorted, disjoint and not adjacent.
// Its methods return new sets and never change the receiver, so a set may be
// shared.
type Intervals []Interval

// Ordinals makes the set of the given ordinals.
func Ordinals(ns ...int) Intervals {
	var s Intervals
	for _, n := range ns {
		s = s.Add(n, n)
	}
	return s
}

// Add returns the set with the ordinals from..to in it. An empty range
// (to < from) adds nothing.
func (s Intervals) Add(from, to int) Intervals {
	if to < from {
		return slices.Clone(s)
	}
	out := make(Intervals, 0, len(s)+1)
	at := len(s)
	for i, iv := range s {
		switch {
		case iv.To+1 < from:
			out = append(out, iv)
		case iv.From > to+1:
			at = min(at, i)
		default:
			from, to = min(from, iv.From), max(to, iv.To)
		}
	}
	out = append(out, Interval{from, to})
	return append(out, s[at:]...)
}

// Union returns the ordinals that are in s or in o.
func (s Intervals) Union(o Intervals) Intervals {
	for _, iv := range o {
		s = s.Add(iv.From, iv.To)
	}
	return slices.Clone(s)
}

// Minus returns the ordinals of s that are not in o.
func (s Intervals) Minus(o Intervals) Intervals {
	out := slices.Clone(s)
	for _, cut := range o {
		var next Intervals
		for _, iv := range out {
			if cut.To < iv.From || cut.From > iv.To {
				next = append(next, iv)
				continue
			}
			if iv.From < cut.From {
				next = append(next, Interval{iv.From, cut.From - 1})
			}
			if iv.To > cut.To {
				next = append(next, Interval{cut.To + 1, iv.To})
			}
		}
		out = next
	}
	return out
}

// UpTo returns the ordinals of s that are not greater than n.
func (s Intervals) UpTo(n int) Intervals {
	var out Intervals
	for _, iv := range s {
		if iv.From <= n {
			out = append(out, Interval{iv.From, min(iv.To, n)})
		}
	}
	return out
}

// Has says whether n is in the set.
func (s Intervals) Has(n int) bool {
	return slices.ContainsFunc(s, func(iv Interval) bool { return iv.From <= n && n <= iv.To })
}

// Empty says whether the set holds nothing.
func (s Intervals) Empty() bool { return len(s) == 0 }

// Count returns how many ordinals the set holds.
func (s Intervals) Count() int {
	n := 0
	for _, iv := range s {
		n += iv.To - iv.From + 1
	}
	return n
}

// Last returns the greatest ordinal, or 0 for an empty set.
func (s Intervals) Last() int {
	if len(s) == 0 {
		return 0
	}
	return s[len(s)-1].To
}

// First returns the smallest ordinal, or 0 for an empty set.
func (s Intervals) First() int {
	if len(s) == 0 {
		return 0
	}
	return s[0].From
}

// MarshalJSON writes an empty set as [] and never as null.
func (s Intervals) MarshalJSON() ([]byte, error) {
	if s == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]Interval(s))
}
