package meter

// importItem reads one import, adds it to its index space and re-encodes it.
func (m *module) importItem(s *reader, out []byte) []byte {
	start := s.pos
	imp := Import{Module: s.name(), Name: s.name()}
	if imp.Module == m.opt.Module && imp.Name == m.opt.Name {
		s.fail(start, "the import %q %q is reserved for the host", imp.Module, imp.Name)
	}
	imp.Kind = Kind(s.byte())
	switch imp.Kind {
	case KindFunc:
		imp.Func = m.importFunc(s)
	case KindTable:
		t := m.tableType(s, true)
		imp.Value = t.elem
	case KindMemory:
		m.addMemory(s, true)
	case KindGlobal:
		g := m.globalType(s)
		imp.Value, imp.Mutable = g.value, g.mutable
		m.importedGlobs++
	case KindTag:
		imp.Func = m.tagType(s)
	default:
		s.fail(s.pos-1, "malformed import kind %d", imp.Kind)
	}
	if !s.ok() {
		return out
	}
	m.result.Imports = append(m.result.Imports, imp)
	return append(out, s.buf[start:s.pos]...)
}

// importFunc reads the type of an imported function.
func (m *module) importFunc(s *reader) FuncType {
	i := s.index("type", len(m.types))
	if !s.ok() {
		return FuncType{}
	}
	m.funcs = append(m.funcs, i)
	m.importedFuncs++
	return m.types[i]
}

// functionItem reads the type index of one defined function.
func (m *module) functionItem(s *reader, out []byte) []byte {
	i := s.index("type", len(m.types))
	m.funcs = append(m.funcs, i)
	return appendU32(out, i)
}

// tableType reads a table type and adds the table.
func (m *module) tableType(s *reader, imported bool) table {
	t := table{imported: imported, elem: m.refType(s)}
	start := s.pos
	t.limits = s.limits(maxElements)
	if s.ok() && t.limits.shared {
		s.fail(start, "tables cannot be shared")
	}
	if !imported && !t.limits.cap(m.opt.MaxTableElements) {
		s.fail(start, "a table of %d elements is above the limit of %d", t.limits.min, m.opt.MaxTableElements)
	}
	if imported {
		m.cannotRestore("imports a table")
	}
	m.tables = append(m.tables, t)
	return t
}

// tableItem reads one defined table, with or without an initial value.
func (m *module) tableItem(s *reader, out []byte) []byte {
	var init []byte
	withInit := s.left() > 0 && s.buf[s.pos] == 0x40
	if withInit {
		m.uses(FeatureTypedRefs)
		s.byte()
		if at := s.pos; s.byte() != 0 {
			s.fail(at, "malformed table, the byte after 0x40 must be zero")
		}
		out = append(out, 0x40, 0)
	}
	t := m.tableType(s, false)
	out = appendLimits(appendValueType(out, t.elem), t.limits)
	if withInit {
		init = m.constExpr(s, nil, t.elem, m.importedGlobs)
	}
	return append(out, init...)
}

// addMemory reads a memory type.
func (m *module) addMemory(s *reader, imported bool) limits {
	start, l := s.at(), s.limits(maxPages)
	switch {
	case !s.ok():
	case m.memory != nil:
		s.fail(start, "multiple memories")
	case l.hasMax && l.max > maxPages:
		s.fail(start, "memory size must be at most 65536 pages (4GiB)")
	case !imported && !l.cap(m.opt.MaxMemoryPages):
		s.fail(start, "a memory of %d pages is above the limit of %d", l.min, m.opt.MaxMemoryPages)
	}
	if l.shared {
		m.uses(FeatureThreads)
	}
	if imported {
		m.cannotRestore("imports a memory")
	}
	m.memory, m.memImported = &l, imported
	return l
}

// memoryItem reads the memory section's only item.
func (m *module) memoryItem(s *reader, out []byte) []byte {
	return appendLimits(out, m.addMemory(s, false))
}

// tagType reads a tag and adds it.
func (m *module) tagType(s *reader) FuncType {
	m.uses(FeatureExceptions)
	if at := s.pos; s.byte() != 0 {
		s.fail(at, "malformed tag attribute")
	}
	i := s.index("type", len(m.types))
	if !s.ok() {
		return FuncType{}
	}
	m.tags = append(m.tags, i)
	return m.types[i]
}

// tagItem reads one defined tag.
func (m *module) tagItem(s *reader, out []byte) []byte {
	start := s.pos
	m.tagType(s)
	return append(out, s.buf[start:s.pos]...)
}

// globalType reads a global's type and adds the global.
func (m *module) globalType(s *reader) globalType {
	g := globalType{value: m.valueType(s)}
	at, mut := s.at(), s.byte()
	if mut > 1 {
		s.fail(at, "malformed mutability %#x", mut)
	}
	if g.mutable = mut == 1; g.mutable {
		m.mutables++
	}
	m.globals = append(m.globals, g)
	return g
}

// globalItem reads one defined global. Its initial value may mention imported globals and, with extended-const, earlier ones.
func (m *module) globalItem(s *reader, out []byte) []byte {
	start := s.pos
	g := m.globalType(s)
	out = append(out, s.buf[start:s.pos]...)
	return m.constExpr(s, out, g.value, len(m.globals)-1)
}

// exportItem reads one export.
func (m *module) exportItem(s *reader, out []byte) []byte {
	start := s.pos
	e := Export{Name: s.name()}
	switch {
	case len(e.Name) >= len(ReservedPrefix) && e.Name[:len(ReservedPrefix)] == ReservedPrefix:
		s.fail(start, "the export %q is reserved for the host", e.Name)
	case m.names[e.Name]:
		s.fail(start, "duplicate export name %q", e.Name)
	}
	m.names[e.Name] = true
	e.Kind = Kind(s.byte())
	index := m.exported(s, &e)
	if !s.ok() {
		return out
	}
	m.result.Exports = append(m.result.Exports, e)
	return appendU32(append(appendName(out, e.Name), byte(e.Kind)), index)
}

