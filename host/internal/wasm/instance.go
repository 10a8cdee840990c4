package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// An instance is one running copy of a module. It has one owner at a time and is not safe for concurrent use.
type instance struct {
	mod   *module
	wasm  api.Module
	mem   *linear
	alloc entry
	call  entry
	// fuel is the counter that metered code decrements, globals the mutable globals in the order of the snapshot.
	fuel    api.MutableGlobal
	globals []api.MutableGlobal
	buffer  *[]byte
	state   call
	args    [3]uint64
	// dead says that something went wrong in it: it is never used again.
	dead bool
}

// An entry is an exported function with its own call stack.
type entry struct {
	api.Function
	// depth is the size of that stack in bytes; nil when wazero does not tell.
	depth func() int
}

// entry looks an exported function up; its Function is nil when there is none.
func (in *instance) entry(name string) entry {
	f := in.wasm.ExportedFunction(name)
	if f == nil {
		return entry{}
	}
	return entry{f, stackProbe(f)}
}

// A fault is a failure before it is known which operation on which guest it belongs to.
type fault struct {
	kind v1.ErrorKind
	err  error
}

func (f *fault) Error() string { return f.err.Error() }
func (f *fault) Unwrap() error { return f.err }

func faultf(kind v1.ErrorKind, format string, args ...any) error {
	return &fault{kind, fmt.Errorf(format, args...)}
}

// linear gives an instance's memory to wazero, within the call's cap and the engine's budget.
type linear struct {
	space
	state  *call
	budget *budget
	// held is what has been taken from the budget.
	held int64
	// pin, when set, is the size the next Reallocate has, whatever wazero asks for.
	pin int
}

// Reallocate implements experimental.LinearMemory.
func (l *linear) Reallocate(size uint64) []byte {
	if l.pin > 0 {
		l.state.memory = l.pin
		return l.resize(l.pin)
	}
	if size > uint64(l.state.limits.MemoryPages)*pageBytes {
		l.state.refused = size
		return nil
	}
	more := int64(size) - l.held
	if more > 0 && !l.budget.take(more) {
		l.state.stop(v1.ErrorKindUnavailable, l.budget.refusal(more))
	}
	b := l.resize(int(size))
	if b == nil {
		l.budget.give(more)
		l.state.refused = size
		return nil
	}
	l.held += more
	l.state.memory = len(b)
	return b
}

// Free implements experimental.LinearMemory; it may be called twice.
func (l *linear) Free() {
	if l.space != nil {
		l.free()
		l.space = nil
	}
	l.budget.give(l.held)
	l.held = 0
}

// bootClock is the time while a module starts: not zero, which the Go runtime refuses, and before every call's.
const bootClock = 1

// anonymous lets many instances of one module live in one runtime; _initialize is called by us, not by wazero.
var anonymous = wazero.NewModuleConfig().WithName("").WithStartFunctions()

// instantiate makes a raw instance: data and element segments are applied and the start section has run, nothing more.
func (m *module) instantiate(ctx context.Context) (in *instance, err error) {
	in = &instance{mod: m}
	in.mem = &linear{state: &in.state, budget: m.eng.budget}
	defer func() {
		if r := recover(); r != nil {
			err = in.recovered("instantiate", r)
		}
		if err != nil {
			in.destroy()
			in = nil
		}
	}()
	// The metered counter starts at zero, so a start section asks for its first slice itself.
	in.state.begin(ctx, m.limits, bootClock, 0)
	in.state.granted, in.state.mono = 0, bootClock
	defer in.state.end()
	in.state.values = experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(in.allocate))
	in.wasm, err = m.runtime.InstantiateModule(&in.state, m.compiled, anonymous)
	if err != nil {
		kind, cause := in.state.describe(err)
		if kind == v1.ErrorKindInternal {
			kind, cause = v1.ErrorKindRefused, err // segments out of bounds, and whatever else wazero finds no way to instantiate
		}
		return in, abi.E("instantiate", kind, m.name, cause)
	}
	return in, in.bind()
}

// allocate implements experimental.MemoryAllocator. Panics reach instantiate.
func (in *instance) allocate(_, max uint64) experimental.LinearMemory {
	s, err := in.mod.eng.restorer.space(int(min(max, uint64(in.mod.limits.MemoryPages)*pageBytes)))
	if err != nil {
		panic(fmt.Errorf("%w: %w", errNoMemory, err))
	}
	in.mem.space = s
	return in.mem
}

// bind looks up what every call needs.
func (in *instance) bind() error {
	in.renew()
	in.buffer = memoryBuffer(in.wasm.Memory())
	in.fuel, _ = in.wasm.ExportedGlobal(in.mod.metered.FuelGlobal).(api.MutableGlobal)
	if in.fuel == nil || in.call.Function == nil || in.alloc.Function == nil {
		return abi.E("instantiate", v1.ErrorKindInternal, in.mod.name, errors.New("the metered module lost an export"))
	}
	for _, g := range in.mod.metered.Globals {
		if !g.Restorable {
			continue
		}
		global, _ := in.wasm.ExportedGlobal(g.Name).(api.MutableGlobal)
		if global == nil {
			return abi.E("instantiate", v1.ErrorKindInternal, in.mod.name, fmt.Errorf("the metered module lost global %d", g.Index))
		}
		in.globals = append(in.globals, global)
	}
	return nil
}

// renew gives the instance new call stacks.
func (in *instance) renew() {
	in.alloc, in.call = in.entry(abi.ExportAlloc), in.entry(abi.ExportCall)
}

