package meter_test

import (
	"testing"

	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// TestSelect selects values of every type, with and without the type in the instruction, and code that cannot be reached.
func TestSelect(t *testing.T) {
	for _, c := range []struct {
		typ           byte
		first, second []byte
		toI32         []byte
	}{
		{i32t, []byte{0x41, 11}, []byte{0x41, 22}, nil},
		{i64t, []byte{0x42, 11}, []byte{0x42, 22}, []byte{0xa7}},
		{f32t, []byte{0x41, 11, 0xb2}, []byte{0x41, 22, 0xb2}, []byte{0xa8}},
		{f64t, []byte{0x41, 11, 0xb7}, []byte{0x41, 22, 0xb7}, []byte{0xaa}},
		{v128, []byte{0x41, 11, 0xfd, 0x11}, []byte{0x41, 22, 0xfd, 0x11}, []byte{0xfd, 0x1b, 3}},
	} {
		for _, op := range [][]byte{{0x1b}, {0x1c, 1, c.typ}} {
			code := cat(c.first, c.second, []byte{0x20, 0}, op, c.toI32)
			unreached := cat([]byte{0x02, 0x40, 0x00}, op, []byte{0x1a, 0x0b})
			bin := one("\x7f", "\x7f", none(), cat([]byte{0x20, 0, 0x41, 2, 0x46, 0x04, 0x40}, unreached, []byte{0x0b}, code))
			h := start(t, rewrite(t, bin, meter.Options{}).Wasm, runtimeConfig(), 1000, plenty)
			for cond, want := range []uint64{22, 11} {
				if got, err := h.call(t, "f", uint64(cond)); err != nil || got != want {
					t.Errorf("type %#x, instruction %x, condition %d: got %d, %v", c.typ, op, cond, got, err)
				}
			}
		}
	}
}

// TestSelectAcrossCalls selects a float that lived on the stack during a call, which is where wazero's compiler goes wrong: a is kept
// across the calls of f, b is not, and the result must be b.
func TestSelectAcrossCalls(t *testing.T) {
	call := []byte{0x41, 1, 0x10, 1, 0x1a}
	code := cat(
		[]byte{0x03, 0x40, 0x20, 1, 0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 0xa0, 0x21, 1}, call, // loop: a += 1; call
		[]byte{0x20, 0, 0x04, 0x7c, 0x20, 1, 0x05, 0x20, 1, 0x20, 2, 0x20, 0, 0x1b, 0x0b, 0x21, 3}, // c = n ? a : select(a, b, n)
		[]byte{0x20, 4, 0x41, 1, 0x6a, 0x22, 4, 0x41, 3, 0x49, 0x0d, 0, 0x0b},                      // three times
		[]byte{0x20, 3, 0xaa},
	)
	bin := binary(
		sec(1, vec(sig("\x7f", "\x7f"))), sec(3, vec([]byte{0}, []byte{0})), sec(7, vec(export("f", 0, 0))),
		sec(10, vec(body([]byte{2, 3, f64t, 1, i32t}, code...), body(none(), 0x20, 0))),
	)
	h := start(t, rewrite(t, bin, meter.Options{}).Wasm, runtimeConfig(), 7, plenty)
	for n, want := range []uint64{0, 3} {
		for range 20 {
			if got, err := h.call(t, "f", uint64(n)); err != nil || got != want {
				t.Fatalf("f(%d) = %d, %v, want %d", n, got, err, want)
			}
		}
	}
}
