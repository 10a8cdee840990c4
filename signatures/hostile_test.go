package signatures

import (
	"strings"
)

// hostileTexts are written to make the matcher work: each of size bytes, from the signatures' own words.
func hostileTexts(m *Matcher, size int) map[string][]byte {
	fill := func(next func(i int) string) []byte {
		var b strings.Builder
		for i := 0; b.Len() < size; i++ {
			b.WriteString(next(i))
		}
		return []byte(b.String()[:size])
	}
	literal := func(i int) string { return spell(m.literals[i*7%len(m.literals)].literal) }
	groups := func(i int, between string) string {
		c := m.sigs[i*11%len(m.sigs)]
		s := ""
		for _, g := range c.groups {
			s += spell(g[i%len(g)]) + between
		}
		return s
	}
	busiest := busiestLiteral(m)
	return map[string][]byte{
		"every literal":           fill(func(i int) string { return literal(i) + " " }),
		"almost every literal":    fill(func(i int) string { s := literal(i); return s[:len(s)-1] }),
		"groups side by side":     fill(func(i int) string { return groups(i, " ") }),
		"groups with words apart": fill(func(i int) string { return groups(i, " xx yy zz ww vv uu ") }),
		"groups far apart":        fill(func(i int) string { return groups(i, strings.Repeat("x ", 31)) }),
		"one anchor of many":      fill(func(int) string { return busiest + " " }),
		"gaps without end":        fill(func(i int) string { return literal(i) + strings.Repeat(" *", 30) }),
		"examples":                fill(func(i int) string { return example(m, i) }),
	}
}

// spell writes a literal in its largest form.
func spell(l *literal) string {
	s := ""
	for _, e := range l.elems {
		if e.gap != noGap {
			s += " "
		} else {
			s += string(e.runes[len(e.runes)-1])
		}
	}
	return s
}

// busiestLiteral returns the anchor of the most signatures.
func busiestLiteral(m *Matcher) string {
	best, most := "", 0
	for _, l := range m.literals {
		n := 0
		for _, use := range l.anchors {
			n += len(use.sigs)
		}
		if n > most {
			best, most = spell(l.literal), n
		}
	}
	return best
}

// example returns a positive example, or a word if there is none.
func example(m *Matcher, i int) string {
	s := m.sigs[i*13%len(m.sigs)].sig
	if len(s.Positive) == 0 {
		return "x "
	}
	return s.Positive[i%len(s.Positive)] + " "
}
