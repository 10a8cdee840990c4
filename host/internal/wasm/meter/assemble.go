package meter

import (
	"maps"
	"slices"
	"strconv"
)

// Rewrite checks a module and returns it metered. See the package documentation for what is checked, what is charged and why the
// result is valid exactly when the original is. The error is always an *Error. Rewrite is a pure function: the same input gives the
// same output.
func Rewrite(bin []byte, opt Options) (*Result, error) {
	if opt.Module == "" {
		opt.Module = DefaultModule
	}
	if opt.Name == "" {
		opt.Name = DefaultName
	}
	m, err := parse(bin, opt)
	if err != nil {
		return nil, err
	}
	code, err := m.rewriteCode(bin)
	if err != nil {
		return nil, err
	}
	m.result.Wasm = m.assemble(code)
	m.report()
	return &m.result, nil
}

// rewriteCode rewrites every function body.
func (m *module) rewriteCode(bin []byte) (vector, *Error) {
	var code vector
	r := &reader{buf: bin}
	f := &fn{m: m, r: r}
	if n := len(m.bodies); n > 0 {
		size := m.bodies[n-1].end - m.bodies[0].pos
		code.items = make([]byte, 0, size+size/2)
	}
	for i, b := range m.bodies {
		body := f.rewriteBody(i, b)
		if r.err != nil {
			return code, r.err
		}
		code.count++
		code.items = appendSized(code.items, body)
	}
	return code, nil
}

// fuelGlobal is the index of the counter in the metered module.
func (m *module) fuelGlobal() uint32 { return uint32(len(m.globals)) }

// helperFunc is the index of a helper in the metered module.
func (m *module) helperFunc(i uint32) uint32 { return uint32(len(m.funcs)) + 1 + i }

// typeIndex returns the index of an injected type, which it adds behind those of the original.
func (m *module) typeIndex(t FuncType) uint32 {
	enc := appendFuncType(nil, t)
	if i, ok := m.addedAt[string(enc)]; ok {
		return i
	}
	i := uint32(len(m.types) + len(m.added))
	m.addedAt[string(enc)] = i
	m.added = append(m.added, t)
	m.out[secType].add(enc)
	return i
}

// assemble puts the metered module together.
func (m *module) assemble(code vector) []byte {
	m.out[secCode] = code
	m.inject()
	size := 0
	for i := range m.out {
		size += len(m.out[i].items) + 16
	}
	out := append(make([]byte, 0, size), "\x00asm\x01\x00\x00\x00"...)
	for _, id := range sectionOrder {
		out = m.appendSection(out, id)
	}
	return append(out, m.rewriteNames()...)
}

// appendSection writes one section, unless the module has no such section.
func (m *module) appendSection(out []byte, id byte) []byte {
	v := m.out[id]
	switch {
	case id == secStart && m.start:
		return appendSized(append(out, id), appendU32(nil, m.startFunc))
	case id == secDataCount && m.present[id]:
		return appendSized(append(out, id), appendU32(nil, uint32(m.dataCount)))
	case v.count == 0:
		return out
	}
	count := appendU32(nil, uint32(v.count))
	out = appendU32(append(out, id), uint32(len(count)+len(v.items)))
	return append(append(out, count...), v.items...)
}

// inject adds the import, the counter, the functions and the exports.
func (m *module) inject() {
	fuel := m.typeIndex(FuncType{Params: []ValueType{I64}, Results: []ValueType{I64}})
	imp := appendName(appendName(nil, m.opt.Module), m.opt.Name)
	m.out[secImport].add(appendU32(append(imp, byte(KindFunc)), fuel))
	m.out[secGlobal].add([]byte{byte(I64), 1, opI64Const, 0, opEnd})
	for _, key := range m.helpers.keys {
		m.injectFunc(m.helperType(key), m.helperBody(key))
	}
	m.injectExport(FuelExport, m.fuelGlobal())
	for i, g := range m.globals {
		if g.mutable {
			m.injectExport(globalExport(uint32(i)), uint32(i))
		}
	}
}

// globalExport is the reserved name of a mutable global.
func globalExport(i uint32) string {
	return ReservedPrefix + "global:" + strconv.Itoa(int(i))
}

// injectFunc adds a function.
func (m *module) injectFunc(t FuncType, body []byte) {
	m.out[secFunction].add(appendU32(nil, m.typeIndex(t)))
	m.out[secCode].add(appendSized(nil, body))
}

// injectExport exports a global.
func (m *module) injectExport(name string, global uint32) {
	m.out[secExport].add(appendU32(append(appendName(nil, name), byte(KindGlobal)), global))
}

// report fills in what the original says about itself.
func (m *module) report() {
	r := &m.result
	r.FuelGlobal, r.HasStart = FuelExport, m.start
	if m.memory != nil {
		r.Memory = &Memory{
			Min: m.memory.min, Max: m.memory.max, HasMax: m.memory.hasMax, Shared: m.memory.shared, Imported: m.memImported,
		}
	}
	for _, t := range m.tables {
		r.Tables = append(r.Tables, Table{
			Type: t.elem, Min: t.limits.min, Max: t.limits.max, HasMax: t.limits.hasMax, Imported: t.imported,
		})
	}
	for i, g := range m.globals {
		if g.mutable {
			m.reportGlobal(uint32(i), g)
		}
	}
	r.Unrestorable = slices.Sorted(maps.Keys(m.unrestorable))
	r.Features = slices.Sorted(maps.Keys(m.features))
}

// reportGlobal lists a mutable global.
func (m *module) reportGlobal(i uint32, g globalType) {
	out := Global{Name: globalExport(i), Index: i, Type: g.value, Imported: int(i) < m.importedGlobs}
	switch g.value {
	case I32, I64, F32, F64:
		out.Restorable = true
	default:
		m.cannotRestore("has a mutable global of type " + g.value.String())
	}
	if out.Imported {
		m.cannotRestore("imports a mutable global")
	}
	m.result.Globals = append(m.result.Globals, out)
}
