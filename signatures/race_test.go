//go:build race

package signatures

// raceEnabled says that the race detector is on: sync.Pool then drops values at random, so allocations say nothing.
const raceEnabled = true
