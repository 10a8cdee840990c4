package signatures

import (
	"cmp"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// trie gathers the literals that the automaton is made of. It accepts more than they do: every ASCII letter in both cases, gaps without white
// space or of any length, and no marks that a literal begins with, since each of these would multiply the states. What it finds too much,
// literal.startAt sorts out.
type trie struct {
	places []place
	named  map[placeName]int32
}

// place is a position in literals, reached by what stands before it. Place 0 is the start.
type place struct {
	arcs     []placeArc
	depth    int
	literals []int32 // the literals that end here
}

type placeArc struct {
	key uint8 // a byte, and later its class
	to  int32
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

// add puts a literal into the trie, from its first rune that no gap could swallow.
func (t *trie) add(l *literal, id int32) {
	at := int32(0)
	for _, e := range l.core() {
		if e.gap != noGap {
			at = t.addGap(at)
			continue
		}
		next := t.at(at, e.name)
		for _, r := range e.both {
			t.addRune(at, r, next)
		}
		at = next
	}
	t.places[at].literals = append(t.places[at].literals, id)
}

// addRune leads from one place to another over the encoding of r.
func (t *trie) addRune(from int32, r rune, to int32) {
	var buf [utf8.UTFMax]byte
	enc := buf[:utf8.EncodeRune(buf[:], r)]
	for i := range len(enc) - 1 {
		via := t.at(from, "byte "+string(enc[i:i+1]))
		t.link(from, enc[i], via)
		from = via
	}
	t.link(from, enc[len(enc)-1], to)
}

// gapBytes are the bytes that gaps consist of: white space, marks, and the two bytes of the no-break space.
const gapBytes = "\t\n\v\f\r " + gapMarks + "\xc2\xa0"

// addGap adds a loop over the bytes of gaps.
func (t *trie) addGap(from int32) int32 {
	gap := t.at(from, "gap")
	for _, b := range []byte(gapBytes) {
		t.link(from, b, gap)
		t.link(gap, b, gap)
	}
	return gap
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
	}
	return out
}

// classify puts bytes that no place tells apart into the same class, replaces the bytes of the arcs by classes, and returns the class of
// each byte. Classes that ordinary text is full of come first, so that they share a line of the cache.
func classify(places []place) (classes [256]uint8) {
	var sight [256][]byte // what the places see in a byte
	for p := range places {
		for _, arc := range places[p].arcs {
			sight[arc.key] = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(sight[arc.key], uint32(p)), uint32(arc.to))
		}
	}
	numbers := map[string]uint8{}
	for _, b := range byFrequency() {
		class, ok := numbers[string(sight[b])]
		if !ok {
			class = uint8(len(numbers))
			numbers[string(sight[b])] = class
		}
		classes[b] = class
	}
	for p := range places {
		places[p].arcs = byClass(places[p].arcs, &classes)
	}
	return classes
}

// byFrequency returns all bytes, the most frequent first.
func byFrequency() []byte {
	var counts [256]int
	for _, b := range sample {
		counts[b]++
	}
	out := make([]byte, 256)
	for i := range out {
		out[i] = byte(i)
	}
	slices.SortStableFunc(out, func(a, b byte) int { return counts[b] - counts[a] })
	return out
}

// byClass replaces bytes by classes and drops what is then twice there.
func byClass(arcs []placeArc, classes *[256]uint8) []placeArc {
	for i := range arcs {
		arcs[i].key = classes[arcs[i].key]
	}
	slices.SortFunc(arcs, func(a, b placeArc) int { return cmp.Or(int(a.key)-int(b.key), int(a.to-b.to)) })
	return slices.Compact(arcs)
}
