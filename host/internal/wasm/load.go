package wasm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// features is what a guest may use: WebAssembly 2.0 and two proposals that add no new kind of state. Threads are off because a wait
// blocks without using fuel, exceptions because wazero copies the whole call stack at every try.
const features = api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall | experimental.CoreFeaturesExtendedConst

// load takes a module through every step up to the snapshot.
func (m *module) load(ctx context.Context, wasm []byte) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = abi.E("load", v1.ErrorKindInternal, m.name, fmt.Errorf("panic: %v\n%s", r, debug.Stack()))
		}
	}()
	if err := ctx.Err(); err != nil {
		return abi.E("load", contextKind(err), m.name, err)
	}
	if err := m.inspect(wasm); err != nil {
		return err
	}
	if err := m.compile(ctx, wasm); err != nil {
		return err
	}
	if err := hostModules(ctx, m.runtime, meter.DefaultModule, meter.DefaultName, m.importNames()); err != nil {
		return abi.E("load", v1.ErrorKindInternal, m.name, err)
	}
	return m.first(ctx)
}

// inspect meters the module and checks everything that can be said without running it.
func (m *module) inspect(wasm []byte) error {
	if len(wasm) > maxModule {
		return m.refused(fmt.Errorf("the module has %d bytes, the cap is %d", len(wasm), maxModule))
	}
	if !bytes.HasPrefix(wasm, []byte("\x00asm\x01\x00\x00\x00")) {
		return m.refused(fmt.Errorf("not a WebAssembly module: it starts with %q", wasm[:min(len(wasm), 8)]))
	}
	res, err := meter.Rewrite(wasm, meter.Options{MaxTableElements: maxTable})
	if err != nil {
		return m.refused(err)
	}
	m.metered = res
	if err := checkSize(res); err != nil {
		return m.refused(err)
	}
	// The maximum stays as declared, so that growth beyond the cap is our refusal and not the guest's own limit.
	if mem := res.Memory; mem != nil && mem.Min > m.limits.MemoryPages {
		return m.refused(fmt.Errorf("it starts with %d pages of memory, the cap is %d", mem.Min, m.limits.MemoryPages))
	}
	if err := checkImports(res.Imports); err != nil {
		return m.refused(err)
	}
	if err := checkExports(res.Exports); err != nil {
		return m.refused(err)
	}
	return nil
}

func (m *module) refused(err error) error { return abi.E("load", v1.ErrorKindRefused, m.name, err) }

