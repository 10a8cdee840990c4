package signatures

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// dfa answers whether a program matches somewhere, and where the first match ends at the latest, reading every rune once. Its states are
// made when a text first needs them, and are shared by all goroutines.
//
// A transition is a number that is written once and read without a lock. The table grows by being copied; whoever still reads the old one
// finds a gap where the new one has an entry, and looks again under the lock.
type dfa struct {
	prog   *program
	ascii  [utf8.RuneSelf]uint16
	wide   []rune   // first rune of each range from U+0080 on
	ids    []uint16 // two classes of each range: for signs, and for letters if the program can tell
	count  uint32   // number of classes; the end of the text is one more
	sides  bool     // the program looks at what stands before and after
	memory *memory

	// pairs has a bit for each two ASCII bytes that a match can begin with; others are skipped while no match has begun.
	pairs [256]uint64

	table  atomic.Pointer[[]atomic.Uint32]
	begins [4]atomic.Uint32 // by side

	loops []loop

	mu     sync.Mutex
	states []dstate
	byKey  map[string]uint32
	sets   pike
}

// A transition is the number of a row, with flags. Zero is not known yet; row 0 is not used.
const (
	dfaMatched = 1 << 31 // a match ended before the rune just read
	dfaIdle    = 1 << 30 // no match has begun
	dfaRow     = dfaIdle - 1
)

// dstate is a set of instructions that the runes before may have reached. What they lead to without reading is worked out when the next
// rune is known, since \b and $ depend on it.
type dstate struct {
	pcs    []int32
	before side
	closed bool // no match begins here: what did begin matches whenever a later one would
}

// side is what a rune means for an empty-width condition to its right.
type side uint8

const (
	atOther side = iota
	atBegin
	atLine
	atWord
)

// memory bounds what all automata of a matcher may hold.
type memory struct{ used atomic.Int64 }

const (
	maxStates      = 4000      // of one program; lint refuses patterns that could need more
	maxStateMemory = 256 << 20 // bytes, of all programs of a matcher
)

func sideOf(before rune) side {
	switch {
	case before < 0:
		return atBegin
	case before == '\n':
		return atLine
	case isWord(before):
		return atWord
	}
	return atOther
}

// sample returns a rune that means the same.
func (c side) sample() rune {
	return [...]rune{atOther: ' ', atBegin: -1, atLine: '\n', atWord: 'a'}[c]
}

func newDFA(p *program, m *memory) *dfa {
	d := &dfa{prog: p, memory: m, byKey: map[string]uint32{}, sides: p.word || p.sides}
	d.classify()
	d.loops = anyLoops(p)
	d.setPairs()
	table := make([]atomic.Uint32, 16*(d.count+1))
	d.table.Store(&table)
	d.states = make([]dstate, 1)
	return d
}

// classify numbers the sets of runes that the program cannot tell apart.
func (d *dfa) classify() {
	classes := map[string]uint16{}
	distinct := d.distinct()
	number := func(r rune, s side) uint16 {
		key := append(make([]byte, 0, 64), byte(s))
		for _, in := range distinct {
			key = append(key, byte(btoi(in.has(r))))
		}
		id, ok := classes[string(key)]
		if !ok {
			id = uint16(len(classes))
			classes[string(key)] = id
		}
		return id
	}
	for r := range rune(utf8.RuneSelf) {
		s := atOther
		if d.sides {
			s = sideOf(r)
		}
		d.ascii[r] = number(r, s)
	}
	for _, r := range d.bounds() {
		d.wide = append(d.wide, r)
		letter := atOther
		if d.sides {
			letter = atWord
		}
		d.ids = append(d.ids, number(r, atOther), number(r, letter))
	}
	d.count = uint32(len(classes))
}

