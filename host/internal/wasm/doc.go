// Package wasm runs plugins: it implements guest.Driver on wazero, and is the only package that knows wazero.
//
// A module goes through Engine.Load once: it is metered (package meter), its imports and exports are checked, the original bytes
// are validated, the metered ones compiled, one instance is set up, and its memory and globals become the snapshot. Every call then
// starts from that snapshot, on an instance that one goroutine owns:
//
//   - Fuel. The metered code counts what it does and calls back (call.refuel) every few thousand units. That is where the deadline,
//     the caller's context, the fuel budget and the depth of the call stack are checked, and where Go's garbage collector gets the
//     chance to stop the goroutine. See call.go.
//   - Pristine instances. After a call the pages it wrote are copied back from the snapshot. See space.go for how they are found,
//     instance.go for what happens when that is not enough.
//   - Nothing to reach. A guest may import inert WASI functions and nothing else. See wasi.go.
//   - Any failure ends the instance. See module.go.
package wasm
