package meter

import (
	"fmt"
	"slices"
)

// An edit replaces bytes [at, end) of a body.
type edit struct {
	at, end int
	kind    editKind
	// arg is a function index of the metered module, or a charge point.
	arg uint32
}

type editKind byte

const (
	// editCharge inserts a charge point.
	editCharge editKind = iota
	// editCall replaces an instruction by one with a function index: the opcode is at at.
	editCall
	// editHelper replaces an instruction by a call of a helper.
	editHelper
	// editRefFunc replaces the operand of ref.func.
	editRefFunc
	// editSelect replaces a select of floats or vectors, whose type is arg.
	editSelect
	// editLeave keeps an instruction that leaves the function, for a while or for good.
	editLeave
)

// A frame is an open block.
type frame struct {
	op byte
	// header is the charge point at the head of the innermost loop that can be reached, the block itself included; 0 if there is none,
	// for the first point is never one.
	header int
	// entry is the charge point that covers the code in front of the block, or dead.
	entry int
	// params and results are the block's type, outer the base of the value stack outside.
	params, results []ValueType
	outer           int
	// used says that a branch to the label exists.
	used bool
}

// carried is what a branch to the block's label carries.
func (fr *frame) carried() []ValueType {
	if fr.op == opLoop {
		return fr.params
	}
	return fr.results
}

// A fn walks one function body.
type fn struct {
	m      *module
	r      *reader
	typ    FuncType
	locals []ValueType
	frames []frame
	edits  []edit
	plan   plan
	values valueStack
	// scratch says for which types a select needs a local, selects counts these.
	scratch map[ValueType]bool
	selects int
	// calls says that the function calls others, so that it can be part of a recursion.
	calls bool
	// tries says that it has a try_table.
	tries bool
	// leaves counts the instructions that leave the function, loops its loops.
	leaves, loops int
	// given counts the values that calls and blocks give, nest is how many loops are open, deepest how many ever were.
	given, nest, deepest int
	// label is the frame of the function itself, once it is closed.
	label frame
}

// reset makes f ready for another function, keeping its buffers.
func (f *fn) reset(typ FuncType) {
	*f = fn{
		m: f.m, r: f.r, typ: typ,
		locals: f.locals[:0], frames: f.frames[:0], edits: f.edits[:0], plan: plan{charges: f.plan.charges[:0]},
		values: valueStack{types: f.values.types[:0]},
	}
}

// rewriteBody checks function i of the original and returns its metered body, without its size.
func (f *fn) rewriteBody(i int, b body) []byte {
	m, r := f.m, f.r
	index := uint32(m.importedFuncs + i)
	r.pos, r.end, r.where = b.pos, b.end, funcName(index)
	f.reset(m.funcType(index))
	f.readLocals()
	start := r.pos
	f.frames = append(f.frames, frame{op: opEnd, results: f.typ.Results})
	f.point(start, 0, false)
	f.plan.spend(len(f.locals) / 4)
	for len(f.frames) > 0 && r.ok() {
		f.instruction()
	}
	r.done()
	f.bound(start)
	if !r.ok() {
		return nil
	}
	m.result.Functions++
	m.result.Loops += f.loops
	m.result.Weight += f.weight()
	f.plan.charges[0].cost += f.stack(b.end - start)
	f.plan.settle(f.calls)
	return f.emit(b.pos, start, b.end)
}

// stack is the price of the frame on the host's call stack. It grows with the body whether the code runs or not: wazero gives every
// value that lives across a call a slot of its own. Without it a recursion could take megabytes of stack a slice.
func (f *fn) stack(size int) uint64 { return uint64(size+bodyPerValue*f.given) / bodyPerUnit }

// weight estimates what compiling the function costs.
func (f *fn) weight() uint64 {
	blocks, globals := uint64(len(f.plan.charges)+2*f.selects), uint64(len(f.m.globals))
	return blocks*(blocks+32*uint64(len(f.locals))+32*uint64(f.deepest)) + 50*f.reloads() + 2*globals
}

// reloads is how many times wazero will reload a mutable global behind a call, that of a check included, and the counter as well.
func (f *fn) reloads() uint64 { return uint64(f.leaves+f.loops) * uint64(f.m.mutables+1) }

