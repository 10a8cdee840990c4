package meter_test

import (
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// runaways are modules whose function f never returns, or not in any time that counts.
var runaways = map[string][]byte{
	"spin":                       one("", "", none(), []byte{0x03, 0x40, 0x0c, 0, 0x0b}),
	"spin with else":             one("", "", none(), []byte{0x03, 0x40, 0x41, 1, 0x04, 0x40, 0x0c, 1, 0x05, 0x0c, 1, 0x0b, 0x0b}),
	"inner loop does the branch": one("", "", none(), []byte{0x03, 0x40, 0x03, 0x40, 0x0c, 1, 0x0b, 0x0b}),
	"branch table":               one("", "", none(), []byte{0x03, 0x40, 0x41, 0, 0x0e, 1, 0, 0, 0x0b}),
	// f() calls itself twice, n times deep: no loop anywhere.
	"call tree": one("\x7f", "", none(), []byte{
		0x20, 0, 0x04, 0x40, 0x20, 0, 0x41, 1, 0x6b, 0x10, 0, 0x20, 0, 0x41, 1, 0x6b, 0x10, 0, 0x0b,
	}),
	"tail call": one("", "", none(), []byte{0x12, 0}),
	"tail call by table": binary(
		sec(1, vec(sig("", ""))), sec(3, vec([]byte{0})), sec(4, vec([]byte{fref, 0, 1})), sec(7, vec(export("f", 0, 0))),
		sec(9, vec([]byte{0, 0x41, 0, 0x0b, 1, 0})), sec(10, vec(body(none(), 0x41, 0, 0x13, 0, 0))),
	),
	"fill":            one("", "", none(), []byte{0x03, 0x40, 0x41, 0, 0x41, 1, 0x41, 0x80, 0x80, 4, 0xfc, 11, 0, 0x0c, 0, 0x0b}),
	"grow that fails": one("", "", none(), []byte{0x03, 0x40, 0x41, 0x7f, 0x40, 0, 0x1a, 0x0c, 0, 0x0b}),
	"exceptions": binary(
		sec(1, vec(sig("", ""))), sec(3, vec([]byte{0}, []byte{0})), sec(5, vec([]byte{0, 1})), sec(13, vec([]byte{0, 0})),
		sec(7, vec(export("f", 0, 0))),
		sec(10, vec(
			// loop: try { callee } catch_all { again }
			body(none(), 0x03, 0x40, 0x02, 0x40, 0x1f, 0x40, 1, 2, 0, 0x10, 1, 0x0b, 0x0b, 0x0c, 0, 0x0b),
			body(none(), 0x08, 0),
		)),
	),
}

// TestRunaways stops each of them, having granted no more than the budget and a slice.
func TestRunaways(t *testing.T) {
	for name, bin := range runaways {
		t.Run(name, func(t *testing.T) {
			h := start(t, rewrite(t, bin, meter.Options{}).Wasm, runtimeConfig(), 1000, 300_000)
			var args []uint64
			if name == "call tree" {
				args = []uint64{60}
			}
			_, err := h.call(t, "f", args...)
			if err == nil || !strings.Contains(err.Error(), errFuel.Error()) {
				t.Fatalf("got %v", err)
			}
			if h.granted > h.budget+h.slice {
				t.Errorf("granted %d units of %d", h.granted, h.budget)
			}
		})
	}
}

// TestEverySlice runs a loop of known length with slices of many sizes: the price does not depend on them.
func TestEverySlice(t *testing.T) {
	bin := rewrite(t, tightLoop(), meter.Options{}).Wasm
	var want int64
	for i, slice := range []int64{1, 7, 100, 1001, 1 << 40} {
		h := start(t, bin, runtimeConfig(), slice, plenty)
		sum, err := h.call(t, "f", 1000)
		if err != nil || sum != 0 {
			t.Fatal(sum, err)
		}
		if i == 0 {
			want = h.used()
		}
		if h.used() != want {
			t.Errorf("slices of %d: %d units, want %d", slice, h.used(), want)
		}
	}
	// 14 instructions a round, counted by hand, and one behind the loop.
	if want != 14_001 {
		t.Errorf("1000 rounds of 14 instructions and one more cost %d units", want)
	}
}

// TestBranchesNotTaken wants code that does not run to cost next to nothing: what it adds to the price of the frame, a unit for 64
// bytes, and what is merged.
func TestBranchesNotTaken(t *testing.T) {
	long := func() []byte {
		var b []byte
		for range 500 {
			b = append(b, 0x20, 0, 0x1a)
		}
		return b
	}()
	code := cat([]byte{0x20, 0, 0x04, 0x40}, long, []byte{0x05}, long, long, []byte{0x0b})
	h := start(t, rewrite(t, one("\x7f", "", none(), code), meter.Options{}).Wasm, runtimeConfig(), 10_000, plenty)
	frame := int64(len(code)) / 64
	for arg, want := range []int64{2000, 1000} {
		before := h.used()
		if _, err := h.call(t, "f", uint64(arg)); err != nil {
			t.Fatal(err)
		}
		if cost := h.used() - before; cost < want || cost > want+frame+20 {
			t.Errorf("f(%d) cost %d units, want %d and a little", arg, cost, want)
		}
	}
}

// TestStraightLine pays for a body of a million instructions in front of it, and looks at the counter before it runs.
func TestStraightLine(t *testing.T) {
	var code []byte
	for range 500_000 {
		code = append(code, 0x20, 0, 0x1a)
	}
	h := start(t, rewrite(t, one("\x7f", "", none(), code), meter.Options{}).Wasm, runtimeConfig(), 10_000, 100_000)
	if _, err := h.call(t, "f", 0); err == nil || h.refuels != 1 {
		t.Errorf("a million instructions ran on 100,000 units: %d refuellings, %v", h.refuels, err)
	}
}

// TestBranchyStraightLine has as much code, in pieces that branches join: it looks at the counter often enough.
func TestBranchyStraightLine(t *testing.T) {
	var code []byte
	for range 2000 {
		code = append(code, 0x02, 0x40, 0x20, 0, 0x0d, 0)
		for range 10 {
			code = append(code, 0x20, 0, 0x1a)
		}
		code = append(code, 0x0b)
	}
	h := start(t, rewrite(t, one("\x7f", "", none(), code), meter.Options{}).Wasm, runtimeConfig(), 1, plenty)
	if _, err := h.call(t, "f", 0); err != nil {
		t.Fatal(err)
	}
	if h.used() < 40_000 || h.debt < -1<<14-100 {
		t.Errorf("used %d units, at most %d of them without a look at the counter", h.used(), -h.debt)
	}
}

// TestExceptionFuel wants an exception not to bring back fuel that was used before it was thrown.
func TestExceptionFuel(t *testing.T) {
	spend := []byte{1, 1, i32t}
	bin := binary(
		sec(1, vec(sig("", ""))), sec(3, vec([]byte{0}, []byte{0})), sec(5, vec([]byte{0, 1})), sec(13, vec([]byte{0, 0})),
		sec(7, vec(export("f", 0, 0))),
		sec(10, vec(
			body(none(), 0x02, 0x40, 0x1f, 0x40, 1, 2, 0, 0x10, 1, 0x0b, 0x0b),
			// Counts to 10,000 in a loop, then throws.
			body(spend, 0x03, 0x40, 0x20, 0, 0x41, 1, 0x6a, 0x22, 0, 0x41, 0x90, 0xce, 0, 0x49, 0x0d, 0, 0x0b, 0x08, 0),
		)),
	)
	h := start(t, rewrite(t, bin, meter.Options{}).Wasm, runtimeConfig(), 1<<30, plenty)
	if _, err := h.call(t, "f"); err != nil {
		t.Fatal(err)
	}
	if h.used() < 70_000 {
		t.Errorf("10,000 rounds and an exception cost %d units", h.used())
	}
}

// TestFramesArePaidFor calls a function whose body is large and hardly run.
func TestFramesArePaidFor(t *testing.T) {
	var idle []byte
	for range 1000 {
		idle = append(idle, 0x20, 0, 0x1a)
	}
	code := cat([]byte{0x20, 0, 0x04, 0x40}, idle, []byte{0x0b})
	h := start(t, rewrite(t, one("\x7f", "", none(), code), meter.Options{}).Wasm, runtimeConfig(), 10_000, plenty)
	if _, err := h.call(t, "f", 0); err != nil {
		t.Fatal(err)
	}
	if want := int64(len(code)) / 64; h.used() < want || h.used() > want+20 {
		t.Errorf("a frame of %d bytes of code cost %d units, want %d and a little", len(code), h.used(), want)
	}
}

// TestWeightFindsWhatIsSlowToCompile compares functions of about the same size.
func TestWeightFindsWhatIsSlowToCompile(t *testing.T) {
	weigh := func(code []byte) uint64 { return rewrite(t, one("\x7f", "", none(), code), meter.Options{}).Weight }
	repeat := func(n int, b ...byte) (all []byte) {
		for range n {
			all = append(all, b...)
		}
		return all
	}
	plain := weigh(repeat(2000, 0x20, 0, 0x1a))
	branches := weigh(repeat(2000, 0x20, 0, 0x04, 0x40, 0x0b))
	nested := weigh(cat(repeat(2000, 0x03, 0x40, 0x20, 0, 0x0d, 0), repeat(2000, 0x0b)))
	apart := weigh(repeat(2000, 0x03, 0x40, 0x20, 0, 0x0d, 0, 0x0b))
	if plain*1000 > branches || apart*4 > nested {
		t.Errorf("weights: straight %d, branches %d, loops side by side %d, nested %d", plain, branches, apart, nested)
	}
}