// exported reads the index of an export, fills in its type and returns the index in the metered module.
func (m *module) exported(s *reader, e *Export) uint32 {
	var i uint32
	switch e.Kind {
	case KindFunc:
		if i = s.index("function", len(m.funcs)); s.ok() {
			e.Func = m.funcType(i)
			i = m.shift(i)
		}
	case KindTable:
		if i = s.index("table", len(m.tables)); s.ok() {
			e.Value = m.tables[i].elem
		}
	case KindMemory:
		i = s.index("memory", m.memories())
	case KindGlobal:
		if i = s.index("global", len(m.globals)); s.ok() {
			e.Value, e.Mutable = m.globals[i].value, m.globals[i].mutable
		}
	case KindTag:
		if i = s.index("tag", len(m.tags)); s.ok() {
			e.Func = m.types[m.tags[i]]
		}
	default:
		s.fail(s.pos-1, "malformed export kind %d", e.Kind)
	}
	return i
}

// memories is the size of the memory index space.
func (m *module) memories() int {
	if m.memory == nil {
		return 0
	}
	return 1
}

// Bits of an element segment's flags.
const (
	elemPassive  = 1 // or declarative, with elemExplicit
	elemExplicit = 2 // a table index, or declarative
	elemExprs    = 4 // expressions instead of function indices
)

// elementItem reads one element segment in any of its eight encodings and shifts the functions in it.
func (m *module) elementItem(s *reader, out []byte) []byte {
	at, flags := s.at(), s.u32()
	if flags > 7 {
		s.fail(at, "malformed elements segment kind %d", flags)
	}
	out = appendU32(out, flags)
	active := flags&elemPassive == 0
	if active {
		out = m.elementTarget(s, out, flags)
	}
	elem := FuncRef
	switch {
	case active && flags&elemExplicit == 0:
	case flags&elemExprs != 0:
		elem = m.refType(s)
		out = appendValueType(out, elem)
	default:
		if at := s.pos; s.byte() != 0 {
			s.fail(at, "malformed element kind")
		}
		out = append(out, 0)
	}
	m.elems = append(m.elems, elem)
	return m.elementInit(s, out, elem, flags&elemExprs != 0)
}

// elementTarget reads where an active segment goes.
func (m *module) elementTarget(s *reader, out []byte, flags uint32) []byte {
	if flags&elemExplicit != 0 {
		out = appendU32(out, s.index("table", len(m.tables)))
	} else if s.ok() && len(m.tables) == 0 {
		s.fail(s.pos, "unknown table 0, the module has 0")
	}
	return m.constExpr(s, out, I32, m.constGlobals())
}

// elementInit reads the members of a segment.
func (m *module) elementInit(s *reader, out []byte, elem ValueType, exprs bool) []byte {
	n := s.limited(1, maxAllMembers-m.members)
	m.members += n
	out = appendU32(out, uint32(n))
	for i := 0; i < n && s.ok(); i++ {
		if exprs {
			out = m.constExpr(s, out, elem, m.constGlobals())
		} else {
			out = appendU32(out, m.shift(s.index("function", len(m.funcs))))
		}
	}
	return out
}

// constGlobals is the number of globals that the constant expressions of segments may mention. Which of them are allowed depends on
// extended-const and is the validator's business; here it only matters that the fuel counter is not among them.
func (m *module) constGlobals() int { return len(m.globals) }

// dataItem reads one data segment.
func (m *module) dataItem(s *reader, out []byte) []byte {
	m.datas++
	at, kind := s.at(), s.u32()
	out = appendU32(out, kind)
	switch kind {
	case 0, 2:
		if kind == 2 {
			out = appendU32(out, s.index("memory", m.memories()))
		} else if s.ok() && m.memory == nil {
			s.fail(at, "unknown memory 0, the module has 0")
		}
		out = m.constExpr(s, out, I32, m.constGlobals())
	case 1:
	default:
		s.fail(at, "malformed data segment kind %d", kind)
	}
	data := s.bytes(s.u32())
	return append(appendU32(out, uint32(len(data))), data...)
}

// custom keeps a custom section for the caller, and checks the name section.
func (m *module) custom(s *reader) {
	start, name := s.at(), s.name()
	if len(m.result.Custom) >= maxCustoms {
		s.fail(start, "more than %d custom sections", maxCustoms)
	}
	if !s.ok() {
		return
	}
	m.result.Custom = append(m.result.Custom, Section{Name: name, Data: s.buf[s.pos:s.end:s.end]})
	if name == "name" {
		m.nameSection(s)
	}
	s.pos = s.end
}

// codeSection notes where the bodies are; they are rewritten once everything else is known.
func (m *module) codeSection(s *reader) {
	n := s.limited(3, maxFuncs)
	declared := len(m.funcs) - m.importedFuncs
	if s.ok() && n != declared {
		s.fail(s.pos, "function and code section have inconsistent lengths, %d and %d", declared, n)
	}
	for i := 0; i < n && s.ok(); i++ {
		start, size := s.at(), s.u32()
		if size > maxBody {
			s.fail(start, "a function body of %d bytes, at most %d are supported", size, maxBody)
		}
		b := s.sub(size, s.where)
		s.adopt(b)
		m.bodies = append(m.bodies, body{pos: b.pos, end: b.end})
	}
}
