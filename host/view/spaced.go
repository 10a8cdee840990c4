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
	done := 0
	j.pieces(traitSpaced, func(lo, hi int) {
		for done = max(done, lo); done < hi; {
			r := nextSpaced(j.src, done, hi)
			if r.letters >= minSpaced {
				b.join(r)
			}
			done = r.hi
		}
	})
	b.commit()
}

// row is a run of single letters with gaps between them.
type row struct {
	region
	gap     []byte // the usual gap
	letters int
}

// nextSpaced finds the next run that starts in [i, hi); it may go on beyond hi. One without enough letters only says where to go on.
func nextSpaced(p []byte, i, hi int) row {
	for i < hi && !single(p, i) {
		_, n := utf8.DecodeRune(p[i:])
		i += n
	}
	r := row{region: region{i, i}}
	count := 0
	for k := i; k < len(p) && single(p, k); {
		c, n := utf8.DecodeRune(p[k:])
		count++
		if unicode.IsLetter(c) {
			r.letters++
		}
		r.hi = k + n
		g := gapAt(p, r.hi)
		if len(g) == 0 {
			break
		}
		if r.gap == nil || len(g) < len(r.gap) {
			r.gap = g
		}
		k = r.hi + len(g)
	}
	if r.letters*3 < count*2 {
		r.letters = 0
	}
	return r
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
