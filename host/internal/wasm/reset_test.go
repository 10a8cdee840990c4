package wasm

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/amygdala-host/amygdala/host/guest"
)

// writer is a plugin that does what its request says: pairs of 32-bit numbers, an address and a value to store there. Two addresses
// are special: growAt grows the memory by value pages, globalAt sets the mutable globals.
func writer() []byte {
	const growAt, globalAt = -1, -2
	a := newAsm()
	a.memory(3, 12)
	g32, g64 := a.global(tI32, i32c(11)), a.global(tI64, i64c(12))
	const ptr, end, at, val = 1, 2, 3, 4
	return a.plugin(2,
		get(ptr), get(end), opI32Add, set(end),
		opBlock, void, opLoop, void,
		get(ptr), get(end), opI32LtU, opI32Eqz, opBrIf, 1,
		get(ptr), opI32Load, 2, 0, set(at),
		get(ptr), opI32Load, 2, 4, set(val),
		get(at), i32c(growAt), opI32Eq, opIf, void,
		get(val), opMemoryGrow, 0, opDrop,
		opElse, get(at), i32c(globalAt), opI32Eq, opIf, void,
		get(val), opGlobalSet, g32, get(val), opI64ExtendU, opGlobalSet, g64,
		opElse, get(at), get(val), opI32Store, 0, 0, opEnd, opEnd,
		get(ptr), i32c(8), opI32Add, set(ptr), opBr, 0,
		opEnd, opEnd,
		opGlobalGet, g64, opDrop, answer(answerAt, 4))
}

const (
	growAt   = 0xffffffff
	globalAt = 0xfffffffe
)

