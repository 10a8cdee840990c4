package hostile

import "encoding/binary"

// A module is a Wasm module written by hand: hostile guests must hold exactly the bytes that hurt, which no compiler would emit.
type module struct {
	types   []funcType
	imports []importFunc
	funcs   []function
	table   int // size of table 0; 0: none
	pages   [2]int
	globals []global
	exports []export
	start   int   // function index + 1; 0: none
	elems   []int // function indices put into table 0 from slot 0
	data    []segment
}

type (
	funcType   struct{ params, results []byte }
	importFunc struct {
		module, name string
		typ          int
	}
	function struct {
		typ    int
		locals []byte
		body   []byte
	}
	global struct {
		typ  byte
		init []byte
	}
	export struct {
		name string
		kind byte
		idx  int
	}
	segment struct {
		at    int
		bytes []byte
	}
)

// Value types and external kinds of the binary format (WebAssembly Core Specification 2.0, sections 5.3 and 5.5).
const (
	i32 byte = 0x7f
	i64 byte = 0x7e

	funcKind   byte = 0
	tableKind  byte = 1
	memoryKind byte = 2
)

func uleb(n uint64) []byte { return binary.AppendUvarint(nil, n) }

func sleb(n int64) []byte {
	var out []byte
	for {
		b := byte(n & 0x7f)
		n >>= 7
		if n == 0 && b&0x40 == 0 || n == -1 && b&0x40 != 0 {
			return append(out, b)
		}
		out = append(out, b|0x80)
	}
}

func join(parts ...[]byte) []byte {
	var out []byte
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// Instructions.
func op(b ...byte) []byte              { return b }
func i32const(n int32) []byte          { return join(op(0x41), sleb(int64(n))) }
func i64const(n int64) []byte          { return join(op(0x42), sleb(n)) }
func localGet(i int) []byte            { return join(op(0x20), uleb(uint64(i))) }
func call(i int) []byte                { return join(op(0x10), uleb(uint64(i))) }
func globalSet(i int) []byte           { return join(op(0x24), uleb(uint64(i))) }
func when(body ...[]byte) []byte       { return join(op(0x04, 0x40), join(body...), end) }
func loop(body ...[]byte) []byte       { return join(op(0x03, 0x40), join(body...), end) }
func load8(at int32) []byte            { return join(i32const(at), op(0x2d, 0, 0)) }
func store8(at int32, v []byte) []byte { return join(i32const(at), v, op(0x3a, 0, 0)) }
func ret(v []byte) []byte              { return join(v, op(0x0f)) }

var (
	end         = op(0x0b)
	drop        = op(0x1a)
	unreachable = op(0x00)
	again       = op(0x0c, 0) // br 0
	againIf     = op(0x0d, 0) // br_if 0
	memoryFill  = op(0xfc, 0x0b, 0)
	memoryGrow  = op(0x40, 0)
	tableSet    = op(0x26, 0)
	refNull     = op(0xd0, 0x70)
	i32eq       = op(0x46)
	i32ne       = op(0x47)
	i32add      = op(0x6a)
)

func vec(items [][]byte) []byte { return join(uleb(uint64(len(items))), join(items...)) }

func sized(b []byte) []byte { return join(uleb(uint64(len(b))), b) }

func section(id byte, body []byte) []byte { return join(op(id), sized(body)) }

func each[T any](items []T, f func(T) []byte) []byte {
	out := make([][]byte, len(items))
	for i, x := range items {
		out[i] = f(x)
	}
	return vec(out)
}

// bytes encodes the module. Sections that hold nothing are left out.
func (m *module) bytes() []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	add := func(id byte, n int, body []byte) {
		if n > 0 {
			out = append(out, section(id, body)...)
		}
	}
	add(1, len(m.types), each(m.types, func(t funcType) []byte { return join(op(0x60), sized(t.params), sized(t.results)) }))
	add(2, len(m.imports), each(m.imports, func(i importFunc) []byte {
		return join(sized([]byte(i.module)), sized([]byte(i.name)), op(funcKind), uleb(uint64(i.typ)))
	}))
	add(3, len(m.funcs), each(m.funcs, func(f function) []byte { return uleb(uint64(f.typ)) }))
	add(4, m.table, join(uleb(1), op(0x70, 0), uleb(uint64(m.table))))
	add(5, m.pages[1], join(uleb(1), op(1), uleb(uint64(m.pages[0])), uleb(uint64(m.pages[1]))))
	add(6, len(m.globals), each(m.globals, func(g global) []byte { return join(op(g.typ, 1), g.init, end) }))
	add(7, len(m.exports), each(m.exports, func(e export) []byte { return join(sized([]byte(e.name)), op(e.kind), uleb(uint64(e.idx))) }))
	add(8, m.start, uleb(uint64(m.start-1)))
	add(9, len(m.elems), join(uleb(1), op(0), i32const(0), end, each(m.elems, func(i int) []byte { return uleb(uint64(i)) })))
	add(10, len(m.funcs), each(m.funcs, encodeBody))
	add(11, len(m.data), each(m.data, func(d segment) []byte { return join(op(0), i32const(int32(d.at)), end, sized(d.bytes)) }))
	return out
}

func encodeBody(f function) []byte {
	locals := each(f.locals, func(t byte) []byte { return op(1, t) })
	return sized(join(locals, f.body, end))
}
