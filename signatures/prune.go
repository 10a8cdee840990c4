package signatures

import (
	"regexp/syntax"
	"slices"
	"unicode/utf8"
)

// loop is a ".*" of a relaxed pattern: an alternative between any rune and going on.
type loop struct {
	alt int32
	// around[pc] reports whether a match can be reached from pc without passing the loop.
	around []bool
}

// anyLoops finds the loops over any rune at all.
func anyLoops(p *program) []loop {
	var out []loop
	for pc := range p.insts {
		in := &p.insts[pc]
		if in.op != syntax.InstRune || !in.any() {
			continue
		}
		alt := &p.insts[in.out]
		if alt.op == syntax.InstAlt && (alt.out == int32(pc) || alt.arg == int32(pc)) {
			out = append(out, loop{in.out, p.around(in.out, int32(pc))})
		}
	}
	return out
}

// any reports whether the instruction reads every rune.
func (in *inst) any() bool {
	full := ^uint64(0)
	return in.ascii == [2]uint64{full, full} && len(in.wide) == 2 && in.wide[0] == utf8.RuneSelf && in.wide[1] == utf8.MaxRune
}

// around computes loop.around for the loop of alt and body.
func (p *program) around(alt, body int32) []bool {
	out := make([]bool, len(p.insts))
	for again := true; again; {
		again = false
		for i := range p.insts {
			pc := int32(i)
			if out[pc] || pc == alt || pc == body {
				continue
			}
			in := &p.insts[pc]
			switch in.op {
			case syntax.InstFail:
			case syntax.InstMatch:
				out[pc] = true
			case syntax.InstAlt:
				out[pc] = out[in.out] || out[in.arg]
			default:
				out[pc] = out[in.out]
			}
			again = again || out[pc]
		}
	}
	return out
}

// prune drops what cannot change the outcome. Once a loop over any rune is reached, whatever has to pass that loop is redundant: all that it
// can match, the loop matches too. This is what keeps the automata small: a pattern such as A.*B.*C then looks for one thing at a time.
func (d *dfa) prune(s *dstate) {
	for i := range d.loops {
		l := &d.loops[i]
		if !slices.Contains(s.pcs, l.alt) {
			continue
		}
		s.closed = s.closed || !l.around[d.prog.start]
		s.pcs = slices.DeleteFunc(s.pcs, func(pc int32) bool { return pc != l.alt && !l.around[pc] })
	}
}

// explore makes all states, and reports whether there is room for them.
func (d *dfa) explore() bool {
	runes := d.representatives()
	d.begin(nil, 0)
	for i := 1; i < len(d.states); i++ {
		for class, text := range runes {
			if d.extend(uint32(i)*(d.count+1), uint32(class), text, 0) == 0 {
				return false
			}
		}
	}
	return true
}

// representatives returns a rune of each class, and no rune for the end of the text.
func (d *dfa) representatives() [][]byte {
	out := make([][]byte, d.count+1)
	for r, class := range d.ascii {
		out[class] = []byte{byte(r)}
	}
	for i, r := range d.wide {
		if out[d.ids[2*i]] == nil {
			out[d.ids[2*i]] = utf8.AppendRune(nil, r)
		}
	}
	return out
}
