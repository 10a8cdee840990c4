package meter

const (
	prefixNullable    = 0x63
	prefixNonNullable = 0x64

	heapFunc   = -16
	heapExtern = -17
	heapExn    = -23
)

// typedRef is a ValueType that takes more than one byte: the prefix, and a heap type of 33 bits.
func typedRef(prefix byte, heap int64) ValueType {
	return ValueType(prefix)<<40 | ValueType(heap)&(1<<33-1)
}

// isRef reports whether values of t are references.
func (t ValueType) isRef() bool {
	return t > 0xff || t == FuncRef || t == ExternRef || t == ExnRef
}

// String gives the word of the text format; typed references are "ref".
func (t ValueType) String() string {
	switch t {
	case I32:
		return "i32"
	case I64:
		return "i64"
	case F32:
		return "f32"
	case F64:
		return "f64"
	case V128:
		return "v128"
	case FuncRef:
		return "funcref"
	case ExternRef:
		return "externref"
	case ExnRef:
		return "exnref"
	}
	return "ref"
}

// appendValueType writes t as the binary format does.
func appendValueType(b []byte, t ValueType) []byte {
	if t <= 0xff {
		return append(b, byte(t))
	}
	return appendS64(append(b, byte(t>>40)), int64(t<<31)>>31)
}

// appendFuncType writes t with its leading 0x60.
func appendFuncType(b []byte, t FuncType) []byte {
	b = append(b, 0x60)
	for _, list := range [][]ValueType{t.Params, t.Results} {
		b = appendU32(b, uint32(len(list)))
		for _, v := range list {
			b = appendValueType(b, v)
		}
	}
	return b
}

// heapType reads what follows a reference prefix. Type indices are checked against types, the number of types known so far.
func (r *reader) heapType(types int) int64 {
	start, h := r.at(), r.signed(33)
	switch {
	case !r.ok() || h == heapFunc || h == heapExtern || h == heapExn:
	case h < 0:
		r.fail(start, "unknown heap type %d", h)
	case h >= int64(types):
		r.fail(start, "unknown type %d, the module has %d", h, types)
	}
	return h
}

// valueType reads any value type.
func (r *reader) valueType(types int) ValueType {
	start, b := r.at(), r.byte()
	switch t := ValueType(b); t {
	case I32, I64, F32, F64, V128, FuncRef, ExternRef, ExnRef:
		return t
	case prefixNullable, prefixNonNullable:
		return typedRef(b, r.heapType(types))
	default:
		r.fail(start, "malformed value type %#x", b)
		return 0
	}
}

// refType reads a value type that must be a reference.
func (r *reader) refType(types int) ValueType {
	start, t := r.at(), r.valueType(types)
	if r.ok() && !t.isRef() {
		r.fail(start, "malformed reference type %s", t)
	}
	return t
}

// valueTypes reads a vector of at most limit value types.
func (r *reader) valueTypes(types, limit int) []ValueType {
	n := r.limited(1, limit)
	var list []ValueType
	for i := 0; i < n && r.ok(); i++ {
		list = append(list, r.valueType(types))
	}
	return list
}

// funcType reads one function type, the 0x60 included.
func (r *reader) funcType(types int) FuncType {
	start := r.pos
	if b := r.byte(); r.ok() && b != 0x60 {
		r.fail(start, "unknown type form %#x", b)
	}
	return FuncType{Params: r.valueTypes(types, maxParams), Results: r.valueTypes(types, maxResults)}
}

// limits are the size of a memory or a table.
type limits struct {
	min, max       uint32
	hasMax, shared bool
}

// limits reads sizes of at most ceiling.
func (r *reader) limits(ceiling uint32) limits {
	start, flag := r.at(), r.byte()
	if flag > 3 {
		r.fail(start, "malformed limits flags %#x", flag)
	}
	l := limits{hasMax: flag&1 != 0, shared: flag&2 != 0, min: r.u32()}
	if l.hasMax {
		l.max = r.u32()
	}
	switch {
	case l.min > ceiling:
		r.fail(start, "minimum size %d is above %d", l.min, ceiling)
	case l.hasMax && l.max < l.min:
		r.fail(start, "size minimum must not be greater than maximum")
	case l.shared && !l.hasMax:
		r.fail(start, "shared memory must have maximum")
	}
	return l
}

// appendLimits writes l.
func appendLimits(b []byte, l limits) []byte {
	var flag byte
	if l.hasMax {
		flag |= 1
	}
	if l.shared {
		flag |= 2
	}
	b = appendU32(append(b, flag), l.min)
	if l.hasMax {
		b = appendU32(b, l.max)
	}
	return b
}

// cap lowers the maximum to ceiling; zero means no ceiling. It reports false when the minimum is above it.
func (l *limits) cap(ceiling uint32) bool {
	if ceiling == 0 {
		return true
	}
	if !l.hasMax || l.max > ceiling {
		l.hasMax, l.max = true, ceiling
	}
	return l.min <= ceiling
}
