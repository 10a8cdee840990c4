package signatures

import (
	"slices"
	"unicode/utf8"
)

// automaton finds all literals in one pass. It is Aho and Corasick's machine over bytes, built by subset construction, because a literal
// is more than a string here: its runes have several encodings, and its gaps are loops.
//
// A state stands for the set of places in literals that the text before may have reached. The set is a list: its deepest place, and the
// state of the rest. A byte that does not continue the deepest place leads where it leads from the rest, which is the machine's fail link,
// so a state only stores the bytes that do. The first states, where ordinary text spends its time, have full rows instead.
type automaton struct {
	classes [256]uint8 // bytes that no full row tells apart share a class
	width   uint32     // classes in a row
	dense   []uint32   // rows of full; entry: state, or state|special
	full    uint32     // states below have a row
	states  []autoState
	arcs    []autoArc
}

// special marks a state in a row that has no row itself or ends a literal.
const special = 1 << 31

type autoState struct {
	rest     uint32 // state of the set without its deepest place
	arcs     uint32 // first of the arcs
	count    uint32
	literal  int32  // first literal that ends at the deepest place, or -1; see next
	endsHere uint32 // nearest state on the way down by rest, this one included, with a literal; 0 if there is none
}

type autoArc struct {
	to  uint32
	key byte
}

// place is a position in the trie of literals. Places 0 is the start.
type place struct {
	arcs     []placeArc
	depth    int
	literals []int32
}

type placeArc struct {
	key byte
	to  int32
}

// trie gathers literals before the machine is made.
type trie struct {
	places []place
	named  map[placeName]int32
}

// placeName identifies a place by how it is reached.
type placeName struct {
	from int32
	how  string
}

func newTrie() *trie {
	return &trie{places: make([]place, 1), named: map[placeName]int32{}}
}

func (t *trie) at(from int32, how string) int32 {
	name := placeName{from, how}
	if p, ok := t.named[name]; ok {
		return p
	}
	p := int32(len(t.places))
	t.places = append(t.places, place{depth: t.places[from].depth + 1})
	t.named[name] = p
	return p
}

func (t *trie) link(from int32, key byte, to int32) {
	arc := placeArc{key, to}
	if !slices.Contains(t.places[from].arcs, arc) {
		t.places[from].arcs = append(t.places[from].arcs, arc)
	}
}

// linkRune leads from one place to another over the encoding of r. Gaps have their own way, since many places lead to them alike.
func (t *trie) linkRune(from int32, r rune, to int32, gap bool) {
	var buf [utf8.UTFMax]byte
	enc := buf[:utf8.EncodeRune(buf[:], r)]
	for i := range len(enc) - 1 {
		owner := from
		if gap {
			owner = to
		}
		via := t.at(owner, "byte:"+string(enc[:i+1]))
		t.link(from, enc[i], via)
		from = via
	}
	t.link(from, enc[len(enc)-1], to)
}

// add puts a literal into the trie.
func (t *trie) add(l *literal, id int32) {
	at := int32(0)
	for _, e := range l.elems {
		switch e.gap {
		case noGap:
			next := t.at(at, "rune:"+string(e.runes))
			for _, r := range e.runes {
				t.linkRune(at, r, next, false)
			}
			at = next
		case gapOnly:
			at = t.addGap(at, "space", "")
		case gapAny:
			at = t.addGap(at, "gap", gapMarks)
		}
	}
	t.places[at].literals = append(t.places[at].literals, id)
}

// addGap adds a loop over white space, and over marks if there are any: marks may come first, but white space there must be.
func (t *trie) addGap(from int32, how, marks string) int32 {
	gap := t.at(from, how)
	t.linkSpaces(from, gap)
	t.linkSpaces(gap, gap)
	if marks == "" {
		return gap
	}
	first := t.at(from, "marks")
	t.linkSpaces(first, gap)
	for _, m := range []byte(marks) {
		t.link(from, m, first)
		t.link(first, m, first)
		t.link(gap, m, gap)
	}
	return gap
}

func (t *trie) linkSpaces(from, to int32) {
	for i := 0; i < len(spaceClass); i += 2 {
		for r := spaceClass[i]; r <= spaceClass[i+1]; r++ {
			t.linkRune(from, r, to, true)
		}
	}
}

// sorted renumbers the places so that deeper ones have higher numbers.
func (t *trie) sorted() []place {
	order := make([]int32, len(t.places))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return t.places[a].depth - t.places[b].depth })
	number := make([]int32, len(order))
	for to, from := range order {
		number[from] = int32(to)
	}
	out := make([]place, len(order))
	for to, from := range order {
		out[to] = t.places[from]
		for i := range out[to].arcs {
			out[to].arcs[i].to = number[out[to].arcs[i].to]
		}
		slices.SortFunc(out[to].arcs, func(a, b placeArc) int { return int(a.key) - int(b.key) })
	}
	return out
}

// builder makes the machine.
type builder struct {
	a      *automaton
	places []place
	heads  []int32 // deepest place of each state
	byPair map[uint64]uint32
}

// newAutomaton builds the machine; literalsAt tells which literals end where is kept in chain: chain[id] is the next literal that ends at
// the same place as id, or -1.
func newAutomaton(t *trie, chain []int32) *automaton {
	b := &builder{a: &automaton{}, places: t.sorted(), byPair: map[uint64]uint32{}}
	b.a.states = append(b.a.states, autoState{literal: -1})
	b.heads = append(b.heads, 0)
	for s := uint32(0); s < uint32(len(b.a.states)); s++ {
		b.expand(s, chain)
	}
	b.a.fillRows()
	return b.a
}

