package sdk

import (
	"runtime"
	"runtime/debug"
)

// headroom is heap that is allocated and freed again before the snapshot. Linear memory cannot shrink, and a call that grows it costs
// the host a fresh instance (about a hundred times a reset), so an ordinary call should find room. 4 MiB is one heap arena of Go's
// wasm port (runtime/malloc.go, heapArenaBytes).
const headroom = 4 << 20

// softLimit lets the collector run only when a single call really needs it: memory is thrown away after every call anyway.
const softLimit = 40 << 20

// warm prepares the heap that the snapshot keeps.
func warm() {
	if registered.Warm != nil {
		registered.Warm()
	}
	if runtime.GOOS != "wasip1" {
		return
	}
	room := make([]byte, headroom)
	runtime.KeepAlive(room)
	debug.SetMemoryLimit(softLimit)
	debug.SetGCPercent(-1)
	runtime.GC()
}
