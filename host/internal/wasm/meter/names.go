package meter

import "strconv"

// Ids of the subsections of the name section that the metered module keeps.
const (
	nameModule    = 0
	nameFunctions = 1
	nameLocals    = 2
)

// nameSection checks the name section as far as wazero reads it: a lying count there would make it allocate without bound.
func (m *module) nameSection(s *reader) {
	if m.named {
		s.fail(s.pos, "redundant name section")
	}
	m.named = true
	for s.ok() && s.left() > 0 {
		id := s.byte()
		sub := s.sub(s.u32(), "name section")
		if sub.ok() {
			m.nameSubsection(id, sub)
		}
		s.adopt(sub)
	}
}

// nameSubsection reads one subsection.
func (m *module) nameSubsection(id byte, s *reader) {
	switch id {
	case nameModule:
		m.moduleName = s.name()
	case nameFunctions:
		m.funcNames = *s
		s.nameMap(nil)
	case nameLocals:
		for n := s.count(2); n > 0 && s.ok(); n-- {
			s.u32()
			s.nameMap(nil)
		}
	default:
		s.pos = s.end
	}
	s.done()
}

// nameMap reads indices with names, and hands them to visit unless that is nil.
func (r *reader) nameMap(visit func(index uint32, name string)) {
	for n := r.count(2); n > 0 && r.ok(); n-- {
		index, name := r.u32(), r.name()
		if visit != nil {
			visit(index, name)
		}
	}
}

// rewriteNames is the name section of the metered module: the module's name and those of its functions, shifted, with names for the
// injected functions. A function without a name gets its index in the original as a name, so that traces speak of the module
// that its author knows. Names of locals are left out: nothing shows them, and wazero searches them once per function.
func (m *module) rewriteNames() []byte {
	names := make([]string, len(m.funcs)+1, len(m.funcs)+1+len(m.helpers.keys))
	for i := range m.bodies {
		names[m.importedFuncs+1+i] = "$" + strconv.Itoa(m.importedFuncs+i)
	}
	m.funcNames.nameMap(func(index uint32, name string) {
		if int(index) < len(m.funcs) && name != "" {
			names[m.shift(index)] = name
		}
	})
	names[m.importedFuncs] = m.opt.Module + "." + m.opt.Name
	for _, key := range m.helpers.keys {
		names = append(names, "amygdala."+bulkNames[key.op])
	}
	out := appendName(nil, "name")
	if m.moduleName != "" {
		out = appendSized(append(out, nameModule), appendName(nil, m.moduleName))
	}
	out = appendSized(append(out, nameFunctions), appendNames(names))
	return appendSized([]byte{secCustom}, out)
}

// appendNames encodes those names that are not empty.
func appendNames(names []string) []byte {
	var v vector
	for i, name := range names {
		if name != "" {
			v.count++
			v.items = appendName(appendU32(v.items, uint32(i)), name)
		}
	}
	return append(appendU32(nil, uint32(v.count)), v.items...)
}
