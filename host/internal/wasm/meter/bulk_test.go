package meter_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

const (
	bulkPages   = 8
	bulkData    = 150_001 // bytes of the passive data segment
	bulkTable   = 20_000
	bulkElement = 12_001 // members of the passive element segment
)

// bulkModule exports each bulk instruction as a function of its operands. Fills of table 0 use the function "grow" itself.
func bulkModule() []byte {
	three := []byte{0x20, 0, 0x20, 1, 0x20, 2}
	code := func(parts ...[]byte) []byte { return body(none(), cat(parts...)...) }
	funcs := []struct {
		name string
		typ  byte
		body []byte
	}{
		{"fill", 0, code(three, []byte{0xfc, 11, 0})},
		{"copy", 0, code(three, []byte{0xfc, 10, 0, 0})},
		{"init", 0, code(three, []byte{0xfc, 8, 0, 0})},
		{"drop", 1, code([]byte{0xfc, 9, 0})},
		{"tfill", 0, code([]byte{0x20, 0, 0xd2, 0, 0x20, 2, 0xfc, 17, 0})},
		{"tcopy", 0, code(three, []byte{0xfc, 14, 0, 0})},
		{"tcopy2", 0, code(three, []byte{0xfc, 14, 0, 1})},
		{"tinit", 0, code(three, []byte{0xfc, 12, 0, 0})},
		{"tdrop", 1, code([]byte{0xfc, 13, 0})},
		{"null", 2, code([]byte{0x20, 0, 0x25, 0, 0xd1})},
		{"clear", 1, code([]byte{0x41, 0, 0xd0, fref, 0xfc, 16, 0, 0xfc, 17, 0})},
		{"grow", 2, code([]byte{0x20, 0, 0x40, 0})},
		{"tgrow", 2, code([]byte{0xd0, fref, 0x20, 0, 0xfc, 15, 0})},
		{"loop", 1, body(none(), 0x03, 0x40, 0x41, 0, 0x41, 1, 0x41, 0x80, 0x80, 0x20, 0xfc, 11, 0, 0x0c, 0, 0x0b)},
	}
	var types, exports, bodies [][]byte
	for i, f := range funcs {
		types = append(types, []byte{f.typ})
		exports = append(exports, export(f.name, 0, uint32(i)))
		bodies = append(bodies, f.body)
	}
	exports = append(exports, export("memory", 2, 0))
	data := make([]byte, bulkData)
	for i := range data {
		data[i] = byte(i * 7 >> 3)
	}
	var members []byte
	for i := range bulkElement {
		if i%3 == 0 {
			members = append(members, 0xd0, fref, 0x0b)
		} else {
			members = append(members, 0xd2, 1, 0x0b)
		}
	}
	return binary(
		sec(1, vec(sig("\x7f\x7f\x7f", ""), sig("", ""), sig("\x7f", "\x7f"))),
		sec(3, vec(types...)),
		sec(4, vec(cat([]byte{fref, 1}, leb(bulkTable), leb(60_000)), cat([]byte{fref, 0}, leb(bulkTable)))),
		sec(5, vec([]byte{1, bulkPages, 40})),
		sec(7, vec(exports...)),
		sec(9, cat(leb(2), []byte{5, fref}, leb(bulkElement), members, []byte{3, 0, 1, 0})),
		sec(12, []byte{1}),
		sec(10, vec(bodies...)),
		sec(11, vec(cat([]byte{1}, sized(data)))),
	)
}

