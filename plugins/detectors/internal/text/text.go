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

// longest bounds how far one word is followed. No word of a language is longer.
const longest = 96

// A Word is one run of letters and digits, lower-case as far as it is ASCII. A word longer than its room is cut.
type Word struct {
	buf [24]byte
	n   int
	// Start is where the word begins, or -1 for no word.
	Start int
}

// Is reports whether the word is s, which must be lower-case.
func (w *Word) Is(s string) bool { return string(w.buf[:w.n]) == s }

// In reports whether the word is a key of set.
func (w *Word) In(set map[string]bool) bool { return set[string(w.buf[:w.n])] }

// Key looks the word up in m.
func Key[V any](w *Word, m map[string]V) (V, bool) {
	v, ok := m[string(w.buf[:w.n])]
	return v, ok
}

func (w *Word) set(t []byte, from, to int) {
	w.Start, w.n = from, 0
	for _, b := range t[from:min(to, from+len(w.buf))] {
		w.buf[w.n] = Lower(b)
		w.n++
	}
}

// inWord reports whether t[i] belongs to a word: a letter, or an apostrophe between letters.
func inWord(t []byte, i int) bool {
	return Letter(t[i]) || t[i] == '\'' && i > 0 && i+1 < len(t) && Letter(t[i-1]) && Letter(t[i+1])
}

// Before sets w to the last word that ends after low and at or before at, and reports whether there is one.
func Before(t []byte, at, low int, w *Word) bool {
	i := at
	for i > low && !inWord(t, i-1) {
		i--
	}
	to := i
	if i <= low {
		w.Start = -1
		return false
	}
	for i > max(0, to-longest) && inWord(t, i-1) {
		i--
	}
	w.set(t, i, to)
	return true
}

// After sets w to the first word that begins at or after at and before high, and returns where it ends, or -1.
func After(t []byte, at, high int, w *Word) int {
	i := at
	for i < high && !inWord(t, i) {
		i++
	}
	if i >= high {
		w.Start = -1
		return -1
	}
	from := i
	for i < min(len(t), from+longest) && inWord(t, i) {
		i++
	}
	w.set(t, from, i)
	return i
}