// bound refuses a function that wazero could not compile in reasonable memory.
func (f *fn) bound(start int) {
	if n := f.reloads(); n > maxReloads {
		f.r.fail(start, "%d calls and loops beside %d mutable globals are too much to compile", f.leaves+f.loops, f.m.mutables)
	}
}

// readLocals reads the declarations of locals.
func (f *fn) readLocals() {
	f.locals = append(f.locals, f.typ.Params...)
	for n := f.r.count(2); n > 0 && f.r.ok(); n-- {
		start, count := f.r.at(), f.r.u32()
		t := f.m.valueType(f.r)
		if uint64(count) > maxLocals || len(f.locals)+int(count) > maxLocals {
			f.r.fail(start, "too many locals, at most %d are supported", maxLocals)
			return
		}
		f.locals = append(f.locals, slices.Repeat([]ValueType{t}, int(count))...)
	}
	if f.m.locals += len(f.locals); f.m.locals > maxAllLocals {
		f.r.fail(f.r.pos, "the functions up to here have %d locals, at most %d are supported in all", f.m.locals, maxAllLocals)
	}
}

// instruction reads one instruction.
func (f *fn) instruction() {
	start, code := f.r.at(), f.r.byte()
	if !f.r.ok() {
		return
	}
	o := ops[code]
	f.plan.spend(int(o.cost))
	f.values.apply(effects[code])
	switch o.imm {
	case immNone:
		f.bare(start, code)
	case immBlock:
		f.openBlock(code)
	case immElse:
		f.elseArm(start)
	case immEnd:
		f.closeBlock()
	case immLabel, immBrTable:
		f.branch(code)
	case immFunc, immIndirect, immType:
		f.callOrRef(start, code)
	case immMemory:
		f.memoryOp(start, code)
	case immTryTable:
		f.tryTable()
	case immMisc:
		f.misc(start)
	case immVec:
		f.vector(start)
	case immAtomic:
		f.atomic(start)
	default:
		f.plain(start, code, o.imm)
	}
	if len(f.values.types) > maxStack {
		f.r.fail(start, "more than %d values on the stack", maxStack)
	}
	switch code {
	case opReturn, opThrow, opThrowRef:
		f.edit(start, editLeave, 0)
		f.plan.cur = dead
	case opUnreachable, opBr, opBrTable, opReturnCall, opReturnCallIn, opReturnCallR:
		f.plan.cur = dead
	}
}

// bare handles instructions without immediates.
func (f *fn) bare(start int, code byte) {
	switch code {
	case opRefAsNonNull:
		f.m.uses(FeatureTypedRefs)
	case opSelect:
		f.values.pop(2)
		f.selectOf(start, f.values.top())
	}
}

// selectOf replaces a select of type t that can be reached, if it is one of those that wazero compiles wrongly.
func (f *fn) selectOf(start int, t ValueType) {
	if f.plan.cur == dead || t != F32 && t != F64 && t != V128 {
		return
	}
	if f.scratch == nil {
		f.scratch = map[ValueType]bool{}
	}
	f.scratch[t] = true
	f.selects++
	f.edits = append(f.edits, edit{at: start, end: f.r.pos, kind: editSelect, arg: uint32(t)})
}

// plain reads immediates that only need a check.
func (f *fn) plain(start int, code byte, imm immediate) {
	r := f.r
	switch imm {
	case immLocal:
		f.local(code)
	case immGlobal:
		if i := r.index("global", len(f.m.globals)); code == opGlobalGet && r.ok() {
			f.values.push(f.m.globals[i].value)
		}
	case immTable:
		f.tableOp(code)
	case immMem:
		f.memArg(start)
	case immTag:
		f.m.uses(FeatureExceptions)
		r.index("tag", len(f.m.tags))
	case immI32:
		r.signed(32)
	case immI64:
		r.signed(64)
	case imm4:
		r.skip(4)
	case imm8:
		r.skip(8)
	case immRefNull:
		f.m.nullType(r)
		f.values.push(FuncRef) // or another reference: only that it is none of the others matters
	case immSelect:
		f.typedSelect(start)
	default:
		r.fail(start, "unknown %s", opName(code))
	}
}

