package meter

// Instructions whose work grows with an operand cannot be paid for by a constant. Each is replaced by a call of a helper, an injected
// function of the same type that does the work in chunks and pays before each. Where the specification traps before the first
// write, so does the helper: it compares the whole range first, and when that is out of bounds runs the original instruction, which
// then traps in its own words.

// A bulkOp is an instruction that is replaced by a helper: the opcode behind opMisc, or memoryGrow.
type bulkOp byte

const (
	memoryGrow bulkOp = 0xff
	// refuelCarry is no instruction but the helper of a loop's check, whose type has index a.
	refuelCarry bulkOp = 0xfe
)

// A helperKey identifies a helper: the instruction and its immediates.
type helperKey struct {
	op   bulkOp
	a, b uint32
}

// helpers is the list of helpers that a module needs, in the order of first use.
type helpers struct {
	keys []helperKey
	at   map[helperKey]uint32
}

// index returns the position of a helper, and adds it when it is new.
func (h *helpers) index(key helperKey) uint32 {
	if i, ok := h.at[key]; ok {
		return i
	}
	if h.at == nil {
		h.at = map[helperKey]uint32{}
	}
	i := uint32(len(h.keys))
	h.at[key], h.keys = i, append(h.keys, key)
	return i
}

// bulkNames are the instructions' names, for the injected functions and for reasons.
var bulkNames = map[bulkOp]string{
	memoryGrow: "memory.grow", refuelCarry: "refuel", miscMemoryInit: "memory.init", miscMemoryCopy: "memory.copy", miscMemoryFill: "memory.fill",
	miscTableInit: "table.init", miscTableCopy: "table.copy", miscTableGrow: "table.grow", miscTableFill: "table.fill",
}

// writes says why an instruction's effect outlives a restored memory; empty when it does not.
func (o bulkOp) writes() string {
	switch o {
	case miscTableGrow:
		return "grows a table (table.grow)"
	case miscTableInit, miscTableCopy, miscTableFill:
		return "writes a table (" + bulkNames[o] + ")"
	}
	return ""
}

const (
	// memoryChunk is how many bytes a memory helper moves between two looks at the counter, and bytesPerUnit how many it moves for
	// one unit, both as powers of two.
	memoryChunk  = 16
	bytesPerUnit = 3
	// tableChunk is how many table elements are written between two looks at the counter, for a unit each.
	tableChunk = 13
	// pageCost is what a page of memory.grow costs.
	pageCost = 1024
)

// helperType is the type of a helper, which is that of its instruction.
func (m *module) helperType(k helperKey) FuncType {
	switch k.op {
	case refuelCarry:
		return m.added[int(k.a)-len(m.types)]
	case memoryGrow:
		return FuncType{Params: []ValueType{I32}, Results: []ValueType{I32}}
	case miscTableGrow:
		return FuncType{Params: []ValueType{m.tables[k.a].elem, I32}, Results: []ValueType{I32}}
	case miscTableFill:
		return FuncType{Params: []ValueType{I32, m.tables[k.a].elem, I32}}
	}
	return FuncType{Params: []ValueType{I32, I32, I32}}
}

// helperBody is the code of a helper, with its locals.
func (m *module) helperBody(k helperKey) []byte {
	h := &helper{m: m, key: k, shift: tableChunk}
	switch k.op {
	case refuelCarry:
		return h.carry()
	case memoryGrow, miscTableGrow:
		return h.grow()
	case miscMemoryInit, miscMemoryCopy, miscMemoryFill:
		h.shift, h.perUnit = memoryChunk, bytesPerUnit
	}
	return h.bulk()
}

// A helper is being written. Its parameters are dst, src or a value, and n, as locals 0, 1 and 2.
type helper struct {
	asm
	m   *module
	key helperKey
	// shift is the chunk's size, perUnit how much of it is a unit, as powers of two.
	shift, perUnit uint32
}

// operation writes the original instruction with its immediates.
func (h *helper) operation() {
	if h.key.op == memoryGrow {
		h.op(opMemoryGrow, 0)
		return
	}
	h.op(opMisc, byte(h.key.op))
	switch h.key.op {
	case miscMemoryInit:
		h.u32(h.key.a)
		h.op(0)
	case miscMemoryCopy:
		h.op(0, 0)
	case miscMemoryFill:
		h.op(0)
	case miscTableInit, miscTableCopy:
		h.u32(h.key.a)
		h.u32(h.key.b)
	default:
		h.u32(h.key.a)
	}
}

// carry writes the helper of a loop's check.
func (h *helper) carry() []byte {
	h.op(0) // no locals
	h.get(0)
	h.op(opCall)
	h.u32(uint32(h.m.importedFuncs))
	for i := 1; i < len(h.m.helperType(h.key).Params); i++ {
		h.get(uint32(i))
	}
	h.op(opEnd)
	return h.code
}

// bulk writes the helper of a fill, copy or init.
func (h *helper) bulk() []byte {
	h.op(0) // no locals
	h.big(2)
	h.op(opIf, 0x40)
	h.bounds()
	switch h.key.op {
	case miscMemoryCopy, miscTableCopy:
		h.get(0)
		h.get(1)
		h.op(opI32LeU, opIf, 0x40)
		h.forwards(true)
		h.op(opElse)
		h.backwards()
		h.op(opEnd)
	case miscMemoryFill, miscTableFill:
		h.forwards(false)
	default:
		h.forwards(true)
	}
	h.op(opEnd)
	h.pay(func() {
		h.get(2)
		h.i32(int32(h.perUnit))
		h.op(opI32ShrU, opI64ExtendU)
	})
	h.run()
	h.op(opEnd)
	return h.code
}

