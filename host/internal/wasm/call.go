package wasm

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

const (
	// sliceUnits is the fuel a guest gets at a time: five to fifty microseconds of arithmetic. Between two slices the host can neither
	// stop it nor collect garbage, and the slowest thing that a guest can do with a few units is to touch a fresh page of memory. A
	// small memory has few pages to touch; a larger one gets smaller slices, so that none takes more than about five milliseconds.
	// What a call costs does not depend on them.
	sliceUnits  = 64 << 10 // in a memory of up to 10 MiB
	sliceMedium = 16 << 10 // up to 16 MiB
	sliceSmall  = 8 << 10
	// bytesPerUnit prices host work that a guest asks for through WASI.
	bytesPerUnit = 8
	// maxStack is how large wazero's call stack may be at a slice boundary. A stack lives in Go's heap and doubles when it is full.
	maxStack = 2 << 20
)

// noFuel is the text of every error of kind fuel.
const noFuel = "the fuel budget is used up"

// A halt is why the host stopped a guest. It travels as a panic through wazero, which adds the guest's stack.
type halt struct {
	kind v1.ErrorKind
	text string
}

func (h *halt) Error() string { return h.text }

// A call is the state of one crossing into a guest. It is also the context that wazero hands to host functions, which is how they
// find it without a lookup. Every instance has one and reuses it.
type call struct {
	context.Context // the caller's
	// values answers Value while wazero instantiates, and is nil otherwise: wazero asks for keys of its own on every call, and the
	// caller's context may be a long chain.
	values context.Context

	limits   guest.Limits
	start    time.Time
	deadline time.Time
	done     <-chan struct{}
	// depth reports the size of the running function's call stack in bytes.
	depth func() int

	// granted is the fuel handed out so far, debt the host work not yet taken off it, unchecked the part of that since the deadline
	// was last looked at.
	granted         uint64
	debt, unchecked uint64
	halted          *halt
	// refuelling is set while the guest waits for fuel, with left units on its counter: the exported one is older then.
	refuelling bool
	left       int64
	// memory is the size of the guest's memory in bytes.
	memory int
	// refused is the memory size in bytes that the guest asked for and did not get, 0 when it got all.
	refused uint64

	// clock is the request's wall time. mono is the monotonic time: it goes on from the snapshot, whatever the request says, because
	// language runtimes abort when it runs backwards. Both stand still but for sleeps.
	clock, mono int64

	seed   uint64
	random *rand.ChaCha8
	seeded bool
	log    ring
}

// Value hides the caller's values from wazero.
func (c *call) Value(key any) any {
	if c.values == nil {
		return nil
	}
	return c.values.Value(key)
}

// begin prepares for one crossing and returns the first slice of fuel.
func (c *call) begin(ctx context.Context, limits guest.Limits, clock int64, seed uint64) (fuel uint64) {
	c.Context, c.values, c.depth = ctx, nil, nil
	c.limits = limits
	c.start = time.Now()
	c.deadline = c.start.Add(limits.Wall)
	if d, ok := ctx.Deadline(); ok && d.Before(c.deadline) {
		c.deadline = d
	}
	c.done = ctx.Done()
	c.granted, c.debt, c.unchecked = min(c.slice(), limits.Fuel), 0, 0
	c.halted, c.refused, c.refuelling = nil, 0, false
	c.clock, c.seed, c.seeded = clock, seed, false
	c.log.reset(limits.Log)
	return c.granted
}

// slice is the fuel to hand out next.
func (c *call) slice() uint64 {
	switch {
	case c.memory <= 10<<20:
		return sliceUnits
	case c.memory <= 16<<20:
		return sliceMedium
	}
	return sliceSmall
}

// end forgets the caller.
func (c *call) end() { c.Context, c.done = context.Background(), nil }

// stop ends the guest from inside a host function.
func (c *call) stop(kind v1.ErrorKind, text string) {
	c.halted = &halt{kind: kind, text: text}
	panic(c.halted)
}