// distinct returns one instruction for each different set of runes.
func (d *dfa) distinct() []*inst {
	seen := map[string]bool{}
	var out []*inst
	for i := range d.prog.insts {
		in := &d.prog.insts[i]
		if in.op != syntax.InstRune {
			continue
		}
		key := binary.LittleEndian.AppendUint64(nil, in.ascii[0])
		key = append(binary.LittleEndian.AppendUint64(key, in.ascii[1]), string(in.wide)...)
		if !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, in)
		}
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// bounds returns where ranges begin or have ended, from U+0080 on.
func (d *dfa) bounds() []rune {
	out := []rune{utf8.RuneSelf}
	for i := range d.prog.insts {
		wide := d.prog.insts[i].wide
		for k := 0; k < len(wide); k += 2 {
			out = append(out, wide[k], wide[k+1]+1)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// class returns the class and the length of the rune at text[i], which is not ASCII, or the end of the text.
func (d *dfa) class(text []byte, i int) (uint32, int) {
	if i >= len(text) {
		return d.count, 1
	}
	r, size := utf8.DecodeRune(text[i:])
	lo, hi := 0, len(d.wide)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if d.wide[mid] <= r {
			lo = mid
		} else {
			hi = mid
		}
	}
	if d.sides && isWord(r) {
		return uint32(d.ids[2*lo+1]), size
	}
	return uint32(d.ids[2*lo]), size
}

// find looks for a match within text[from:to]. It returns an offset from which no match that is under way began earlier, and where the
// first match ends; ok is false if there is none. full is true if the automaton could not be continued: the caller must use another way
// from begin on.
func (d *dfa) find(text []byte, from, to int) (begin, end int, ok, full bool) {
	row := d.begin(text, from)
	if row == 0 {
		return from, from, false, true
	}
	table := *d.table.Load()
	begin = from
	idle := true
	for i := from; i <= to; {
		if idle {
			if n := d.skip(text, i, to); n > i {
				begin, i = n, n
				if row = d.begin(text, i); row == 0 {
					return begin, i, false, true
				}
				table = *d.table.Load()
			}
		}
		var class uint32
		size := 1
		if i < len(text) && text[i] < utf8.RuneSelf {
			class = uint32(d.ascii[text[i]])
		} else {
			class, size = d.class(text, i)
		}
		v := uint32(0)
		if at := row + class; at < uint32(len(table)) {
			v = table[at].Load()
		}
		if v == 0 {
			if v = d.extend(row, class, text, i); v == 0 {
				return begin, i, false, true
			}
			table = *d.table.Load()
		}
		if idle = v >= dfaIdle; idle {
			if v&dfaMatched != 0 {
				return begin, i, true, false
			}
			begin = i + size
		}
		row = v & dfaRow
		i += size
	}
	return begin, to, false, false
}

// skip returns the first offset from i on where a match may begin, and at most the last byte before to.
func (d *dfa) skip(text []byte, i, to int) int {
	text = text[:to]
	for ; i+1 < len(text); i++ {
		a, b := text[i], text[i+1]
		if (a|b)&utf8.RuneSelf != 0 || d.pairs[a<<1|b>>6]>>(b&63)&1 != 0 {
			break
		}
	}
	return i
}

// setPairs finds what two ASCII bytes a match can begin with. Conditions such as \b are taken to hold.
func (d *dfa) setPairs() {
	p := d.prog
	first := make([]bool, len(p.insts))
	p.reach(first, p.start)
	short := p.hasMatch(first)
	seconds := map[uint16][2]uint64{}
	for a := range byte(utf8.RuneSelf) {
		class := d.ascii[a]
		set, ok := seconds[class]
		if !ok {
			set = p.afterRune(first, rune(a), short)
			seconds[class] = set
		}
		d.pairs[a<<1], d.pairs[a<<1|1] = set[0], set[1]
	}
}

// afterRune returns which ASCII bytes may follow r, which is read in the set, in a match. If a match is over by then, all may.
func (p *program) afterRune(set []bool, r rune, over bool) [2]uint64 {
	next := make([]bool, len(p.insts))
	for pc := range p.insts {
		if in := &p.insts[pc]; set[pc] && in.op == syntax.InstRune && in.has(r) {
			p.reach(next, in.out)
		}
	}
	if over || p.hasMatch(next) {
		return [2]uint64{^uint64(0), ^uint64(0)}
	}
	var out [2]uint64
	for pc := range p.insts {
		if in := &p.insts[pc]; next[pc] && in.op == syntax.InstRune {
			out[0] |= in.ascii[0]
			out[1] |= in.ascii[1]
		}
	}
	return out
}

// begin returns the row in which a search at text[from] starts, or 0 if there is no room for it.
func (d *dfa) begin(text []byte, from int) uint32 {
	s := atOther
	if d.sides {
		s = sideOf(runeBefore(text, from))
	}
	if row := d.begins[s].Load(); row != 0 {
		return row
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.row(dstate{before: s})
	d.begins[s].Store(v & dfaRow)
	return v & dfaRow
}

// extend works out the transition of a row over the rune at text[i], which is of the given class. Zero means that there is no room.
func (d *dfa) extend(row, class uint32, text []byte, i int) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v := (*d.table.Load())[row+class].Load(); v != 0 {
		return v
	}
	after, _ := runeAt(text, i)
	v := d.follow(&d.states[row/(d.count+1)], after)
	(*d.table.Load())[row+class].Store(v)
	return v
}

// follow does what the transition stands for, by the instructions.
func (d *dfa) follow(s *dstate, after rune) uint32 {
	k := &d.sets
	k.reset(len(d.prog.insts))
	before := s.before.sample()
	flags := emptyOps(before, after)
	k.begin()
	for _, pc := range s.pcs {
		k.add(d.prog, thread{pc: pc}, flags)
	}
	if !s.closed && !(d.prog.word && isWord(before)) {
		k.add(d.prog, thread{pc: d.prog.start}, flags)
	}
	if k.step(d.prog, after, after >= 0) >= 0 {
		return dfaMatched
	}
	next := dstate{closed: s.closed}
	if d.sides {
		next.before = sideOf(after)
	}
	for _, t := range k.pending {
		next.pcs = append(next.pcs, t.pc)
	}
	slices.Sort(next.pcs)
	next.pcs = slices.Compact(next.pcs)
	d.prune(&next)
	return d.row(next)
}

// row returns the transition to a state, or 0 if there is no room for a new one.
func (d *dfa) row(s dstate) uint32 {
	key := []byte{byte(s.before) | byte(btoi(s.closed))<<7}
	for _, pc := range s.pcs {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	if v, ok := d.byKey[string(key)]; ok {
		return v
	}
	width := d.count + 1
	size := int64(8*width) + int64(4*len(s.pcs)+2*len(key)+100)
	if len(d.states) > maxStates || d.memory.used.Load() > maxStateMemory {
		return 0
	}
	d.memory.used.Add(size)
	v := uint32(len(d.states)) * width
	d.states = append(d.states, s)
	d.grow(len(d.states) * int(width))
	if len(s.pcs) == 0 {
		v |= dfaIdle
	}
	d.byKey[string(key)] = v
	return v
}

// grow makes room for n transitions.
func (d *dfa) grow(n int) {
	old := *d.table.Load()
	if n <= len(old) {
		return
	}
	table := make([]atomic.Uint32, max(n, 2*len(old)))
	for i := range old {
		table[i].Store(old[i].Load())
	}
	d.table.Store(&table)
}
