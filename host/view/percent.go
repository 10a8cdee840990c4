package view

import (
	"bytes"
	"unicode/utf8"
)

// decodePercent resolves URL escapes (%69, and %u0069). Where a token has some, its plus signs are spaces.
func decodePercent(j job) {
	e := editor{b: j.build(stepURL, "url")}
	e.b.encoded = true
	src := j.src
	for i := 0; i < len(src); {
		k := bytes.IndexByte(src[i:], '%')
		if k < 0 {
			break
		}
		if i += k; percentAt(src, i).n == 0 {
			i++
			continue
		}
		lo, hi := tokenAround(src, i, e.done)
		i = e.percentToken(lo, hi)
	}
	e.finish()
}

// percentAt reads one URL escape.
func percentAt(p []byte, i int) escaped {
	if i+2 < len(p) && p[i] == '%' {
		if p[i+1] == 'u' {
			return numbered(p[i:], 2, 4, 16)
		}
		return numbered(p[i:], 1, 2, 16)
	}
	return escaped{}
}

// tokenAround finds the stretch without white space around i, not before lo.
func tokenAround(p []byte, i, lo int) (int, int) {
	start, end := i, i
	for start > lo && p[start-1] > ' ' {
		start--
	}
	for end < len(p) && p[end] > ' ' {
		end++
	}
	return start, end
}

// percentToken rewrites one token that holds URL escapes and returns its end.
func (e *editor) percentToken(lo, hi int) int {
	src := e.b.src
	for i := lo; i < hi; {
		if src[i] == '+' {
			e.change([]byte{' '}, i, i+1)
			i++
			continue
		}
		if src[i] != '%' {
			i++
			continue
		}
		i = e.percentRun(i, hi)
	}
	return hi
}

// percentRun rewrites the escapes that follow each other at i. Together they may spell one character of several bytes.
func (e *editor) percentRun(i, hi int) int {
	esc := percentAt(e.b.src, i)
	if esc.n == 0 {
		return i + 1
	}
	if esc.n > 3 || esc.r < utf8.RuneSelf {
		e.changeRune(esc.r, i, i+esc.n)
		return i + esc.n
	}
	var buf [utf8.UTFMax]byte
	n, k := 0, i
	for n < len(buf) && k < hi {
		next := percentAt(e.b.src, k)
		if next.n != 3 {
			break
		}
		buf[n] = byte(next.r)
		n, k = n+1, k+3
		if utf8.FullRune(buf[:n]) {
			break
		}
	}
	r, size := utf8.DecodeRune(buf[:n])
	e.changeRune(r, i, i+3*max(size, 1))
	return i + 3*max(size, 1)
}

// decodeQuotedPrintable reads the mail encoding of that name. "=20" may as well be an assignment; in quoted-printable text nearly every
// equals sign starts an escape.
func decodeQuotedPrintable(j job) {
	e := editor{b: j.build(stepQP, "qp")}
	e.b.encoded = true
	count, sure, others, end := 0, 0, 0, 0
	for i := 0; i < len(j.src); {
		k := bytes.IndexByte(j.src[i:], '=')
		if k < 0 {
			break
		}
		i += k
		n := e.quoted(i)
		switch {
		case n == 0:
			others++
		case n == 2 || n > 3 || i == end || j.src[i+1] == '\r' || bytes.HasPrefix(j.src[i:], []byte("=3D")):
			sure++ // a soft line break, a character of several bytes, several escapes in a row, an equals sign
			fallthrough
		default:
			count++
		}
		i += max(n, 1)
		end = i
	}
	if count < 3 || sure == 0 || others > count/4 {
		e.b.discard()
		return
	}
	e.finish()
}

// quoted rewrites the quoted-printable escape at i and returns its length; 0 if there is none.
func (e *editor) quoted(i int) int {
	src := e.b.src
	if rest := src[i+1:]; len(rest) > 0 && rest[0] == '\n' {
		e.change(nil, i, i+2)
		return 2
	} else if len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
		e.change(nil, i, i+3)
		return 3
	}
	var buf [utf8.UTFMax]byte
	n := 0
	for k := i; n < len(buf) && k+2 < len(src) && src[k] == '='; k += 3 {
		hi, lo := upperHex(src[k+1]), upperHex(src[k+2])
		if hi > 15 || lo > 15 {
			break
		}
		buf[n] = byte(hi<<4 | lo)
		n++
		if utf8.FullRune(buf[:n]) {
			break
		}
	}
	if n == 0 {
		return 0
	}
	r, size := utf8.DecodeRune(buf[:n])
	e.changeRune(r, i, i+3*size)
	return 3 * size
}

// upperHex is digitOf for upper-case digits only, the form that mail programs write.
func upperHex(c byte) int {
	if c >= 'a' {
		return 99
	}
	return digitOf(c)
}
