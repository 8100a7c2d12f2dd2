package journal

import (
	"encoding/json"
	"fmt"

	"baton"
)

// Check refuses a unit that no store may take, whatever is stored already:
// such a unit is a fault of the program. Stores call it before they begin.
func (u *Unit) Check() error {
	if u.Thread == "" {
		return fmt.Errorf("journal: a unit without a thread")
	}
	for i, e := range u.Events {
		if want := u.Expect + uint64(i) + 1; e.Version != want || e.Thread != u.Thread {
			return fmt.Errorf("journal: event %d of the unit is version %d of %q, not %d of %q", i, e.Version, e.Thread, want, u.Thread)
		}
	}
	for _, c := range u.Changes {
		if c.Kind == "" || c.ID == "" || !isObject(c.Patch) || !json.Valid(c.Patch) {
			return fmt.Errorf("journal: a change of %s %q is no patch of a document: %.80q", c.Kind, c.ID, c.Patch)
		}
	}
	for _, c := range u.Chunks {
		if c.Item == "" || c.Text == "" || c.Offset < 0 || c.Revision < 0 {
			return fmt.Errorf("journal: a chunk of item %q at %d.%d is malformed", c.Item, c.Revision, c.Offset)
		}
	}
	for _, e := range u.Effects {
		if e.Thread != u.Thread {
			return fmt.Errorf("journal: effect %s is of %q, not of %q", e.ID, e.Thread, u.Thread)
		}
	}
	if s := u.Snapshot; s != nil && s.Version > u.Version() {
		return fmt.Errorf("journal: a snapshot of version %d in a unit that ends at %d", s.Version, u.Version())
	}
	return nil
}

// Version is the thread's version after the unit.
func (u *Unit) Version() uint64 { return u.Expect + uint64(len(u.Events)) }

// StopEpoch is the stop epoch that the unit's events set, or 0 for none.
func (u *Unit) StopEpoch() int {
	epoch := 0
	for _, e := range u.Events {
		if d, ok := e.Data.(baton.EventStopRequested); ok {
			epoch = max(epoch, d.StopEpoch)
		}
	}
	return epoch
}

// Stream is how far a text of an item has come, with what a chunk does to it.
// Both stores hold one for each item that has chunks.
type Stream struct {
	Revision     int
	Text, Output int64
}

// Take adds a chunk. Text of an older revision is void and not kept; one that
// does not begin where the former ended is an error.
func (s *Stream) Take(c Chunk) (keep bool, err error) {
	if c.Revision < s.Revision {
		return false, nil
	}
	if c.Revision > s.Revision {
		*s = Stream{Revision: c.Revision}
	}
	length := &s.Text
	if c.Output {
		length = &s.Output
	}
	if c.Offset != *length {
		return false, fmt.Errorf("journal: a chunk of item %s begins at byte %d of revision %d, the former ended at %d", c.Item, c.Offset, c.Revision, *length)
	}
	*length += int64(len(c.Text))
	return true, nil
}

// Reset voids the text of older revisions.
func (s *Stream) Reset(revision int) {
	if revision > s.Revision {
		*s = Stream{Revision: revision}
	}
}
