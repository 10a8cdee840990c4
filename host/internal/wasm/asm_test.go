package wasm

import (
	"slices"

	"github.com/amygdala-host/amygdala/abi"
)

// An asm builds a WebAssembly module for a test, section by section. Indices are handed out in the order of the calls; imports must
// come before functions.
type asm struct {
	types, imports, funcs, tables, mems, globals, exports, elems, codes, datas [][]byte
	imported, start                                                            int
}

func newAsm() *asm { return &asm{start: -1} }

// Opcodes and types that the tests use.
const (
	tI32 = 0x7f
	tI64 = 0x7e

	opUnreachable  = 0x00
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opI32Load      = 0x28
	opI32Load8     = 0x2d
	opI32Store     = 0x36
	opI32Store8    = 0x3a
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opI32Eqz       = 0x45
	opI32Eq        = 0x46
	opI32LtU       = 0x49
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI64Add       = 0x7c
	opI64Or        = 0x84
	opI64Shl       = 0x86
	opI64ExtendU   = 0xad
	opMisc         = 0xfc
	void           = 0x40
)

func uleb(n uint64) (b []byte) {
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

func sleb(n int64) (b []byte) {
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// code joins opcodes (untyped ints) and already encoded parts.
func code(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b = append(b, byte(p))
		case []byte:
			b = append(b, p...)
		}
	}
	return b
}

func i32c(n int64) []byte          { return append([]byte{opI32Const}, sleb(n)...) }
func i64c(n int64) []byte          { return append([]byte{opI64Const}, sleb(n)...) }
func get(local uint64) []byte      { return append([]byte{opLocalGet}, uleb(local)...) }
func set(local uint64) []byte      { return append([]byte{opLocalSet}, uleb(local)...) }
func callf(f int) []byte           { return append([]byte{opCall}, uleb(uint64(f))...) }
func load8(offset uint64) []byte   { return append([]byte{opI32Load8, 0}, uleb(offset)...) }
func store32(offset uint64) []byte { return append([]byte{opI32Store, 2}, uleb(offset)...) }
func misc(op uint64, imm ...byte) []byte {
	return append(append([]byte{opMisc}, uleb(op)...), imm...)
}

func vec(items [][]byte) []byte {
	b := uleb(uint64(len(items)))
	for _, i := range items {
		b = append(b, i...)
	}
	return b
}

func sized(b []byte) []byte { return append(uleb(uint64(len(b))), b...) }

func (a *asm) typ(params, results []byte) int {
	t := append(append([]byte{0x60}, sized(params)...), sized(results)...)
	if i := slices.IndexFunc(a.types, func(x []byte) bool { return slices.Equal(x, t) }); i >= 0 {
		return i
	}
	a.types = append(a.types, t)
	return len(a.types) - 1
}

func (a *asm) importFunc(module, name string, params, results []byte) int {
	t := a.typ(params, results)
	a.imports = append(a.imports, code(sized([]byte(module)), sized([]byte(name)), 0, uleb(uint64(t))))
	a.imported++
	return a.imported - 1
}

// fn adds a function with i32 locals; its end is added.
func (a *asm) fn(params, results []byte, locals int, body ...any) int {
	a.funcs = append(a.funcs, uleb(uint64(a.typ(params, results))))
	decl := []byte{0}
	if locals > 0 {
		decl = code(1, uleb(uint64(locals)), tI32)
	}
	a.codes = append(a.codes, sized(code(decl, code(body...), opEnd)))
	return a.imported + len(a.funcs) - 1
}

func (a *asm) memory(limits ...uint64) {
	b := []byte{byte(len(limits) - 1)}
	for _, l := range limits {
		b = append(b, uleb(l)...)
	}
	a.mems = append(a.mems, b)
}

func (a *asm) table(min, max uint64) {
	a.tables = append(a.tables, code(0x70, 1, uleb(min), uleb(max)))
}

func (a *asm) elem(offset int64, funcs ...int) {
	b := code(0, i32c(offset), opEnd, uleb(uint64(len(funcs))))
	for _, f := range funcs {
		b = append(b, uleb(uint64(f))...)
	}
	a.elems = append(a.elems, b)
}

func (a *asm) global(typ int, init []byte) int {
	a.globals = append(a.globals, code(typ, 1, init, opEnd))
	return len(a.globals) - 1
}

func (a *asm) export(name string, kind, index int) {
	a.exports = append(a.exports, code(sized([]byte(name)), kind, uleb(uint64(index))))
}

func (a *asm) data(offset int64, b []byte) {
	a.datas = append(a.datas, code(0, i32c(offset), opEnd, sized(b)))
}

func (a *asm) bytes() []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id int, items [][]byte) {
		if len(items) > 0 {
			b = append(append(b, byte(id)), sized(vec(items))...)
		}
	}
	section(1, a.types)
	section(2, a.imports)
	section(3, a.funcs)
	section(4, a.tables)
	section(5, a.mems)
	section(6, a.globals)
	section(7, a.exports)
	if a.start >= 0 {
		b = append(append(b, 8), sized(uleb(uint64(a.start)))...)
	}
	section(9, a.elems)
	section(10, a.codes)
	section(11, a.datas)
	return b
}

// roomAt is where the plugins built by asm take requests and answerAt where they answer from.
const (
	roomAt   = 1024
	answerAt = 512
)

// plugin adds the exports of the contract; handle is the body of amygdala_call with three parameters and the given i32 locals.
func (a *asm) plugin(locals int, handle ...any) []byte {
	if a.mems == nil {
		a.memory(2)
	}
	a.export(abi.ExportMemory, 2, 0)
	a.export(abi.ExportMarker, 0, a.fn(nil, nil, 0))
	a.export(abi.ExportAlloc, 0, a.fn([]byte{tI32}, []byte{tI32}, 0, i32c(roomAt)))
	a.export(abi.ExportCall, 0, a.fn([]byte{tI32, tI32, tI32}, []byte{tI64}, locals, handle...))
	return a.bytes()
}

// answer leaves ptr<<32|len on the stack.
func answer(ptr, n int64) []byte { return i64c(ptr<<32 | n) }