func pairs(p ...uint32) []byte {
	var b []byte
	for _, v := range p {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

func TestResetLeavesNoTrace(t *testing.T) {
	for _, method := range methods(t) {
		t.Run(method, func(t *testing.T) {
			e := openEngine(t, Options{Reset: method, Instances: 2})
			m := load(t, e, writer(), guest.LoadOptions{})
			rnd := rand.New(rand.NewPCG(5, 6))
			for range 300 {
				body := randomWrites(rnd)
				_, _ = m.Call(t.Context(), guest.Call{Op: 16, Body: body}) // an address outside memory traps, which is fine
				pristine(t, m)
			}
			s := m.Stats()
			t.Logf("%+v", s)
			if s.Reset == 0 || s.Poisoned == 0 || m.regrown.Load() != 0 {
				t.Errorf("the random guest exercised too little: %+v, %d not reset", s, m.regrown.Load())
			}
		})
	}
}

func randomWrites(rnd *rand.Rand) []byte {
	var p []uint32
	for range rnd.IntN(60) {
		switch rnd.IntN(50) {
		case 0:
			p = append(p, growAt, rnd.Uint32N(4))
		case 1:
			p = append(p, globalAt, rnd.Uint32())
		case 2:
			p = append(p, rnd.Uint32N(14*pageBytes), rnd.Uint32())
		default:
			p = append(p, 2*pageBytes+rnd.Uint32N(pageBytes-4), rnd.Uint32())
		}
	}
	return pairs(p...)
}

// FuzzResetLeavesNoTrace lets the fuzzer say what a guest writes.
func FuzzResetLeavesNoTrace(f *testing.F) {
	f.Add(pairs(growAt, 2, 200000, 7, globalAt, 9))
	f.Add(pairs(0, 1, 65536*3-4, 0xffffffff))
	e, err := New(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { e.Close() })
	loaded, err := e.Load(f.Context(), "writer", writer(), guest.LoadOptions{})
	if err != nil {
		f.Fatal(err)
	}
	m := loaded.(*module)
	f.Fuzz(func(t *testing.T, body []byte) {
		if len(body) > pageBytes {
			return
		}
		a, err := m.Call(t.Context(), guest.Call{Op: 16, Body: body})
		if again, err2 := m.Call(t.Context(), guest.Call{Op: 16, Body: body}); again.Fuel != a.Fuel || (err == nil) != (err2 == nil) {
			t.Errorf("the same call cost %d units and then %d (%v, %v)", a.Fuel, again.Fuel, err, err2)
		}
		pristine(t, m)
	})
}

// TestFreshEqualsSnapshot compares an instance made from the snapshot with the one it was taken from.
func TestFreshEqualsSnapshot(t *testing.T) {
	for _, method := range methods(t) {
		t.Run(method, func(t *testing.T) {
			e := openEngine(t, Options{Reset: method})
			m := load(t, e, writer(), guest.LoadOptions{Setup: func(c guest.Caller) error {
				_, err := c.Call(t.Context(), guest.Call{Op: 2, Body: pairs(growAt, 3, 5*pageBytes, 77, globalAt, 5)})
				return err
			}})
			if m.memoryBytes != 6*pageBytes {
				t.Errorf("setup grew the memory to %d bytes, want 6 pages", m.memoryBytes)
			}
			for range 3 {
				in, err := m.make(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if err := differs(in, m.snap); err != nil {
					t.Error(err)
				}
				m.park(in)
			}
			pristine(t, m)
		})
	}
}

// TestWazeroStillShowsItsInsides fails when an upgrade of wazero takes away what two features rest on: the cap on the call stack, and
// taking back memory that a call added. Both are then off, so this must be noticed.
func TestWazeroStillShowsItsInsides(t *testing.T) {
	e := openEngine(t, Options{})
	m := load(t, e, writer(), guest.LoadOptions{})
	in, err := m.make(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer m.destroy(in)
	if in.call.depth == nil || in.call.depth() == 0 {
		t.Error("the call stack of a wazero function cannot be measured")
	}
	if in.buffer == nil || len(*in.buffer) != 3*pageBytes {
		t.Error("the buffer of a wazero memory cannot be reached")
	}
}

func TestUnrestorableModuleGetsAFreshInstancePerCall(t *testing.T) {
	a := newAsm()
	a.table(4, 8)
	f := a.fn(nil, nil, 0)
	a.elem(0, f)
	// table.set 0 1 (ref.func f), after counting how often this instance was called in memory
	count := code(i32c(0), i32c(0), opI32Load, 2, 0, i32c(1), opI32Add, store32(0))
	wasm := a.plugin(0, count, i32c(1), 0xd2, uleb(uint64(f)), 0x26, 0, i32c(answerAt), i32c(0), opI32Load, 2, 0, opI32Store, 2, 0, answer(answerAt, 1))
	setups := 0
	e := openEngine(t, Options{})
	m := load(t, e, wasm, guest.LoadOptions{Setup: func(c guest.Caller) error {
		setups++
		_, err := c.Call(t.Context(), request("s"))
		return err
	}})
	for i := range 3 {
		if got := ask(t, m, "x").Body[0]; got != 2 {
			t.Errorf("call %d: this instance was called %d times, want setup and this call", i, got)
		}
	}
	if s := m.Stats(); s.Fresh != 3 || s.Reset != 0 || setups != 3 {
		t.Errorf("%+v after %d setups, want a fresh instance with a setup of its own per call", s, setups)
	}
	if got := m.Stats().ResetMethod; got != "fresh: writes a table (table.set)" {
		t.Errorf("reset method %q", got)
	}
}

func TestKeepStateKeepsState(t *testing.T) {
	e := openEngine(t, Options{})
	m := load(t, e, counter(), guest.LoadOptions{KeepState: true})
	for want := byte(1); want < 4; want++ {
		if got := ask(t, m, "x").Body[0]; got != want {
			t.Errorf("call %d of a kept instance counted %d", want, got)
		}
	}
}

// counter is a plugin that answers how often it was called.
func counter() []byte {
	a := newAsm()
	return a.plugin(0, i32c(answerAt), i32c(answerAt), opI32Load, 2, 0, i32c(1), opI32Add, opI32Store, 2, 0, answer(answerAt, 1))
}
