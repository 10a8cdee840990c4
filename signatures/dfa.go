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
// made when a text first needs them, and shared by all goroutines: a transition is an atomic pointer that is set once.
type dfa struct {
	prog   *program
	ascii  [utf8.RuneSelf]uint16
	wide   []rune   // first rune of each range from U+0080 on
	ids    []uint16 // class of each range, for runes that are no letters; letters have the next class if letters matters
	count  int      // number of classes, the end of the text not counted
	begins [4]atomic.Pointer[dstate]
	// context tells whether the program looks at what stands before and after it.
	context bool
	memory  *memory
	mu      sync.Mutex
	byKey   map[string]*dstate
	sets    pike // to compute states; guarded by mu
}

// dstate is a set of instructions that the runes before may have reached. What they lead to without reading is worked out when the next
// rune is known, since \b and $ depend on it.
type dstate struct {
	next   []atomic.Pointer[dstate] // by class; the last is the end of the text
	pcs    []int32
	before side
	idle   bool // no match has begun
}

// side is what a rune means for an empty-width condition to its right.
type side uint8

const (
	atOther side = iota
	atBegin
	atLine
	atWord
)

// matched is the state after a match: it ended before the rune just read.
var matched = &dstate{}

// memory bounds what all automata of a matcher may hold.
type memory struct{ used atomic.Int64 }

const (
	maxStates      = 2000     // of one program
	maxStateMemory = 64 << 20 // bytes, of all programs of a matcher
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
	d := &dfa{prog: p, memory: m, byKey: map[string]*dstate{}, context: p.word}
	for i := range p.insts {
		d.context = d.context || p.insts[i].op == syntax.InstEmptyWidth
	}
	d.classify()
	return d
}

// classify numbers the sets of runes that the program cannot tell apart.
func (d *dfa) classify() {
	classes := map[string]uint16{}
	distinct := d.distinct()
	number := func(r rune, word bool) uint16 {
		key := d.signature(distinct, r, word)
		id, ok := classes[key]
		if !ok {
			id = uint16(len(classes))
			classes[key] = id
		}
		return id
	}
	for r := range rune(utf8.RuneSelf) {
		d.ascii[r] = number(r, isWord(r))
	}
	for _, r := range d.bounds() {
		d.wide = append(d.wide, r)
		d.ids = append(d.ids, number(r, false), number(r, true))
	}
	d.count = len(classes)
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

// signature says what the program sees in a rune.
func (d *dfa) signature(distinct []*inst, r rune, word bool) string {
	var key []byte
	if d.context {
		key = append(key, byte(sideOf(r)))
		if r >= utf8.RuneSelf {
			key[0] = byte(atOther)
			if word {
				key[0] = byte(atWord)
			}
		}
	}
	for _, in := range distinct {
		key = append(key, byte(btoi(in.has(r))))
	}
	return string(key)
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

// class returns the class of a rune that is not ASCII.
func (d *dfa) class(r rune) int {
	lo, hi := 0, len(d.wide)
	for hi-lo > 1 {
		mid := int(uint(lo+hi) >> 1)
		if d.wide[mid] <= r {
			lo = mid
		} else {
			hi = mid
		}
	}
	if d.context && isWord(r) {
		return int(d.ids[2*lo+1])
	}
	return int(d.ids[2*lo])
}

// find looks for a match within text[from:to]. It returns an offset from which no match that is under way began earlier, and where the
// first match ends; ok is false if there is none. full is true if the automaton could not be continued: the caller must use another way
// from begin on.
func (d *dfa) find(text []byte, from, to int) (begin, end int, ok, full bool) {
	s := d.begin(text, from)
	if s == nil {
		return from, from, false, true
	}
	begin = from
	for i := from; ; {
		if s.idle {
			begin = i
		}
		class, size := d.count, 1
		if i < len(text) {
			if c := text[i]; c < utf8.RuneSelf {
				class = int(d.ascii[c])
			} else {
				var r rune
				r, size = utf8.DecodeRune(text[i:])
				class = d.class(r)
			}
		}
		n := s.next[class].Load()
		if n == nil {
			if n = d.extend(s, class, text, i); n == nil {
				return begin, i, false, true
			}
		}
		if n == matched {
			return begin, i, true, false
		}
		if i += size; i > to {
			return begin, to, false, false
		}
		s = n
	}
}

// begin returns the state in which a search at text[from] starts.
func (d *dfa) begin(text []byte, from int) *dstate {
	c := atOther
	if d.context {
		c = sideOf(runeBefore(text, from))
	}
	if s := d.begins[c].Load(); s != nil {
		return s
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.state(nil, c)
	if s != nil {
		d.begins[c].Store(s)
	}
	return s
}

// extend computes the state that s leads to over the rune at text[i], which is of the given class. nil means that there is no room.
func (d *dfa) extend(s *dstate, class int, text []byte, i int) *dstate {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := s.next[class].Load(); n != nil {
		return n
	}
	after, _ := runeAt(text, i)
	n := d.follow(s, after)
	if n != nil {
		s.next[class].Store(n)
	}
	return n
}

// follow does what class and find stand for, by the instructions.
func (d *dfa) follow(s *dstate, after rune) *dstate {
	k := &d.sets
	k.reset(len(d.prog.insts))
	before := s.before.sample()
	flags := emptyOps(before, after)
	for _, pc := range s.pcs {
		k.add(d.prog, thread{pc: pc}, flags)
	}
	if !d.prog.word || !isWord(before) {
		k.add(d.prog, thread{pc: d.prog.start}, flags)
	}
	if k.step(d.prog, after, after >= 0) >= 0 {
		return matched
	}
	pcs := make([]int32, 0, len(k.pending))
	for _, t := range k.pending {
		pcs = append(pcs, t.pc)
	}
	slices.Sort(pcs)
	c := atOther
	if d.context {
		c = sideOf(after)
	}
	return d.state(slices.Compact(pcs), c)
}

// state returns the state of a set, or nil if there is no room for a new one.
func (d *dfa) state(pcs []int32, before side) *dstate {
	key := []byte{byte(before)}
	for _, pc := range pcs {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	if s, ok := d.byKey[string(key)]; ok {
		return s
	}
	size := int64(8*(d.count+1) + 4*len(pcs) + 2*len(key) + 120)
	if len(d.byKey) >= maxStates || d.memory.used.Load() > maxStateMemory {
		return nil
	}
	d.memory.used.Add(size)
	s := &dstate{next: make([]atomic.Pointer[dstate], d.count+1), pcs: pcs, before: before, idle: len(pcs) == 0}
	d.byKey[string(key)] = s
	return s
}
