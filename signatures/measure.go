package signatures

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// size bounds what a tree matches.
type size struct{ min, max int }

// unbounded is the size of what has no bound.
const unbounded = 1 << 30

// ruler says how long the parts of a pattern are.
type ruler struct {
	rune func(low, high rune) size // a rune between the two
	gap  int                       // the longest repeat of white space and marks
}

// inBytes takes the worst case, inRunes the usual one.
var (
	inBytes = ruler{gap: maxGapBytes, rune: func(low, high rune) size { return size{utf8Len(low), utf8Len(high)} }}
	inRunes = ruler{gap: 1, rune: func(low, high rune) size { return size{1, 1} }}
)

func utf8Len(r rune) int { return max(1, utf8.RuneLen(r)) }

// measure returns how many bytes re matches; a gap counts as at most maxGapBytes.
func measure(re *syntax.Regexp) size { return inBytes.measure(re) }

// usual returns how many characters re matches at most, a gap counted as a single one or two.
func usual(re *syntax.Regexp) int { return inRunes.measure(re).max }

func (m ruler) measure(re *syntax.Regexp) size {
	switch re.Op {
	case syntax.OpLiteral:
		var out size
		for _, r := range re.Rune {
			out = out.plus(m.rune(r, r))
		}
		return out
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return size{1, 1} // matches nothing
		}
		return m.rune(re.Rune[0], re.Rune[len(re.Rune)-1])
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return m.rune(0, utf8.MaxRune)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return m.repeat(re)
	case syntax.OpAlternate:
		return m.alternate(re.Sub)
	}
	var out size
	for _, sub := range re.Sub {
		out = out.plus(m.measure(sub))
	}
	return out
}

func (m ruler) alternate(subs []*syntax.Regexp) size {
	out := size{unbounded, 0}
	for _, sub := range subs {
		s := m.measure(sub)
		out = size{min(out.min, s.min), max(out.max, s.max)}
	}
	return out
}

func (m ruler) repeat(re *syntax.Regexp) size {
	low, high := counts(re)
	s := m.measure(re.Sub[0])
	out := size{min(low*s.min, unbounded), unbounded}
	switch {
	case high >= 0:
		out.max = min(high*s.max, unbounded)
	case isGap(re.Sub[0]):
		out.max = m.gap
	}
	return out
}

// counts returns how often a repeat repeats; high is -1 if there is no bound.
func counts(re *syntax.Regexp) (low, high int) {
	switch re.Op {
	case syntax.OpStar:
		return 0, -1
	case syntax.OpPlus:
		return 1, -1
	case syntax.OpQuest:
		return 0, 1
	}
	return re.Min, re.Max
}

// isGap reports a class of nothing but white space and marks; repeating it counts as bounded.
func isGap(re *syntax.Regexp) bool {
	if re.Op != syntax.OpCharClass || len(re.Rune) == 0 {
		return false
	}
	for i := 0; i < len(re.Rune); i += 2 {
		if !within(gapClass, re.Rune[i], re.Rune[i+1]) {
			return false
		}
	}
	return true
}

func within(ranges []rune, low, high rune) bool {
	for i := 0; i < len(ranges); i += 2 {
		if low >= ranges[i] && high <= ranges[i+1] {
			return true
		}
	}
	return false
}

func (s size) plus(t size) size {
	return size{min(s.min+t.min, unbounded), min(s.max+t.max, unbounded)}
}

// leastOverlap is how many characters of a literal a match must share for the two to belong together.
const leastOverlap = 3

// mayTouch reports whether an occurrence of l may lie in a match of p, or share at least leastOverlap characters with its begin or end.
// Conditions such as \b are taken to hold.
func (p *program) mayTouch(l *literal) bool {
	at := make([]bool, len(p.insts))
	for pc := range at {
		at[pc] = true
	}
	for k, e := range l.elems {
		next := make([]bool, len(p.insts))
		for pc, in := range p.insts {
			if at[pc] && in.op == syntax.InstRune && e.fits(&in) {
				p.reach(next, in.out)
			}
		}
		if k+1 >= leastOverlap && p.hasMatch(next) {
			return true
		}
		if len(l.elems)-k-1 >= leastOverlap {
			p.reach(next, p.start)
		}
		at = next
	}
	return slices.Contains(at, true)
}

// hasMatch reports whether the set holds the end of the program.
func (p *program) hasMatch(set []bool) bool {
	for pc, in := range p.insts {
		if set[pc] && in.op == syntax.InstMatch {
			return true
		}
	}
	return false
}

// fits reports whether the instruction reads what the element is.
func (e element) fits(in *inst) bool {
	if e.gap != noGap {
		return in.has(' ')
	}
	return slices.ContainsFunc(e.runes, in.has)
}

// reach adds pc and what follows from it without reading.
func (p *program) reach(set []bool, pc int32) {
	if set[pc] {
		return
	}
	set[pc] = true
	switch in := &p.insts[pc]; in.op {
	case syntax.InstAlt:
		p.reach(set, in.out)
		p.reach(set, in.arg)
	case syntax.InstNop, syntax.InstEmptyWidth:
		p.reach(set, in.out)
	}
}
