package meter_test

import enc "encoding/binary"

// A gen turns bytes into a valid module: every byte is a decision, and when they run out the simplest choice is made. It throws, but
// has no try_table: with that, wazero's interpreter and compiler disagreed on 3 of 9,346 random modules.
type gen struct {
	data []byte
	out  []byte
	// left is how many more nodes may be written.
	left int
	// labels are the types that branches to the open blocks carry, innermost last; 0 carries nothing.
	labels []byte
	self   int
}

// What every generated module has.
const (
	genFuncs = 4
	genTable = 9
)

// genTypes: functions 0 and 1 have type 0, function 2 type 1, function 3 type 2. Type 3 is that of blocks with two results.
var genTypes = []string{string(sig("\x7f\x7e", "\x7f")), string(sig("\x7f", "\x7f\x7e")), string(sig("", "\x7e")), string(sig("", "\x7f\x7e")), string(sig("", ""))}

var genFuncType = [genFuncs]byte{0, 0, 1, 2}

// generate makes a module.
func generate(data []byte) []byte {
	g := &gen{data: data}
	var types, bodies, exports [][]byte
	for _, t := range genTypes {
		types = append(types, []byte(t))
	}
	var funcs [][]byte
	for i := range genFuncs {
		funcs = append(funcs, []byte{genFuncType[i]})
		exports = append(exports, export(string(rune('a'+i)), 0, uint32(i)))
		bodies = append(bodies, g.function(i))
	}
	exports = append(exports, export("memory", 2, 0), export("g0", 3, 0), export("g1", 3, 1), export("g2", 3, 2))
	return binary(
		sec(1, vec(types...)), sec(3, vec(funcs...)), sec(4, vec([]byte{fref, 1, genTable, 40})), sec(5, vec([]byte{1, 3, 5})),
		sec(13, vec([]byte{0, 4})),
		sec(6, vec([]byte{i32t, 1, 0x41, 1, 0x0b}, []byte{i64t, 1, 0x42, 2, 0x0b}, cat([]byte{f64t, 1, 0x44}, make([]byte, 8), []byte{0x0b}))),
		sec(7, vec(exports...)),
		sec(9, vec([]byte{0, 0x41, 1, 0x0b, 4, 0, 1, 2, 3}, []byte{1, 0, 3, 2, 1, 0})),
		sec(12, []byte{1}), sec(10, vec(bodies...)), sec(11, vec(cat([]byte{1}, sized(data)))),
	)
}

func (g *gen) pick(n int) int {
	if len(g.data) == 0 {
		return 0
	}
	b := g.data[0]
	g.data = g.data[1:]
	return int(b) % n
}

func (g *gen) op(b ...byte) { g.out = append(g.out, b...) }

// function writes one body. Locals 0 to 6 are i32, i64, i32, i64, f64, f64, i32 in every function; the last counts rounds.
func (g *gen) function(i int) []byte {
	g.out, g.left, g.self = nil, 60+g.pick(200), i
	decl := [][]byte{
		{4, 1, i32t, 1, i64t, 2, f64t, 1, i32t},
		{5, 1, i64t, 1, i32t, 1, i64t, 2, f64t, 1, i32t},
		{6, 1, i32t, 1, i64t, 1, i32t, 1, i64t, 2, f64t, 1, i32t},
	}[genFuncType[i]]
	g.labels = []byte{255}
	g.stmts(0)
	g.results()
	return body(decl, g.out...)
}

// results pushes what the function returns.
func (g *gen) results() {
	switch genFuncType[g.self] {
	case 0:
		g.expr(i32t, 2)
	case 1:
		g.expr(i32t, 2)
		g.expr(i64t, 2)
	default:
		g.expr(i64t, 2)
	}
}

// local is a local of a type.
func (g *gen) local(t byte) byte {
	return map[byte][]byte{i32t: {0, 2}, i64t: {1, 3}, f64t: {4, 5}}[t][g.pick(2)]
}

// constant writes a constant.
func (g *gen) constant(t byte) {
	interesting := []int64{0, 1, -1, 7, 64, 65_535, 65_536, 131_072, 196_608, 1 << 31, -1 << 31}
	v := interesting[g.pick(len(interesting))]
	switch t {
	case i32t:
		g.op(cat([]byte{0x41}, sleb(int64(int32(v))))...)
	case i64t:
		g.op(cat([]byte{0x42}, sleb(v<<g.pick(33)))...)
	default:
		g.op(cat([]byte{0x44}, enc.LittleEndian.AppendUint64(nil, uint64(v)<<52))...)
	}
}

