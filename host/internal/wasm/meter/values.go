package meter

// Rewriting needs the type of a value in one place only: select. wazero's compiler for amd64 is wrong about selects of floats and
// vectors: when the first operand was kept on the stack across a call, the result may come from a register that was never set. That is
// another answer each time, and a look at whatever Go code had in that register. So such a select becomes an if. The instruction does
// not say what it selects, hence the types of all values on the stack are followed, in the simplest way: this is not
// validation. Where the code is valid the types are right; up to the first mistake in invalid code they are right too, and the
// mistake stays.

// A valueStack holds the types of the values on the stack of a function.
type valueStack struct {
	types []ValueType
	// base is the height at the beginning of the innermost block.
	base int
}

// pop removes n values, but none from outside the block: in code that cannot be reached there may be fewer.
func (s *valueStack) pop(n int) {
	s.types = s.types[:max(len(s.types)-n, s.base)]
}

// push adds values.
func (s *valueStack) push(types ...ValueType) { s.types = append(s.types, types...) }

// top is the type of the last value, 0 if there is none.
func (s *valueStack) top() ValueType {
	if len(s.types) <= s.base {
		return 0
	}
	return s.types[len(s.types)-1]
}

// enter begins a block whose parameters are on the stack, and returns the height to go back to.
func (s *valueStack) enter(params []ValueType) (outer int) {
	outer = s.base
	s.pop(len(params))
	s.base = len(s.types)
	s.push(params...)
	return outer
}

// restart empties the block and gives it new values: the parameters at else, the results at end.
func (s *valueStack) restart(types []ValueType) {
	s.types = append(s.types[:s.base], types...)
}

// An effect is what an instruction does to the stack: it pops some values and pushes one, or none if push is 0.
type effect struct{ pop, push byte }

// apply does it.
func (s *valueStack) apply(e effect) {
	s.pop(int(e.pop))
	if e.push != 0 {
		s.push(ValueType(e.push))
	}
}

const (
	bI32, bI64, bF32, bF64, bV128 = byte(I32), byte(I64), byte(F32), byte(F64), byte(V128)
)

// effects is indexed by opcode, for the instructions whose effect depends on nothing else.
var effects = buildEffects()

func buildEffects() (t [256]effect) {
	for _, r := range []struct {
		from, to int
		pop      byte
		push     byte
	}{
		{opDrop, opDrop, 1, 0},
		{0x28, 0x28, 1, bI32}, {0x29, 0x29, 1, bI64}, {0x2a, 0x2a, 1, bF32}, {0x2b, 0x2b, 1, bF64}, // loads
		{0x2c, 0x2f, 1, bI32}, {0x30, 0x35, 1, bI64}, {0x36, 0x3e, 2, 0}, // narrow loads, stores
		{opMemorySize, opMemorySize, 0, bI32}, {opMemoryGrow, opMemoryGrow, 1, bI32},
		{opI32Const, opI32Const, 0, bI32}, {opI64Const, opI64Const, 0, bI64}, {opF32Const, opF32Const, 0, bF32},
		{opF64Const, opF64Const, 0, bF64},
		{0x45, 0x45, 1, bI32}, {0x46, 0x4f, 2, bI32}, {0x50, 0x50, 1, bI32}, {0x51, 0x66, 2, bI32}, // tests and comparisons
		{0x67, 0x69, 1, bI32}, {0x6a, 0x78, 2, bI32}, {0x79, 0x7b, 1, bI64}, {0x7c, 0x8a, 2, bI64}, // integer arithmetic
		{0x8b, 0x91, 1, bF32}, {0x92, 0x98, 2, bF32}, {0x99, 0x9f, 1, bF64}, {0xa0, 0xa6, 2, bF64}, // float arithmetic
		{0xa7, 0xab, 1, bI32}, {0xac, 0xb1, 1, bI64}, {0xb2, 0xb6, 1, bF32}, {0xb7, 0xbb, 1, bF64}, // conversions
		{0xbc, 0xbc, 1, bI32}, {0xbd, 0xbd, 1, bI64}, {0xbe, 0xbe, 1, bF32}, {0xbf, 0xbf, 1, bF64},
		{0xc0, 0xc1, 1, bI32}, {0xc2, 0xc4, 1, bI64},
		{opRefIsNull, opRefIsNull, 1, bI32}, {opRefFunc, opRefFunc, 0, byte(FuncRef)},
		{opTableSet, opTableSet, 2, 0}, {opBrOnNonNull, opBrOnNonNull, 1, 0},
		{opIf, opIf, 1, 0}, {opBrIf, opBrIf, 1, 0}, {opCallIndirect, opCallIndirect, 1, 0}, {opCallRef, opCallRef, 1, 0},
		{opLocalSet, opLocalSet, 1, 0}, {opGlobalSet, opGlobalSet, 1, 0},
	} {
		for c := r.from; c <= r.to; c++ {
			t[c] = effect{r.pop, r.push}
		}
	}
	return t
}