// destroy frees the instance. It may be called twice, and on one that was never finished.
func (in *instance) destroy() {
	in.dead = true
	if in.wasm != nil {
		_ = in.wasm.Close(context.Background()) // closes files, of which there are none
		in.wasm, in.alloc, in.call = nil, entry{}, entry{}
	}
	in.mem.Free()
}

// initialize runs the reactor's start, if the module has one.
func (in *instance) initialize(ctx context.Context) error {
	f := in.entry(abi.ExportInitialize)
	if f.Function == nil {
		return nil
	}
	_, err := in.enter(ctx, "initialize", guest.Call{Clock: bootClock}, func() error { return in.run(f, in.args[:0]) })
	return err
}

// invoke makes one call. After an error the instance is dead.
func (in *instance) invoke(ctx context.Context, c guest.Call) (guest.Answer, error) {
	var body []byte
	answer, err := in.enter(ctx, c.Op.String(), c, func() (err error) {
		body, err = in.exchange(c)
		return err
	})
	answer.Body = body
	return answer, err
}

// enter wraps everything that runs guest code: limits, recovery, accounting, and the shape of errors.
func (in *instance) enter(ctx context.Context, op string, c guest.Call, run func() error) (answer guest.Answer, err error) {
	if in.dead {
		return answer, abi.E(op, v1.ErrorKindUnavailable, in.mod.name, errors.New("the instance ended with an earlier error"))
	}
	if err := ctx.Err(); err != nil {
		return answer, abi.E(op, contextKind(err), in.mod.name, err)
	}
	in.fuel.Set(in.state.begin(ctx, narrowLimits(in.mod.limits, c.Limits), c.Clock, c.Seed))
	defer func() {
		if r := recover(); r != nil {
			err = in.recovered(op, r)
		}
		in.dead = err != nil
		answer.Fuel = min(in.state.spent(int64(in.fuel.Get())), in.state.limits.Fuel)
		answer.Wall = time.Since(in.state.start)
		answer.Log = in.state.log.bytes()
		answer.Refused = in.state.refused
		in.state.end()
	}()
	err = run()
	if err == nil && in.state.spent(int64(in.fuel.Get())) > in.state.limits.Fuel {
		err = faultf(v1.ErrorKindFuel, noFuel) // overdrawn by host work since the last slice
	}
	if err != nil {
		return answer, in.failed(op, err)
	}
	return answer, nil
}

// failed gives a fault its operation and its subject.
func (in *instance) failed(op string, err error) error {
	if f, ok := err.(*fault); ok {
		return abi.E(op, f.kind, in.mod.name, f.err)
	}
	return abi.E(op, v1.ErrorKindInternal, in.mod.name, err)
}

// recovered turns a panic of this package or of wazero into an error.
func (in *instance) recovered(op string, r any) error {
	kind := v1.ErrorKindInternal
	err, ok := r.(error)
	var h *halt
	switch {
	case errors.As(err, &h):
		kind = h.kind
	case errors.Is(err, errNoMemory):
		kind = v1.ErrorKindUnavailable
	case ok:
		err = fmt.Errorf("panic: %w\n%s", err, debug.Stack())
	default:
		err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
	}
	return abi.E(op, kind, in.mod.name, err)
}

// run enters the guest. Arguments and results share stack.
func (in *instance) run(f entry, stack []uint64) error {
	in.state.depth = f.depth
	if err := f.CallWithStack(&in.state, stack); err != nil {
		kind, cause := in.state.describe(err)
		return &fault{kind, cause}
	}
	return nil
}

// exchange writes the request, calls the guest, and copies the answer out. Every number the guest gives is checked first.
func (in *instance) exchange(c guest.Call) ([]byte, error) {
	ptr, err := in.place(c.Body)
	if err != nil {
		return nil, err
	}
	in.args = [3]uint64{uint64(uint32(c.Op)), uint64(ptr), uint64(len(c.Body))}
	if err := in.run(in.call, in.args[:]); err != nil {
		return nil, err
	}
	at, n := uint32(in.args[0]>>32), uint32(in.args[0])
	switch mem := in.wasm.Memory(); {
	case n == 0:
		return nil, faultf(v1.ErrorKindProtocol, "%s returned an empty answer", abi.ExportCall)
	case uint64(n) > uint64(in.state.limits.Output):
		return nil, faultf(v1.ErrorKindLimit, "the answer has %d bytes, the cap is %d", n, in.state.limits.Output)
	default:
		view, ok := mem.Read(at, n)
		if !ok {
			return nil, faultf(v1.ErrorKindProtocol, "%s returned bytes %d to %d of a memory of %d", abi.ExportCall, at, uint64(at)+uint64(n), mem.Size())
		}
		return append(make([]byte, 0, n), view...), nil
	}
}

// place asks the guest for room and copies the request there. An empty request needs no room.
func (in *instance) place(body []byte) (ptr uint32, err error) {
	if len(body) == 0 {
		return 0, nil
	}
	in.args[0] = uint64(len(body))
	if err := in.run(in.alloc, in.args[:1]); err != nil {
		return 0, err
	}
	ptr = uint32(in.args[0])
	mem := in.wasm.Memory()
	if ptr == 0 {
		return 0, faultf(v1.ErrorKindProtocol, "%s(%d) returned 0: no room for the request", abi.ExportAlloc, len(body))
	}
	if !mem.Write(ptr, body) {
		return 0, faultf(v1.ErrorKindProtocol, "%s(%d) returned %d, which does not fit into a memory of %d bytes", abi.ExportAlloc, len(body), ptr, mem.Size())
	}
	return ptr, nil
}

func contextKind(err error) v1.ErrorKind {
	if errors.Is(err, context.DeadlineExceeded) {
		return v1.ErrorKindTimeout
	}
	return v1.ErrorKindCanceled
}