// local reads local.get, local.set and local.tee.
func (f *fn) local(code byte) {
	i := f.r.index("local", len(f.locals))
	switch {
	case !f.r.ok():
	case code == opLocalGet:
		f.values.push(f.locals[i])
	default:
		f.assigned(i)
	}
}

// typedSelect reads the type of a select that has one.
func (f *fn) typedSelect(start int) {
	if at := f.r.pos; f.r.byte() != 1 {
		f.r.fail(at, "invalid result arity of select")
	}
	t := f.m.valueType(f.r)
	f.values.pop(3)
	f.values.push(t)
	f.selectOf(start, t)
}

// memArg reads alignment and offset of a memory access.
func (f *fn) memArg(start int) {
	if f.m.memory == nil {
		f.r.fail(start, "unknown memory 0, the module has 0")
	}
	if at := f.r.pos; f.r.u32() >= 32 {
		f.r.fail(at, "malformed memop flags")
	}
	f.r.u32()
}

// zero reads the index of the only memory, which must be a single zero byte.
func (f *fn) zero() {
	at := f.r.pos
	if f.r.byte() != 0 {
		f.r.fail(at, "zero byte expected")
	}
	if f.m.memory == nil {
		f.r.fail(at, "unknown memory 0, the module has 0")
	}
}

// memoryOp reads memory.size and memory.grow.
func (f *fn) memoryOp(start int, code byte) {
	f.zero()
	if code == opMemoryGrow {
		f.helper(start, helperKey{op: memoryGrow})
	}
}

// tableOp reads table.get and table.set.
func (f *fn) tableOp(code byte) {
	i := f.r.index("table", len(f.m.tables))
	switch {
	case !f.r.ok():
	case code == opTableSet:
		f.m.cannotRestore("writes a table (table.set)")
	default:
		f.values.pop(1)
		f.values.push(f.m.tables[i].elem)
	}
}

// callOrRef reads the instructions that name a function or a function type.
func (f *fn) callOrRef(start int, code byte) {
	switch code {
	case opCall, opReturnCall, opRefFunc:
		i := f.r.index("function", len(f.m.funcs))
		if !f.r.ok() {
			return
		}
		if code == opRefFunc {
			f.edit(start, editRefFunc, f.m.shift(i))
			return
		}
		f.edit(start, editCall, f.m.shift(i))
		if int(i) < f.m.importedFuncs {
			f.plan.spend(costHost)
		}
		f.callType(f.m.funcs[i])
	default:
		t := f.r.index("type", len(f.m.types))
		if code == opCallIndirect || code == opReturnCallIn {
			f.r.index("table", len(f.m.tables))
		} else {
			f.m.uses(FeatureTypedRefs)
		}
		if f.r.ok() {
			f.callType(t)
			f.edit(start, editLeave, 0)
		}
	}
	if code == opReturnCall || code == opReturnCallIn || code == opReturnCallR {
		f.m.uses(FeatureTailCall)
	}
}

// callType charges for moving the values of a call.
func (f *fn) callType(t uint32) {
	f.calls = true
	typ := f.m.types[t]
	f.given += len(typ.Results)
	f.plan.spend(len(typ.Params) + len(typ.Results))
	f.values.pop(len(typ.Params))
	f.values.push(typ.Results...)
}

// vector reads what follows opVec.
func (f *fn) vector(start int) {
	code := f.r.byte()
	// Opcodes are LEB128 numbers below 256. wazero reads one byte and takes the second one for a nop, so no other spelling may pass.
	if code >= 0x80 && f.r.ok() && f.r.byte() != 1 {
		f.r.fail(start, "unknown or overlong vector instruction %#x", code)
	}
	o := vecOps[code]
	f.plan.spend(int(o.cost))
	f.values.apply(vecEffects[code])
	switch o.imm {
	case immNone:
	case immMem:
		f.memArg(start)
	case imm16, immShuffle:
		f.r.skip(16)
	case immLane:
		f.r.skip(1)
	case immMemLane:
		f.memArg(start)
		f.r.skip(1)
	default:
		f.r.fail(start, "unknown vector instruction %#x", code)
	}
}

