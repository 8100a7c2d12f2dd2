//go:build !race

package sim

// steps is how many steps with faults each seed plays.
const steps = 500