// refuel is the import that metered code calls when its counter is below zero. It returns the new counter, or stops the guest.
func (c *call) refuel(left int64) int64 {
	c.refuelling, c.left = true, left
	c.check()
	left -= int64(c.debt)
	c.debt, c.left = 0, left
	for left < 0 {
		n := min(c.slice(), c.limits.Fuel-c.granted)
		if n == 0 {
			c.stop(v1.ErrorKindFuel, noFuel)
		}
		c.granted += n
		left += int64(n)
		c.left = left
	}
	c.refuelling = false
	return left
}

// check stops the guest when its time is over, its caller has given up or its call stack is too deep.
func (c *call) check() {
	c.unchecked = 0
	select {
	case <-c.done:
		if c.Context.Err() == context.DeadlineExceeded {
			c.stop(v1.ErrorKindTimeout, "the caller's deadline passed")
		}
		c.stop(v1.ErrorKindCanceled, "the caller gave up")
	default:
	}
	if time.Now().After(c.deadline) {
		c.stop(v1.ErrorKindTimeout, "the deadline of "+c.deadline.Sub(c.start).Round(time.Millisecond).String()+" passed")
	}
	if c.depth != nil && c.depth() > maxStack {
		c.stop(v1.ErrorKindTrap, "call stack exhausted (endless recursion?)")
	}
}

// work charges the guest for n bytes of host work, and keeps a guest that only makes the host work within its deadline.
func (c *call) work(n int) {
	units := 1 + uint64(n)/bytesPerUnit
	c.debt += units
	if c.unchecked += units; c.unchecked >= c.slice() {
		c.check()
		if c.debt >= c.limits.Fuel {
			c.stop(v1.ErrorKindFuel, noFuel)
		}
	}
}

// spent is the fuel used so far, given the guest's counter. It may be above the limit: the last slice is checked when it is over.
func (c *call) spent(counter int64) uint64 {
	if c.refuelling {
		counter = c.left
	}
	return uint64(max(0, int64(c.granted)-counter+int64(c.debt)))
}

// fill writes the call's random bytes: the same for the same seed and the same sequence of requests.
func (c *call) fill(p []byte) {
	if !c.seeded {
		var seed [32]byte
		for i := range 8 {
			seed[i] = byte(c.seed >> (8 * i))
		}
		if c.random == nil {
			c.random = rand.NewChaCha8(seed)
		} else {
			c.random.Seed(seed)
		}
		c.seeded = true
	}
	_, _ = c.random.Read(p) // never fails
}

// defaultLimits are the contract's.
func defaultLimits() guest.Limits {
	return guest.Limits{
		MemoryPages: abi.DefaultMemoryPages,
		Fuel:        abi.DefaultFuel,
		Wall:        abi.DefaultWallMillis * time.Millisecond,
		Input:       abi.DefaultInputBytes,
		Output:      abi.DefaultOutputBytes,
		Log:         abi.DefaultLogBytes,
	}
}

// fillLimits replaces zero fields of l by those of base.
func fillLimits(l, base guest.Limits) guest.Limits {
	l.MemoryPages = or(l.MemoryPages, base.MemoryPages)
	l.Fuel = or(l.Fuel, base.Fuel)
	l.Wall = or(l.Wall, base.Wall)
	l.Input = or(l.Input, base.Input)
	l.Output = or(l.Output, base.Output)
	l.Log = or(l.Log, base.Log)
	return l
}

// narrowLimits lowers base to l where l is set and smaller.
func narrowLimits(base, l guest.Limits) guest.Limits {
	l = fillLimits(l, base)
	return guest.Limits{
		MemoryPages: min(l.MemoryPages, base.MemoryPages),
		Fuel:        min(l.Fuel, base.Fuel),
		Wall:        min(l.Wall, base.Wall),
		Input:       min(l.Input, base.Input),
		Output:      min(l.Output, base.Output),
		Log:         min(l.Log, base.Log),
	}
}

// or returns v, or base when v is not positive.
func or[T int | uint32 | uint64 | time.Duration](v, base T) T {
	if v > 0 {
		return v
	}
	return base
}
