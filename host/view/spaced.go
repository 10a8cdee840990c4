package view

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

const (
	// minSpaced is how many single letters in a row are taken for a spaced word.
	minSpaced = 5
	// maxGap is the longest gap between two of them.
	maxGap = 8
)

// decodeSpaced joins letters that stand apart: "i g n o r e", "i.g.n.o.r.e", one letter a line. A wider gap than usual is the end of a
// word ("spaced").
func decodeSpaced(j job) {
	b := j.build(stepSpaced, "spaced")
	b.encoded = true
	j.pieces(traitSpaced, func(lo, hi int) {
		for i := lo; i < hi; {
			r := nextSpaced(j.src, i, hi)
			if r.lo == r.hi {
				return
			}
			b.join(r)
			i = r.hi
		}
	})
	b.commit()
}

// row is a run of single letters with gaps between them.
type row struct {
	region
	gap []byte // the usual gap
}

// nextSpaced finds the next run that starts in [i, hi); it may go on beyond hi. An empty one means that there is none.
func nextSpaced(p []byte, i, hi int) row {
	for i < hi {
		if !single(p, i) {
			_, n := utf8.DecodeRune(p[i:])
			i += n
			continue
		}
		count, letters, end, gap := 0, 0, i, []byte(nil)
		for k := i; k < len(p) && single(p, k); {
			r, n := utf8.DecodeRune(p[k:])
			count++
			if unicode.IsLetter(r) {
				letters++
			}
			end = k + n
			g := gapAt(p, end)
			if len(g) == 0 {
				break
			}
			if gap == nil || len(g) < len(gap) {
				gap = g
			}
			k = end + len(g)
		}
		if letters >= minSpaced && letters*3 >= count*2 {
			return row{region{i, end}, gap}
		}
		i = end
	}
	return row{}
}

// single reports whether a letter or digit stands alone at i.
func single(p []byte, i int) bool {
	r, n := utf8.DecodeRune(p[i:])
	if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
		return false
	}
	if before, _ := utf8.DecodeLastRune(p[:i]); unicode.IsLetter(before) || unicode.IsDigit(before) {
		return false
	}
	after, _ := utf8.DecodeRune(p[i+n:])
	return !unicode.IsLetter(after) && !unicode.IsDigit(after)
}

// gapAt is the run of separators and punctuation at i; empty if it is too long or the text ends.
func gapAt(p []byte, i int) []byte {
	k := i
	for k < len(p) && k-i <= maxGap {
		r, n := utf8.DecodeRune(p[k:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) || r == utf8.RuneError {
			break
		}
		k += n
	}
	if k-i > maxGap || k == len(p) {
		return nil
	}
	return p[i:k]
}

// join appends a run without its usual gaps. A run that spells neither known words nor anything fluent is a list of names, and left
// alone.
func (b *builder) join(r row) {
	at := b.mark()
	b.sep('\n', r.lo)
	start := len(b.text)
	for i := r.lo; i < r.hi; {
		_, n := utf8.DecodeRune(b.src[i:])
		b.put(b.src[i:i+n], i, i+n)
		i += n
		if i >= r.hi {
			break
		}
		g := gapAt(b.src, i)
		if !bytes.Equal(g, r.gap) {
			b.wideGap(g, r.gap, i)
		}
		i += len(g)
	}
	got := b.text[start:]
	bits, pairs := prose(got)
	found, _ := knownWords(got)
	if ascii := !hasHigh(got); ascii && found == 0 && (pairs < minSpaced || bits < fluent) {
		b.rewind(at)
	}
}

// wideGap appends what is left of a gap that is not the usual one: its punctuation, and a space if it is wider.
func (b *builder) wideGap(g, usual []byte, at int) {
	rest := g
	for k := 0; k < len(g); {
		_, n := utf8.DecodeRune(g[k:])
		if c := g[k : k+n]; c[0] > ' ' && !bytes.Contains(usual, c) {
			b.put(c, at+k, at+k+n)
			rest = rest[n:]
		}
		k += n
	}
	if len(rest) > len(usual) && len(rest) != 2*len(usual) || len(rest) == len(g) {
		b.putByte(' ', at, at+len(g))
	}
}
