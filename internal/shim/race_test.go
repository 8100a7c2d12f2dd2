//go:build race

package shim

// memoryScale: the race detector keeps shadow memory beside everything.
const memoryScale = 4
