package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/tetratelabs/wazero"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// A module is one loaded plugin: compiled code, a snapshot, and a pool of instances that equal it.
type module struct {
	eng      *Engine
	name     string
	limits   guest.Limits
	setup    func(guest.Caller) error
	keep     bool
	metered  *meter.Result
	runtime  wazero.Runtime
	cache    wazero.CompilationCache
	compiled wazero.CompiledModule
	codeSize int64
	// snap is nil when an instance of this module cannot be reset, and unrestorable says why: each call then gets an instance of
	// its own that has gone through setup.
	snap         *snapshot
	unrestorable string
	memoryBytes  int

	// slots bounds the calls running at a time, leased the leases that are out.
	slots, leased chan struct{}

	mu   sync.Mutex
	idle []*instance
	// users counts calls and leases; drained is closed when the module is closing and the last one is gone.
	users   int
	closing bool
	drained chan struct{}
	closed  sync.Once

	instances                        atomic.Int64
	fresh, resets, poisoned, regrown atomic.Uint64
}

var _ guest.Module = (*module)(nil)

// Call implements guest.Module.
func (m *module) Call(ctx context.Context, c guest.Call) (guest.Answer, error) {
	op := c.Op.String()
	if err := m.enter(op); err != nil {
		return guest.Answer{}, err
	}
	defer m.leave()
	if err := m.admit(op, c); err != nil {
		return guest.Answer{}, err
	}
	if err := wait(ctx, m.slots, op, m.name); err != nil {
		return guest.Answer{}, err
	}
	defer func() { <-m.slots }()
	in, err := m.get(ctx)
	if err != nil {
		return guest.Answer{}, err
	}
	answer, err := in.invoke(ctx, c)
	m.put(in)
	return answer, err
}

// admit refuses a request that is too large before a guest is bothered.
func (m *module) admit(op string, c guest.Call) error {
	if limit := narrowLimits(m.limits, c.Limits).Input; len(c.Body) > limit {
		return abi.E(op, v1.ErrorKindLimit, m.name, fmt.Errorf("the request has %d bytes, the cap is %d", len(c.Body), limit))
	}
	return nil
}

// enter counts a user in, unless the module is closing.
func (m *module) enter(op string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closing {
		return abi.E(op, v1.ErrorKindUnavailable, m.name, errors.New("the module is closed"))
	}
	m.users++
	return nil
}

func (m *module) leave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users == 0 && m.closing {
		close(m.drained)
	}
}

// wait takes a place in slots, or gives up with ctx.
func wait(ctx context.Context, slots chan struct{}, op, name string) error {
	select {
	case slots <- struct{}{}:
		return nil
	default:
	}
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return abi.E(op, contextKind(ctx.Err()), name, fmt.Errorf("waiting for one of %d instances: %w", cap(slots), ctx.Err()))
	}
}

// get returns an instance in the snapshot's state, which the caller owns.
func (m *module) get(ctx context.Context) (*instance, error) {
	m.mu.Lock()
	if n := len(m.idle); n > 0 {
		in := m.idle[n-1]
		m.idle[n-1] = nil
		m.idle = m.idle[:n-1]
		m.mu.Unlock()
		return in, nil
	}
	m.mu.Unlock()
	return m.make(ctx)
}

// put takes an instance back: reset into the pool, or away with it.
func (m *module) put(in *instance) {
	switch {
	case in.dead:
		m.poisoned.Add(1)
		m.bury(in)
	case m.keep:
		m.park(in)
	case m.snap == nil:
		m.destroy(in)
	default:
		if err := in.reset(m.snap); err != nil {
			m.regrown.Add(1)
			m.destroy(in)
			return
		}
		m.resets.Add(1)
		m.park(in)
	}
}

// park makes an instance available, unless there are enough.
func (m *module) park(in *instance) {
	m.mu.Lock()
	full := m.closing || len(m.idle) >= cap(m.slots)
	if !full {
		m.idle = append(m.idle, in)
	}
	m.mu.Unlock()
	if full {
		m.destroy(in)
	}
}