// miscEffects is indexed by the opcode behind opMisc.
var miscEffects = [...]effect{
	{1, bI32}, {1, bI32}, {1, bI32}, {1, bI32}, {1, bI64}, {1, bI64}, {1, bI64}, {1, bI64},
	miscMemoryInit: {3, 0}, miscDataDrop: {}, miscMemoryCopy: {3, 0}, miscMemoryFill: {3, 0}, miscTableInit: {3, 0}, miscElemDrop: {},
	miscTableCopy: {3, 0}, miscTableGrow: {2, bI32}, miscTableSize: {0, bI32}, miscTableFill: {3, 0},
}

// vecEffects is indexed by the byte behind opVec. Most vector instructions make one vector of two.
var vecEffects = buildVecEffects()

func buildVecEffects() (t [256]effect) {
	for c := range t {
		t[c] = effect{2, bV128}
	}
	set := func(pop, push byte, codes ...byte) {
		for _, c := range codes {
			t[c] = effect{pop, push}
		}
	}
	set(1, bV128, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x5c, 0x5d)      // loads
	set(2, 0, 0x0b, 0x58, 0x59, 0x5a, 0x5b)                            // stores
	set(0, bV128, vecConst)                                            // v128.const
	set(1, bV128, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14)                  // splats
	set(1, bI32, 0x15, 0x16, 0x18, 0x19, 0x1b)                         // extracted lanes
	set(1, bI64, 0x1d)                                                 //
	set(1, bF32, 0x1f)                                                 //
	set(1, bF64, 0x21)                                                 //
	set(3, bV128, 0x52)                                                // bitselect
	set(1, bI32, 0x53, 0x63, 0x64, 0x83, 0x84, 0xa3, 0xa4, 0xc3, 0xc4) // tests and bitmasks
	set(1, bV128,                                                      // one operand
		0x4d, 0x5e, 0x5f, 0x60, 0x61, 0x62, 0x67, 0x68, 0x69, 0x6a, 0x74, 0x75, 0x7a, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0x81, 0x87, 0x88,
		0x89, 0x8a, 0x94, 0xa0, 0xa1, 0xa7, 0xa8, 0xa9, 0xaa, 0xc0, 0xc1, 0xc7, 0xc8, 0xc9, 0xca, 0xe0, 0xe1, 0xe3, 0xec, 0xed, 0xef,
		0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff)
	return t
}

// atomicEffect is the effect of an instruction behind opAtomic: accesses come in groups of seven, for the seven widths.
func atomicEffect(code byte) effect {
	result := [7]byte{bI32, bI64, bI32, bI32, bI64, bI64, bI64}[(code-0x10)%7]
	switch {
	case code == atomicNotify:
		return effect{2, bI32}
	case code <= atomicWait64:
		return effect{3, bI32}
	case code == atomicFence:
		return effect{}
	case code < 0x17:
		return effect{1, result}
	case code < 0x1e:
		return effect{2, 0}
	case code < 0x48:
		return effect{2, result}
	}
	return effect{3, result}
}

// oneResult holds the result lists of blocks that give one value of a simple type.
var oneResult = func() (t [256][]ValueType) {
	for _, v := range []ValueType{I32, I64, F32, F64, V128, FuncRef, ExternRef, ExnRef} {
		t[v] = []ValueType{v}
	}
	return t
}()
