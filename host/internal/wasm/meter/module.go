package meter

import "slices"

// Section ids of the binary format.
const (
	secCustom = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
	secTag
	sections
)

// sectionNames are what errors call the sections.
var sectionNames = [sections]string{
	"custom section", "type section", "import section", "function section", "table section", "memory section", "global section",
	"export section", "start section", "element section", "code section", "data section", "data count section", "tag section",
}

// sectionOrder is the order in which sections must come; custom sections may stand anywhere.
var sectionOrder = []byte{
	secType, secImport, secFunction, secTable, secMemory, secTag, secGlobal, secExport, secStart, secElement, secDataCount, secCode,
	secData,
}

// globalType is a global's type.
type globalType struct {
	value   ValueType
	mutable bool
}

// table is a table's type.
type table struct {
	elem     ValueType
	limits   limits
	imported bool
}

// A vector is a section being rewritten: its items, encoded, and how many they are.
type vector struct {
	count int
	items []byte
}

// add appends one encoded item.
func (v *vector) add(item []byte) {
	v.count++
	v.items = append(v.items, item...)
}

// A module is what parse learned, and the rewritten sections as far as they are done.
type module struct {
	opt Options
	out [sections]vector
	// present tells an absent section from an empty one.
	present [sections]bool

	types []FuncType
	// funcs holds the type index of every function; the first importedFuncs of them are imports.
	funcs         []uint32
	importedFuncs int
	tables        []table
	memory        *limits
	memImported   bool
	globals       []globalType
	importedGlobs int
	tags          []uint32
	elems         []ValueType
	dataCount     int
	datas         int

	start     bool
	startFunc uint32
	names     map[string]bool
	bodies    []body
	helpers   helpers
	// added are the injected types, addedAt their indices.
	added   []FuncType
	addedAt map[string]uint32
	// locals and members count the locals of all functions and the members of all element segments.
	locals, members int
	mutables        int

	named      bool
	moduleName string
	// funcNames is the map of function names, to be read when the functions are known.
	funcNames reader

	result       Result
	unrestorable map[string]bool
	features     map[string]bool
}

// body is one function of the code section: the bytes after its size.
type body struct{ pos, end int }

// parse reads the whole binary. What it returns has every index checked against the original's own index spaces; the sections in
// out are re-encoded with shifted function indices, code excepted.
func parse(bin []byte, opt Options) (*module, *Error) {
	r := &reader{buf: bin, end: len(bin), where: "header"}
	m := &module{
		opt: opt, names: map[string]bool{}, addedAt: map[string]uint32{}, unrestorable: map[string]bool{}, features: map[string]bool{},
	}
	if magic := r.bytes(8); r.ok() && string(magic) != "\x00asm\x01\x00\x00\x00" {
		r.fail(0, "not a WebAssembly 1 binary: magic header or version differs")
	}
	next := 0
	for r.ok() && r.left() > 0 {
		next = m.section(r, next)
	}
	if r.ok() {
		m.checkCounts(r)
	}
	return m, r.err
}

// section reads one section. next is the position in sectionOrder before which no section may come any more; it returns the new one.
func (m *module) section(r *reader, next int) int {
	start, id := r.at(), r.byte()
	if r.ok() && id >= sections {
		r.fail(start, "malformed section id %d", id)
	}
	if !r.ok() {
		return next
	}
	if id != secCustom {
		place := slices.Index(sectionOrder, id)
		if place < next {
			r.fail(start, "%s is repeated or out of order", sectionNames[id])
			return next
		}
		next = place + 1
	}
	r.where = sectionNames[id]
	s := r.sub(r.u32(), sectionNames[id])
	if s.ok() {
		m.present[id] = true
		m.read(id, s)
	}
	s.done()
	r.adopt(s)
	return next
}

// read dispatches one section.
func (m *module) read(id byte, s *reader) {
	switch id {
	case secCustom:
		m.custom(s)
	case secType:
		m.typeSection(s)
	case secStart:
		m.start = true
		m.startFunc = m.shift(s.index("function", len(m.funcs)))
	case secDataCount:
		m.dataCount = int(s.u32())
	case secCode:
		m.codeSection(s)
	default:
		m.vector(id, s)
	}
}

