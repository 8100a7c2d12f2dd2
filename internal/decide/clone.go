package decide

import (
	"slices"

	"baton"
)

// Clone returns a state that shares nothing mutable with s. Interval sets,
// strings and slices that are only ever replaced are shared.
func (s *State) Clone() *State {
	c := *s
	c.Runs = cloneAll(s.Runs)
	for _, r := range c.Runs {
		if r.Attempt != nil {
			a := *r.Attempt
			r.Attempt = &a
		}
		r.Handoffs, r.Squeezed = slices.Clone(r.Handoffs), slices.Clone(r.Squeezed)
	}
	c.ProviderThreads = cloneAll(s.ProviderThreads)
	c.Sessions = cloneAll(s.Sessions)
	for _, x := range c.Sessions {
		if x.Turn != nil {
			t := *x.Turn
			x.Turn = &t
		}
	}
	c.Deliveries = cloneAll(s.Deliveries)
	c.Items = cloneAll(s.Items)
	c.Requests = cloneAll(s.Requests)
	c.Transfers = cloneAll(s.Transfers)
	c.Handoffs = cloneAll(s.Handoffs)
	if s.Texts != nil {
		c.Texts = make(map[baton.ItemID]*Text, len(s.Texts))
		for id, t := range s.Texts {
			copied := *t
			c.Texts[id] = &copied
		}
	}
	return &c
}

func cloneAll[T any](list []*T) []*T {
	out := slices.Clone(list)
	for i, x := range out {
		c := *x
		out[i] = &c
	}
	return out
}