// atomic reads what follows opAtomic.
func (f *fn) atomic(start int) {
	f.m.uses(FeatureThreads)
	code := f.r.byte()
	f.plan.spend(costSync)
	f.values.apply(atomicEffect(code))
	switch {
	case !f.r.ok():
	case code == atomicFence:
		if at := f.r.pos; f.r.byte() != 0 {
			f.r.fail(at, "zero byte expected")
		}
	case code <= atomicWait64:
		if code != atomicNotify && !f.m.opt.AllowWait {
			f.r.fail(start, "memory.atomic.wait can block its host for ever")
		}
		f.plan.spend(costHost)
		f.memArg(start)
	case code >= 0x10 && code <= 0x4e:
		f.memArg(start)
	default:
		f.r.fail(start, "unknown atomic instruction %#x", code)
	}
}

// misc reads what follows opMisc.
func (f *fn) misc(start int) {
	code := f.r.u32()
	switch {
	case !f.r.ok():
	case code < miscMemoryInit: // saturating conversions
		f.plan.spend(costOne)
		f.values.apply(miscEffects[code])
	case code <= miscTableFill:
		f.values.apply(miscEffects[code])
		f.bulk(start, byte(code))
	default:
		f.r.fail(start, "unknown instruction 0xfc %d", code)
	}
}

// bulk reads the bulk memory and table instructions.
func (f *fn) bulk(start int, code byte) {
	f.plan.spend(costOne)
	key := helperKey{op: bulkOp(code)}
	switch code {
	case miscMemoryInit:
		key.a = f.dataIndex()
		f.zero()
	case miscDataDrop:
		f.dataIndex()
		f.m.cannotRestore("drops data segments (data.drop)")
		return
	case miscMemoryCopy:
		f.zero()
		f.zero()
	case miscMemoryFill:
		f.zero()
	case miscTableInit, miscElemDrop:
		key.a = f.r.index("elem segment", len(f.m.elems))
		if code == miscElemDrop {
			f.m.cannotRestore("drops element segments (elem.drop)")
			return
		}
		key.b = f.r.index("table", len(f.m.tables))
	case miscTableCopy:
		key.a = f.r.index("table", len(f.m.tables))
		key.b = f.r.index("table", len(f.m.tables))
	default:
		key.a = f.r.index("table", len(f.m.tables))
	}
	if code == miscTableSize {
		return
	}
	f.helper(start, key)
}

// dataIndex reads the index of a data segment, which needs the data count section.
func (f *fn) dataIndex() uint32 {
	if f.r.ok() && !f.m.present[secDataCount] {
		f.r.fail(f.r.pos, "data count section required")
	}
	return f.r.index("data segment", f.m.dataCount)
}

// helper replaces the instruction that began at start by a call of a helper.
func (f *fn) helper(start int, key helperKey) {
	if !f.r.ok() {
		return
	}
	if why := key.op.writes(); why != "" {
		f.m.cannotRestore(why)
	}
	f.plan.spend(costCall)
	f.edit(start, editHelper, f.m.helpers.index(key))
}

// edit notes that the instruction that began at start and ends here is replaced.
func (f *fn) edit(start int, kind editKind, arg uint32) {
	if kind != editRefFunc {
		f.leaves++
	}
	f.edits = append(f.edits, edit{at: start, end: f.r.pos, kind: kind, arg: arg})
}

// blockType reads a block type.
func (f *fn) blockType() (params, results []ValueType) {
	r := f.r
	if r.left() == 0 {
		r.byte()
		return nil, nil
	}
	if b := r.buf[r.pos]; b == 0x40 {
		r.pos++
		return nil, nil
	} else if b&0xc0 == 0x40 { // a negative number of one byte
		if t := f.m.valueType(r); t <= 0xff {
			return nil, oneResult[t]
		} else {
			return nil, []ValueType{t}
		}
	}
	start, i := r.at(), r.signed(33)
	if r.ok() && (i < 0 || i >= int64(len(f.m.types))) {
		r.fail(start, "unknown type %d, the module has %d", i, len(f.m.types))
	}
	if !r.ok() {
		return nil, nil
	}
	t := f.m.types[i]
	f.given += len(t.Params) + len(t.Results)
	f.plan.spend(len(t.Params) + len(t.Results))
	return t.Params, t.Results
}

// openFrame begins a block.
func (f *fn) openFrame(code byte) *frame {
	fr := frame{op: code, header: f.frames[len(f.frames)-1].header}
	fr.params, fr.results = f.blockType()
	fr.entry = f.plan.cur
	fr.outer = f.values.enter(fr.params)
	f.frames = append(f.frames, fr)
	return &f.frames[len(f.frames)-1]
}