// make returns a new instance in the snapshot's state.
func (m *module) make(ctx context.Context) (*instance, error) {
	in, err := m.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	m.instances.Add(1)
	m.fresh.Add(1)
	if m.snap == nil {
		err = m.prepare(ctx, in)
	} else if err = in.become(m.snap); err != nil {
		err = abi.E("restore", v1.ErrorKindInternal, m.name, err)
	}
	if err != nil {
		m.destroy(in)
		return nil, err
	}
	return in, nil
}

// prepare runs a raw instance through the reactor's start and the host's setup.
func (m *module) prepare(ctx context.Context, in *instance) error {
	if err := in.initialize(ctx); err != nil {
		return err
	}
	if m.setup == nil {
		return nil
	}
	caller := &setupCaller{in: in}
	err := m.setup(caller)
	caller.over.Store(true)
	if err != nil {
		return err
	}
	if in.dead {
		return abi.E("setup", v1.ErrorKindTrap, m.name, errors.New("a call failed during setup"))
	}
	return nil
}

// setupCaller lets the host's setup talk to an instance before there is a snapshot, and not for longer.
type setupCaller struct {
	in   *instance
	over atomic.Bool
}

// Call implements guest.Caller.
func (s *setupCaller) Call(ctx context.Context, c guest.Call) (guest.Answer, error) {
	if s.over.Load() {
		return guest.Answer{}, abi.E(c.Op.String(), v1.ErrorKindUnavailable, s.in.mod.name, errors.New("setup is over; call the module"))
	}
	if err := s.in.mod.admit(c.Op.String(), c); err != nil {
		return guest.Answer{}, err
	}
	return s.in.invoke(ctx, c)
}

func (m *module) destroy(in *instance) {
	in.destroy()
	m.instances.Add(-1)
}

// bury destroys an instance without keeping the caller, whose deadline may have passed: unmapping 64 MiB takes milliseconds.
func (m *module) bury(in *instance) {
	m.mu.Lock()
	m.users++
	m.mu.Unlock()
	go func() {
		defer m.leave()
		m.destroy(in)
	}()
}

// trim frees the idle instances.
func (m *module) trim() {
	m.mu.Lock()
	idle := m.idle
	m.idle = nil
	m.mu.Unlock()
	for _, in := range idle {
		m.destroy(in)
	}
}

// Stats implements guest.Module.
func (m *module) Stats() guest.ModuleStats {
	method := m.eng.restorer.method()
	switch {
	case m.keep:
		method = "none: state is kept between calls"
	case m.snap == nil:
		method = "fresh: " + m.unrestorable
	}
	return guest.ModuleStats{
		Instances:   int(m.instances.Load()),
		Fresh:       m.fresh.Load(),
		Reset:       m.resets.Load(),
		Poisoned:    m.poisoned.Load(),
		ResetMethod: method,
		MemoryBytes: m.memoryBytes,
	}
}

// Close implements guest.Module.
func (m *module) Close() error {
	m.mu.Lock()
	if !m.closing {
		m.closing = true
		if m.users == 0 {
			close(m.drained)
		}
	}
	m.mu.Unlock()
	<-m.drained
	var err error
	m.closed.Do(func() {
		m.trim()
		err = m.discard()
		m.eng.forget(m)
	})
	return err
}

// discard frees what the instances shared. It is also how a failed load ends, so any part may be missing.
func (m *module) discard() error {
	var errs []error
	if m.runtime != nil {
		errs = append(errs, m.runtime.Close(context.Background()))
	}
	if m.cache != nil {
		errs = append(errs, m.cache.Close(context.Background()))
	}
	if m.snap != nil {
		m.snap.img.free()
	}
	// wazero unmaps native code in a finalizer, which runs when Go's collector happens to; its heap does not see this memory.
	m.compiled, m.runtime, m.cache = nil, nil, nil
	if m.eng.retired.Add(m.codeSize) > collectAfter {
		m.eng.retired.Store(0)
		runtime.GC()
	}
	if err := errors.Join(errs...); err != nil {
		return abi.E("close", v1.ErrorKindInternal, m.name, err)
	}
	return nil
}

// collectAfter is how much native code of closed modules may wait for a finalizer.
const collectAfter = 64 << 20
