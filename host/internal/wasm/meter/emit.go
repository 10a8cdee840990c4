package meter

import "fmt"

func funcName(i uint32) string { return fmt.Sprintf("func[%d]", i) }

// emit writes the metered body: locals from [pos, start), code from [start, end).
func (f *fn) emit(pos, start, end int) []byte {
	src := f.r.buf
	out := make([]byte, 0, (end-pos)+(end-pos)/2)
	if localMode {
		out = f.extraLocal(out, pos, start)
	} else {
		out = append(out, src[pos:start]...)
	}
	if localMode {
		out = f.wrap(out)
	}
	at := start
	for _, e := range f.edits {
		out = append(out, src[at:e.at]...)
		out = f.apply(out, e)
		at = e.end
	}
	if !localMode {
		return append(out, src[at:end]...)
	}
	out = append(out, src[at:end-1]...)
	if f.labelUsed() {
		out = append(out, opEnd)
	}
	out = f.writeBack(out)
	return append(out, opEnd)
}

func (f *fn) labelUsed() bool { return f.root.used }

// wrap opens a block that stands for the function's own label.
func (f *fn) wrap(out []byte) []byte {
	if !f.labelUsed() {
		return out
	}
	out = append(out, opBlock)
	switch res := f.typ.Results; len(res) {
	case 0:
		return append(out, 0x40)
	case 1:
		return appendValueType(out, res[0])
	default:
		return appendS64(out, int64(f.m.typeIndex(FuncType{Results: res})))
	}
}

// extraLocal adds the local that holds the counter.
func (f *fn) extraLocal(out []byte, pos, start int) []byte {
	r := &reader{buf: f.r.buf, pos: pos, end: start}
	n := r.u32()
	out = appendU32(out, n+1)
	out = append(out, f.r.buf[r.pos:start]...)
	return append(out, 1, byte(I64))
}

// apply writes one edit.
func (f *fn) apply(out []byte, e edit) []byte {
	switch e.kind {
	case editCharge:
		return f.charge(out, int(e.arg))
	case editCall:
		code := f.r.buf[e.at]
		if localMode {
			out = f.writeBack(out)
		}
		out = appendU32(append(out, code), e.arg)
		if localMode && code == opCall {
			out = f.reload(out)
		}
		return out
	case editOut:
		if localMode {
			out = f.writeBack(out)
		}
		out = append(out, f.r.buf[e.at:e.end]...)
		if localMode && e.arg == 1 {
			out = f.reload(out)
		}
		return out
	case editHelper:
		if localMode {
			out = f.writeBack(out)
		}
		out = appendU32(append(out, opCall), f.m.helperFunc(e.arg))
		if localMode {
			out = f.reload(out)
		}
		return out
	default:
		return appendU32(append(out, opRefFunc), e.arg)
	}
}

func (f *fn) writeBack(out []byte) []byte {
	out = appendU32(append(out, opLocalGet), uint32(f.locals))
	return appendU32(append(out, opGlobalSet), f.m.fuelGlobal())
}

func (f *fn) reload(out []byte) []byte {
	out = appendU32(append(out, opGlobalGet), f.m.fuelGlobal())
	return appendU32(append(out, opLocalSet), uint32(f.locals))
}

// charge writes a charge point.
func (f *fn) charge(out []byte, i int) []byte {
	c := f.plan.charges[i]
	if localMode {
		return f.chargeLocal(out, i, c)
	}
	if c.gone {
		return out
	}
	g := f.m.fuelGlobal()
	out = appendU32(append(out, opGlobalGet), g)
	out = appendS64(append(out, opI64Const), int64(c.cost))
	out = appendU32(append(out, opI64Sub, opGlobalSet), g)
	if !c.check {
		return out
	}
	if coldLast {
		out = append(out, opBlock, 0x40)
		out = appendU32(append(out, opGlobalGet), g)
		out = append(out, opI64Const, 0, 0x59, opBrIf, 0)
		out = appendU32(append(out, opCall), f.m.refuelFunc())
		return append(out, opEnd)
	}
	out = appendU32(append(out, opGlobalGet), g)
	out = append(out, opI64Const, 0, opI64LtS, opIf, 0x40)
	out = appendU32(append(out, opCall), f.m.refuelFunc())
	return append(out, opEnd)
}

func (f *fn) chargeLocal(out []byte, i int, c charge) []byte {
	l := uint32(f.locals)
	if i == 0 {
		out = appendU32(append(out, opGlobalGet), f.m.fuelGlobal())
		if c.gone {
			return appendU32(append(out, opLocalSet), l)
		}
	} else {
		if c.gone {
			return out
		}
		out = appendU32(append(out, opLocalGet), l)
	}
	out = appendS64(append(out, opI64Const), int64(c.cost))
	out = append(out, opI64Sub)
	if !c.check {
		return appendU32(append(out, opLocalSet), l)
	}
	out = appendU32(append(out, opLocalTee), l)
	if coldLast {
		out = appendU32(append(out, opLocalSet), l)
		out = append(out, opBlock, 0x40)
		out = appendU32(append(out, opLocalGet), l)
		out = append(out, opI64Const, 0, 0x59, opBrIf, 0)
	} else {
		out = append(out, opI64Const, 0, opI64LtS, opIf, 0x40)
	}
	out = appendU32(append(out, opLocalGet), l)
	if directCall {
		out = appendU32(append(out, opCall), uint32(f.m.importedFuncs))
	} else {
		out = appendU32(append(out, opCall), f.m.refuelFunc())
	}
	out = appendU32(append(out, opLocalSet), l)
	return append(out, opEnd)
}
