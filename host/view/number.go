package view

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	// minCodes is the shortest list of character codes that is read as text.
	minCodes = 6
	// maxCodeGap is the longest separator between two codes: ")+chr(" is one.
	maxCodeGap = 10
)

// decodeNumbers reads lists of character codes: hexadecimal pairs ("69 67", "0x69,0x67"), decimal numbers, octets of bits, octal
// triples; and Morse code.
func decodeNumbers(j job) {
	n := numbers{codes: j.build(stepFresh, "charcodes"), bits: j.build(stepFresh, "binary"), hex: j.build(stepFresh, "hex"),
		morse: j.build(stepFresh, "morse"), src: j.src}
	j.pieces(traitNumbers, func(lo, hi int) {
		for i := max(lo, n.done); i < hi; {
			i = n.list(i, hi)
		}
		for i := max(lo, n.dots); i < hi; {
			if i = nextSignal(j.src, i, hi); i < hi {
				i = n.signals(i)
			}
		}
	})
	for _, b := range []*builder{n.codes, n.bits, n.hex, n.morse} {
		b.encoded = true
		b.commit()
	}
}

type numbers struct {
	src                     []byte
	codes, bits, hex, morse *builder
	scratch                 []code
	// done and dots are up to where lists and Morse code were looked for.
	done, dots int
}

// code is one member of a list, without its prefix.
type code struct{ lo, hi, next int }

// list reads the list of codes that starts with the first word at or after i, if it is one, and returns where to go on.
func (n *numbers) list(i, hi int) int {
	for i < hi && markOf[n.src[i]]&markWord == 0 {
		i++
	}
	first := codeAt(n.src, i)
	if first.lo == first.hi {
		for i < len(n.src) && markOf[n.src[i]]&markWord != 0 {
			i++
		}
		n.done = i
		return i
	}
	list := append(n.scratch[:0], first)
	for end := first.next; ; {
		next := n.following(end, list)
		if next.lo == next.hi {
			break
		}
		list = append(list, next)
		end = next.next
	}
	n.scratch = list
	n.done = list[len(list)-1].next
	n.read(list)
	return n.done
}

// codeAt finds the digits at i: a whole word of hexadecimal digits, with or without 0x or U+.
func codeAt(p []byte, i int) code {
	if i >= len(p) || digitOf(p[i]) > 15 && p[i] != 'U' || i > 0 && markOf[p[i-1]]&markWord != 0 {
		return code{}
	}
	lo := i
	if i+2 < len(p) && (p[i] == '0' && p[i+1]|0x20 == 'x' || p[i] == 'U' && p[i+1] == '+') {
		lo += 2
	}
	hi := lo
	for hi < len(p) && digitOf(p[hi]) < 16 {
		hi++
	}
	if hi == lo || hi < len(p) && letter(p[hi]) {
		return code{}
	}
	return code{lo, hi, hi}
}

// following finds the next code of a list: after white space and a punctuation mark, or after the same separator as between the first
// two, which may hold letters.
func (n *numbers) following(end int, list []code) code {
	for k := end; ; {
		for k < len(n.src) && k-end <= maxCodeGap && markOf[n.src[k]]&markWord == 0 {
			k++
		}
		if k >= len(n.src) || k-end > maxCodeGap || k == end {
			return code{}
		}
		if c := codeAt(n.src, k); c.lo < c.hi {
			gap := n.src[end:k]
			first := n.src[list[0].hi:min(list[0].hi+len(gap), len(n.src))]
			if len(list) == 1 || plainGap(gap) || bytes.Equal(gap, first) {
				return c
			}
			return code{}
		}
		for k < len(n.src) && k-end <= maxCodeGap && markOf[n.src[k]]&markWord != 0 {
			k++
		}
	}
}

// plainGap reports whether a separator is white space with at most one punctuation mark.
func plainGap(gap []byte) bool {
	marks := 0
	for _, c := range gap {
		if c > ' ' {
			marks++
		}
		if c >= utf8.RuneSelf || markOf[c]&markWord != 0 {
			return false
		}
	}
	return marks <= 1 && len(gap) <= 4
}

// ways are the ways to write a character code: a base and a number of digits. 0 digits means up to seven.
var ways = [...]struct{ base, width int }{{2, 8}, {16, 2}, {10, 0}, {8, 3}, {16, 4}}

// read tries the ways to read a list and keeps the first that yields language. The words around a list may look like codes ("be",
// "add"), so the longest part that fits counts.
func (n *numbers) read(list []code) {
	for i, b := range [...]*builder{n.bits, n.hex, n.codes, n.codes, n.codes} {
		base, width, found := ways[i].base, ways[i].width, false
		for lo := 0; lo < len(list); {
			hi := lo
			for hi < len(list) && fits(n.src[list[hi].lo:list[hi].hi], base, width) {
				hi++
			}
			if hi-lo >= minCodes || hi > lo && list[hi-1].hi-list[lo].lo >= 8*minCodes {
				found = n.spell(b, list[lo:hi], base, width) || found
			}
			lo = max(hi, lo+1)
		}
		if found {
			return
		}
	}
}