// edges are operands around every boundary that a helper knows: chunks, sizes, segments, and the ends of 32 bits.
func edges(sizes ...uint64) []uint64 {
	list := []uint64{0, 1, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	for _, s := range sizes {
		list = append(list, s-1, s, s+1)
	}
	return list
}

// state is what bulk instructions can change.
func (h *host) state(t *testing.T) []byte {
	t.Helper()
	mem := h.Memory()
	all, _ := mem.Read(0, mem.Size())
	return all
}

// TestBulkMemory compares memory.fill, copy and init with and without metering, for operands around all boundaries, overlapping
// ones included.
func TestBulkMemory(t *testing.T) {
	bin := bulkModule()
	plain := start(t, bin, runtimeConfig(), 0, 0)
	metered := start(t, rewrite(t, bin, meter.Options{}).Wasm, runtimeConfig(), 1000, plenty)
	size := uint64(bulkPages << 16)
	traps, calls := 0, 0
	try := func(op string, args ...uint64) {
		_, err := plain.call(t, op, args...)
		_, err2 := metered.call(t, op, args...)
		calls++
		if err != nil {
			traps++
		}
		if fmt.Sprint(trap(err)) != fmt.Sprint(trap(err2)) || !bytes.Equal(plain.state(t), metered.state(t)) {
			t.Fatalf("%s %d: plain %v, metered %v, or the memories differ", op, args, err, err2)
		}
	}
	try("init", 3, 0, bulkData)
	for _, n := range edges(1<<16, 2<<16, bulkData, size) {
		for _, d := range edges(1<<16, size, size-1<<16, size-bulkData) {
			try("fill", d, n^d, n)
			for _, s := range edges(1<<16, 100_000, size, size-1<<16) {
				try("copy", d, s, n)
			}
			for _, s := range edges(1<<16, bulkData, bulkData-1<<16) {
				try("init", d, s, n)
			}
		}
	}
	try("drop")
	for _, n := range edges(1<<16, bulkData) {
		try("init", 0, 0, n)
	}
	if traps == 0 || traps == calls {
		t.Errorf("%d of %d calls trapped", traps, calls)
	}
}

// tableState asks which elements are null.
func (h *host) tableState(t *testing.T, size int) string {
	t.Helper()
	var b strings.Builder
	f := h.ExportedFunction("null")
	for i := range size {
		r, err := f.Call(t.Context(), uint64(i))
		if err != nil {
			t.Fatal(err)
		}
		b.WriteByte('0' + byte(r[0]))
	}
	return b.String()
}

// TestBulkTable does the same for tables.
func TestBulkTable(t *testing.T) {
	bin := bulkModule()
	plain := start(t, bin, runtimeConfig(), 0, 0)
	metered := start(t, rewrite(t, bin, meter.Options{}).Wasm, runtimeConfig(), 1000, plenty)
	run := func(op string, args ...uint64) {
		_, err := plain.call(t, op, args...)
		_, err2 := metered.call(t, op, args...)
		if fmt.Sprint(trap(err)) != fmt.Sprint(trap(err2)) {
			t.Fatalf("%s %d: plain %v, metered %v", op, args, err, err2)
		}
	}
	same := func(what string) {
		if plain.tableState(t, bulkTable) != metered.tableState(t, bulkTable) {
			t.Fatalf("the tables differ after %s", what)
		}
	}
	sizes := []uint64{1 << 13, 2 << 13, bulkElement, bulkTable}
	for _, n := range edges(sizes...) {
		for _, d := range edges(1<<13, bulkTable, bulkTable-1<<13) {
			for _, op := range []string{"tfill", "tinit", "tcopy", "tcopy2"} {
				run(op, d, n^d%7, n)
				run(op, d, 17, n)
			}
		}
		same(fmt.Sprintf("operations of %d elements", n))
		run("clear")
		run("tinit", 5, 0, bulkElement)
		run("tcopy", 1<<12, 5, bulkElement)
		run("tcopy", 3, 1<<12, bulkElement)
		same("copies that overlap")
	}
	run("tdrop")
	run("tinit", 0, 0, 1<<13+1)
	run("tinit", 0, 0, 0)
	same("elem.drop")
}

// TestGrow compares memory.grow and table.grow up to and beyond the maximum, and what they cost.
func TestGrow(t *testing.T) {
	bin := bulkModule()
	for _, op := range []string{"grow", "tgrow"} {
		plain := start(t, bin, runtimeConfig(), 0, 0)
		metered := start(t, rewrite(t, bin, meter.Options{}).Wasm, runtimeConfig(), 100_000, plenty)
		for _, n := range []uint64{0, 1, 5, 1<<32 - 1, 65_536, 9000, 30_000, 30, 1 << 31, 17, 18, 1} {
			before := metered.used()
			want, err := plain.call(t, op, n)
			got, err2 := metered.call(t, op, n)
			if err != nil || err2 != nil || got != want {
				t.Errorf("%s %d: plain %d, %v; metered %d, %v", op, n, want, err, got, err2)
			}
			cost := metered.used() - before
			if failed := uint32(got) == 1<<32-1; failed && cost > 200 {
				t.Errorf("%s %d failed and cost %d units", op, n, cost)
			} else if least := map[string]int64{"grow": 1024, "tgrow": 1}[op] * int64(n); !failed && cost < least {
				t.Errorf("%s %d cost %d units, want %d at least", op, n, cost, least)
			}
		}
	}
}

// TestBulkCost wants bulk instructions to be paid for by length, in sums that a slice can hold.
func TestBulkCost(t *testing.T) {
	h := start(t, rewrite(t, bulkModule(), meter.Options{}).Wasm, runtimeConfig(), 10_000, plenty)
	for _, c := range []struct {
		op   string
		n    uint64
		cost int64
	}{
		{"fill", 0, 0}, {"fill", 800, 100}, {"fill", 400_000, 50_000}, {"copy", 400_000, 50_000}, {"init", bulkData, bulkData / 8},
		{"tfill", 15_000, 15_000}, {"tcopy", 15_000, 15_000}, {"tinit", bulkElement, bulkElement},
	} {
		before := h.used()
		if _, err := h.call(t, c.op, 0, 0, c.n); err != nil {
			t.Fatal(err)
		}
		if cost := h.used() - before; cost < c.cost || cost > c.cost+100 {
			t.Errorf("%s of %d cost %d units, want %d and a little", c.op, c.n, cost, c.cost)
		}
	}
	if h.debt < -1<<13-100 {
		t.Errorf("%d units were charged without a look at the counter", -h.debt)
	}
}