// cons returns the state of the set {head} + rest.
func (b *builder) cons(head int32, rest uint32) uint32 {
	pair := uint64(head)<<32 | uint64(rest)
	if s, ok := b.byPair[pair]; ok {
		return s
	}
	s := uint32(len(b.a.states))
	b.byPair[pair] = s
	b.a.states = append(b.a.states, autoState{rest: rest, literal: -1})
	b.heads = append(b.heads, head)
	return s
}

// insert returns the state of the set s + {p}.
func (b *builder) insert(s uint32, p int32) uint32 {
	switch {
	case s == 0 || b.heads[s] < p:
		return b.cons(p, s)
	case b.heads[s] == p:
		return s
	}
	return b.cons(b.heads[s], b.insert(b.a.states[s].rest, p))
}

// expand computes the arcs and the literals of a state. The states of smaller sets have been expanded before.
func (b *builder) expand(s uint32, chain []int32) {
	p := &b.places[b.heads[s]]
	first := uint32(len(b.a.arcs))
	for i := 0; i < len(p.arcs); {
		key := p.arcs[i].key
		to := uint32(0)
		if s != 0 {
			to = b.a.next(b.a.states[s].rest, key)
		}
		for ; i < len(p.arcs) && p.arcs[i].key == key; i++ {
			to = b.insert(to, p.arcs[i].to)
		}
		b.a.arcs = append(b.a.arcs, autoArc{to, key})
	}
	st := &b.a.states[s]
	st.arcs, st.count = first, uint32(len(b.a.arcs))-first
	if s != 0 {
		st.endsHere = b.a.states[st.rest].endsHere
	}
	if len(p.literals) > 0 {
		st.literal, st.endsHere = p.literals[0], s
		for i, id := range p.literals[1:] {
			chain[p.literals[i]] = id
		}
	}
}

// next follows one byte by the arcs alone.
func (a *automaton) next(s uint32, key byte) uint32 {
	for {
		st := &a.states[s]
		for _, arc := range a.arcs[st.arcs : st.arcs+st.count] {
			if arc.key == key {
				return arc.to
			}
		}
		if s == 0 {
			return 0
		}
		s = st.rest
	}
}

// maxRowBytes bounds the full rows, so that they stay in the processor's second-level cache.
const maxRowBytes = 1 << 23

// fillRows makes the full rows, and lets bytes share a class where no row tells them apart.
func (a *automaton) fillRows() {
	full := min(len(a.states), maxRowBytes/(4*150))
	rows := a.wideRows(full)
	columns := map[string]uint8{}
	var firsts []int
	for key := range 256 {
		column := make([]byte, 0, 4*full)
		for s := range full {
			v := rows[s*256+key]
			column = append(column, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
		class, ok := columns[string(column)]
		if !ok {
			class = uint8(len(firsts))
			columns[string(column)] = class
			firsts = append(firsts, key)
		}
		a.classes[key] = class
	}
	a.width = uint32(len(firsts))
	a.full = min(uint32(full), maxRowBytes/4/a.width)
	a.dense = make([]uint32, a.full*a.width)
	for s := range a.full {
		for class, key := range firsts {
			a.dense[s*a.width+uint32(class)] = a.entry(rows[int(s)*256+key])
		}
	}
}

// wideRows gives the first states a row of 256 states each.
func (a *automaton) wideRows(full int) []uint32 {
	rows := make([]uint32, full*256)
	for s := range full {
		row := rows[s*256 : (s+1)*256]
		if s > 0 {
			rest := int(a.states[s].rest)
			copy(row, rows[rest*256:(rest+1)*256])
		}
		for _, arc := range a.arcsOf(uint32(s)) {
			row[arc.key] = arc.to
		}
	}
	return rows
}

func (a *automaton) arcsOf(s uint32) []autoArc {
	st := &a.states[s]
	return a.arcs[st.arcs : st.arcs+st.count]
}

// entry is how a row refers to state s: the begin of its row, or the state's number marked as special.
func (a *automaton) entry(s uint32) uint32 {
	if s >= a.full || a.states[s].endsHere != 0 {
		return s | special
	}
	return s * a.width
}

// step follows one byte from any state.
func (a *automaton) step(s uint32, key byte) uint32 {
	for s >= a.full {
		for _, arc := range a.arcsOf(s) {
			if arc.key == key {
				return arc.to
			}
		}
		s = a.states[s].rest
	}
	if v := a.dense[s*a.width+uint32(a.classes[key])]; v < special {
		return v / a.width
	} else {
		return v &^ special
	}
}

// find runs over text[i:] from state s until a literal ends. It returns the offset after that literal and the state there, or the end of
// the text and the state there.
func (a *automaton) find(text []byte, i int, s uint32) (int, uint32, bool) {
	for i < len(text) {
		if s >= a.full {
			s = a.step(s, text[i])
			i++
			if a.states[s].endsHere != 0 {
				return i, s, true
			}
			continue
		}
		row := s * a.width
		for ; i < len(text); i++ {
			v := a.dense[row+uint32(a.classes[text[i]])]
			if v >= special {
				s, i = v&^special, i+1
				if a.states[s].endsHere != 0 {
					return i, s, true
				}
				row = special
				break
			}
			row = v
		}
		if row != special {
			s = row / a.width
		}
	}
	return i, s, false
}
