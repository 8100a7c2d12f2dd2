//go:build race

package sim

// steps is how many steps with faults each seed plays. The race detector makes
// each several times slower.
const steps = 150
