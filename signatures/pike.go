package signatures

import "regexp/syntax"

// pike runs a program over a text in time proportional to (instructions * bytes), and finds the leftmost match that Perl and RE2 would
// prefer. It is the exact half of the pattern matcher: the automaton says where to look.
type pike struct {
	seen    []uint32 // by instruction: the round in which it was reached
	round   uint32
	now     []thread // threads at the current offset that read a rune or have matched, the preferred one first
	pending []thread // where they go from here
	stack   []int32
}

// thread is an instruction reached, and the offset where its match began.
type thread struct {
	pc    int32
	begin int
}

// find returns the first match of p that lies within text[from:to], or begin < 0. Context outside of the range is seen by \b, ^ and $ and
// by the word rule. steps is how many bytes were read; it gives up after limit.
func (k *pike) find(p *program, text []byte, from, to, limit int) (begin, end, steps int) {
	k.reset(len(p.insts))
	begin, end = -1, -1
	before := runeBefore(text, from)
	for i := from; ; {
		after, size := runeAt(text, i)
		var flags syntax.EmptyOp
		if p.sides {
			flags = emptyOps(before, after)
		}
		k.begin()
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
		if i-from > limit {
			return -1, -1, i - from
		}
		before, i = after, i+size
	}
}

// reset prepares for a program of n instructions.
func (k *pike) reset(n int) {
	if len(k.seen) < n {
		k.seen, k.round = make([]uint32, n), 0
	}
	k.pending = k.pending[:0]
}

// begin starts a new round.
func (k *pike) begin() {
	k.now = k.now[:0]
	if k.round++; k.round == 0 { // wrapped round: old marks would look new
		clear(k.seen)
		k.round = 1
	}
}

// add follows the instructions that read nothing, from t on, in order of preference.
func (k *pike) add(p *program, t thread, flags syntax.EmptyOp) {
	k.stack = append(k.stack[:0], t.pc)
	for len(k.stack) > 0 {
		pc := k.stack[len(k.stack)-1]
		k.stack = k.stack[:len(k.stack)-1]
		for k.seen[pc] != k.round {
			k.seen[pc] = k.round
			in := &p.insts[pc]
			if in.op == syntax.InstAlt {
				k.stack = append(k.stack, in.arg)
			} else if in.op == syntax.InstRune || in.op == syntax.InstMatch {
				k.now = append(k.now, thread{pc, t.begin})
				break
			} else if in.op == syntax.InstFail || in.empty&^flags != 0 {
				break
			}
			pc = in.out
		}
	}
}

// step moves every thread over the rune after. It returns the begin of a match that ends before that rune, or -1; threads less preferred
// than the match are dropped.
func (k *pike) step(p *program, after rune, inside bool) int {
	for _, t := range k.now {
		in := &p.insts[t.pc]
		if in.op == syntax.InstMatch {
			if !p.word || !isWord(after) {
				return t.begin
			}
		} else if inside && in.has(after) {
			k.pending = append(k.pending, thread{in.out, t.begin})
		}
	}
	return -1
}
