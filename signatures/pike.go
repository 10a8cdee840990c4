package signatures

import "regexp/syntax"

// pike runs a program over a text in time proportional to (instructions * bytes), and finds the leftmost match that Perl and RE2 would
// prefer. It is the exact half of the pattern matcher: the automaton says where to look.
type pike struct {
	sparse  []int32  // place of an instruction in dense
	dense   []thread // threads at the current offset, the preferred one first
	pending []thread // where they go from here
	stack   []int32
}

// thread is an instruction reached, and the offset where its match began.
type thread struct {
	pc    int32
	begin int
}

// find returns the first match of p that lies within text[from:to], or begin < 0. Context outside of the range is seen by \b, ^ and $ and
// by the word rule. steps is how many bytes were read.
func (k *pike) find(p *program, text []byte, from, to int) (begin, end, steps int) {
	k.reset(len(p.insts))
	begin, end = -1, -1
	before := runeBefore(text, from)
	for i := from; ; {
		after, size := runeAt(text, i)
		flags := emptyOps(before, after)
		k.dense = k.dense[:0]
		for _, t := range k.pending {
			k.add(p, t, flags)
		}
		k.pending = k.pending[:0]
		if begin < 0 && !(p.word && isWord(before)) {
			k.add(p, thread{p.start, i}, flags)
		}
		inside := size > 0 && i+size <= to
		if b := k.step(p, after, inside); b >= 0 {
			begin, end = b, i
		}
		if !inside || (begin >= 0 && len(k.pending) == 0) {
			return begin, end, i - from
		}
		before, i = after, i+size
	}
}

func (k *pike) reset(n int) {
	if len(k.sparse) < n {
		k.sparse = make([]int32, n)
	}
	k.dense, k.pending = k.dense[:0], k.pending[:0]
}

// add follows the instructions that read nothing, from t on, in order of preference.
func (k *pike) add(p *program, t thread, flags syntax.EmptyOp) {
	k.stack = append(k.stack[:0], t.pc)
	for len(k.stack) > 0 {
		pc := k.stack[len(k.stack)-1]
		k.stack = k.stack[:len(k.stack)-1]
		if at := int(k.sparse[pc]); at < len(k.dense) && k.dense[at].pc == pc {
			continue
		}
		k.sparse[pc] = int32(len(k.dense))
		k.dense = append(k.dense, thread{pc, t.begin})
		switch in := &p.insts[pc]; in.op {
		case syntax.InstAlt, syntax.InstAltMatch:
			k.stack = append(k.stack, in.arg, in.out)
		case syntax.InstNop:
			k.stack = append(k.stack, in.out)
		case syntax.InstEmptyWidth:
			if in.empty&^flags == 0 {
				k.stack = append(k.stack, in.out)
			}
		}
	}
}

// step moves every thread over the rune after. It returns the begin of a match that ends before that rune, or -1; threads less preferred
// than the match are dropped.
func (k *pike) step(p *program, after rune, inside bool) int {
	for _, t := range k.dense {
		switch in := &p.insts[t.pc]; in.op {
		case syntax.InstMatch:
			if !p.word || !isWord(after) {
				return t.begin
			}
		case syntax.InstRune:
			if inside && in.has(after) {
				k.pending = append(k.pending, thread{in.out, t.begin})
			}
		}
	}
	return -1
}
