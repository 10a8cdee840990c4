package host

import (
	"context"

	"github.com/amygdala-host/amygdala/host/internal/wasm"
)

// Bare runs a module on the Wasm runtime alone, without snapshots. Benchmarks compare the engine with it; nothing else should use it.
type Bare = wasm.Bare

// BareMode is how Bare runs a module.
type BareMode = wasm.BareMode

// The ways to run a module bare.
const (
	// BareUnmetered cannot be stopped.
	BareUnmetered = wasm.Unmetered
	// BareCloseOnDone is the runtime's own answer to runaways.
	BareCloseOnDone = wasm.CloseOnDone
	// BareMetered is the engine's code without its snapshots.
	BareMetered = wasm.Metered
)

// OpenBare compiles a module for measuring.
func OpenBare(ctx context.Context, module []byte, mode BareMode) (*Bare, error) {
	return wasm.OpenBare(ctx, module, mode)
}
