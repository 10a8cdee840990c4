package signatures

import (
	"math/bits"
	"slices"
)

// automaton finds all literals in one pass. It is Aho and Corasick's machine over bytes, built by subset construction, since a literal is
// more than a string here: its runes have several encodings, and its gaps are loops.
//
// A state stands for the set of places in literals that the text before may have reached. The first states, where ordinary text spends its
// time, have a row with an entry for each class of bytes; the others have a row of the state that they fall back to, and what differs.
type automaton struct {
	classes [256]uint8 // from 1 on
	width   uint32     // length of a row: the index into ends, the classes, and room up to a line of the cache
	full    uint32     // states with a row of their own
	rows    []ref
	sparse  []sparseState
	arcs    []ref
	ends    [][]int32 // the literals that may end in a state
}

// ref is a state: the offset of its row, or its place among the sparse ones. The start has ref 0.
type ref uint32

const (
	refEnds   ref = 1 << 31 // a literal may end here
	refSparse ref = 1 << 30 // it has no row of its own
	refIndex      = refSparse - 1
)

// sparseState differs from a full one in some classes.
type sparseState struct {
	differ [4]uint64 // by class
	base   uint32    // offset of the row for all others
	arcs   uint32    // the arcs for those that differ, in the order of the classes
	ends   uint32    // index into ends
}

// cacheLine is how many refs are fetched together. Rows begin with one, and hold the usual classes in the first two.
const cacheLine = 16

// maxRowBytes bounds the rows.
const maxRowBytes = 8 << 20

// step follows one byte. r has no refEnds.
func (a *automaton) step(r ref, b byte) ref {
	class := uint32(a.classes[b])
	if r&refSparse == 0 {
		return a.rows[uint32(r)+class]
	}
	s := &a.sparse[r&refIndex]
	word, bit := class>>6, uint64(1)<<(class&63)
	if s.differ[word]&bit == 0 {
		return a.rows[s.base+class]
	}
	at := bits.OnesCount64(s.differ[word] & (bit - 1))
	for _, w := range s.differ[:word] {
		at += bits.OnesCount64(w)
	}
	return a.arcs[int(s.arcs)+at]
}

// endings returns the index into ends for r.
func (a *automaton) endings(r ref) uint32 {
	if r&refSparse != 0 {
		return a.sparse[r&refIndex].ends
	}
	return uint32(a.rows[r])
}

// builder makes an automaton.
type builder struct {
	a      *automaton
	places []place
	states []builderState
	arcs   []builderArc
	byPair map[uint64]uint32
	number []uint32 // of a state in the automaton: what ordinary text visits comes first
	order  []uint32 // the state that has a number
	ends   []uint32 // of a state: index into the automaton's ends
}

// builderState is the set of head and the places of rest. Heads are deeper than what rest has, so a set has one form. Only what differs from
// rest is kept, which is little: rest is where the machine's fail link would lead.
type builderState struct {
	head     int32
	rest     uint32
	from, to uint32 // arcs
}

type builderArc struct {
	class uint8
	to    uint32
}

// newAutomaton builds the machine for the literals of t. Texts like those in examples are expected, besides ordinary ones.
func newAutomaton(t *trie, examples []string) *automaton {
	b := &builder{a: &automaton{}, places: t.sorted(), byPair: map[uint64]uint32{}}
	b.a.classes, b.a.width = classify(b.places)
	b.a.width = (b.a.width + cacheLine - 1) &^ (cacheLine - 1)
	b.states = append(b.states, builderState{})
	for s := 0; s < len(b.states); s++ {
		b.expand(uint32(s))
	}
	b.rank(examples)
	b.finishEnds()
	b.finishRows()
	b.finishSparse()
	return b.a
}

// cons returns the state of the set {head} + rest.
func (b *builder) cons(head int32, rest uint32) uint32 {
	pair := uint64(head)<<32 | uint64(rest)
	if s, ok := b.byPair[pair]; ok {
		return s
	}
	s := uint32(len(b.states))
	b.byPair[pair] = s
	b.states = append(b.states, builderState{head: head, rest: rest})
	return s
}

// insert returns the state of the set s + {p}.
func (b *builder) insert(s uint32, p int32) uint32 {
	switch {
	case s == 0 || b.states[s].head < p:
		return b.cons(p, s)
	case b.states[s].head == p:
		return s
	}
	return b.cons(b.states[s].head, b.insert(b.states[s].rest, p))
}

// expand finds the arcs of a state. Its rest, which has a lower number, has been expanded before.
func (b *builder) expand(s uint32) {
	arcs := b.places[b.states[s].head].arcs
	b.states[s].from = uint32(len(b.arcs))
	for i := 0; i < len(arcs); {
		class := arcs[i].key
		to := uint32(0)
		if s != 0 {
			to = b.next(b.states[s].rest, class)
		}
		for ; i < len(arcs) && arcs[i].key == class; i++ {
			to = b.insert(to, arcs[i].to)
		}
		b.arcs = append(b.arcs, builderArc{class, to})
	}
	b.states[s].to = uint32(len(b.arcs))
}

