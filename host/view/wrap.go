package view

import "bytes"

// decodeWraps joins words that a line break cuts: hyphenated ones, and all of them where lines were cut at a fixed width without
// regard to words ("joined").
func decodeWraps(j job) {
	e := editor{b: j.build(stepWrap, "joined")}
	w := wraps{e: &e}
	for lo := 0; lo < len(j.src); {
		hi := lineEnd(j.src, lo)
		w.line(lo, hi)
		lo = hi + 1
	}
	w.block(len(j.src))
	e.finish()
}

// wraps follows the widths of lines.
type wraps struct {
	e *editor
	// first is the start of the first of the lines of equal width so far, cut how many of their ends were inside a word.
	first, width, count, cut int
	// spaced is how many of them have a space inside: a blob has none.
	spaced int
}

const (
	// minLines is how many lines of the same width, each cut inside a word, are taken for wrapped text.
	minLines = 4
	// minWidth and maxWidth bound that width: the longest are those of mail.
	minWidth, maxWidth = 8, 100
)

// line handles the line [lo, hi).
func (w *wraps) line(lo, hi int) {
	if hi-lo != w.width {
		w.block(lo)
		w.first, w.width, w.count, w.cut, w.spaced = lo, hi-lo, 0, 0, 0
	}
	w.count++
	src := w.e.b.src
	if hi+1 >= len(src) || hi == lo {
		return
	}
	if letter(src[hi-1]) && letter(src[hi+1]) {
		w.cut++
	}
	if w.width <= maxWidth && bytes.IndexByte(src[lo:hi], ' ') >= 0 {
		w.spaced++
	}
	if src[hi-1] == '-' && hi-lo > 1 && letter(src[hi-2]) {
		w.hyphen(hi)
	}
}

// hyphen joins the word before the line break at i to its rest, if that starts in lower case.
func (w *wraps) hyphen(i int) {
	src, k := w.e.b.src, i+1
	for k < len(src) && k-i < 16 && (src[k] == ' ' || src[k] == '\t' || src[k] == '>') {
		k++
	}
	if k < len(src) && letter(src[k]) && src[k]&0x20 != 0 && i-1 >= w.e.done {
		w.e.change(nil, i-1, k)
	}
}

// block ends a row of lines of equal width, whose next line starts at next.
func (w *wraps) block(next int) {
	if w.count < minLines || w.cut < minLines-1 || w.cut*3 < w.count || w.spaced*2 < w.count || w.width < minWidth || w.width > maxWidth || w.first < w.e.done {
		return
	}
	if w.e.b.separator(w.first + w.width) {
		return
	}
	for i := w.first + w.width; i < next && i < len(w.e.b.src); i += w.width + 1 {
		w.e.change(nil, i, i+1)
	}
}
