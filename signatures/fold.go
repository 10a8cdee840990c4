package signatures

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// gapMarks stand between words in Markdown, quotations and comments without separating them for a reader (or a model).
const gapMarks = "*_~`>#|/\\"

// isGapSpace reports the white space of a literal's gap: that of ASCII, and the no-break space. The host's fold view has made the wider
// ones into spaces.
func isGapSpace(r rune) bool {
	return r == ' ' || r >= '\t' && r <= '\r' || r == '\u00a0'
}

// isMark reports one of gapMarks.
func isMark(r rune) bool {
	switch r {
	case '*', '_', '~', '`', '>', '#', '|', '/', '\\':
		return true
	}
	return false
}

// isWord reports a letter, mark or digit of any script: what \b is about, and what `word: true` keeps away from a match. The underscore
// is none, since Markdown puts it around words.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'
	}
	if r < 1<<16 {
		return wordRunes[r>>6]>>(r&63)&1 != 0
	}
	return unicode.In(r, unicode.L, unicode.M, unicode.N)
}

// wordRunes has a bit for each letter, mark and digit of the basic plane.
var wordRunes = func() (bits [1 << 10]uint64) {
	for _, table := range []*unicode.RangeTable{unicode.L, unicode.M, unicode.N} {
		for _, span := range table.R16 {
			for r := int(span.Lo); r <= int(span.Hi); r += int(span.Stride) {
				bits[r>>6] |= 1 << (r & 63)
			}
		}
	}
	return bits
}()

// typographic lists the forms that editors put in place of an ASCII sign. The first is the sign itself.
var typographic = [][]rune{
	[]rune(`'’‘‛ʼ′´`),
	[]rune(`"“”„‟″«»`),
	[]rune(`-‐‑‒–—−`),
}

// variants returns what a rune of a literal or pattern may look like in a text, sorted. ASCII letters vary in case only: K (Kelvin) and
// other look-alikes are what the host's fold view is for. Accents may be missing if accents is set.
func variants(r rune, accents bool) []rune {
	if r < utf8.RuneSelf && isWord(r) {
		return asciiCases(r)
	}
	for _, forms := range typographic {
		if slices.Contains(forms, r) {
			out := slices.Clone(forms)
			slices.Sort(out)
			return out
		}
	}
	out := []rune{r}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		out = append(out, f)
	}
	if base, ok := unaccented(r); ok && accents {
		out = append(out, asciiCases(base)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// asciiCases returns r in both cases.
func asciiCases(r rune) []rune {
	upper, lower := unicode.ToUpper(r), unicode.ToLower(r)
	if upper == lower {
		return []rune{r}
	}
	return []rune{min(upper, lower), max(upper, lower)}
}

// unaccented returns the base of an accented letter: é is e, ё is е. The dotless i counts as an accented one.
func unaccented(r rune) (rune, bool) {
	if r == 'ı' {
		return 'i', true
	}
	d := norm.NFD.String(string(r))
	base, n := utf8.DecodeRuneInString(d)
	if n == len(d) || base == r {
		return 0, false
	}
	for _, m := range d[n:] {
		if !unicode.Is(unicode.Mn, m) {
			return 0, false
		}
	}
	return base, true
}

// wordBefore and wordAfter report whether a letter, mark or digit touches text[i] from the left, or starts at it.
func wordBefore(text []byte, i int) bool {
	r, n := utf8.DecodeLastRune(text[:i])
	return n > 0 && isWord(r)
}

func wordAfter(text []byte, i int) bool {
	r, n := utf8.DecodeRune(text[i:])
	return n > 0 && isWord(r)
}