// fits reports whether a code is written in a base with a fixed number of digits. Octets may follow each other without a gap.
func fits(digits []byte, base, width int) bool {
	size := len(digits)
	if width == 0 && size > 7 || width > 0 && size != width && (base != 2 || size%8 != 0) {
		return false
	}
	for _, d := range digits {
		if digitOf(d) >= base {
			return false
		}
	}
	return true
}

// spell appends the text that the codes stand for, if it reads like language.
func (n *numbers) spell(b *builder, list []code, base, width int) bool {
	at := b.mark()
	b.sep('\n', list[0].lo)
	start := len(b.text)
	if width == 0 || width > 2 && base == 16 {
		for _, c := range list {
			b.putRune(rune(valueOf(n.src[c.lo:c.hi], base)), c.lo, c.hi)
		}
	} else {
		b.octets(list, base, width)
	}
	got := b.text[start:]
	if !textual(got) || !spelled(got) {
		b.rewind(at)
		return false
	}
	return true
}

// minDistinct is how many different characters a word list or a sentence has at least; a table of numbers may have fewer.
const minDistinct = 4

// Words are written in one alphabet, whose letters are near each other; from ideographs on scripts are larger than that.
const oneAlphabet, ideographs = 0x200, 0x2E80

// spelled is fluentText for short texts too: one known word will do. Of other scripts it only asks for letters of some variety.
func spelled(p []byte) bool {
	var seen [minDistinct]rune
	distinct, letters, high, runes := 0, 0, 0, 0
	first, last := rune(0), rune(0) // of the letters of alphabets beyond ASCII
	for _, r := range string(p[:min(len(p), 256)]) {
		if distinct < minDistinct && !slices.Contains(seen[:distinct], r) {
			seen[distinct] = r
			distinct++
		}
		runes++
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
		if r >= utf8.RuneSelf {
			high++
		}
		if r >= utf8.RuneSelf && r < ideographs && unicode.IsLetter(r) {
			if first == 0 || r < first {
				first = r
			}
			last = max(last, r)
		}
	}
	if distinct < minDistinct || letters*10 < runes*6 || last-first > oneAlphabet {
		return false
	}
	if high*2 > runes {
		return true
	}
	bits, pairs := prose(p)
	found, _ := knownWords(p)
	return found > 0 && bits > 0 || pairs >= minSpaced && bits >= fluent
}

// octets appends codes that are bytes, which may form characters of several bytes.
func (b *builder) octets(list []code, base, width int) {
	var vals []byte
	var ends []int
	for _, c := range list {
		for lo := c.lo; lo < c.hi; lo += width {
			vals = append(vals, byte(valueOf(b.src[lo:lo+width], base)))
			ends = append(ends, lo+width)
		}
	}
	start := list[0].lo
	for i := 0; i < len(vals); {
		r, n := utf8.DecodeRune(vals[i:])
		b.putRune(r, start, ends[i+n-1])
		start = ends[i+n-1]
		i += n
	}
}

func valueOf(p []byte, base int) (v int) {
	for _, c := range p {
		v = v*base + digitOf(c)
	}
	return v
}

// morseCodes gives the letter for each Morse sign, as a number: 1, then a bit for each sign, dash 1 (ITU-R M.1677-1).
var morseCodes = func() map[int]byte {
	codes := map[int]byte{}
	for i, sign := range bytes.Fields([]byte(".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. " +
		"----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----. .-.-.- --..-- ..--..")) {
		v := 1
		for _, c := range sign {
			v <<= 1
			if c == '-' {
				v |= 1
			}
		}
		codes[v] = "abcdefghijklmnopqrstuvwxyz0123456789.,?"[i]
	}
	return codes
}()

// nextSignal finds the next dot or dash at or after i that starts a word.
func nextSignal(p []byte, i, hi int) int {
	for ; i < hi; i++ {
		if signal(p[i]) && (i == 0 || p[i-1] <= ' ' || p[i-1] == '/') {
			return i
		}
	}
	return hi
}

// signals reads the Morse code at i, if there is some, and returns where to go on.
func (n *numbers) signals(i int) int {
	b := n.morse
	at := b.mark()
	b.sep('\n', i)
	start, count := len(b.text), 0
	k := i
	for k < len(n.src) {
		end, v := k, 1
		for end < len(n.src) && end-k < 8 && signal(n.src[end]) {
			v <<= 1
			if n.src[end] != '.' {
				v |= 1
			}
			end++
		}
		c, ok := morseCodes[v]
		if !ok {
			break
		}
		b.putByte(c, k, end)
		count++
		k = end
		for end < len(n.src) && end-k < 5 && (n.src[end] <= ' ' || n.src[end] == '/' || n.src[end] == '|') {
			end++
		}
		if end-k > 1 {
			b.sep(' ', k)
		}
		if end == k {
			break
		}
		k = end
	}
	if count < minCodes || !spelled(b.text[start:]) {
		b.rewind(at)
	}
	n.dots = max(k, i+1)
	return n.dots
}

func signal(c byte) bool { return c == '.' || c == '-' || c == '_' }
