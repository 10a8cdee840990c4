package signatures

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// automaton finds all literals in one pass. It is Aho and Corasick's machine over bytes, built by subset construction, since a literal is
// more than a string here: its runes have several encodings, and its gaps are loops.
//
// A state stands for the set of places in literals that the text before may have reached. The states where ordinary text spends its time
// have a row with an entry for each class of bytes; the others have the row of a state that they fall back to, and what differs.
type automaton struct {
	classes [256]uint8
	// rows has rowSize entries for each full state. An entry is the number of a full state, with rowEnds if literals may end there, or
	// rowSparse and an index into specials.
	rows     []uint16
	rowEnds  []uint32 // of each full state: index into ends
	specials []target
	sparse   []sparseState
	arcs     []target
	// ends lists the literals that may end somewhere; it is only kept until the matcher has made its own of it.
	ends [][]int32
}

// ref is a state: the number of a full one, or the index of a sparse one. The start is 0.
type ref uint32

const refSparse ref = 1 << 31

// target is where a byte leads: a state, and the index into ends if a literal may end there, else 0.
type target struct {
	to   ref
	ends uint32
}

const (
	rowSize   = 256
	rowSparse = 1 << 15
	rowEnds   = 1 << 14
	rowNumber = rowEnds - 1
	maxRows   = rowNumber + 1 // 8 MiB
)

// sparseState differs from a full one in some classes.
type sparseState struct {
	differ [4]uint64 // by class
	base   uint32    // number of the full state for all others
	arcs   uint32    // the arcs for those that differ, in the order of the classes
}

// step follows one byte.
func (a *automaton) step(r ref, b byte) target {
	class := uint32(a.classes[b])
	if r&refSparse == 0 {
		return a.full(uint32(r), class)
	}
	s := &a.sparse[r&^refSparse]
	word, bit := class>>6, uint64(1)<<(class&63)
	if s.differ[word]&bit == 0 {
		return a.full(s.base, class)
	}
	at := bits.OnesCount64(s.differ[word] & (bit - 1))
	for _, w := range s.differ[:word] {
		at += bits.OnesCount64(w)
	}
	return a.arcs[int(s.arcs)+at]
}

// full looks into a row.
func (a *automaton) full(row, class uint32) target {
	return a.resolve(a.rows[row*rowSize+class])
}

// resolve returns what an entry of a row means.
func (a *automaton) resolve(entry uint16) target {
	if entry >= rowSparse {
		return a.specials[entry&^rowSparse]
	}
	n := ref(entry & rowNumber)
	if entry < rowEnds {
		return target{to: n}
	}
	return target{n, a.rowEnds[n]}
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
	full   uint32   // states with lower numbers have rows
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
	b.a.classes = classify(b.places)
	b.states = append(b.states, builderState{})
	for s := 0; s < len(b.states); s++ {
		b.expand(uint32(s))
	}
	b.rank(examples)
	b.finishEnds()
	for b.full = min(uint32(len(b.states)), maxRows); !b.finishRows(); {
		b.full /= 2
	}
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
	state := uint32(0)
	for _, text := range append([]string{string(sample)}, examples...) {
		for i := range len(text) {
			state = b.next(state, b.a.classes[text[i]])
			visits[state]++
		}
	}
	visits[0] = math.MaxInt // the start keeps number 0
	b.order = make([]uint32, len(b.states))
	for i := range b.order {
		b.order[i] = uint32(i)
	}
	slices.SortStableFunc(b.order, func(x, y uint32) int { return cmp.Compare(visits[y], visits[x]) })
	b.number = make([]uint32, len(b.states))
	for to, from := range b.order {
		b.number[from] = uint32(to)
	}
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

// target returns how to get to state s.
func (b *builder) target(s uint32) target {
	n := b.number[s]
	if n >= b.full {
		return target{ref(n-b.full) | refSparse, b.ends[s]}
	}
	return target{ref(n), b.ends[s]}
}

// difference is in which classes a state differs from one further down by rest, and how.
type difference struct {
	classes [4]uint64
	to      [256]uint32
}

// above gathers the arcs of s and of what it rests on, until that has a row. It returns the one with the row.
func (b *builder) above(d *difference, s uint32) uint32 {
	d.classes = [4]uint64{}
	for {
		for _, arc := range b.own(s) {
			if word, bit := arc.class>>6, uint64(1)<<(arc.class&63); d.classes[word]&bit == 0 {
				d.classes[word] |= bit
				d.to[arc.class] = arc.to
			}
		}
		if s == 0 {
			return 0
		}
		if s = b.states[s].rest; b.number[s] < b.full {
			return s
		}
	}
}

// each calls f for the classes in ascending order.
func (d *difference) each(f func(class, to uint32)) {
	for word, w := range d.classes {
		for ; w != 0; w &= w - 1 {
			class := uint32(word*64 + bits.TrailingZeros64(w))
			f(class, d.to[class])
		}
	}
}

// finishRows writes the full rows. States are taken in the order of their making, in which what they rest on comes first. It reports whether
// the special entries have room.
func (b *builder) finishRows() bool {
	a := b.a
	a.rows, a.rowEnds, a.specials = make([]uint16, b.full*rowSize), make([]uint32, b.full), nil
	known := map[uint32]uint16{}
	var d difference
	for s := range uint32(len(b.states)) {
		n := b.number[s]
		if n >= b.full {
			continue
		}
		row := a.rows[n*rowSize : (n+1)*rowSize]
		base := b.above(&d, s)
		if s != 0 {
			from := b.number[base] * rowSize
			copy(row, a.rows[from:from+rowSize])
		}
		d.each(func(class, to uint32) { row[class] = b.entry(to, known) })
		a.rowEnds[n] = b.ends[s]
	}
	return len(a.specials) <= rowSparse
}

// entry returns the entry of a row that leads to state s.
func (b *builder) entry(s uint32, known map[uint32]uint16) uint16 {
	t := b.target(s)
	switch {
	case t.to&refSparse == 0 && t.ends == 0:
		return uint16(t.to)
	case t.to&refSparse == 0:
		return uint16(t.to) | rowEnds
	}
	v, ok := known[s]
	if !ok {
		v = uint16(len(b.a.specials)) | rowSparse
		known[s] = v
		b.a.specials = append(b.a.specials, t)
	}
	return v
}

// finishSparse writes the other states.
func (b *builder) finishSparse() {
	a := b.a
	var d difference
	for _, s := range b.order[b.full:] {
		base := b.above(&d, s)
		a.sparse = append(a.sparse, sparseState{differ: d.classes, base: b.number[base], arcs: uint32(len(a.arcs))})
		d.each(func(_, to uint32) { a.arcs = append(a.arcs, b.target(to)) })
	}
}