// openBlock reads block, loop and if.
func (f *fn) openBlock(code byte) {
	fr := f.openFrame(code)
	switch code {
	case opLoop:
		f.loops++
		f.nest++
		f.deepest = max(f.deepest, f.nest)
		if f.point(f.r.pos, fr.entry, true) {
			fr.header = f.plan.cur
			f.plan.charges[fr.header].turn = len(fr.params) == 0
		}
	case opIf:
		f.point(f.r.pos, fr.entry, false)
	}
}

// tryTable reads a try_table with its catch clauses, whose labels are those outside of it.
func (f *fn) tryTable() {
	f.m.uses(FeatureExceptions)
	f.tries = true
	fr := f.openFrame(opTryTable)
	inside := *fr
	f.frames = f.frames[:len(f.frames)-1]
	for n := f.r.count(2); n > 0 && f.r.ok(); n-- {
		at, kind := f.r.at(), f.r.byte()
		switch kind {
		case 0, 1:
			f.r.index("tag", len(f.m.tags))
		case 2, 3:
		default:
			f.r.fail(at, "malformed catch clause %#x", kind)
		}
		f.readLabel()
	}
	f.frames = append(f.frames, inside)
}

// readLabel reads a label and marks its block as a target.
func (f *fn) readLabel() {
	i := f.r.index("label", len(f.frames))
	if f.r.ok() {
		fr := &f.frames[len(f.frames)-1-int(i)]
		fr.used = true
		f.plan.spend(len(fr.carried()))
	}
}

// branch reads the branches.
func (f *fn) branch(code byte) {
	if code == opBrTable {
		for n := f.r.count(1); n > 0 && f.r.ok(); n-- {
			f.target()
		}
	}
	f.readLabel()
	switch code {
	case opBrOnNull, opBrOnNonNull:
		f.m.uses(FeatureTypedRefs)
		fallthrough
	case opBrIf:
		f.point(f.r.pos, f.plan.cur, false)
	}
}

// target reads one of the labels of br_table, of which one is taken: the default label pays for the values.
func (f *fn) target() {
	i := f.r.index("label", len(f.frames))
	if f.r.ok() {
		f.frames[len(f.frames)-1-int(i)].used = true
	}
}

// elseArm reads else.
func (f *fn) elseArm(start int) {
	fr := &f.frames[len(f.frames)-1]
	if fr.op != opIf {
		f.r.fail(start, "else without if")
		return
	}
	fr.op = opElse
	f.values.restart(fr.params)
	f.point(f.r.pos, fr.entry, false)
}

// closeBlock reads end, and decides which charge point covers what follows.
func (f *fn) closeBlock() {
	fr := f.frames[len(f.frames)-1]
	f.frames = f.frames[:len(f.frames)-1]
	f.values.restart(fr.results)
	f.values.base = fr.outer
	if fr.op == opLoop {
		f.nest--
	}
	switch {
	case len(f.frames) == 0:
		f.label = fr
	case fr.op == opLoop && f.plan.cur == dead:
		// A branch to a loop's label goes back: nothing arrives behind the loop.
	case fr.op == opBlock && !fr.used:
		// Nothing joins here, so the code inside the block goes on.
	default:
		f.point(f.r.pos, fr.entry, false)
	}
}

// point opens a charge point at an offset, unless the code there is dead.
func (f *fn) point(at, parent int, loop bool) bool {
	if !f.plan.open(parent, loop) {
		return false
	}
	if len(f.plan.charges) > maxCharges {
		f.r.fail(at, "more than %d places where control splits or joins", maxCharges)
	}
	f.edits = append(f.edits, edit{at: at, end: at, kind: editCharge, arg: uint32(f.plan.cur)})
	return true
}

// assigned notes that the innermost loop changes a local, as far as its check carries locals.
func (f *fn) assigned(local uint32) {
	if h := f.frames[len(f.frames)-1].header; h > 0 && !f.locals[local].isRef() {
		f.plan.charges[h].assigned(local)
	}
}

// funcName names a function of the original in an error.
func funcName(i uint32) string { return fmt.Sprintf("func[%d]", i) }