// A vectorKind tells how to read a section that is a simple vector.
type vectorKind struct {
	// item reads one item and appends it, re-encoded.
	item func(*module, *reader, []byte) []byte
	// min is the least number of bytes that an item takes, max the number of items that are supported.
	min, max int
}

var vectorKinds = map[byte]vectorKind{
	secImport:   {(*module).importItem, 4, maxImports},
	secFunction: {(*module).functionItem, 1, maxFuncs},
	secTable:    {(*module).tableItem, 3, maxTables},
	secMemory:   {(*module).memoryItem, 2, maxPages},
	secTag:      {(*module).tagItem, 2, maxTags},
	secGlobal:   {(*module).globalItem, 4, maxGlobals},
	secExport:   {(*module).exportItem, 3, maxExports},
	secElement:  {(*module).elementItem, 3, maxElems},
	secData:     {(*module).dataItem, 2, maxDatas},
}

// vector reads the sections that are simple vectors.
func (m *module) vector(id byte, s *reader) {
	kind, v := vectorKinds[id], &m.out[id]
	n := s.limited(kind.min, kind.max)
	v.items = make([]byte, 0, s.left()+n)
	for i := 0; i < n && s.ok(); i++ {
		v.items = kind.item(m, s, v.items)
		v.count++
	}
}

// checkCounts compares sections with each other once all are read.
func (m *module) checkCounts(r *reader) {
	if declared := len(m.funcs) - m.importedFuncs; declared != len(m.bodies) {
		r.fail(r.end, "function and code section have inconsistent lengths, %d and %d", declared, len(m.bodies))
	}
	if m.present[secDataCount] && m.dataCount != m.datas {
		r.fail(r.end, "data count and data section have inconsistent lengths, %d and %d", m.dataCount, m.datas)
	}
}

// shift maps a function index of the original to the metered module, where one more function is imported after the others.
func (m *module) shift(i uint32) uint32 {
	if int(i) < m.importedFuncs {
		return i
	}
	return i + 1
}

// funcType is the type of function i of the original.
func (m *module) funcType(i uint32) FuncType { return m.types[m.funcs[i]] }

// uses notes a feature beyond WebAssembly 2.0.
func (m *module) uses(feature string) { m.features[feature] = true }

// cannotRestore notes a reason why memory and globals are not the whole state.
func (m *module) cannotRestore(reason string) { m.unrestorable[reason] = true }

// typeSection reads the types, rec groups included, which may refer to each other inside the group.
func (m *module) typeSection(s *reader) {
	n := s.limited(1, maxTypes)
	from := s.pos
	for i := 0; i < n && s.ok(); i++ {
		m.recGroup(s)
	}
	if s.ok() {
		m.out[secType] = vector{count: n, items: slices.Clone(s.buf[from:s.pos])}
	}
}

// recGroup reads one entry of the type section.
func (m *module) recGroup(s *reader) {
	if s.left() == 0 || s.buf[s.pos] != 0x4e {
		m.addType(s, len(m.types))
		return
	}
	m.uses(FeatureTypedRefs)
	s.byte()
	n := s.limited(3, maxTypes-len(m.types))
	known := len(m.types) + n
	for i := 0; i < n && s.ok(); i++ {
		m.addType(s, known)
	}
}

// addType reads one function type that may mention the first known types.
func (m *module) addType(s *reader, known int) {
	t := s.funcType(known)
	for _, v := range slices.Concat(t.Params, t.Results) {
		m.usesType(v)
	}
	m.types = append(m.types, t)
}

// usesType notes the features that a value type needs.
func (m *module) usesType(t ValueType) {
	switch {
	case t == ExnRef:
		m.uses(FeatureExceptions)
	case t > 0xff:
		m.uses(FeatureTypedRefs)
	}
}

// valueType reads a value type and notes its features.
func (m *module) valueType(s *reader) ValueType {
	t := s.valueType(len(m.types))
	m.usesType(t)
	return t
}

// refType reads a reference type and notes its features.
func (m *module) refType(s *reader) ValueType {
	t := s.refType(len(m.types))
	m.usesType(t)
	return t
}
