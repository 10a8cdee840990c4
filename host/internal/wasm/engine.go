package wasm

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// Options of New. The zero value works: no disk cache, and the defaults named below.
type Options struct {
	// CacheDir keeps compiled code between runs. It must belong to this user alone, because what lies in it is executed outside
	// the sandbox; it is created with mode 0700. Empty: every start compiles anew.
	CacheDir string
	// Instances is how many calls into one module may run at a time, and how many idle instances it keeps. 0: GOMAXPROCS.
	Instances int
	// Leases is how many leases of one module may be out at a time. 0: 64.
	Leases int
	// MemoryBytes caps the linear memory of all instances of all modules. 0: 2 GiB.
	MemoryBytes int64
	// Compiles is how many modules are compiled at a time. 0: 1, so that a reload does not take every core from the calls.
	Compiles int
	// Limits replaces the contract's defaults for modules whose LoadOptions leave a field zero.
	Limits guest.Limits
	// Reset forces a way of restoring memory: "pagemap", "pagemap-file", "remap" or "copy". Empty: the best that works here.
	Reset string
}

const (
	defaultLeases = 64
	defaultMemory = 2 << 30
	// maxModule is the largest module in bytes, custom sections included; maxMetered what is left for wazero, whose compiler needs
	// many times that.
	maxModule  = 64 << 20
	maxMetered = 24 << 20
	// maxDeclared is what types, imports, globals, exports and element segments may take of that: wazero makes some fifty bytes of
	// Go objects out of one. A Go guest has 40 KiB.
	maxDeclared = 1 << 20
	// maxWeight is about three seconds of wazero's compiler beyond what the size of the code explains. A Go guest has 50 million.
	maxWeight = 500_000_000
	// maxFunctions, maxTables and maxTable (entries of each, 8 bytes apiece) bound what an instance costs beside its memory.
	maxFunctions = 200_000
	maxTables    = 16
	maxTable     = 256 << 10
)

// An Engine loads and runs modules. Safe for concurrent use.
type Engine struct {
	limits            guest.Limits
	instances, leases int
	restorer          restorer
	budget            *budget
	codes             *codeCache
	compiles          chan struct{}
	retired           atomic.Int64

	mu      sync.Mutex
	modules map[*module]struct{}
	closed  bool
}

var _ guest.Driver = (*Engine)(nil)

// New opens an engine. nil options mean the defaults. Errors are *abi.Error of kind io (the cache folder), denied (it belongs to
// somebody else) or invalid (an unknown reset method).
func New(opt *Options) (*Engine, error) {
	o := Options{}
	if opt != nil {
		o = *opt
	}
	codes, err := openCodeCache(o.CacheDir)
	if err != nil {
		return nil, err
	}
	r, err := newRestorer(o.Reset)
	if err != nil {
		return nil, abi.E("open engine", v1.ErrorKindInvalid, o.Reset, err)
	}
	e := &Engine{
		limits:    fillLimits(o.Limits, defaultLimits()),
		instances: or(o.Instances, runtime.GOMAXPROCS(0)),
		leases:    or(o.Leases, defaultLeases),
		restorer:  r,
		budget:    &budget{limit: o.MemoryBytes},
		codes:     codes,
		compiles:  make(chan struct{}, or(o.Compiles, 1)),
		modules:   map[*module]struct{}{},
	}
	if e.budget.limit <= 0 {
		e.budget.limit = defaultMemory
	}
	e.budget.trim = e.trim
	return e, nil
}

// trim frees the idle instances of every module: they are a cache, and memory is short.
func (e *Engine) trim() {
	e.mu.Lock()
	modules := make([]*module, 0, len(e.modules))
	for m := range e.modules {
		modules = append(modules, m)
	}
	e.mu.Unlock()
	for _, m := range modules {
		m.trim()
	}
}

func (e *Engine) remember(m *module) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return abi.E("load", v1.ErrorKindUnavailable, m.name, errors.New("the engine is closed"))
	}
	e.modules[m] = struct{}{}
	return nil
}

func (e *Engine) forget(m *module) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.modules, m)
}

// Usage is what an engine holds right now. After every module was closed all fields are zero.
type Usage struct {
	Modules, Instances int
	// MemoryBytes is the linear memory of all instances, shared pages counted once each.
	MemoryBytes int64
}

// Usage counts.
func (e *Engine) Usage() Usage {
	e.mu.Lock()
	defer e.mu.Unlock()
	u := Usage{Modules: len(e.modules), MemoryBytes: e.budget.used.Load()}
	for m := range e.modules {
		u.Instances += int(m.instances.Load())
	}
	return u
}

// ResetMethod names how memory is restored on this machine.
func (e *Engine) ResetMethod() string { return e.restorer.method() }

// Close closes every module and then the engine. It waits for calls and leases to end. Idempotent.
func (e *Engine) Close() error {
	e.mu.Lock()
	first := !e.closed
	e.closed = true
	modules := make([]*module, 0, len(e.modules))
	for m := range e.modules {
		modules = append(modules, m)
	}
	e.mu.Unlock()
	var errs []error
	for _, m := range modules {
		errs = append(errs, m.Close())
	}
	if first {
		e.restorer.close()
	}
	return errors.Join(errs...)
}

// Load implements guest.Driver.
func (e *Engine) Load(ctx context.Context, name string, wasm []byte, opt guest.LoadOptions) (guest.Module, error) {
	m := &module{
		eng: e, name: name, setup: opt.Setup, keep: opt.KeepState,
		limits:  fillLimits(opt.Limits, e.limits),
		slots:   make(chan struct{}, e.instances),
		leased:  make(chan struct{}, e.leases),
		drained: make(chan struct{}),
	}
	if m.keep {
		m.slots = make(chan struct{}, 1)
	}
	if err := e.remember(m); err != nil {
		return nil, err
	}
	err := m.load(ctx, wasm)
	if err != nil {
		m.trim()
		_ = m.discard() // the load's own error says more
		e.forget(m)
		return nil, err
	}
	return m, nil
}
