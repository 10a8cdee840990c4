package view

import "bytes"

// literal is a string literal in the source: its content, where it ends after the quote, and the name it is assigned to.
type literal struct {
	lo, hi, next int
	name         []byte
}

// decodeJoined puts split texts together: string literals that are concatenated ("ig" + "nore"), or assigned to names that are then
// added (a = "ig", b = "nore", a + b) or numbered (part1, part2).
func decodeJoined(j job) {
	b := j.build(stepJoined, "joined")
	b.encoded = true
	g := gatherer{b: b, src: j.src, row: j.s.row[:0], named: j.s.named[:0]}
	q := newQuotes(j.src)
	for i := 0; ; {
		open, kind := q.find(i)
		if open == len(j.src) {
			break
		}
		end, name := q.close(open, kind), assignedTo(j.src, open)
		if end < 0 && len(name) > 0 {
			end = q.closeBeyond(open, kind)
		}
		if i = open + 1; end < 0 {
			continue
		}
		if i = end + 1; !isKey(j.src, i) {
			g.add(literal{lo: open + 1, hi: end, next: i, name: name})
		}
	}
	g.flush()
	g.sums()
	b.commit()
	j.s.row, j.s.named = g.row[:0], g.named[:0]
}

// isKey reports whether the literal that ends at i is the name of a field.
func isKey(p []byte, i int) bool {
	for i < len(p) && (p[i] == ' ' || p[i] == '\t') {
		i++
	}
	return i+1 < len(p) && p[i] == ':' && p[i+1] != ':'
}

// assignedTo finds the name in `name = "literal"` or `"name": "literal"`, whose literal opens at i.
func assignedTo(p []byte, i int) []byte {
	k := skipBack(p, i)
	if k == 0 || p[k-1] != '=' && p[k-1] != ':' {
		return nil
	}
	if k--; k > 0 && p[k-1] == ':' {
		k--
	}
	k = skipBack(p, k)
	if k > 0 && (p[k-1] == '"' || p[k-1] == '\'') {
		k--
	}
	end := k
	for k > 0 && end-k < 32 && (markOf[p[k-1]]&markWord != 0 || p[k-1] == '_') {
		k--
	}
	return p[k:end]
}

func skipBack(p []byte, k int) int {
	for k > 0 && (p[k-1] == ' ' || p[k-1] == '\t') {
		k--
	}
	return k
}

// gatherer collects the literals of a text.
type gatherer struct {
	b     *builder
	src   []byte
	row   []literal // literals that belong together so far
	named []literal // assigned literals, for sums
}

// maxNamed bounds the assignments remembered of one text.
const maxNamed = 64

// add takes the next literal: it goes on the row, or ends it.
func (g *gatherer) add(l literal) {
	if len(l.name) > 0 && len(g.named) < maxNamed {
		g.named = append(g.named, l)
	}
	if n := len(g.row); n > 0 && !g.follows(g.row[n-1], l) {
		g.flush()
	}
	g.row = append(g.row, l)
}

// follows reports whether b goes on the text of a.
func (g *gatherer) follows(a, b literal) bool {
	if len(b.name) > 0 {
		return len(a.name) > 0 && successor(a.name, b.name)
	}
	gap, quote := g.src[a.next:b.lo-1], g.src[b.lo-1]
	if len(gap) > maxJoint {
		return false
	}
	switch string(bare(gap)) {
	case "+":
		return true
	case "&", ".", "..", "<>", "++":
		return quote != '`'
	case "":
		// Two literals of the same kind side by side; but "" is an escaped quote.
		return quote != '`' && b.lo-1 > a.next && g.src[a.next-1] == quote
	case ",":
		return quote != '`' && bracketed(g.src, g.row[0].lo-1)
	}
	return false
}

// maxJoint is the longest gap between two literals that belong together.
const maxJoint = 64

// bare is a gap without the white space, line continuations and parentheses at its ends.
func bare(gap []byte) []byte {
	skip := func(c byte) bool { return c <= ' ' || c == '\\' || c == '(' || c == ')' }
	for len(gap) > 0 && skip(gap[0]) {
		gap = gap[1:]
	}
	for len(gap) > 0 && skip(gap[len(gap)-1]) {
		gap = gap[:len(gap)-1]
	}
	return gap
}

// shortParts is the mean length up to which the members of a list are taken for fragments of words.
const shortParts = 3

