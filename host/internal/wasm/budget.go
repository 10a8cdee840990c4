package wasm

import (
	"fmt"
	"sync/atomic"
)

// A budget caps the linear memory of all instances of all modules of an engine, in bytes.
type budget struct {
	limit int64
	used  atomic.Int64
	// trim frees idle instances when the budget runs short.
	trim func()
}

// take reserves n bytes, or nothing.
func (b *budget) take(n int64) bool {
	if b.reserve(n) {
		return true
	}
	if b.trim != nil {
		b.trim()
	}
	return b.reserve(n)
}

func (b *budget) reserve(n int64) bool {
	if b.used.Add(n) <= b.limit {
		return true
	}
	b.used.Add(-n)
	return false
}

// give returns n bytes.
func (b *budget) give(n int64) { b.used.Add(-n) }

func (b *budget) refusal(n int64) string {
	return fmt.Sprintf("the memory budget of all guests (%d MiB) has no %d KiB left; raise it or load fewer modules", b.limit>>20, n>>10)
}
