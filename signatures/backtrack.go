package signatures

import (
	"regexp/syntax"
	"unicode/utf8"
)

// backtrack finds what pike finds, by trying one alternative after the other. It remembers where it has been, so that no text makes it try
// the same twice; that memory limits it to short ranges. It is several times faster than pike on the ranges where the automaton says yes.
type backtrack struct {
	seen  []uint64 // zero between searches
	dirty []int32  // the words of seen that are not, during one
	jobs  []job
}

// job is an alternative not yet tried.
type job struct {
	pc  int32
	pos int
}

const (
	backtrackBits  = 1 << 21 // the memory
	backtrackReach = 1 << 12 // bytes of a range that are looked at in one go; the first half of them may be the begin of a match
)

// find is pike.find. ok is false if the memory is too small or a match could reach too far, and pike must find it, or if more than limit
// instructions were run. steps counts them in any case.
func (b *backtrack) find(p *program, text []byte, from, to, limit int) (begin, end, steps int, ok bool) {
	window := min(backtrackReach, backtrackBits/max(int(p.branches), 1)-1)
	for from <= to {
		reach := min(to, from+window)
		a := attempt{p: p, text: text, base: from, reach: reach, edge: reach < to, limit: limit - steps, backtrack: b}
		stop := to + 1
		if a.edge {
			stop = from + (window+1)/2
		}
		begin, end, from = a.first(stop)
		b.clear()
		steps += a.steps
		if a.lost {
			return -1, -1, steps, false
		}
		if begin >= 0 {
			return begin, end, steps, true
		}
	}
	return -1, -1, steps, true
}

// clear forgets what was tried.
func (b *backtrack) clear() {
	for _, word := range b.dirty {
		b.seen[word] = 0
	}
	b.dirty = b.dirty[:0]
}

// been reports whether the bit is set, and sets it.
func (b *backtrack) been(bit int) bool {
	word, mask := bit>>6, uint64(1)<<(uint(bit)&63)
	for word >= len(b.seen) {
		b.seen = append(b.seen, 0)
		b.seen = b.seen[:cap(b.seen)]
	}
	old := b.seen[word]
	if old&mask != 0 {
		return true
	}
	if old == 0 {
		b.dirty = append(b.dirty, int32(word))
	}
	b.seen[word] = old | mask
	return false
}

// attempt is one stretch of a search.
type attempt struct {
	*backtrack
	p           *program
	text        []byte
	base, reach int
	edge        bool // the range goes on behind reach
	lost        bool // and a match might have, or there were too many steps
	steps       int
	limit       int
}

// first returns the first match that begins before stop; if there is none, next is where to go on.
func (a *attempt) first(stop int) (begin, end, next int) {
	i := a.base
	for i < stop {
		a.steps++
		if a.p.mayBegin(a.text, i) {
			if end := a.at(i); end >= 0 || a.lost {
				return i, end, i
			}
		}
		i += runeSize(a.text, i)
	}
	return -1, -1, i
}

// at returns where the match ends that begins at text[i] and is preferred, or -1.
func (a *attempt) at(i int) int {
	a.jobs = append(a.jobs[:0], job{a.p.start, i})
	for len(a.jobs) > 0 && !a.lost {
		j := a.jobs[len(a.jobs)-1]
		a.jobs = a.jobs[:len(a.jobs)-1]
		if end := a.follow(j.pc, j.pos); end >= 0 {
			return end
		}
	}
	return -1
}

// follow runs instructions until the match is complete or the way ends; then it returns -1.
func (a *attempt) follow(pc int32, pos int) int {
	for {
		if a.steps++; a.steps > a.limit {
			a.lost = true
			return -1
		}
		in := &a.p.insts[pc]
		switch in.op {
		case syntax.InstAlt:
			if a.been((pos-a.base)*int(a.p.branches) + int(in.branch)) {
				return -1
			}
			a.jobs = append(a.jobs, job{in.arg, pos})
		case syntax.InstRune:
			n := a.read(in, pos)
			if n == 0 {
				return -1
			}
			pos += n
		case syntax.InstEmptyWidth:
			after, _ := runeAt(a.text, pos)
			if in.empty&^emptyOps(runeBefore(a.text, pos), after) != 0 {
				return -1
			}
		case syntax.InstMatch:
			if a.p.word && wordAfter(a.text, pos) {
				return -1
			}
			return pos
		case syntax.InstFail:
			return -1
		}
		pc = in.out
	}
}

// read returns the length of the rune at text[pos] if the instruction accepts it, else 0.
func (a *attempt) read(in *inst, pos int) int {
	if pos >= a.reach {
		a.lost = a.edge
		return 0
	}
	if c := a.text[pos]; c < utf8.RuneSelf {
		return int(in.ascii[c>>6] >> (c & 63) & 1)
	}
	r, n := utf8.DecodeRune(a.text[pos:])
	if pos+n > a.reach || !in.has(r) {
		a.lost = a.lost || a.edge && pos+n > a.reach
		return 0
	}
	return n
}

// openings is what a match can begin with.
type openings struct {
	ascii    [2]uint64
	wide     bool // a rune from U+0080 on
	anything bool // nothing is ruled out, not even the end of the text
}

// newOpenings follows the program to what it reads first.
func newOpenings(p *program) openings {
	var o openings
	set := make([]bool, len(p.insts))
	p.reach(set, p.start)
	for pc := range p.insts {
		in := &p.insts[pc]
		switch {
		case !set[pc]:
		case in.op == syntax.InstMatch:
			o.anything = true
		case in.op == syntax.InstRune:
			o.ascii[0] |= in.ascii[0]
			o.ascii[1] |= in.ascii[1]
			o.wide = o.wide || len(in.wide) > 0
		}
	}
	return o
}

// mayBegin rules out offsets where no match begins: before a rune that no match begins with, and after a letter if the word rule forbids it.
func (p *program) mayBegin(text []byte, i int) bool {
	switch {
	case i >= len(text):
		return p.opens.anything
	case text[i] < utf8.RuneSelf:
		if c := text[i]; p.opens.ascii[c>>6]>>(c&63)&1 == 0 && !p.opens.anything {
			return false
		}
	case !p.opens.wide && !p.opens.anything:
		return false
	}
	return !p.word || !wordBefore(text, i)
}
