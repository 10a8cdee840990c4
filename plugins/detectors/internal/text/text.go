// Package text answers small questions about the words around a place in a text: where its sentence ends, whether it is quoted, which
// words come before it. Every answer looks at a bounded number of bytes, so asking it for each of n hits costs O(n).
//
// Offsets are bytes; texts are valid UTF-8, as the host's views are. Nothing here allocates unless it says so.
package text

import "unicode/utf8"

// Letter reports whether b belongs to a word: an ASCII letter or digit, or a byte of any other script.
func Letter(b byte) bool {
	return b|0x20 >= 'a' && b|0x20 <= 'z' || b >= '0' && b <= '9' || b >= utf8.RuneSelf
}

// Space reports ASCII white space.
func Space(b byte) bool { return b == ' ' || b >= '\t' && b <= '\r' }

// Lower returns b in lower case if it is an ASCII letter.
func Lower(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// Sentence returns the sentence around [start, end): it ends at a full stop, question or exclamation mark that white space follows, at
// an empty line, at CJK full stops, and at most reach bytes away from the range.
func Sentence(t []byte, start, end, reach int) (from, to int) {
	from, to = start, end
	for low := max(0, start-reach); from > low && !ends(t, from); {
		from--
	}
	for high := min(len(t), end+reach); to < high && !ends(t, to); {
		to++
	}
	for to > 0 && to < len(t) && !utf8.RuneStart(t[to]) {
		to++
	}
	for from < len(t) && !utf8.RuneStart(t[from]) {
		from++
	}
	return from, to
}

// ends reports whether a sentence ends right before t[i].
func ends(t []byte, i int) bool {
	if i <= 0 || i >= len(t) {
		return true
	}
	switch b := t[i-1]; {
	case b == '\n':
		return t[i] == '\n' || t[i] == '\r' || t[i] == '-' || t[i] == '*' || t[i] == '#' || t[i] == '|' || t[i] == '>'
	case b == '.' || b == '!' || b == '?':
		return Space(t[i])
	case i >= 3 && b == 0x82: // U+3002, the ideographic full stop
		return t[i-2] == 0x80 && t[i-3] == 0xE3
	case i >= 3 && (b == 0x81 || b == 0x9F): // U+FF01 and U+FF1F, its exclamation and question marks
		return t[i-2] == 0xBC && t[i-3] == 0xEF
	}
	return false
}
