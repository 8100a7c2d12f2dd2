package engine

import (
	"errors"

	"baton"
	"baton/internal/journal"
)

// refusal is what a client is told of a unit that was not stored: the store's own
// words where it knows what is to be done.
func refusal(err error) *baton.Error {
	outcome := "nothing was accepted"
	if errors.Is(err, journal.ErrUnknown) {
		outcome = "whether it was accepted is not known; the same command again tells"
	}
	var known *baton.Error
	if errors.As(err, &known) {
		return baton.Errorf(known.Code, "%s", known.Title).WithDetail("%s; %s", known.Detail, outcome).WithHint("%s", known.Hint)
	}
	return baton.Errorf(baton.CodeInternal, "the journal could not take it").WithDetail("%v; %s", err, outcome).
		WithHint("see to the disk, then send it again")
}
