package journal

import (
	"time"

	"baton"
)

// ProjectDoc is a project: a directory that threads work in, and whether the person trusts
// it. Projects belong to no thread: they stand beside the threads, have no
// events and are written by PutProject alone.
type ProjectDoc struct {
	ID        baton.ProjectID
	Dir       string // absolute and resolved; names the project
	Trusted   bool   // its own agent configuration may be loaded
	ChangedBy string // who changed the trust last, where that is known
	ChangedAt time.Time
	CreatedAt time.Time
}
