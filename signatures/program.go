package signatures

import (
	"fmt"
	"regexp/syntax"
	"unicode/utf8"
)

// maxProgram is the number of instructions a compiled pattern may have.
const maxProgram = 10_000

// program is a compiled pattern: the instructions of regexp/syntax in a form that is quick to step over.
type program struct {
	insts []inst
	start int32
	word  bool // a match may not touch letters or digits
	opens openings
	// branches counts the alternatives, which have numbers below it.
	branches int32
	sides    bool // there are conditions on what stands before or after, other than word
}

// inst is one instruction. Rune instructions carry the ASCII part of their class as a bitmap.
type inst struct {
	op       syntax.InstOp
	empty    syntax.EmptyOp
	out, arg int32
	branch   int32 // number of an alternative
	ascii    [2]uint64
	wide     []rune // ranges from U+0080 on
}

// newProgram compiles a rewritten tree. It cannot fail, since the parser has accepted the tree; if it did, the pattern must not match
// anything silently, so it panics.
func newProgram(re *syntax.Regexp, word bool) *program {
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		panic(fmt.Sprintf("signatures: %s: %v", re, err))
	}
	p := &program{insts: make([]inst, len(prog.Inst)), start: int32(prog.Start), word: word}
	for i := range prog.Inst {
		p.insts[i] = newInst(&prog.Inst[i])
		p.sides = p.sides || p.insts[i].op == syntax.InstEmptyWidth
		if p.insts[i].op == syntax.InstAlt {
			p.insts[i].branch = p.branches
			p.branches++
		}
	}
	p.opens = newOpenings(p)
	return p
}

// steps returns about how many instructions a tree compiles to.
func steps(re *syntax.Regexp) int {
	n := 1
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n = min(n+steps(sub), unbounded)
	}
	if re.Op != syntax.OpRepeat {
		return n + 1
	}
	return min(n*max(re.Min, re.Max, 1), unbounded)
}

func newInst(from *syntax.Inst) inst {
	in := inst{op: from.Op, out: int32(from.Out), arg: int32(from.Arg)}
	switch from.Op {
	case syntax.InstEmptyWidth:
		in.empty = syntax.EmptyOp(from.Arg)
	case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		in.op = syntax.InstRune
		in.setClass(from)
	case syntax.InstCapture:
		in.op = syntax.InstNop
	case syntax.InstAltMatch:
		in.op = syntax.InstAlt
	}
	return in
}

func (in *inst) setClass(from *syntax.Inst) {
	for r := rune(0); r < utf8.RuneSelf; r++ {
		if from.MatchRune(r) {
			in.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	for _, span := range wideRanges(from) {
		if hi := span[1]; hi >= utf8.RuneSelf {
			in.wide = append(in.wide, max(span[0], utf8.RuneSelf), hi)
		}
	}
}

// wideRanges returns the ranges that the instruction accepts. Folded single runes do not occur: rewrite has spelled them out.
func wideRanges(from *syntax.Inst) [][2]rune {
	switch {
	case from.Op == syntax.InstRuneAny, from.Op == syntax.InstRuneAnyNotNL:
		return [][2]rune{{utf8.RuneSelf, utf8.MaxRune}}
	case len(from.Rune) == 1:
		return [][2]rune{{from.Rune[0], from.Rune[0]}}
	}
	var out [][2]rune
	for i := 0; i+1 < len(from.Rune); i += 2 {
		out = append(out, [2]rune{from.Rune[i], from.Rune[i+1]})
	}
	return out
}

// has reports whether the instruction accepts r.
func (in *inst) has(r rune) bool {
	if r < utf8.RuneSelf {
		return in.ascii[r>>6]>>(r&63)&1 != 0
	}
	lo, hi := 0, len(in.wide)/2
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch {
		case r < in.wide[2*mid]:
			hi = mid
		case r > in.wide[2*mid+1]:
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}

// emptyOps returns which of the empty-width conditions hold between two runes; -1 is the begin or end of the text. They differ from
// syntax.EmptyOpContext in that word boundaries know every script.
func emptyOps(before, after rune) syntax.EmptyOp {
	var op syntax.EmptyOp
	if before < 0 {
		op |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	} else if before == '\n' {
		op |= syntax.EmptyBeginLine
	}
	if after < 0 {
		op |= syntax.EmptyEndText | syntax.EmptyEndLine
	} else if after == '\n' {
		op |= syntax.EmptyEndLine
	}
	if isWord(before) != isWord(after) {
		return op | syntax.EmptyWordBoundary
	}
	return op | syntax.EmptyNoWordBoundary
}

// runeBefore and runeAt return the runes around text[i]; -1 is the begin or end of the text.
func runeBefore(text []byte, i int) rune {
	if i <= 0 {
		return -1
	}
	r, _ := utf8.DecodeLastRune(text[:i])
	return r
}

func runeAt(text []byte, i int) (rune, int) {
	if i >= len(text) {
		return -1, 0
	}
	if c := text[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRune(text[i:])
}

// runeSize returns how far the next rune is from text[i]; at the end of the text it is 1.
func runeSize(text []byte, i int) int {
	if i >= len(text) || text[i] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRune(text[i:])
	return n
}