// importNames lists the WASI functions that the module wants, once each.
func (m *module) importNames() []string {
	var names []string
	for _, i := range m.metered.Imports {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// first makes the first instance, sets it up, and takes the snapshot that all others start from.
func (m *module) first(ctx context.Context) error {
	in, err := m.make(ctx)
	if err != nil {
		return err
	}
	m.memoryBytes = len(in.mem.bytes())
	m.unrestorable = strings.Join(m.metered.Unrestorable, ", ")
	if !m.keep && m.unrestorable == "" {
		if m.snap, err = in.capture(); err != nil {
			m.destroy(in)
			return abi.E("snapshot", v1.ErrorKindUnavailable, m.name, err)
		}
	}
	m.park(in)
	return nil
}

// checkSize refuses what would cost the host much before a guest has used any fuel.
func checkSize(res *meter.Result) error {
	for _, c := range []struct {
		what     string
		got, cap int
	}{
		{"bytes of metered code and data", len(res.Wasm), maxMetered},
		{"functions", res.Functions, maxFunctions},
		{"tables", len(res.Tables), maxTables},
		{"bytes of declarations", declarations(res.Wasm), maxDeclared},
	} {
		if c.got > c.cap {
			return fmt.Errorf("it has %d %s, the cap is %d", c.got, c.what, c.cap)
		}
	}
	if res.Weight > maxWeight {
		return fmt.Errorf("compiling it would take too long: weight %d, the cap is %d; split functions with thousands of branches, locals or nested loops", res.Weight, maxWeight)
	}
	return nil
}

// declarations is the size of everything but code, data and custom sections: what wazero unfolds into Go objects.
func declarations(wasm []byte) (total int) {
	for b := wasm[8:]; len(b) > 0; {
		id := b[0]
		size, n := binary.Uvarint(b[1:])
		if n <= 0 || uint64(len(b)-1-n) < size {
			return math.MaxInt // package meter writes no such thing
		}
		if id != 0 && id != 10 && id != 11 {
			total += int(size)
		}
		b = b[1+n+int(size):]
	}
	return total
}

// checkImports refuses whatever is not one of the inert WASI functions.
func checkImports(list []meter.Import) error {
	var bad []string
	for _, i := range list {
		want, ok := imports()[i.Name]
		switch {
		case i.Module != abi.ImportModule || !ok || i.Kind != meter.KindFunc:
			bad = append(bad, fmt.Sprintf("%s %s.%s", i.Kind, i.Module, i.Name))
		case typeText(i.Func) != typeText(meterType(want)):
			bad = append(bad, fmt.Sprintf("%s.%s with type %s instead of %s", i.Module, i.Name, typeText(i.Func), typeText(meterType(want))))
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return fmt.Errorf("it imports %s; a guest may import the inert functions of %s and nothing else", strings.Join(bad, ", "), abi.ImportModule)
}

// meterType translates the contract's types into those of package meter, which are numbered alike.
func meterType(i abi.Import) meter.FuncType {
	t := meter.FuncType{}
	for _, p := range i.Params {
		t.Params = append(t.Params, meter.ValueType(p))
	}
	for _, r := range i.Results {
		t.Results = append(t.Results, meter.ValueType(r))
	}
	return t
}

// wanted are the functions of the contract.
var wanted = []struct {
	name     string
	optional bool
	typ      meter.FuncType
}{
	{abi.ExportMarker, false, meter.FuncType{}},
	{abi.ExportAlloc, false, meter.FuncType{Params: []meter.ValueType{meter.I32}, Results: []meter.ValueType{meter.I32}}},
	{abi.ExportCall, false, meter.FuncType{Params: []meter.ValueType{meter.I32, meter.I32, meter.I32}, Results: []meter.ValueType{meter.I64}}},
	{abi.ExportInitialize, true, meter.FuncType{}},
}

// checkExports compares the exports with the contract.
func checkExports(exports []meter.Export) error {
	find := func(name string) (meter.Export, bool) {
		i := slices.IndexFunc(exports, func(e meter.Export) bool { return e.Name == name })
		if i < 0 {
			return meter.Export{}, false
		}
		return exports[i], true
	}
	for _, w := range wanted {
		e, ok := find(w.name)
		switch {
		case !ok && w.optional:
		case !ok && w.name == abi.ExportMarker:
			return noMarker(exports)
		case !ok:
			return fmt.Errorf("it does not export function %s of type %s; it exports %s", w.name, typeText(w.typ), exportText(exports))
		case e.Kind != meter.KindFunc:
			return fmt.Errorf("its export %s is a %s; wanted a function of type %s", w.name, e.Kind, typeText(w.typ))
		case typeText(e.Func) != typeText(w.typ):
			return fmt.Errorf("its export %s has type %s; wanted %s", w.name, typeText(e.Func), typeText(w.typ))
		}
	}
	if e, ok := find(abi.ExportMemory); !ok {
		return fmt.Errorf("it does not export its memory as %q; it exports %s", abi.ExportMemory, exportText(exports))
	} else if e.Kind != meter.KindMemory {
		return fmt.Errorf("its export %q is a %s; wanted the memory", abi.ExportMemory, e.Kind)
	}
	return nil
}

// noMarker tells a module for another version of the contract from one for no version at all.
func noMarker(exports []meter.Export) error {
	for _, e := range exports {
		if strings.HasPrefix(e.Name, abi.MarkerPrefix) {
			return fmt.Errorf("it speaks the contract %s; this host speaks %s", e.Name, abi.ExportMarker)
		}
	}
	return fmt.Errorf("it does not export the marker %s, so it is not a plugin for this host; it exports %s", abi.ExportMarker, exportText(exports))
}

// exportText lists the first exports for an error.
func exportText(exports []meter.Export) string {
	if len(exports) == 0 {
		return "nothing"
	}
	var names []string
	for _, e := range exports[:min(len(exports), 8)] {
		names = append(names, fmt.Sprintf("%q", e.Name))
	}
	if more := len(exports) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// typeText writes a function type as (i32, i32) -> (i64).
func typeText(t meter.FuncType) string {
	list := func(types []meter.ValueType) string {
		var names []string
		for _, v := range types {
			names = append(names, api.ValueTypeName(api.ValueType(v)))
		}
		return "(" + strings.Join(names, ", ") + ")"
	}
	return list(t.Params) + " -> " + list(t.Results)
}

// validate lets wazero judge the original bytes. The metered ones are no substitute: an instruction that names an index beyond the
// original's may become valid by what metering adds.
func validate(ctx context.Context, wasm []byte) (err error) {
	rt := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(features).WithDebugInfoEnabled(false))
	defer func() { err = errors.Join(err, rt.Close(ctx)) }()
	compiled, err := rt.CompileModule(ctx, wasm)
	if err != nil {
		return err
	}
	return compiled.Close(ctx)
}
