//go:build !race

package shim

const memoryScale = 1
