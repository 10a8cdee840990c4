package meter

import "slices"

// A function keeps the counter in one of two ways. In the usual one it copies the global into a local at its entry and writes it back
// before anything that leaves the function, which saves a store at every charge. Functions that neither loop nor call charge the
// global itself, having nothing to save; so do functions with a try_table, because an exception returns to the values that locals
// had when the block was entered, and with them to fuel that is long spent.

// emit writes the metered body: the locals are in [pos, start), the code in [start, end).
func (f *fn) emit(pos, start, end int) []byte {
	src := f.r.buf
	out := make([]byte, 0, (end-pos)+(end-pos)/2+16)
	out = f.emitLocals(out, pos, start)
	wrapped := f.cached() && f.label.used
	if wrapped {
		out = f.wrap(out)
	}
	at := start
	for _, e := range f.edits {
		out = append(out, src[at:e.at]...)
		out = f.apply(out, e)
		at = e.end
	}
	out = append(out, src[at:end-1]...)
	if wrapped {
		out = append(out, opEnd)
	}
	return append(f.writeBack(out), opEnd)
}

// cached says that the function keeps the counter in a local.
func (f *fn) cached() bool { return (f.calls || f.loops > 0) && !f.tries }

// emitLocals copies the declarations of locals, and adds those of the counter and of selects.
func (f *fn) emitLocals(out []byte, pos, start int) []byte {
	var added []ValueType
	if f.cached() {
		added = append(added, I64)
	}
	for _, t := range scratchTypes {
		if f.scratch[t] {
			added = append(added, t)
		}
	}
	r := &reader{buf: f.r.buf, pos: pos, end: start}
	out = appendU32(out, r.u32()+uint32(len(added)))
	out = append(out, f.r.buf[r.pos:start]...)
	for _, t := range added {
		out = append(out, 1, byte(t))
	}
	return out
}

// scratchTypes are the types that emitSelect has locals for, in the order of these.
var scratchTypes = []ValueType{F32, F64, V128}

// scratchLocal is the local that emitSelect uses for a type.
func (f *fn) scratchLocal(t ValueType) uint32 {
	i := len(f.locals)
	if f.cached() {
		i++
	}
	for _, s := range scratchTypes {
		if s == t {
			break
		}
		if f.scratch[s] {
			i++
		}
	}
	return uint32(i)
}

// emitSelect writes an if that takes the operands of a select and gives the same result.
func (f *fn) emitSelect(out []byte, t ValueType) []byte {
	local := f.scratchLocal(t)
	typ := f.m.typeIndex(FuncType{Params: []ValueType{t, t}, Results: []ValueType{t}})
	out = appendS64(append(out, opIf), int64(typ))
	out = append(out, opDrop, opElse)
	out = append(appendU32(append(out, opLocalSet), local), opDrop)
	return append(appendU32(append(out, opLocalGet), local), opEnd)
}

// wrap opens a block that takes the place of the function's own label, so that branches to it pass the write-back at the end.
func (f *fn) wrap(out []byte) []byte {
	out = append(out, opBlock)
	switch results := f.typ.Results; len(results) {
	case 0:
		return append(out, 0x40)
	case 1:
		return appendValueType(out, results[0])
	default:
		return appendS64(out, int64(f.m.typeIndex(FuncType{Results: results})))
	}
}

// apply writes one edit.
func (f *fn) apply(out []byte, e edit) []byte {
	switch e.kind {
	case editCharge:
		return f.emitCharge(out, int(e.arg))
	case editRefFunc:
		return appendU32(append(out, opRefFunc), e.arg)
	case editSelect:
		return f.emitSelect(out, ValueType(e.arg))
	}
	code := f.r.buf[e.at]
	out = f.writeBack(out)
	switch e.kind {
	case editCall:
		out = appendU32(append(out, code), e.arg)
	case editHelper:
		code = opCall
		out = appendU32(append(out, code), f.m.helperFunc(e.arg))
	default:
		out = append(out, f.r.buf[e.at:e.end]...)
	}
	if code == opCall || code == opCallIndirect || code == opCallRef {
		out = f.reload(out)
	}
	return out
}

