package meter

import "fmt"

// The opcodes that this package treats one by one.
const (
	opUnreachable  = 0x00
	opNop          = 0x01
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opThrow        = 0x08
	opThrowRef     = 0x0a
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opReturnCall   = 0x12
	opReturnCallIn = 0x13
	opCallRef      = 0x14
	opReturnCallR  = 0x15
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectT      = 0x1c
	opTryTable     = 0x1f
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opI32Eqz       = 0x45
	opI32LtU       = 0x49
	opI32GtU       = 0x4b
	opI32LeU       = 0x4d
	opI64LtS       = 0x53
	opI64GtS       = 0x55
	opI64GeS       = 0x59
	opI64GtU       = 0x56
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI32Mul       = 0x6c
	opI64Add       = 0x7c
	opI64Sub       = 0x7d
	opI64Mul       = 0x7e
	opI32ShrU      = 0x76
	opI64Shl       = 0x86
	opI64ShrU      = 0x88
	opI64ExtendU   = 0xad
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opRefAsNonNull = 0xd4
	opBrOnNull     = 0xd5
	opBrOnNonNull  = 0xd6
	opMisc         = 0xfc
	opVec          = 0xfd
	opAtomic       = 0xfe
)

// The opcodes behind opMisc.
const (
	miscMemoryInit = 8
	miscDataDrop   = 9
	miscMemoryCopy = 10
	miscMemoryFill = 11
	miscTableInit  = 12
	miscElemDrop   = 13
	miscTableCopy  = 14
	miscTableGrow  = 15
	miscTableSize  = 16
	miscTableFill  = 17
)

// Opcodes behind opVec and opAtomic.
const (
	vecConst     = 0x0c
	atomicNotify = 0x00
	atomicWait64 = 0x02
	atomicFence  = 0x03
)

// An immediate says what follows an opcode.
type immediate byte

const (
	immUnknown immediate = iota
	immNone
	immBlock
	immEnd
	immElse
	immLabel
	immBrTable
	immFunc
	immIndirect
	immType
	immLocal
	immGlobal
	immTable
	immMem
	immMemory
	immI32
	immI64
	imm4
	imm8
	immRefNull
	immSelect
	immTryTable
	immTag
	immMisc
	immVec
	immAtomic
	// Behind opVec:
	imm16
	immLane
	immMemLane
	immShuffle
)

// op is what metering needs to know of an opcode: what follows it, and what it costs.
type op struct {
	imm  immediate
	cost byte
}

// Costs, in units. A unit is about one simple instruction: a few tenths of a nanosecond in compiled code. Their purpose is that no
// instruction takes more than about a hundred times as long as its units say, so that a slice of fuel bounds time.
const (
	costOne    = 1
	costVector = 2
	costDivide = 8
	costCall   = 4
	costDirect = 8  // a call through a table or a reference
	costSync   = 16 // an atomic access
	costHost   = 64 // leaves compiled code
	costThrow  = 255
)

// ops is indexed by opcode. Opcodes that it leaves out are unknown.
var ops = buildOps()

func buildOps() (t [256]op) {
	set := func(imm immediate, cost byte, codes ...byte) {
		for _, c := range codes {
			t[c] = op{imm, cost}
		}
	}
	span := func(imm immediate, cost byte, from, to int) {
		for c := from; c <= to; c++ {
			t[c] = op{imm, cost}
		}
	}
	set(immBlock, 0, opBlock, opLoop)
	set(immBlock, costOne, opIf)
	set(immElse, 0, opElse)
	set(immEnd, 0, opEnd)
	set(immNone, 0, opNop)
	set(immNone, costOne, opUnreachable, opReturn, opDrop, opSelect, opRefIsNull, opRefAsNonNull)
	set(immTag, costThrow, opThrow)
	set(immNone, costThrow, opThrowRef)
	set(immTryTable, costHost, opTryTable)
	set(immLabel, costOne, opBr, opBrIf, opBrOnNull, opBrOnNonNull)
	set(immBrTable, 2*costOne, opBrTable)
	set(immFunc, costCall, opCall, opReturnCall)
	set(immIndirect, costDirect, opCallIndirect, opReturnCallIn)
	set(immType, costDirect, opCallRef, opReturnCallR)
	set(immSelect, costOne, opSelectT)
	set(immLocal, costOne, opLocalGet, opLocalSet, opLocalTee)
	set(immGlobal, costOne, opGlobalGet, opGlobalSet)
	set(immTable, 2*costOne, opTableGet, opTableSet)
	span(immMem, costOne, 0x28, 0x3e) // loads and stores
	set(immMemory, costOne, opMemorySize)
	set(immMemory, costHost, opMemoryGrow)
	set(immI32, costOne, opI32Const)
	set(immI64, costOne, opI64Const)
	set(imm4, costOne, opF32Const)
	set(imm8, costOne, opF64Const)
	span(immNone, costOne, 0x45, 0xc4)    // arithmetic, comparison, conversion, sign extension
	span(immNone, costDivide, 0x6d, 0x70) // i32 div and rem
	span(immNone, costDivide, 0x7f, 0x82) // i64 div and rem
	set(immNone, costDivide, 0x91, 0x95, 0x9f, 0xa3)
	set(immRefNull, costOne, opRefNull)
	set(immFunc, costHost, opRefFunc)
	set(immMisc, 0, opMisc)
	set(immVec, 0, opVec)
	set(immAtomic, 0, opAtomic)
	return t
}

// vecOps is indexed by the byte after opVec. Opcodes from 0x80 on have a second byte, which is 1.
var vecOps = buildVecOps()

func buildVecOps() (t [256]op) {
	for c := range t {
		t[c] = op{immNone, costVector}
	}
	for c := 0x00; c <= 0x0b; c++ { // loads and a store
		t[c] = op{immMem, costVector}
	}
	t[vecConst] = op{imm16, costVector}
	t[0x0d] = op{immShuffle, costVector}
	for c := 0x15; c <= 0x22; c++ {
		t[c] = op{immLane, costVector}
	}
	for c := 0x54; c <= 0x5b; c++ {
		t[c] = op{immMemLane, costVector}
	}
	t[0x5c], t[0x5d] = op{immMem, costVector}, op{immMem, costVector}
	for _, c := range []int{0xe3, 0xe7, 0xef, 0xf3} { // sqrt, div
		t[c].cost = costDivide
	}
	// Holes, and the relaxed instructions' range, which starts at 0x100.
	for _, c := range []int{
		0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2, 0xd3, 0xd4, 0xe2, 0xee,
	} {
		t[c] = op{}
	}
	return t
}

// opName names an opcode in an error.
func opName(code byte) string {
	switch code {
	case 0x06, 0x07, 0x09, 0x18, 0x19:
		return fmt.Sprintf("legacy exception handling instruction %#x", code)
	case opRefFunc:
		return "ref.func"
	}
	return fmt.Sprintf("instruction %#x", code)
}
