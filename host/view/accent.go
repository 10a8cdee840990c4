package view

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	// accented is the share of words with accents, one in so many, from which a line is read without them. Few languages reach it;
	// those that do lose nothing, because the text itself stays a view.
	accented = 3
	// minAccents is the least number of such words in a line.
	minAccents = 3
)

// decodeAccents reads lines in which many words carry accents without them: "ïgnörè" ("plain").
func decodeAccents(j job) {
	b := j.build(stepAccent, "plain")
	for lo := 0; lo < len(j.src); {
		hi := lineEnd(j.src, lo)
		if hi-lo > 4*piece {
			hi = runeStart(j.src, lo+4*piece)
		}
		if manyAccents(j.src[lo:hi]) {
			b.sep('\n', lo)
			b.unaccent(lo, hi)
		}
		if lo = hi; lo < len(j.src) && j.src[lo] == '\n' {
			lo++
		}
	}
	b.commit()
}

// latin reports whether r is an accented Latin letter.
func latinAccent(r rune) bool { return r >= 0xC0 && r < 0x250 || r >= 0x1E00 && r < 0x1F00 }

func manyAccents(p []byte) bool {
	words, marked, in, has := 0, 0, false, false
	for i := 0; i <= len(p); {
		r, n := ' ', 1
		if i < len(p) {
			r, n = utf8.DecodeRune(p[i:])
		}
		i += n
		if r < utf8.RuneSelf && !letter(byte(r)) {
			if in {
				words++
			}
			if has {
				marked++
			}
			in, has = false, false
			continue
		}
		in, has = true, has || latinAccent(r)
	}
	return marked >= minAccents && marked*accented >= words
}

// unaccent appends [lo, hi) with the accents of Latin letters taken off.
func (b *builder) unaccent(lo, hi int) {
	from := lo
	for i := lo; i < hi; {
		r, n := utf8.DecodeRune(b.src[i:])
		if latinAccent(r) {
			if d := norm.NFD.PropertiesString(string(r)).Decomposition(); len(d) > 0 && letter(d[0]) {
				b.copy(from, i)
				b.putByte(d[0], i, i+n)
				from = i + n
			}
		}
		i += n
	}
	b.copy(from, hi)
}