// big asks whether a local is more than a chunk.
func (h *helper) big(local uint32) {
	h.get(local)
	h.i32(1 << h.shift)
	h.op(opI32GtU)
}

// run does the original instruction on the helper's parameters.
func (h *helper) run() {
	h.get(0)
	h.get(1)
	h.get(2)
	h.operation()
}

// bounds traps as the original instruction would unless the whole range is inside.
func (h *helper) bounds() {
	h.outside(0, func() { h.size(h.destination()) })
	switch h.key.op {
	case miscMemoryCopy, miscTableCopy:
		h.outside(1, func() { h.size(h.key.b) })
	case miscMemoryInit, miscTableInit:
		// A segment has no size instruction, and a dropped one is empty: initialising nothing from its end finds out.
		h.outside(1, func() { h.i64(1<<32 - 1) })
		h.i32(0)
		h.get(1)
		h.get(2)
		h.op(opI32Add)
		h.i32(0)
		h.operation()
	}
}

// destination is the table that is written.
func (h *helper) destination() uint32 {
	if h.key.op == miscTableInit {
		return h.key.b
	}
	return h.key.a
}

// outside runs the original instruction, which traps, when local + n is more than a size.
func (h *helper) outside(local uint32, size func()) {
	h.wide(local)
	h.wide(2)
	h.op(opI64Add)
	size()
	h.op(opI64GtU, opIf, 0x40)
	h.run()
	h.op(opUnreachable, opEnd)
}

// wide pushes a local as i64.
func (h *helper) wide(local uint32) {
	h.get(local)
	h.op(opI64ExtendU)
}

// size pushes the size of the memory in bytes or of a table in elements, as i64.
func (h *helper) size(table uint32) {
	if h.perUnit == 0 {
		h.op(opMisc, miscTableSize)
		h.u32(table)
		h.op(opI64ExtendU)
		return
	}
	h.op(opMemorySize, 0, opI64ExtendU)
	h.i64(16)
	h.op(opI64Shl)
}

// payChunk pays for a whole chunk.
func (h *helper) payChunk() {
	h.pay(func() { h.i64(1 << (h.shift - h.perUnit)) })
}

// forwards does chunks from the front while more than a chunk is left. src says that the second parameter is an offset.
func (h *helper) forwards(src bool) {
	h.op(opLoop, 0x40)
	h.payChunk()
	h.get(0)
	h.get(1)
	h.i32(1 << h.shift)
	h.operation()
	h.step(0, opI32Add)
	if src {
		h.step(1, opI32Add)
	}
	h.step(2, opI32Sub)
	h.big(2)
	h.op(opBrIf, 0, opEnd)
}

// backwards does chunks from the end, for a copy to a higher place.
func (h *helper) backwards() {
	h.op(opLoop, 0x40)
	h.payChunk()
	h.step(2, opI32Sub)
	for local := range uint32(2) {
		h.get(local)
		h.get(2)
		h.op(opI32Add)
	}
	h.i32(1 << h.shift)
	h.operation()
	h.big(2)
	h.op(opBrIf, 0, opEnd)
}

// step moves a local by a chunk.
func (h *helper) step(local uint32, op byte) {
	h.get(local)
	h.i32(1 << h.shift)
	h.op(op)
	h.set(local)
}

// grow writes the helper of memory.grow or table.grow. Growth beyond the maximum fails at once and costs nothing.
func (h *helper) grow() []byte {
	n, maximum, cost := uint32(0), uint32(maxPages), int64(pageCost)
	if h.key.op == miscTableGrow {
		n, cost, maximum = 1, 1, 1<<32-1
		if l := h.m.tables[h.key.a].limits; l.hasMax {
			maximum = l.max
		}
	} else if h.m.memory.hasMax {
		maximum = h.m.memory.max
	}
	h.op(0) // no locals
	h.wide(n)
	h.i64(int64(maximum))
	if h.key.op == memoryGrow {
		h.op(opMemorySize, 0)
	} else {
		h.op(opMisc, miscTableSize)
		h.u32(h.key.a)
	}
	h.op(opI64ExtendU, opI64Sub, opI64GtS, opI32Eqz, opIf, 0x40)
	h.pay(func() {
		h.wide(n)
		h.i64(cost)
		h.op(opI64Mul)
	})
	h.op(opEnd)
	for local := range n + 1 {
		h.get(local)
	}
	h.operation()
	h.op(opEnd)
	return h.code
}

// pay takes the units that push leaves on the stack, as i64.
func (h *helper) pay(push func()) {
	fuel := counter{opGlobalGet, opGlobalSet, h.m.fuelGlobal()}
	h.code = fuel.push(h.code)
	push()
	h.code = fuel.pop(append(h.code, opI64Sub))
	h.code = h.m.emitCheck(h.code, fuel)
}

// asm writes instructions.
type asm struct{ code []byte }

func (a *asm) op(b ...byte) { a.code = append(a.code, b...) }
func (a *asm) u32(v uint32) { a.code = appendU32(a.code, v) }
func (a *asm) get(l uint32) { a.op(opLocalGet); a.u32(l) }
func (a *asm) set(l uint32) { a.op(opLocalSet); a.u32(l) }
func (a *asm) i32(v int32)  { a.op(opI32Const); a.code = appendS64(a.code, int64(v)) }
func (a *asm) i64(v int64)  { a.op(opI64Const); a.code = appendS64(a.code, v) }
