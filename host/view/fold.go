package view

import (
	"unicode"
	"unicode/utf8"
)

// maxWord bounds the stretch that is folded at once.
const maxWord = 256

// decodeFold undoes spelling tricks: compatibility forms (full width, mathematical, circled) and letter-like symbols become plain
// letters, look-alike letters of other scripts become Latin ones in words that mix scripts, and what is invisible or stuffed between
// letters goes. Emoji sequences, Persian and Indic joiners, flags and words wholly in another script stay as they are.
func decodeFold(j job) {
	f := folder{e: editor{b: j.build(stepFold, "fold")}, src: j.src, table: folds()}
	for i := 0; i < len(j.src); {
		i = nextOdd(j.src, i)
		if i >= len(j.src) {
			break
		}
		if j.src[i] < utf8.RuneSelf {
			f.e.change(nil, i, i+1) // a control character
			i++
			continue
		}
		i = f.word(i)
	}
	f.e.finish()
}

// oddByte marks the bytes that folding has to look at: control characters, and the first bytes of characters other than ideographs,
// Hangul, and the scripts of South Asia, which never change.
var oddByte = func() (t [256]bool) {
	for i := range t {
		t[i] = i >= 0xC2 && i != 0xE0 && (i < 0xE4 || i > 0xED) || markOf[i]&markControl != 0
	}
	return t
}()

// nextOdd finds the next odd byte at or after i.
func nextOdd(p []byte, i int) int {
	for i < len(p) && !oddByte[p[i]] {
		i++
	}
	return i
}

// folder folds one text.
type folder struct {
	e     editor
	src   []byte
	table *foldTable
	// latin says that the word before was Latin, after folding.
	latin bool
	last  int // where that word ended
}

// letters counts what a word is made of.
type letters struct {
	latin, alike, foreign int
	// odd says that something else in it may have to change.
	odd bool
}

// mixed reports whether the look-alikes of a word are to be replaced: it also holds Latin letters, or all of it looks Latin and its
// neighbours (how many of the two words beside it) are Latin. Short words of that kind are common in Cyrillic and Greek.
func (l letters) mixed(neighbours int) bool {
	return l.alike > 0 && (l.latin > 0 || l.foreign == 0 && (neighbours == 2 || neighbours == 1 && l.alike >= 3))
}

// word folds the word around the odd character at i and returns where it ends.
func (f *folder) word(i int) int {
	lo, hi := f.bounds(i)
	var count letters
	for k := lo; k < hi; {
		r, n := utf8.DecodeRune(f.src[k:])
		f.count(&count, r)
		k += n
	}
	mixed := count.mixed(f.neighbours(lo, hi))
	for k := lo; k < hi && (mixed || count.odd); {
		k = f.char(k, mixed)
		hi = max(hi, k) // marks may reach beyond a long word
	}
	f.latin, f.last = count.latin > 0 || mixed, hi
	return hi
}

// bounds finds the word around i: up to white space or ASCII punctuation.
func (f *folder) bounds(i int) (int, int) {
	lo, hi := i, i+1
	for lo > f.e.done && lo > f.last && i-lo < 64 && markOf[f.src[lo-1]]&markWord != 0 {
		lo--
	}
	for hi < len(f.src) && markOf[f.src[hi]]&(markWord|markHigh) != 0 && (hi-i < maxWord || !utf8.RuneStart(f.src[hi])) {
		hi++
	}
	return lo, hi
}

func (f *folder) count(c *letters, r rune) {
	if r < utf8.RuneSelf {
		if letter(byte(r)) {
			c.latin++
		}
		return
	}
	switch fd := f.table.of(r); fd.glyph() {
	case glyphAlike:
		c.alike++
	case glyphForeign:
		c.foreign++
	case glyphAlways:
		c.odd = true
		if to := fd.rune(); to < utf8.RuneSelf && letter(byte(to)) {
			c.latin++
		}
	case glyphPlain:
		if r < 0x250 && unicode.IsLetter(r) {
			c.latin++
		}
	default:
		c.odd = true
	}
}

// neighbours counts the Latin words beside [lo, hi).
func (f *folder) neighbours(lo, hi int) (n int) {
	k := lo
	for k > 0 && lo-k < 4 && f.src[k-1] < utf8.RuneSelf && !letter(f.src[k-1]) {
		k--
	}
	if k > 0 && letter(f.src[k-1]) || k == f.last && f.latin {
		n++
	}
	for hi < len(f.src) && hi-lo < maxWord+4 && f.src[hi] < utf8.RuneSelf && markOf[f.src[hi]]&markWord == 0 {
		hi++
	}
	if hi < len(f.src) && letter(f.src[hi]) {
		n++
	}
	return n
}

// char folds the character at k and returns where the next one starts.
func (f *folder) char(k int, mixed bool) int {
	r, n := utf8.DecodeRune(f.src[k:])
	if r < utf8.RuneSelf {
		return k + n
	}
	fd := f.table.of(r)
	switch fd.glyph() {
	case glyphAlways:
		if !f.eastern(r, k) {
			f.e.changeRune(fd.rune(), k, k+n)
		}
	case glyphMulti:
		f.e.change([]byte(f.table.multi[fd.rune()]), k, k+n)
	case glyphAlike:
		if mixed {
			f.e.changeRune(fd.rune(), k, k+n)
		}
	case glyphMark:
		return f.marks(k)
	case glyphFlag:
		return f.indicators(k)
	case glyphIgnored:
		if r != 0xFEFF || k > 0 {
			f.e.change(nil, k, k+n)
		}
	case glyphJoiner, glyphVariant, glyphTag:
		if !f.joins(r, k, k+n) {
			f.e.change(nil, k, k+n)
		}
	}
	return k + n
}

