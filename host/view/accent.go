package view

import (
	"unicode/utf8"
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
	if !hasAccents(j.src) {
		return
	}
	b, t := j.build(stepAccent, "plain"), folds()
	for lo := 0; lo < len(j.src); {
		hi := lineEnd(j.src, lo)
		if hi-lo > 4*piece {
			hi = runeStart(j.src, lo+4*piece)
		}
		if t.manyAccents(j.src[lo:hi]) {
			b.sep('\n', lo)
			b.unaccent(t, lo, hi)
		}
		if lo = hi; lo < len(j.src) && j.src[lo] == '\n' {
			lo++
		}
	}
	b.commit()
}

// hasAccents reports whether p may hold an accented Latin letter: by the first byte of its encoding.
func hasAccents(p []byte) bool {
	for i, c := range p {
		if c >= 0xC3 && c < 0xCC || c == 0xE1 && i+1 < len(p) && p[i+1] >= 0xB8 && p[i+1] < 0xBC {
			return true
		}
	}
	return false
}

// manyAccents reports whether the words with accents are many among the words of p.
func (t *foldTable) manyAccents(p []byte) bool {
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
		if in = true; r >= utf8.RuneSelf {
			has = has || t.plain(r) != 0
		}
	}
	return marked >= minAccents && marked*accented >= words
}

// unaccent appends [lo, hi) with the accents of Latin letters taken off.
func (b *builder) unaccent(t *foldTable, lo, hi int) {
	from := lo
	for i := lo; i < hi; {
		r, n := utf8.DecodeRune(b.src[i:])
		if c := t.plain(r); r >= utf8.RuneSelf && c != 0 {
			b.copy(from, i)
			b.putByte(c, i, i+n)
			from = i + n
		}
		i += n
	}
	b.copy(from, hi)
}