// next follows a class from a state that has been expanded.
func (b *builder) next(s uint32, class uint8) uint32 {
	for {
		for _, arc := range b.own(s) {
			if arc.class == class {
				return arc.to
			}
		}
		if s == 0 {
			return 0
		}
		s = b.states[s].rest
	}
}

func (b *builder) own(s uint32) []builderArc {
	return b.arcs[b.states[s].from:b.states[s].to]
}

// rank numbers the states by how often the sample and the examples visit them, and the unvisited ones by how soon they can be reached.
func (b *builder) rank(examples []string) {
	visits := make([]int, len(b.states))
	visits[0] = len(sample) // the start keeps number 0
	state := uint32(0)
	read := func(text string) {
		for i := range len(text) {
			state = b.next(state, b.a.classes[text[i]])
			visits[state]++
		}
	}
	read(string(sample))
	for _, text := range examples {
		read(text)
	}
	b.order = make([]uint32, len(b.states))
	for i := range b.order {
		b.order[i] = uint32(i)
	}
	slices.SortStableFunc(b.order[1:], func(x, y uint32) int { return visits[y] - visits[x] })
	b.number = make([]uint32, len(b.states))
	for to, from := range b.order {
		b.number[from] = uint32(to)
	}
	b.a.full = min(uint32(len(b.states)), maxRowBytes/4/b.a.width)
}

// finishEnds lists the literals of each state, those of its rest included. Index 0 is no literal.
func (b *builder) finishEnds() {
	b.a.ends = append(b.a.ends, nil)
	b.ends = make([]uint32, len(b.states))
	for s := 1; s < len(b.states); s++ {
		st := b.states[s]
		own := b.places[st.head].literals
		b.ends[s] = b.ends[st.rest]
		if len(own) > 0 {
			b.ends[s] = uint32(len(b.a.ends))
			b.a.ends = append(b.a.ends, slices.Concat(own, b.a.ends[b.ends[st.rest]]))
		}
	}
}

// ref returns how state s is referred to.
func (b *builder) ref(s uint32) ref {
	n := b.number[s]
	r := ref(n * b.a.width)
	if n >= b.a.full {
		r = ref(n-b.a.full) | refSparse
	}
	if b.ends[s] != 0 {
		r |= refEnds
	}
	return r
}

// difference is in which classes a state differs from one further down by rest, and how.
type difference struct {
	classes [4]uint64
	to      [256]ref
}

// above gathers the arcs of s and of what it rests on, until stop says that the next one is known. It returns that one.
func (b *builder) above(d *difference, s uint32, stop func(number uint32) bool) uint32 {
	d.classes = [4]uint64{}
	for {
		for _, arc := range b.own(s) {
			if word, bit := arc.class>>6, uint64(1)<<(arc.class&63); d.classes[word]&bit == 0 {
				d.classes[word] |= bit
				d.to[arc.class] = b.ref(arc.to)
			}
		}
		if s == 0 {
			return 0
		}
		if s = b.states[s].rest; stop(b.number[s]) {
			return s
		}
	}
}

// each calls f for the classes in ascending order.
func (d *difference) each(f func(class uint32, to ref)) {
	for word, w := range d.classes {
		for ; w != 0; w &= w - 1 {
			class := uint32(word*64 + bits.TrailingZeros64(w))
			f(class, d.to[class])
		}
	}
}

// finishRows writes the full rows. States are taken in the order of their making, in which what they rest on comes first.
func (b *builder) finishRows() {
	a := b.a
	a.rows = make([]ref, a.full*a.width)
	var d difference
	for s := range uint32(len(b.states)) {
		n := b.number[s]
		if n >= a.full {
			continue
		}
		row := a.rows[n*a.width : (n+1)*a.width]
		base := b.above(&d, s, func(number uint32) bool { return number < a.full })
		if s != 0 {
			from := b.number[base] * a.width
			copy(row, a.rows[from:from+a.width])
		}
		d.each(func(class uint32, to ref) { row[class] = to })
		row[0] = ref(b.ends[s])
	}
}

// finishSparse writes the other states.
func (b *builder) finishSparse() {
	a := b.a
	var d difference
	for _, s := range b.order[a.full:] {
		base := b.above(&d, s, func(number uint32) bool { return number < a.full })
		a.sparse = append(a.sparse, sparseState{differ: d.classes, base: b.number[base] * a.width, arcs: uint32(len(a.arcs)), ends: b.ends[s]})
		d.each(func(_ uint32, to ref) { a.arcs = append(a.arcs, to) })
	}
}
