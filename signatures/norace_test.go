//go:build !race

package signatures

const raceEnabled = false
