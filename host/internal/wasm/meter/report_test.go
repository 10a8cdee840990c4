package meter_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero/api"

	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// TestReport checks what Rewrite says about a module with one of everything.
func TestReport(t *testing.T) {
	bin := binary(
		sec(1, vec(sig("\x7f\x7e", "\x7d"), sig("", ""))),
		sec(2, vec(
			cat(str("env"), str("g"), []byte{3, i64t, 1}), cat(str("env"), str("f"), []byte{0, 0}),
			cat(str("env"), str("c"), []byte{3, f64t, 0}),
		)),
		sec(3, vec([]byte{1})),
		sec(4, vec([]byte{fref, 0, 5})),
		sec(5, vec([]byte{0, 2})),
		sec(6, vec([]byte{i32t, 1, 0x41, 7, 0x0b}, []byte{i32t, 0, 0x41, 7, 0x0b}, []byte{fref, 1, 0xd0, fref, 0x0b})),
		sec(7, vec(export("imported", 0, 0), export("own", 0, 1), export("m", 2, 0), export("t", 1, 0), export("g", 3, 2))),
		sec(8, []byte{1}),
		sec(10, vec(body(none(), 0x41, 0, 0xd0, fref, 0x26, 0))),
	)
	res := rewrite(t, bin, meter.Options{MaxMemoryPages: 10, MaxTableElements: 100})
	if len(res.Imports) != 3 || res.Imports[1].Name != "f" || len(res.Imports[1].Func.Params) != 2 || res.Imports[1].Func.Results[0] != meter.F32 {
		t.Errorf("imports %+v", res.Imports)
	}
	if len(res.Exports) != 5 || res.Exports[0].Func.Params[1] != meter.I64 || res.Exports[1].Kind != meter.KindFunc ||
		len(res.Exports[1].Func.Params) != 0 || !res.Exports[4].Mutable || res.Exports[4].Value != meter.I32 {
		t.Errorf("exports %+v", res.Exports)
	}
	if m := res.Memory; m == nil || m.Min != 2 || !m.HasMax || m.Max != 10 || m.Imported {
		t.Errorf("memory %+v", m)
	}
	if len(res.Tables) != 1 || res.Tables[0].Max != 100 {
		t.Errorf("tables %+v", res.Tables)
	}
	want := []meter.Global{
		{Name: "amygdala:global:0", Index: 0, Type: meter.I64, Imported: true, Restorable: true},
		{Name: "amygdala:global:2", Index: 2, Type: meter.I32, Restorable: true},
		{Name: "amygdala:global:4", Index: 4, Type: meter.FuncRef},
	}
	if !slices.Equal(res.Globals, want) {
		t.Errorf("globals %+v", res.Globals)
	}
	if !res.HasStart || res.Functions != 1 || res.FuelGlobal != meter.FuelExport {
		t.Errorf("start %t, %d functions, fuel in %q", res.HasStart, res.Functions, res.FuelGlobal)
	}
	reasons := []string{"has a mutable global of type funcref", "imports a mutable global", "writes a table (table.set)"}
	if !slices.Equal(res.Unrestorable, reasons) {
		t.Errorf("unrestorable: %q", res.Unrestorable)
	}
}

// TestUnrestorable has one reason a module.
func TestUnrestorable(t *testing.T) {
	h := rewrite(t, bulkModule(), meter.Options{})
	want := []string{
		"drops data segments (data.drop)", "drops element segments (elem.drop)", "grows a table (table.grow)",
		"writes a table (table.copy)", "writes a table (table.fill)", "writes a table (table.init)",
	}
	if !slices.Equal(h.Unrestorable, want) {
		t.Errorf("got %q", h.Unrestorable)
	}
	if res := rewrite(t, tightLoop(), meter.Options{}); len(res.Unrestorable) != 0 {
		t.Errorf("a loop over memory: %q", res.Unrestorable)
	}
	if res := rewrite(t, build(t, namedGuest), meter.Options{}); len(res.Unrestorable) != 0 || len(res.Features) != 0 {
		t.Errorf("a Go module: %q, features %q", res.Unrestorable, res.Features)
	}
	v := one("", "", none(), nil, sec(6, vec(cat([]byte{v128, 1, 0xfd, 12}, make([]byte, 16), []byte{0x0b}))))
	if res := rewrite(t, v, meter.Options{}); strings.Join(res.Unrestorable, "") != "has a mutable global of type v128" {
		t.Errorf("a vector global: %q", res.Unrestorable)
	}
}

// TestGlobalsRestore saves and restores a global through its reserved name.
func TestGlobalsRestore(t *testing.T) {
	res := rewrite(t, one("", "\x7f", none(), []byte{0x23, 0, 0x41, 1, 0x6a, 0x24, 0, 0x23, 0}, oneGlobal), meter.Options{})
	h := start(t, res.Wasm, runtimeConfig(), 1000, plenty)
	g, ok := h.ExportedGlobal(res.Globals[0].Name).(api.MutableGlobal)
	if !ok {
		t.Fatalf("no mutable global %q", res.Globals[0].Name)
	}
	saved := g.Get()
	for range 3 {
		if got, err := h.call(t, "f"); err != nil || got != 1 {
			t.Errorf("got %d, %v", got, err)
		}
		g.Set(saved)
	}
}

// TestCaps refuses what starts above a cap and limits the growth of the rest.
func TestCaps(t *testing.T) {
	bin := bulkModule()
	for _, opt := range []meter.Options{{MaxMemoryPages: bulkPages - 1}, {MaxTableElements: bulkTable - 1}} {
		if _, err := meter.Rewrite(bin, opt); err == nil || !strings.Contains(err.Error(), "above the limit") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
	h := start(t, rewrite(t, bin, meter.Options{MaxMemoryPages: bulkPages + 1, MaxTableElements: bulkTable + 1}).Wasm, runtimeConfig(), 1000, plenty)
	for _, op := range []string{"grow", "tgrow"} {
		if got, err := h.call(t, op, 2); err != nil || uint32(got) != 1<<32-1 {
			t.Errorf("%s beyond the cap: %d, %v", op, got, err)
		}
		if got, err := h.call(t, op, 1); err != nil || uint32(got) == 1<<32-1 {
			t.Errorf("%s up to the cap: %d, %v", op, got, err)
		}
	}
}

// TestFeatures names what goes beyond WebAssembly 2.0.
func TestFeatures(t *testing.T) {
	for want, code := range map[string][]byte{
		meter.FeatureTailCall:   {0x12, 0},
		meter.FeatureThreads:    {0xfe, 3, 0},
		meter.FeatureTypedRefs:  {0xd0, 0, 0x14, 0},
		meter.FeatureExceptions: {0x1f, 0x40, 0, 0x0b},
	} {
		if res := rewrite(t, one("", "", none(), code), meter.Options{}); !slices.Equal(res.Features, []string{want}) {
			t.Errorf("%s: got %q", want, res.Features)
		}
	}
	g := sec(6, vec([]byte{i32t, 0, 0x41, 1, 0x41, 2, 0x6a, 0x0b}))
	if res := rewrite(t, binary(g), meter.Options{}); !slices.Equal(res.Features, []string{meter.FeatureExtendedConst}) {
		t.Errorf("got %q", res.Features)
	}
}