// index is 0, 1 or 2 for the three types.
func index(t byte) int { return int(i32t-t) - b2i(t == f64t) }

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// expr writes code that leaves one value of type t.
func (g *gen) expr(t byte, depth int) {
	if g.left--; g.left < 0 || depth > 12 {
		g.op(0x20, g.local(t))
		return
	}
	switch g.pick(14) {
	case 0:
		g.op(0x20, g.local(t))
	case 1:
		g.constant(t)
	case 2, 3:
		g.expr(t, depth+1)
		g.expr(t, depth+1)
		ops := [][]byte{{0x6a, 0x6b, 0x6c, 0x6d, 0x70, 0x71, 0x73, 0x74, 0x76, 0x77}, {0x7c, 0x7d, 0x7e, 0x7f, 0x82, 0x83, 0x85, 0x86, 0x88, 0x89}, {0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5}}[index(t)]
		g.op(ops[g.pick(len(ops))])
	case 4:
		g.expr(i32t, depth+1)
		g.op([]byte{0x28, 0x29, 0x2b}[index(t)], 0, byte(g.pick(90)))
	case 5:
		g.op(0x23, byte(index(t)))
	case 6:
		g.expr(t, depth+1)
		g.expr(t, depth+1)
		g.expr(i32t, depth+1)
		if g.pick(2) == 0 {
			g.op(0x1b)
		} else {
			g.op(0x1c, 1, t)
		}
	case 7:
		g.block(0x02, t, depth)
	case 8:
		g.expr(i32t, depth+1)
		g.block(0x04, t, depth)
	case 9:
		g.loop(t, depth)
	case 10:
		g.convert(t, depth)
	case 11:
		g.call(t, depth)
	case 12:
		g.pair(t, depth)
	default:
		g.query(t, depth)
	}
}

// convert makes a t from another type.
func (g *gen) convert(t byte, depth int) {
	switch t {
	case i32t:
		switch g.pick(3) {
		case 0:
			g.expr(i64t, depth+1)
			g.op(0xa7)
		case 1:
			g.expr(f64t, depth+1)
			g.op(0xfc, 2)
		default:
			g.expr(i64t, depth+1)
			g.expr(i64t, depth+1)
			g.op(0x53)
		}
	case i64t:
		g.expr(i32t, depth+1)
		g.op(0xac + byte(g.pick(2)))
	default:
		g.expr(i64t, depth+1)
		g.op(0xb9)
	}
}

// call calls a function, directly or through the table, and keeps one result.
func (g *gen) call(t byte, depth int) {
	f := g.pick(genFuncs)
	if f <= g.self && g.pick(32) != 1 {
		f = min(g.self+1, genFuncs)
	}
	if t == f64t || f == genFuncs {
		g.constant(t)
		return
	}
	switch genFuncType[f] {
	case 0:
		g.expr(i32t, depth+1)
		g.expr(i64t, depth+1)
	case 1:
		g.expr(i32t, depth+1)
	}
	if g.pick(6) == 1 {
		g.expr(i32t, depth+1)
		g.op(0x11, genFuncType[f], 0)
	} else {
		g.op(0x10, byte(f))
	}
	switch have := [][]byte{{i32t}, {i32t, i64t}, {i64t}}[genFuncType[f]]; {
	case len(have) == 2 && t == i32t:
		g.op(0x1a)
	case len(have) == 2:
		g.op(0x21, 3, 0x1a, 0x20, 3)
	case have[0] != t && t == i32t:
		g.op(0xa7)
	case have[0] != t:
		g.op(0xad)
	}
}

// pair is a block with two results.
func (g *gen) pair(t byte, depth int) {
	if t == f64t {
		g.op(0x20, g.local(t))
		return
	}
	g.op(0x02, 3)
	g.labels = append(g.labels, 254)
	g.stmts(depth + 1)
	g.expr(i32t, depth+1)
	g.expr(i64t, depth+1)
	if g.pick(2) == 0 {
		g.expr(i32t, depth+1)
		g.op(0x0d, 0)
	}
	g.labels = g.labels[:len(g.labels)-1]
	g.op(0x0b)
	if t == i32t {
		g.op(0x1a)
	} else {
		g.op(0x21, 1, 0x1a, 0x20, 1)
	}
}

// query asks for sizes, grows, or tests a reference.
func (g *gen) query(t byte, depth int) {
	if t != i32t {
		g.convert(t, depth)
		return
	}
	switch g.pick(6) {
	case 0:
		g.op(0x3f, 0)
	case 1:
		g.op(0x41, byte(g.pick(4)), 0x40, 0)
	case 2:
		g.op(0xfc, 16, 0)
	case 3:
		g.op(0xd0, fref, 0x41, byte(g.pick(20)), 0xfc, 15, 0)
	case 4:
		g.expr(i32t, depth+1)
		g.op(0x25, 0, 0xd1)
	default:
		g.expr(i32t, depth+1)
		g.op(0x45)
	}
}

// block writes a block or an if that gives a t, with a way out in the middle.
func (g *gen) block(op, t byte, depth int) {
	g.op(op, t)
	g.labels = append(g.labels, t)
	g.stmts(depth + 1)
	g.expr(t, depth+1)
	if g.pick(2) == 0 {
		g.expr(i32t, depth+1)
		g.op(0x0d, 0)
	}
	if op == 0x04 {
		g.op(0x05)
		g.stmts(depth + 1)
		g.expr(t, depth+1)
	}
	g.labels = g.labels[:len(g.labels)-1]
	g.op(0x0b)
}

