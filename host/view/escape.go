package view

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// escaped is one backslash escape: n source bytes standing for r. n 0: no escape here.
type escaped struct {
	r rune
	n int
	// code says that the character was given by number (\x69, \u0069, \151) and not by a mnemonic (\n, \").
	code bool
}

// readEscape reads the backslash escape at the start of p, as JSON, C, JavaScript, Python and shells write it.
func readEscape(p []byte) escaped {
	if len(p) < 2 || p[0] != '\\' {
		return escaped{}
	}
	switch c := p[1]; c {
	case 'n':
		return escaped{r: '\n', n: 2}
	case 't':
		return escaped{r: '\t', n: 2}
	case 'r':
		return escaped{r: '\n', n: 2}
	case 'b', 'f', 'v':
		return escaped{r: ' ', n: 2}
	case '"', '\'', '/', '\\', '`':
		return escaped{r: rune(c), n: 2}
	case 'x':
		return numbered(p, 2, 2, 16)
	case 'u':
		return readUnicode(p)
	case 'U':
		return numbered(p, 2, 8, 16)
	}
	return numbered(p, 1, 3, 8)
}

// numbered reads exactly `digits` digits at p[at:] as a character code.
func numbered(p []byte, at, digits, base int) escaped {
	if len(p) < at+digits {
		return escaped{}
	}
	v := 0
	for _, c := range p[at : at+digits] {
		d := digitOf(c)
		if d >= base {
			return escaped{}
		}
		if v = v*base + d; v > utf8.MaxRune {
			return escaped{}
		}
	}
	return escaped{r: rune(v), n: at + digits, code: true}
}

// readUnicode reads \uXXXX, a surrogate pair of them, or \u{X...}.
func readUnicode(p []byte) escaped {
	if len(p) > 3 && p[2] == '{' {
		end := bytes.IndexByte(p[:min(len(p), 12)], '}')
		if end < 4 {
			return escaped{}
		}
		e := numbered(p, 3, end-3, 16)
		if e.n > 0 {
			e.n++
		}
		return e
	}
	e := numbered(p, 2, 4, 16)
	if e.n > 0 && utf16.IsSurrogate(e.r) {
		if len(p) > 8 && p[6] == '\\' && p[7] == 'u' {
			if low := numbered(p[6:], 2, 4, 16); low.n > 0 {
				if r := utf16.DecodeRune(e.r, low.r); r != utf8.RuneError {
					return escaped{r: r, n: 12, code: true}
				}
			}
		}
		e.r = utf8.RuneError
	}
	return e
}

// digitOf is the value of a digit in bases up to 16; 99 when c is none.
func digitOf(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return 99
}

// plainCode reports whether an escape hides an ASCII letter or digit, which nothing but disguise needs to escape.
func (e escaped) plainCode() bool {
	return e.code && e.r < utf8.RuneSelf && markOf[byte(e.r)]&markWord != 0
}

// encodedFrom is how many letters and digits given by number make a text an encoded one.
const encodedFrom = 4

// decodeJSON reads the strings of a JSON text that hold escapes, keys too. Strings without escapes are readable as they are.
func decodeJSON(j job) {
	if !looksJSON(j.src) {
		return
	}
	b := j.build(stepJSON, "json")
	codes := 0
	for i := 0; i < len(j.src); {
		q := bytes.IndexByte(j.src[i:], '"')
		if q < 0 {
			break
		}
		start := i + q + 1
		end, escapes := stringEnd(j.src, start)
		if escapes {
			b.sep('\n', start)
			codes += b.unescape(start, end)
		}
		i = end + 1
	}
	b.encoded = codes >= encodedFrom
	b.commit()
}

// looksJSON reports whether the text starts like a JSON object, array or string, or like lines of them.
func looksJSON(p []byte) bool {
	p = bytes.TrimLeft(p, " \t\r\n\uFEFF")
	if len(p) < 2 {
		return false
	}
	next := bytes.TrimLeft(p[1:min(len(p), 64)], " \t\r\n")
	switch p[0] {
	case '{':
		return len(next) == 0 || next[0] == '"' || next[0] == '\\'
	case '[':
		return len(next) == 0 || bytes.IndexByte([]byte(`"{[0123456789-tfn`), next[0]) >= 0
	case '"':
		return true
	}
	return false
}

// stringEnd finds the quote that closes the string starting at i, or the end of the text, and reports whether an escape was met.
func stringEnd(p []byte, i int) (end int, escapes bool) {
	for i < len(p) {
		k := i
		for k < len(p) && p[k] != '"' && p[k] != '\\' {
			k++
		}
		if k >= len(p) || p[k] == '"' {
			return min(k, len(p)), escapes
		}
		escapes = true
		i = k + 2
	}
	return len(p), escapes
}

// unescape appends the source bytes [lo, hi) with escapes resolved, and returns how many plain letters were given by number.
func (b *builder) unescape(lo, hi int) (codes int) {
	hi = min(hi, len(b.src))
	for lo < hi {
		k := bytes.IndexByte(b.src[lo:hi], '\\')
		if k < 0 {
			break
		}
		b.copy(lo, lo+k)
		lo += k
		e := readEscape(b.src[lo:hi])
		if e.n == 0 {
			b.copy(lo, lo+1)
			lo++
			continue
		}
		if e.plainCode() {
			codes++
		}
		b.putRune(e.r, lo, lo+e.n)
		lo += e.n
	}
	b.copy(lo, hi)
	return codes
}

// decodeEscapes resolves escapes in a text that is no JSON: source code, logs, shell commands.
func decodeEscapes(j job) {
	if looksJSON(j.src) {
		return
	}
	e := editor{b: j.build(stepEscape, "escape")}
	codes := 0
	for i := 0; i < len(j.src); {
		k := bytes.IndexByte(j.src[i:], '\\')
		if k < 0 {
			break
		}
		i += k
		esc := readEscape(j.src[i:])
		if esc.n == 0 || !esc.code && !afterText(j.src, i) {
			i += max(esc.n, 1)
			continue
		}
		if esc.plainCode() {
			codes++
		}
		e.changeRune(esc.r, i, i+esc.n)
		i += esc.n
	}
	e.b.encoded = codes >= encodedFrom
	e.finish()
}

// afterText reports whether the escape at i goes on a phrase. "\n" after a letter is a line feed in a quoted string; after a space,
// a brace or at the start of a line it is a macro, a path or a pattern.
func afterText(p []byte, i int) bool {
	if i == 0 {
		return false
	}
	c := p[i-1]
	return c >= utf8.RuneSelf || markOf[c]&markWord != 0 || bytes.IndexByte([]byte(`.,;:!?)"'`), c) >= 0
}
