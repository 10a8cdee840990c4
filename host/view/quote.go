package view

import "bytes"

// quotes finds string literals. It remembers where the next quote of each kind is, and, for each kind, up to where no closing one was
// found: looking again from every quote would cost the square of the length.
type quotes struct {
	src  []byte
	next [3]int
	open [3]int
}

var quoteMarks = [3]byte{'"', '\'', '`'}

// maxLiteral bounds a string literal.
const maxLiteral = 2048

func newQuotes(src []byte) quotes { return quotes{src: src, next: [3]int{-1, -1, -1}} }

// find returns the offset of the next opening quote at or after i, and its kind; the end of the text if there is none. An
// apostrophe inside a word is no quote.
func (q *quotes) find(i int) (at, kind int) {
	at = len(q.src)
	for k := range q.next {
		if q.next[k] < i {
			q.next[k] = q.from(i, k)
		}
		if q.next[k] < at {
			at, kind = q.next[k], k
		}
	}
	return at, kind
}

func (q *quotes) from(i, kind int) int {
	for {
		i = indexFrom(q.src, i, quoteMarks[kind])
		if kind != 1 || i == 0 || i == len(q.src) || markOf[q.src[i-1]]&markWord == 0 {
			return i
		}
		i++
	}
}

// close returns the offset of the quote that closes the literal opened at i; -1 if there is none. Only back quotes reach beyond a line.
func (q *quotes) close(i, kind int) int {
	if i < q.open[kind] {
		return -1
	}
	k := i + 1
	for ; k < len(q.src) && k-i <= maxLiteral; k++ {
		switch c := q.src[k]; {
		case c == '\\':
			k++
		case c == quoteMarks[kind]:
			return k
		case c == '\n' && kind != 2:
			q.open[kind] = k
			return -1
		}
	}
	q.open[kind] = min(k, len(q.src))
	return -1
}

// closeBeyond is close for a literal that may go on over several lines. It looks at the next quote only.
func (q *quotes) closeBeyond(i, kind int) int {
	k := bytes.IndexByte(q.src[i+1:min(len(q.src), i+1+maxLiteral)], quoteMarks[kind])
	if k < 0 {
		return -1
	}
	return i + 1 + k
}

// tripled is the text between three quotes of one kind that open at i; ok is false if three quotes do not open and close there.
func (q *quotes) tripled(i, kind int) (lo, hi int, ok bool) {
	mark := quoteMarks[kind]
	triple := []byte{mark, mark, mark}
	if !bytes.HasPrefix(q.src[i:], triple) {
		return 0, 0, false
	}
	k := bytes.Index(q.src[i+3:], triple)
	if k < 0 {
		q.open[kind] = len(q.src)
		return 0, 0, false
	}
	return i + 3, i + 3 + k, true
}
