package host

import (
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/host/internal/wasm"
)

// Engine runs plugins in the sandbox. The host opens its own; this one is for programs that run plugins without a host, such as the
// conformance suite.
type Engine interface {
	guest.Driver
	// ResetMethod names how memory is restored between calls on this machine.
	ResetMethod() string
	// Close closes every module, after waiting for calls and leases to end.
	Close() error
}

// NewEngine opens an engine. cache is the folder for compiled code, made with mode 0700 if it is missing; empty means that every module is
// compiled anew.
func NewEngine(cache string) (Engine, error) {
	e, err := wasm.New(&wasm.Options{CacheDir: cache})
	if err != nil {
		return nil, err
	}
	return e, nil
}