// writeBack stores the local in the global.
func (f *fn) writeBack(out []byte) []byte {
	if !f.cached() {
		return out
	}
	out = appendU32(append(out, opLocalGet), uint32(len(f.locals)))
	return appendU32(append(out, opGlobalSet), f.m.fuelGlobal())
}

// reload loads the local from the global.
func (f *fn) reload(out []byte) []byte {
	if !f.cached() {
		return out
	}
	out = appendU32(append(out, opGlobalGet), f.m.fuelGlobal())
	return appendU32(append(out, opLocalSet), uint32(len(f.locals)))
}

// emitCharge writes charge point i. The first one loads the local, even when there is nothing to pay.
func (f *fn) emitCharge(out []byte, i int) []byte {
	c := f.plan.charges[i]
	global := counter{opGlobalGet, opGlobalSet, f.m.fuelGlobal()}
	v := global
	if f.cached() {
		v = counter{opLocalGet, opLocalSet, uint32(len(f.locals))}
	}
	switch {
	case c.gone && i == 0:
		return f.reload(out)
	case c.gone:
		return out
	case c.turn:
		out = f.emitTurn(out, v, c)
	}
	if i == 0 {
		out = global.push(out)
	} else {
		out = v.push(out)
	}
	out = appendS64(append(out, opI64Const), int64(c.cost))
	out = v.pop(append(out, opI64Sub))
	if c.check {
		out = f.m.emitCheck(out, v)
	}
	return out
}

// emitTurn writes the check at the head of a loop: while the counter is below zero, refuel and go back to the head.
//
// The way it is written is worth a fifth of a tight loop under wazero's compiler. The usual case is the first arm of the if, although
// that is empty, and the other one ends with a branch back, so that it is placed behind the function and the loop runs straight on.
// The locals that the loop changes go through the call as arguments and results. So none of them lives across it, and the
// register allocator has no reason to store them on the stack at every round.
func (f *fn) emitTurn(out []byte, v counter, c charge) []byte {
	out = append(v.push(out), opI64Const, 0, opI64GeS, opIf, 0x40, opElse)
	out = v.push(out)
	carry := c.carry
	if len(carry) > maxCarry {
		carry = nil
	}
	types := []ValueType{I64}
	for _, local := range carry {
		out = appendU32(append(out, opLocalGet), local)
		types = append(types, f.locals[local])
	}
	out = appendU32(append(out, opCall), f.m.refuelFunc(types))
	for _, local := range slices.Backward(carry) {
		out = appendU32(append(out, opLocalSet), local)
	}
	return append(v.pop(out), opBr, 1, opEnd)
}

// A counter is where a function keeps its fuel: a local or the global.
type counter struct {
	get, set byte
	index    uint32
}

func (v counter) push(out []byte) []byte { return appendU32(append(out, v.get), v.index) }
func (v counter) pop(out []byte) []byte  { return appendU32(append(out, v.set), v.index) }

// emitCheck calls the host when the counter is below zero. The usual case is the first arm here too: wazero's register allocator
// starts the code behind an if with the registers as its first arm leaves them, and a call leaves none.
func (m *module) emitCheck(out []byte, v counter) []byte {
	out = append(v.push(out), opI64Const, 0, opI64GeS, opIf, 0x40, opElse)
	out = append(v.push(out), opCall)
	out = v.pop(appendU32(out, uint32(m.importedFuncs)))
	return append(out, opEnd)
}

// refuelFunc is the function to call for refuelling that takes and returns values of these types, of which the first is the counter:
// the import itself, or a helper that passes the rest through.
func (m *module) refuelFunc(types []ValueType) uint32 {
	if len(types) == 1 {
		return uint32(m.importedFuncs)
	}
	i := m.typeIndex(FuncType{Params: types, Results: types})
	return m.helperFunc(m.helpers.index(helperKey{op: refuelCarry, a: i}))
}