// bracketed reports whether an array or an argument list opens before i.
func bracketed(p []byte, i int) bool {
	k := i
	for k > 0 && p[k-1] <= ' ' {
		k--
	}
	return k > 0 && (p[k-1] == '[' || p[k-1] == '(' || p[k-1] == '{')
}

// successor reports whether b is the name after a: the same up to a last letter or number that goes up by one.
func successor(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	if x, y := trailing(a), trailing(b); x < len(a) && y < len(b) {
		return x == y && bytes.Equal(a[:x], b[:y]) && number(b[y:]) == number(a[x:])+1
	}
	n := len(a) - 1
	return len(a) == len(b) && bytes.Equal(a[:n], b[:n]) && b[n] == a[n]+1 && (n == 0 || a[n-1] == '_')
}

// trailing is the offset of the digits at the end of a name.
func trailing(name []byte) int {
	k := len(name)
	for k > 0 && '0' <= name[k-1] && name[k-1] <= '9' {
		k--
	}
	return k
}

func number(p []byte) (v int) {
	for _, c := range p {
		v = min(v*10+digitOf(c), 1<<30)
	}
	return v
}

// flush appends the row as one text.
func (g *gatherer) flush() {
	if n := len(g.row); n > 1 && g.b.fresh(g.row[0].lo, g.row[n-1].hi) && (g.operator() || g.fragments()) {
		g.parts(g.row)
	}
	g.row = g.row[:0]
}

// operator reports whether the row is held together by an operator or by its names, and not only by standing side by side.
func (g *gatherer) operator() bool {
	gap := bytes.TrimSpace(g.src[g.row[0].next : g.row[1].lo-1])
	return len(g.row[1].name) > 0 || len(gap) > 0 && gap[0] != ','
}

// fragments reports whether literals look like pieces of a text and not like a list of names: they are very short, or have spaces at
// their ends.
func (g *gatherer) fragments() bool {
	size := 0
	for _, l := range g.row {
		size += l.hi - l.lo
		if l.lo < l.hi && (g.src[l.lo] == ' ' || g.src[l.hi-1] == ' ') {
			return true
		}
	}
	return size <= shortParts*len(g.row)
}

// parts appends literals without anything between them, if two or more hold something and letters prevail.
func (g *gatherer) parts(list []literal) {
	full, letters, size := 0, 0, 0
	for _, l := range list {
		if l.lo < l.hi {
			full++
		}
		for _, c := range g.src[l.lo:l.hi] {
			if letter(c) || c >= 0x80 {
				letters++
			}
		}
		size += l.hi - l.lo
	}
	if full < 2 || letters*2 < size {
		return
	}
	g.b.sep('\n', list[0].lo)
	for _, l := range list {
		g.b.extract(l.lo, l.hi)
	}
}

// sums finds expressions that add named literals: a + b + c, {a}{b}, a b c.
func (g *gatherer) sums() {
	if len(g.named) < 2 {
		return
	}
	for i := bytes.IndexByte(g.src, '+'); i >= 0 && i < len(g.src); {
		list, end := g.sum(i)
		if len(list) > 1 {
			g.parts(list)
		}
		k := bytes.IndexByte(g.src[end:], '+')
		if k < 0 {
			return
		}
		i = end + k
	}
}

// sum reads the sum whose first plus sign is at i, and returns where it ends.
func (g *gatherer) sum(i int) (list []literal, end int) {
	k := skipBack(g.src, i)
	lo := k
	for lo > 0 && k-lo < 32 && (markOf[g.src[lo-1]]&markWord != 0 || g.src[lo-1] == '_') {
		lo--
	}
	l, ok := g.lookup(g.src[lo:k])
	for end = i; ok; {
		list = append(list, l)
		if end >= len(g.src) || g.src[end] != '+' {
			return list, end
		}
		for end++; end < len(g.src) && g.src[end] == ' '; {
			end++
		}
		lo = end
		for end < len(g.src) && end-lo < 32 && (markOf[g.src[end]]&markWord != 0 || g.src[end] == '_') {
			end++
		}
		l, ok = g.lookup(g.src[lo:end])
		for end < len(g.src) && g.src[end] == ' ' {
			end++
		}
	}
	return list, max(end, i+1)
}

func (g *gatherer) lookup(name []byte) (literal, bool) {
	for n := len(g.named) - 1; n >= 0; n-- {
		if len(name) > 0 && bytes.Equal(g.named[n].name, name) {
			return g.named[n], true
		}
	}
	return literal{}, false
}
