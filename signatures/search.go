package signatures

import (
	"fmt"
	"regexp/syntax"
	"sync"
)

// pattern is one compiled pattern. Searching it has two halves: an automaton that reads every rune once and is never wrong when it says
// no, and the exact program, which runs where the automaton says yes.
//
// The automaton is made of a relaxed pattern, in which [^.]{2,60} is any text at all: counting and leaving again would multiply its states,
// and text written to hurt could make it build all of them.
type pattern struct {
	source *syntax.Regexp
	rules  patternRules
	memory *memory

	once  sync.Once // most patterns never meet a text: the rest is made when one does
	exact *program
	dfa   *dfa
}

// newPattern parses source. What could fail, fails here.
func newPattern(source string, rules patternRules, m *memory) (*pattern, error) {
	re, err := parsePattern(source, rules)
	if err != nil {
		return nil, err
	}
	if n := steps(re); n > maxProgram {
		return nil, fmt.Errorf("needs %d steps, more than %d; use smaller counts in {n,m}", n, maxProgram)
	}
	return &pattern{source: re, rules: rules, memory: m}, nil
}

// make compiles the two halves.
func (p *pattern) make() {
	re := p.rules.rewrite(p.source)
	p.exact = newProgram(re, p.rules.word)
	p.dfa = newDFA(newProgram(relax(re), p.rules.word), p.memory)
	p.source = nil
}

// program returns the exact half.
func (p *pattern) program() *program {
	p.once.Do(p.make)
	return p.exact
}

// automaton returns the half that is quick.
func (p *pattern) automaton() *dfa {
	p.once.Do(p.make)
	return p.dfa
}

// next returns the first match within text[from:to], or begin < 0, and spends what it cost.
func (p *pattern) next(s *scan, sig int32, from, to int) (begin, end int, err error) {
	at, stop, ok, full := p.automaton().find(s.text, from, to)
	cost := Cost{Read: stop - from + 1}
	begin = -1
	if ok || full {
		begin, end = p.confirm(s, at, to, &cost)
	}
	cost.Work = cost.Read + cost.Tried
	s.profile.add(sig, cost)
	return begin, end, s.meter.spend(cost.Work)
}

// confirm finds the exact match from where the automaton has seen something. It stops when the budget cannot pay for more.
func (p *pattern) confirm(s *scan, from, to int, cost *Cost) (begin, end int) {
	left := s.meter.left() - cost.Read
	begin, end, tried, ok := s.backtrack.find(p.exact, s.text, from, to, left)
	cost.Tried = tried
	if left -= tried; ok || left < 0 {
		return begin, end
	}
	begin, end, steps := s.pike.find(p.exact, s.text, from, to, left/costPike)
	cost.Tried += costPike * steps
	return begin, end
}

// keptCount is the longest count that a relaxed pattern keeps.
const keptCount = 4

// relax returns a tree that matches whatever re matches, and has few states: a long count becomes a short one and a loop, and a loop over
// spaces and letters becomes a loop over everything.
func relax(re *syntax.Regexp) *syntax.Regexp {
	out := *re
	out.Sub0 = [1]*syntax.Regexp{}
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = relax(sub)
	}
	if re.Op != syntax.OpRepeat || re.Max >= 0 && re.Max <= min(re.Min+1, keptCount) {
		return &out
	}
	loop := &syntax.Regexp{Op: syntax.OpStar, Sub: []*syntax.Regexp{out.Sub[0]}}
	if isProse(out.Sub[0]) {
		loop.Sub[0] = &syntax.Regexp{Op: syntax.OpAnyChar}
	}
	low := min(re.Min, keptCount)
	if low == 0 {
		return loop
	}
	required := &syntax.Regexp{Op: syntax.OpRepeat, Min: low, Max: low, Sub: []*syntax.Regexp{out.Sub[0]}}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{required, loop}}
}

// isProse reports a class of spaces and letters.
func isProse(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return true
	case syntax.OpCharClass:
		return inRanges(re.Rune, ' ') && inRanges(re.Rune, 'e')
	}
	return false
}
