//go:build race

package e2e

// raceEnabled: the binary under test is built like the test itself.
const raceEnabled = true
