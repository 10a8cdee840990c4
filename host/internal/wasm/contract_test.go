package wasm

import (
	"strings"
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// misbehaving is a plugin that breaks the contract in the way its request's first byte names, and answers "ok" to any other.
func misbehaving(alloc int64) []byte {
	a := newAsm()
	exit := a.importFunc(abi.ImportModule, "proc_exit", []byte{tI32}, nil)
	write := a.importFunc(abi.ImportModule, "fd_write", []byte{tI32, tI32, tI32, tI32}, []byte{tI32})
	a.memory(2)
	a.data(answerAt, []byte("ok"))
	a.data(0, pairs(64, 60000)) // one vector: 60,000 bytes from 64
	a.export(abi.ExportMemory, 2, 0)
	a.export(abi.ExportMarker, 0, a.fn(nil, nil, 0))
	a.export(abi.ExportAlloc, 0, a.fn([]byte{tI32}, []byte{tI32}, 0, i32c(alloc)))
	on := func(c byte, body ...any) []byte {
		return code(get(1), load8(0), i32c(int64(c)), opI32Eq, opIf, void, code(body...), opEnd)
	}
	flood := code(i32c(20), set(3), opLoop, void, i32c(2), i32c(0), i32c(1), i32c(16), callf(write), opDrop,
		get(3), i32c(1), opI32Sub, set(3), get(3), opBrIf, 0, opEnd)
	a.export(abi.ExportCall, 0, a.fn([]byte{tI32, tI32, tI32}, []byte{tI64}, 1,
		on('4', answer(answerAt, 0xffffffff), opReturn),
		on('p', answer(2*pageBytes-1, 2), opReturn),
		on('P', answer(0xfffffff0, 100), opReturn),
		on('0', answer(answerAt, 0), opReturn),
		on('L', answer(answerAt, 1000), opReturn),
		on('x', i32c(0), callf(exit)),
		on('7', i32c(7), callf(exit)),
		on('t', opUnreachable),
		on('f', flood),
		answer(answerAt, 2)))
	return a.bytes()
}

func TestBrokenContractEndsTheInstance(t *testing.T) {
	e := openEngine(t, Options{Instances: 1})
	m := load(t, e, misbehaving(roomAt), guest.LoadOptions{Limits: guest.Limits{Output: 999, Input: 100}})
	for _, c := range []struct {
		what  string
		kind  v1.ErrorKind
		parts []string
	}{
		{"4", v1.ErrorKindLimit, []string{"4294967295", "999"}},
		{"L", v1.ErrorKindLimit, []string{"1000 bytes", "999"}},
		{"p", v1.ErrorKindProtocol, []string{"131071 to 131073", "131072"}},
		{"P", v1.ErrorKindProtocol, []string{"memory of 131072"}},
		{"0", v1.ErrorKindProtocol, []string{"empty answer"}},
		{"x", v1.ErrorKindTrap, []string{"exit(0)"}},
		{"7", v1.ErrorKindTrap, []string{"exit(7)"}},
		{"t", v1.ErrorKindTrap, []string{"unreachable"}},
	} {
		before := m.Stats()
		a := fail(t, m, request(c.what), c.kind, append(c.parts, "acme", "detect")...)
		if a.Fuel == 0 || a.Body != nil {
			t.Errorf("%s: the failed call says it used %d units and answered %q", c.what, a.Fuel, a.Body)
		}
		if after := m.Stats(); after.Poisoned != before.Poisoned+1 || after.Reset != before.Reset {
			t.Errorf("%s: the instance was not destroyed: %+v", c.what, after)
		}
		if got := ask(t, m, "-"); string(got.Body) != "ok" {
			t.Errorf("after %s: %q", c.what, got.Body)
		}
		pristine(t, m)
	}
}

func TestOversizeRequestNeverReachesTheGuest(t *testing.T) {
	e := openEngine(t, Options{})
	m := load(t, e, misbehaving(roomAt), guest.LoadOptions{Limits: guest.Limits{Input: 100}})
	fail(t, m, request(strings.Repeat("-", 101)), v1.ErrorKindLimit, "101", "100")
	c := request("---")
	c.Limits.Input = 2
	fail(t, m, c, v1.ErrorKindLimit, "3 bytes", "the cap is 2")
	c.Limits.Input = 1000 // wider than the module's: ignored
	c.Body = make([]byte, 500)
	fail(t, m, c, v1.ErrorKindLimit, "the cap is 100")
	if s := m.Stats(); s.Poisoned != 0 {
		t.Errorf("%+v: a request that was refused cost an instance", s)
	}
}

func TestAllocIsNotTrusted(t *testing.T) {
	for name, at := range map[string]int64{"zero": 0, "end of memory": 2*pageBytes - 1, "beyond": 2 * pageBytes, "negative": -4} {
		e := openEngine(t, Options{})
		m := load(t, e, misbehaving(at), guest.LoadOptions{})
		t.Log(name)
		fail(t, m, request("--"), v1.ErrorKindProtocol, abi.ExportAlloc)
	}
}

func TestLogIsBoundedAndKeepsTheEnd(t *testing.T) {
	e := openEngine(t, Options{})
	m := load(t, e, misbehaving(roomAt), guest.LoadOptions{Limits: guest.Limits{Log: 1000}})
	a := ask(t, m, "f")
	if len(a.Log) != 1000 {
		t.Errorf("%d bytes of log were kept, want 1000", len(a.Log))
	}
	if again := ask(t, m, "f"); again.Fuel != a.Fuel {
		t.Errorf("the same flood cost %d and then %d units", a.Fuel, again.Fuel)
	}
	c := request("f")
	c.Limits.Fuel = a.Fuel - 1
	fail(t, m, c, v1.ErrorKindFuel, noFuel)
	c.Limits.Fuel = a.Fuel
	if _, err := m.Call(t.Context(), c); err != nil {
		t.Errorf("%d units are just enough: %v", a.Fuel, err)
	}
}

func TestFuelIsExact(t *testing.T) {
	e := openEngine(t, Options{})
	a := newAsm()
	// as many turns as the request's first byte says, times 100
	m := load(t, e, a.plugin(1, get(1), load8(0), i32c(100), 0x6c, set(3),
		opLoop, void, get(3), i32c(1), opI32Sub, set(3), get(3), opBrIf, 0, opEnd, answer(answerAt, 1)), guest.LoadOptions{})
	var last uint64
	for _, turns := range []string{"\x01", "\x02", "\x03", "\x40", "\xff"} {
		c := request(turns)
		got := ask(t, m, turns)
		if again := ask(t, m, turns); again.Fuel != got.Fuel || got.Fuel <= last {
			t.Errorf("%d turns cost %d and then %d units, fewer turns %d", turns[0], got.Fuel, again.Fuel, last)
		}
		last = got.Fuel
		c.Limits.Fuel = got.Fuel
		if _, err := m.Call(t.Context(), c); err != nil {
			t.Errorf("with just enough fuel: %v", err)
		}
		c.Limits.Fuel--
		if short := fail(t, m, c, v1.ErrorKindFuel, noFuel); short.Fuel != c.Limits.Fuel {
			t.Errorf("%d units used of %d", short.Fuel, c.Limits.Fuel)
		}
	}
}

func TestLimitsOfACallOnlyNarrow(t *testing.T) {
	wide := guest.Limits{MemoryPages: 10, Fuel: 10, Wall: 10, Input: 10, Output: 10, Log: 10}
	if got := narrowLimits(wide, guest.Limits{}); got != wide {
		t.Errorf("zero fields changed the limits to %+v", got)
	}
	if got := narrowLimits(wide, guest.Limits{MemoryPages: 11, Fuel: 11, Wall: time.Hour, Input: 11, Output: 11, Log: 11}); got != wide {
		t.Errorf("a call widened its limits to %+v", got)
	}
	narrow := guest.Limits{MemoryPages: 1, Fuel: 2, Wall: 3, Input: 4, Output: 5, Log: 6}
	if got := narrowLimits(wide, narrow); got != narrow {
		t.Errorf("narrowed to %+v, want %+v", got, narrow)
	}
}
