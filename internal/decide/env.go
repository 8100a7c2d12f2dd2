package decide

import (
	"time"

	"baton"
	"baton/internal/handoff"
)

// Env is what a decision may know of the world beside the thread's state. All
// of it is given; two decisions with the same state, input and Env are the same.
type Env struct {
	// Now is the input's time: the shim's for a frame, the server's otherwise.
	Now time.Time
	// NewID mints an id with the given prefix.
	NewID func(prefix string) string
	// Provider describes a configured provider, or fails with what a person is told.
	Provider func(name string) (Provider, error)
	// DefaultProvider is used for a thread that names none.
	DefaultProvider string
	// Trusted says whether the person trusts the project in a directory, so that an
	// agent may load the project's own configuration; nil trusts none.
	Trusted func(dir string) bool
	Policy  Policy
}

func (e Env) trusts(dir string) bool { return e.Trusted != nil && e.Trusted(dir) }

// Provider is what decisions need to know of a configured provider.
type Provider struct {
	Name         string
	Driver       string
	Capabilities baton.Capabilities
	Settings     baton.Settings // configured defaults
	// HandoffNever: nothing is handed over to it.
	HandoffNever bool
	// HandoffTokens is the budget of a document for it; 0 is the policy's.
	HandoffTokens int
}

// Policy holds the times and limits that the configuration may change.
type Policy struct {
	Handoff        handoff.Policy
	HandoffTokens  int           // budget of a document, estimated tokens; 0 for the default
	ReadyWithin    time.Duration // from the opening of a session to ready; default 90 s
	InterruptGrace time.Duration // from an interrupt to the session's stop; default 10 s
	StopGrace      time.Duration // for closing stdin, then again for SIGTERM; default 3 s
	IdleAfter      time.Duration // an idle session's release; default 15 min, 0 never
	MaxRecoveries  int           // further attempts of one run whose start was never accepted; default 2
}

// DefaultPolicy is the policy of a configuration that says nothing.
func DefaultPolicy() Policy {
	return Policy{
		Handoff:        handoff.Policy{},
		ReadyWithin:    90 * time.Second,
		InterruptGrace: 10 * time.Second,
		StopGrace:      3 * time.Second,
		IdleAfter:      15 * time.Minute,
		MaxRecoveries:  2,
	}
}
