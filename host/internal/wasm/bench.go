package wasm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// A BareMode is how Bare runs a module.
type BareMode int

const (
	// Unmetered is wazero as it comes: the module cannot be stopped.
	Unmetered BareMode = iota
	// CloseOnDone is wazero's own answer to runaways, WithCloseOnContextDone.
	CloseOnDone
	// Metered is the engine's code without its snapshots.
	Metered
)

// Bare runs a module on wazero alone, with the same WASI stubs and neither snapshot nor reset. It exists for benchmarks: what it
// costs is what the engine is compared with. Not safe for concurrent use.
type Bare struct {
	mode     BareMode
	cache    wazero.CompilationCache
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	state    call
}

// OpenBare compiles a module. A context that can be cancelled matters in mode CloseOnDone only. Errors are those of wazero.
func OpenBare(ctx context.Context, wasm []byte, mode BareMode) (*Bare, error) {
	res, err := meter.Rewrite(wasm, meter.Options{})
	if err != nil {
		return nil, err
	}
	if mode == Metered {
		wasm = res.Wasm
	}
	b := &Bare{mode: mode, cache: wazero.NewCompilationCache()}
	b.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().WithCoreFeatures(features).
		WithCompilationCache(b.cache).WithDebugInfoEnabled(false).WithCloseOnContextDone(mode == CloseOnDone))
	if b.compiled, err = b.runtime.CompileModule(ctx, wasm); err == nil {
		m := &module{metered: res}
		err = hostModules(ctx, b.runtime, meter.DefaultModule, meter.DefaultName, m.importNames())
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// Close frees the module. Its instances must be closed.
func (b *Bare) Close() error {
	ctx := context.Background()
	return errors.Join(b.runtime.Close(ctx), b.cache.Close(ctx))
}

// A BareInstance is one instance of a Bare module. It keeps its state from call to call.
type BareInstance struct {
	b           *Bare
	wasm        api.Module
	alloc, call api.Function
}

// Instance makes a fresh instance: what a host without snapshots pays for isolation.
func (b *Bare) Instance(ctx context.Context) (*BareInstance, error) {
	b.state.begin(ctx, guest.Limits{Fuel: math.MaxInt64, Wall: time.Hour}, bootClock, 0)
	b.state.granted, b.state.mono = 0, bootClock
	m, err := b.runtime.InstantiateModule(&b.state, b.compiled, anonymous)
	if err != nil {
		return nil, err
	}
	i := &BareInstance{b: b, wasm: m, alloc: m.ExportedFunction(abi.ExportAlloc), call: m.ExportedFunction(abi.ExportCall)}
	if start := m.ExportedFunction(abi.ExportInitialize); start != nil {
		if _, err := start.Call(&b.state); err != nil {
			return nil, errors.Join(err, m.Close(ctx))
		}
	}
	return i, nil
}

// Call exchanges one request for its answer.
func (i *BareInstance) Call(ctx context.Context, op v1.Op, body []byte) ([]byte, error) {
	i.b.state.Context, i.b.state.done = ctx, ctx.Done()
	i.b.state.start = time.Now()
	i.b.state.deadline = i.b.state.start.Add(time.Hour)
	ptr, err := i.alloc.Call(&i.b.state, uint64(len(body)))
	if err != nil {
		return nil, err
	}
	if !i.wasm.Memory().Write(uint32(ptr[0]), body) {
		return nil, fmt.Errorf("%s returned %d", abi.ExportAlloc, ptr[0])
	}
	out, err := i.call.Call(&i.b.state, uint64(op), ptr[0], uint64(len(body)))
	if err != nil {
		return nil, err
	}
	view, ok := i.wasm.Memory().Read(uint32(out[0]>>32), uint32(out[0]))
	if !ok {
		return nil, fmt.Errorf("%s returned %#x", abi.ExportCall, out[0])
	}
	return append([]byte(nil), view...), nil
}

// Close frees the instance.
func (i *BareInstance) Close() error { return i.wasm.Close(context.Background()) }
