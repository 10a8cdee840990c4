package view

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// decodeInvisible reads text that is written in characters without a glyph: tag characters ("tags"), variation selectors
// ("variation") and zero-width characters used as bits ("zerowidth"); and text between right-to-left override marks ("reversed").
func decodeInvisible(j job) {
	tags, vars, zero := j.build(stepFresh, "tags"), j.build(stepFresh, "variation"), j.build(stepFresh, "zerowidth")
	turned := j.build(stepFresh, "reversed")
	tags.hidden, vars.hidden, zero.hidden = true, true, true
	vars.encoded, zero.encoded = true, true
	t := folds()
	for i := 0; i < len(j.src); {
		if !glyphless[j.src[i]] {
			i++
			continue
		}
		r, n := utf8.DecodeRune(j.src[i:])
		switch g := t.of(r).glyph(); {
		case g == glyphTag:
			i = tagRun(tags, i)
		case g == glyphVariant:
			i = variantRun(vars, i)
		case zeroWidth(r):
			i = zeroRun(zero, i)
		case r == rightToLeft:
			i = overridden(turned, i+n)
		default:
			i += n
		}
	}
	tags.commit()
	vars.commit()
	zero.commit()
	turned.commit()
}

// glyphless marks the first bytes of the characters that decodeInvisible looks for.
var glyphless = [256]bool{0xE1: true, 0xE2: true, 0xEF: true, 0xF3: true}

// rightToLeft makes what follows it show from right to left, up to popDirection, the next such mark
// or the end of the line.
const rightToLeft, popDirection = 0x202E, "\u202C"

// overridden appends the text at i as a person sees it.
func overridden(b *builder, i int) int {
	end := lineEnd(b.src, i)
	for _, mark := range []string{popDirection, string(rune(rightToLeft))} {
		if k := bytes.Index(b.src[i:end], []byte(mark)); k >= 0 {
			end = i + k
		}
	}
	b.sep('\n', i)
	b.reverse(i, end)
	return end
}

// tagRun decodes the tag characters at i. Runs close to each other were one text, interleaved with a visible one.
func tagRun(b *builder, i int) int {
	if flagAt(b.src, i) {
		return i + 4
	}
	if l := b.last(); l != nil && i-int(l.src+l.n) > 16 {
		b.sep('\n', i)
	}
	for i < len(b.src) {
		r, n := utf8.DecodeRune(b.src[i:])
		if r < 0xE0000 || r > 0xE007F {
			break
		}
		if c := byte(r - 0xE0000); c >= ' ' && c < 0x7f {
			b.putByte(c, i, i+n)
		}
		i += n
	}
	return i
}

// variantRun decodes a run of variation selectors: each carries a byte, or half of one if only the first sixteen are used.
func variantRun(b *builder, i int) int {
	start, low := i, true
	var vals []byte
	var ends []int
	for i < len(b.src) {
		r, n := utf8.DecodeRune(b.src[i:])
		switch {
		case r >= 0xFE00 && r <= 0xFE0F:
			vals = append(vals, byte(r-0xFE00))
		case r >= 0xE0100 && r <= 0xE01EF:
			vals, low = append(vals, byte(r-0xE0100+16)), false
		default:
			n = 0
		}
		if n == 0 {
			break
		}
		i += n
		ends = append(ends, i)
	}
	if len(vals) < 4 {
		return i
	}
	if low {
		vals, ends = nibbles(vals, ends)
	}
	b.bytesAt(vals, start, ends)
	return i
}

// nibbles joins pairs of half bytes.
func nibbles(vals []byte, ends []int) ([]byte, []int) {
	n := len(vals) / 2
	for i := range n {
		vals[i], ends[i] = vals[2*i]<<4|vals[2*i+1], ends[2*i+1]
	}
	return vals[:n], ends[:n]
}

// bytesAt appends decoded bytes if they are text; byte i comes from the source between ends[i-1] (or start) and ends[i].
func (b *builder) bytesAt(p []byte, start int, ends []int) {
	if !textual(p) {
		return
	}
	b.sep('\n', start)
	for i := 0; i < len(p); {
		_, n := utf8.DecodeRune(p[i:])
		b.put(p[i:i+n], start, ends[i+n-1])
		start = ends[i+n-1]
		i += n
	}
}

func zeroWidth(r rune) bool {
	return r >= 0x200B && r <= 0x200F || r == 0xFEFF || r >= 0x2060 && r <= 0x2064 || r == 0x180E
}

// zeroRun decodes a run of zero-width characters as bits, most significant first: the two most frequent ones are 0 and 1, either way
// round; others separate.
func zeroRun(b *builder, i int) int {
	start := i
	var syms []rune
	var ends []int
	for i < len(b.src) {
		r, n := utf8.DecodeRune(b.src[i:])
		if !zeroWidth(r) {
			break
		}
		i += n
		syms, ends = append(syms, r), append(ends, i)
	}
	if len(syms) < 32 {
		return i
	}
	zero, one := twoMost(syms)
	for range 2 {
		vals, at := bitsOf(syms, ends, zero, one)
		if textual(vals) {
			b.bytesAt(vals, start, at)
			break
		}
		zero, one = one, zero
	}
	return i
}

// twoMost finds the two most frequent characters; of equals, the one that comes first.
func twoMost(syms []rune) (a, b rune) {
	var kinds []rune
	var count [16]int
	for _, r := range syms {
		k := slices.Index(kinds, r)
		if k < 0 {
			k, kinds = len(kinds), append(kinds, r)
		}
		count[k]++
	}
	first, second := 0, -1
	for k := 1; k < len(kinds); k++ {
		switch {
		case count[k] > count[first]:
			first, second = k, first
		case second < 0 || count[k] > count[second]:
			second = k
		}
	}
	if second < 0 {
		return kinds[first], -1
	}
	return kinds[first], kinds[second]
}

// bitsOf packs the characters zero and one into bytes.
func bitsOf(syms []rune, ends []int, zero, one rune) (vals []byte, at []int) {
	var v byte
	n := 0
	for i, r := range syms {
		switch r {
		case zero:
			v <<= 1
		case one:
			v = v<<1 | 1
		default:
			continue
		}
		if n++; n == 8 {
			vals, at, v, n = append(vals, v), append(at, ends[i]), 0, 0
		}
	}
	return vals, at
}
