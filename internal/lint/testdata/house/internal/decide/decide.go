package decide

import (
	"math/rand/v2" // want pure
	now "time"

	"baton"
	"baton/internal/engine" // want layer
	"baton/internal/handoff"
)

var _ = rand.Int
var _ baton.Thread
var _ = engine.New
var _ = handoff.Plan

func when() (now.Time, func() now.Time) {
	return now.Now(), now.Now // want pure; pure
}

func later(d now.Duration) now.Time {
	return now.Time{}.Add(d)
}
