package guest

import (
	"context"
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// A Driver turns the bytes of one plugin into a callable Module. Drivers are thin: encoding, the strict answer check, budgets by
// policy and error texts live in this package, once for all bindings.
type Driver interface {
	// Load checks, compiles and starts a module, runs opt.Setup on its first instance and takes the snapshot that every later
	// call starts from. It honours ctx between steps; a guest that does not return is stopped by opt.Limits.
	// Errors are *abi.Error with kind refused (the module may not run here), trap, fuel, timeout, limit or protocol.
	Load(ctx context.Context, name string, module []byte, opt LoadOptions) (Module, error)
}

// LoadOptions is what the host decides about a module before it runs.
type LoadOptions struct {
	// Limits caps every call, and each call made by Setup. Zero fields mean the driver's defaults.
	Limits Limits
	// Setup talks to the first instance before the snapshot: DESCRIBE, CONFIGURE, a warm-up. nil means no setup. A module whose state
	// cannot be restored gets a fresh instance for every call, and each goes through Setup again, several at a time: so it must do
	// the same each time, and be safe for concurrent use. The Caller is void once Setup has returned.
	Setup func(Caller) error
	// KeepState turns the reset between calls off. Conformance uses it to see what the engine otherwise hides.
	KeepState bool
}

// Limits are per call; see v1.Limits for the units.
type Limits struct {
	MemoryPages uint32
	Fuel        uint64
	Wall        time.Duration
	Input       int
	Output      int
	Log         int
}

// A Caller makes one call. The answer is a copy that the caller owns.
type Caller interface {
	Call(ctx context.Context, c Call) (Answer, error)
}

// Call is one crossing into a guest.
type Call struct {
	Op   v1.Op
	Body []byte
	// Clock and Seed feed the guest's inert WASI clock and random source; they equal the request's own fields.
	Clock int64
	Seed  uint64
	// Limits narrows the module's limits for this call; zero fields keep them, larger ones are ignored.
	Limits Limits
}

// Answer is what came back, with its price. Fuel, Wall and Log are also filled when the call failed.
type Answer struct {
	Body []byte
	// Fuel used, in units of roughly one Wasm instruction. Deterministic for the same module, state and input.
	Fuel uint64
	Wall time.Duration
	// Log is what the guest wrote to stdout and stderr, at most Limits.Log bytes, the oldest dropped first.
	Log []byte
	// Refused is the memory size in bytes that the guest asked for and did not get, because of its cap or the host's; 0 when it got all.
	Refused uint64
}

// Module is a loaded plugin. Every Call starts from the snapshot. Safe for concurrent use.
type Module interface {
	Caller
	// Lease hands out an instance that keeps its state until Release: one stream, one step machine.
	Lease(ctx context.Context) (Lease, error)
	Stats() ModuleStats
	// Close waits for leases and calls to end, then frees instances, mappings and compiled code. Idempotent.
	Close() error
}

// Lease is one instance with one owner. Any error from Call poisons it: later calls fail, and Release destroys it.
type Lease interface {
	Caller
	Release()
}

// ModuleStats counts since Load.
type ModuleStats struct {
	// Instances alive now, idle ones included.
	Instances int
	// Fresh counts instances made, Reset those restored from the snapshot, Poisoned those destroyed after an error.
	Fresh, Reset, Poisoned uint64
	// ResetMethod names how state is restored: "pagemap", "pagemap-file", "remap", "copy", or "fresh" with the reason.
	ResetMethod string
	// MemoryBytes is the linear memory of a pristine instance.
	MemoryBytes int
}
