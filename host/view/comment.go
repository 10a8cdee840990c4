package view

import (
	"bytes"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// decodeComments collects the comments of source code with their markers removed, so that a sentence over several comment lines
// reads as one ("code.comment").
func decodeComments(j job) {
	if j.kind != v1.PayloadKindCode {
		return
	}
	b := j.build(stepCode, "code.comment")
	c := comments{b: b, q: newQuotes(j.src)}
	src := j.src
	for i := 0; i < len(src); {
		switch q := bytes.IndexByte(quoteMarks[:], src[i]); {
		case q >= 0:
			i = c.literal(i, q)
		case bytes.HasPrefix(src[i:], []byte("/*")):
			i = blockComment(b, i)
		case lineComment(src, i) > 0:
			end := lineEnd(src, i)
			b.sep('\n', i)
			b.extract(i+lineComment(src, i), end)
			i = end
		default:
			i++
		}
	}
	b.commit()
}

// comments is the state of one walk through source code.
type comments struct {
	b *builder
	q quotes
}

// lineComment is the length of the marker of a line comment at i; 0 if there is none.
func lineComment(p []byte, i int) int {
	n, free := 0, i == 0 || p[i-1] <= ' ' || bytes.IndexByte([]byte(";{})"), p[i-1]) >= 0
	switch {
	case !free:
		return 0
	case bytes.HasPrefix(p[i:], []byte("//")), bytes.HasPrefix(p[i:], []byte("--")):
		n = 2
	case p[i] == '#', p[i] == ';' && lineStart(p, i), p[i] == '%' && lineStart(p, i):
		n = 1
	}
	for n > 0 && i+n < len(p) && bytes.IndexByte([]byte("/#!-;%"), p[i+n]) >= 0 {
		n++
	}
	return n
}

// blockComment handles /* ... */, without the stars that often start its lines.
func blockComment(b *builder, i int) int {
	src := b.src
	end, next := len(src), len(src)
	if k := bytes.Index(src[i+2:], []byte("*/")); k >= 0 {
		end, next = i+2+k, i+4+k
	}
	for lo := i + 2; lo < end; {
		hi := min(lineEnd(src, lo), end)
		for lo < hi && (src[lo] == ' ' || src[lo] == '\t' || src[lo] == '*') {
			lo++
		}
		b.sep('\n', lo)
		b.extract(lo, hi)
		lo = hi + 1
	}
	return next
}

// literal skips the string literal at i, so that "http://" in it is no comment. Three quotes open a documentation string, which is
// read.
func (c *comments) literal(i, kind int) int {
	if lo, hi, ok := c.q.tripled(i, kind); ok {
		c.b.sep('\n', lo)
		c.b.extract(lo, hi)
		return hi + 3
	}
	if end := c.q.close(i, kind); end > 0 {
		return end + 1
	}
	return i + 1
}