// eastern reports whether r is a full-width punctuation mark after an ideograph, Kana or Hangul, where it belongs.
func (f *folder) eastern(r rune, k int) bool {
	if r < 0xFF01 || r > 0xFFE6 || r >= 0xFF10 && r <= 0xFF19 || unicode.IsLetter(r) {
		return false
	}
	before, _ := utf8.DecodeLastRune(f.src[:k])
	return before >= 0x3000 && before < 0xE000
}

// maxFlags is the longest row of regional indicators that is taken for flags.
const maxFlags = 4

// indicators folds a run of regional indicators. In pairs they are flags; alone, odd in number or in long rows they are letters.
func (f *folder) indicators(k int) int {
	end := k
	for end+4 <= len(f.src) {
		if r, _ := utf8.DecodeRune(f.src[end:]); f.table.of(r).glyph() != glyphFlag {
			break
		}
		end += 4
	}
	if n := (end - k) / 4; n%2 == 0 && n <= 2*maxFlags {
		return end
	}
	for ; k < end; k += 4 {
		r, _ := utf8.DecodeRune(f.src[k:])
		f.e.changeRune(f.table.of(r).rune(), k, k+4)
	}
	return end
}

// keycap makes an emoji of a digit.
const keycap = 0x20E3

// marks folds a run of combining marks. Those that compose with the letter before are its accents; the others are stuffing.
func (f *folder) marks(k int) int {
	base, n := utf8.DecodeLastRune(f.src[f.e.done:k])
	letter := base
	end := k
	for end < len(f.src) {
		r, size := utf8.DecodeRune(f.src[end:])
		if f.table.of(r).glyph() != glyphMark {
			break
		}
		if c, ok := f.table.composed[[2]rune{letter, r}]; ok {
			letter = c
		}
		end += size
	}
	if r, size := utf8.DecodeRune(f.src[k:]); r == keycap && k+size == end && (base == 0xFE0F || base < 'A' && base > ' ') {
		return end
	}
	if letter != base {
		f.e.changeRune(letter, k-n, end)
	} else {
		f.e.change(nil, k, end)
	}
	return end
}

// joins reports whether an invisible character does its proper work at [lo, hi).
func (f *folder) joins(r rune, lo, hi int) bool {
	before, _ := utf8.DecodeLastRune(f.src[:lo])
	after, _ := utf8.DecodeRune(f.src[hi:])
	switch f.table.of(r).glyph() {
	case glyphVariant:
		return variantAfter(r, before)
	case glyphTag:
		return flagAt(f.src, lo)
	}
	if r == 0x200D && (emoji(before) || before == 0xFE0F) && emoji(after) {
		return true
	}
	return complexScript(before) || complexScript(after)
}

// variantAfter reports whether a variation selector belongs to the character before it.
func variantAfter(r, before rune) bool {
	switch {
	case r >= 0xE0100:
		return unicode.Is(unicode.Han, before)
	case r == 0xFE0F || r == 0xFE0E:
		return emoji(before) || before >= '0' && before <= '9' || before == '#' || before == '*' || before == 0xA9 || before == 0xAE
	}
	return unicode.Is(unicode.Han, before) || complexScript(before) || emoji(before)
}

// emoji reports whether r may take part in an emoji sequence.
func emoji(r rune) bool {
	return r >= 0x1F000 && r < 0x1FB00 || r >= 0x203C && r < 0x3300 && !unicode.IsLetter(r) && !unicode.IsSpace(r) && r != 0x2800
}

// complexScript reports whether r belongs to a script whose spelling needs joiners or direction marks.
func complexScript(r rune) bool {
	return r >= 0x590 && r < 0x1000 || r >= 0x1000 && r < 0x10A0 || r >= 0x1780 && r < 0x18B0 || r >= 0xFB1D && r < 0xFE00 ||
		r >= 0xFE70 && r < 0xFEFF || r >= 0xA800 && r < 0xAC00 || r >= 0x10800 && r < 0x11FFF || r >= 0x1E900 && r < 0x1EF00
}

// flags are the only tag sequences in use (Unicode's RGI_Emoji_Tag_Sequence): England, Scotland, Wales.
var flags = []string{"gbeng", "gbsct", "gbwls"}

// flagAt reports whether the tag character at pos is part of one of them, from the black flag to the cancel tag.
func flagAt(p []byte, pos int) bool {
	const size = 4 // of a tag character and of the black flag in UTF-8
	start := pos
	for range 7 {
		if start < size || start+4 > len(p) {
			return false
		}
		if r, _ := utf8.DecodeRune(p[start:]); r < 0xE0000 {
			break
		}
		start -= size
	}
	if r, _ := utf8.DecodeRune(p[start:]); r != 0x1F3F4 {
		return false
	}
	var name [6]byte
	for i := range name {
		at := start + size*(i+1)
		if at >= len(p) {
			return false
		}
		r, _ := utf8.DecodeRune(p[at:])
		if r < 0xE0000 || r >= 0xE0080 {
			return false
		}
		name[i] = byte(r - 0xE0000)
	}
	for _, f := range flags {
		if string(name[:5]) == f && name[5] == 0x7f {
			return pos <= start+size*6
		}
	}
	return false
}