// loop writes a loop that gives a t and may go round.
func (g *gen) loop(t byte, depth int) {
	g.op(0x03, t)
	g.labels = append(g.labels, 0)
	g.stmts(depth + 1)
	g.again(depth)
	g.expr(t, depth+1)
	g.labels = g.labels[:len(g.labels)-1]
	g.op(0x0b)
}

// again goes back to the head of a loop, mostly as long as this call of the function has gone back less than a few times in all.
func (g *gen) again(depth int) {
	if g.pick(16) == 1 {
		g.expr(i32t, depth+1)
	} else {
		g.op(0x20, 6, 0x41, 1, 0x6a, 0x22, 6, 0x41, byte(1+g.pick(40)), 0x49)
	}
	g.op(0x0d, 0)
}

// stmts writes a few statements.
func (g *gen) stmts(depth int) {
	if depth > 10 {
		return
	}
	for range g.pick(5) {
		if g.left -= 2; g.left < 0 {
			return
		}
		g.stmt(depth)
	}
}

// stmt writes code that leaves nothing.
func (g *gen) stmt(depth int) {
	t := []byte{i32t, i64t, f64t}[g.pick(3)]
	switch g.pick(13) {
	case 0, 1:
		g.expr(t, depth+1)
		g.op(0x21, g.local(t))
	case 2:
		g.expr(t, depth+1)
		g.op(0x24, byte(index(t)))
	case 3:
		t = []byte{i32t, i64t}[g.pick(2)]
		g.expr(i32t, depth+1)
		g.expr(t, depth+1)
		g.op([]byte{0x36, 0x37}[index(t)], 0, byte(g.pick(90)))
	case 4:
		g.expr(t, depth+1)
		g.op(0x1a)
	case 5, 6:
		op := []byte{0x02, 0x03}[g.pick(2)]
		g.op(op, 0x40)
		g.labels = append(g.labels, 0)
		g.stmts(depth + 1)
		if op == 0x03 {
			g.again(depth)
		} else {
			g.expr(i32t, depth+1)
			g.op(0x0d, 0)
		}
		g.labels = g.labels[:len(g.labels)-1]
		g.op(0x0b)
	case 7:
		g.expr(i32t, depth+1)
		g.op(0x04, 0x40)
		g.labels = append(g.labels, 0)
		g.stmts(depth + 1)
		g.labels = g.labels[:len(g.labels)-1]
		g.op(0x0b)
	case 8:
		g.jump(depth)
	case 9, 10:
		g.bulk(depth)
	case 11:
		g.leave(depth)
	default:
		g.op(0x01)
	}
}

// jump branches to an open block, with a br, a br_if or a br_table. What follows an unconditional one is dead.
func (g *gen) jump(depth int) {
	i := g.pick(len(g.labels))
	switch t := g.labels[len(g.labels)-1-i]; t {
	case 0:
	case 254:
		g.expr(i32t, depth+1)
		g.expr(i64t, depth+1)
	case 255:
		g.results()
	default:
		g.expr(t, depth+1)
	}
	if g.pick(2) == 0 {
		g.op(0x0c, byte(i))
		return
	}
	g.expr(i32t, depth+1)
	g.op(0x0e, 2, byte(i), byte(i), byte(i))
}

// leave returns, calls in place of returning, throws or traps, in an arm so that not all of them do.
func (g *gen) leave(depth int) {
	g.expr(i32t, depth+1)
	g.op(0x04, 0x40)
	g.labels = append(g.labels, 0)
	switch g.pick(4) {
	case 0:
		g.results()
		g.op(0x0f)
	case 1:
		switch genFuncType[g.self] {
		case 0:
			g.expr(i32t, depth+1)
			g.expr(i64t, depth+1)
			g.op(0x12, 1)
		case 1:
			g.expr(i32t, depth+1)
			g.op(0x12, 2)
		default:
			g.op(0x41, byte(g.pick(genTable)), 0x13, 2, 0)
		}
	case 2:
		g.op(0x08, 0)
	default:
		g.op(0x00)
	}
	g.labels = g.labels[:len(g.labels)-1]
	g.op(0x0b)
}

// bulk writes a bulk instruction.
func (g *gen) bulk(depth int) {
	kind := g.pick(8)
	if kind == 6 {
		g.op(0xfc, []byte{9, 13}[g.pick(2)], 0)
		return
	}
	g.expr(i32t, depth+1)
	if kind == 3 {
		g.op(0xd2, byte(g.pick(genFuncs)))
	} else {
		g.expr(i32t, depth+1)
	}
	g.expr(i32t, depth+1)
	switch kind {
	case 0, 7:
		g.op(0xfc, 11, 0)
	case 1:
		g.op(0xfc, 10, 0, 0)
	case 2:
		g.op(0xfc, 8, 0, 0)
	case 3:
		g.op(0xfc, 17, 0)
	case 4:
		g.op(0xfc, 12, 1, 0)
	default:
		g.op(0xfc, 14, 0, 0)
	}
}
