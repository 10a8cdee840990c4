package meter

// constExpr copies a constant expression up to and including its end, with function indices shifted. Globals at or beyond the given
// number are unknown to it.
//
// want is the type that the expression must have. Where it is a typed reference, an untyped null or global is refused: wazero judges
// such an expression by the type of function 0, and injection can change which function that is.
func (m *module) constExpr(s *reader, out []byte, want ValueType, globals int) []byte {
	for s.ok() {
		start, op := s.at(), s.byte()
		switch op {
		case opEnd:
			return append(out, op)
		case opRefFunc:
			out = appendU32(append(out, op), m.shift(s.index("function", len(m.funcs))))
			continue
		case opGlobalGet:
			m.constGlobal(s, want, globals)
		case opRefNull:
			m.constNull(s, want)
		case opI32Const:
			s.signed(32)
		case opI64Const:
			s.signed(64)
		case opF32Const:
			s.skip(4)
		case opF64Const:
			s.skip(8)
		case opI32Add, opI32Sub, opI32Mul, opI64Add, opI64Sub, opI64Mul:
			m.uses(FeatureExtendedConst)
		case opVec:
			if sub := s.byte(); s.ok() && sub != vecConst {
				s.fail(start, "constant expression required, not vector instruction %#x", sub)
			}
			s.skip(16)
		default:
			s.fail(start, "constant expression required, not %s", opName(op))
		}
		out = append(out, s.buf[start:s.pos]...)
	}
	return out
}

// constGlobal reads the operand of global.get where a value of type want is needed.
func (m *module) constGlobal(s *reader, want ValueType, globals int) {
	start, i := s.at(), s.index("global", globals)
	if !s.ok() {
		return
	}
	if int(i) >= m.importedGlobs {
		m.uses(FeatureExtendedConst)
	}
	if m.globals[i].mutable {
		s.fail(start, "constant expression required, global %d is mutable", i)
	}
	if want > 0xff && m.globals[i].value <= 0xff {
		s.fail(start, "type mismatch, a global of type %s cannot initialise this reference type", m.globals[i].value)
	}
}

// constNull reads the operand of ref.null where a value of type want is needed.
func (m *module) constNull(s *reader, want ValueType) {
	start := s.pos
	heap := m.nullType(s)
	if !s.ok() || want <= 0xff {
		return
	}
	concrete := want&(1<<32) == 0
	if byte(want>>40) == prefixNonNullable || (concrete && heap < 0) {
		s.fail(start, "type mismatch, a null cannot initialise this reference type")
	}
}

// nullType reads the heap type of a ref.null: the one-byte abstract ones, or an unsigned type index.
func (m *module) nullType(s *reader) int64 {
	if s.left() > 0 {
		switch ValueType(s.buf[s.pos]) {
		case FuncRef, ExternRef, ExnRef:
			t := ValueType(s.byte())
			m.usesType(t)
			return int64(t) - 0x80
		}
	}
	m.uses(FeatureTypedRefs)
	return int64(s.index("type", len(m.types)))
}
