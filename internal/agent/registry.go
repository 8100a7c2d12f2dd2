package agent

import (
	"slices"

	"baton"
)

// Registry holds the drivers of this build by name.
type Registry map[string]Driver

// Known are all driver names of the design; those without a Driver in the
// registry are a configuration error that says so.
var Known = []string{"codex", "claude", "acp", "opencode", "script"}

// NewRegistry makes a registry of the given drivers.
func NewRegistry(drivers ...Driver) Registry {
	r := Registry{}
	for _, d := range drivers {
		r[d.Name()] = d
	}
	return r
}

// Get returns the driver, or an error with CodeDriverNotBuilt for a name of
// Known that this build lacks, and CodeInvalid for any other.
func (r Registry) Get(name string) (Driver, error) {
	if d, ok := r[name]; ok {
		return d, nil
	}
	if slices.Contains(Known, name) {
		return nil, baton.Errorf(baton.CodeDriverNotBuilt, "the driver %q is not in this build", name).
			WithHint("choose another driver: codex, claude or script")
	}
	return nil, baton.Errorf(baton.CodeInvalid, "there is no driver %q", name).
		WithHint("the drivers are codex, claude, acp, opencode and script")
}
