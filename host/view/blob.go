package view

import "unicode/utf8"

const (
	// minBlob is the shortest run of code characters that is tried: shorter ones are words.
	minBlob = 16
	// maxWrap is the longest gap of white space within one wrapped blob.
	maxWrap = 8
)

// alphabet is a set of code characters with their values; 0xFF for all others.
type alphabet [256]byte

func newAlphabet(chars string, pairs ...string) *alphabet {
	a := new(alphabet)
	for i := range a {
		a[i] = 0xff
	}
	for i, c := range []byte(chars) {
		a[c] = byte(i)
	}
	for _, p := range pairs {
		a[p[0]] = a[p[1]]
	}
	return a
}

const upper, lower, digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz", "0123456789"

var (
	base64Chars = newAlphabet(upper+lower+digits+"+/", "-+", "_/")
	base32Chars = newAlphabet(upper+"234567", "aA", "bB", "cC", "dD", "eE", "fF", "gG", "hH", "iI", "jJ", "kK", "lL", "mM", "nN", "oO", "pP",
		"qQ", "rR", "sS", "tT", "uU", "vV", "wW", "xX", "yY", "zZ")
	hexChars = newAlphabet(digits+"abcdef", "Aa", "Bb", "Cc", "Dd", "Ee", "Ff")
)

// coding is a code that packs `out` bytes into `in` characters of `bits` bits each.
type coding struct {
	name    string
	chars   *alphabet
	bits    int
	in, out int
}

var (
	hexCoding    = coding{name: "hex", chars: hexChars, bits: 4, in: 2, out: 1}
	base32Coding = coding{name: "base32", chars: base32Chars, bits: 5, in: 8, out: 5}
	base64Coding = coding{name: "base64", chars: base64Chars, bits: 6, in: 4, out: 3}
)

// blobs collects what decodeBlobs finds in one text.
type blobs struct {
	j       job
	src     []byte
	views   [5]*builder // see the indices below
	turned  *builder    // blobs written backwards
	squeeze []region    // scratch
	settled int         // up to where scattered tokens were looked for
	taken   []region    // runs that were text, in order
}

// Indices of blobs.views. Blobs in scattered tokens, and words that are a blob each, are views of their own, so that each view keeps
// the order of the source.
const (
	viewHex = iota
	viewBase32
	viewBase64
	viewScattered
	viewWords
)

// decodeBlobs decodes runs of base64, base32 and hexadecimal that turn out to be text, or to hold some.
func decodeBlobs(j job) {
	f := blobs{j: j, src: j.src}
	v := &j.s.Views[j.parent]
	done, tried := 0, 0 // tried: the end of the lines that were tried as one blob; each is tried alone after that
	for _, r := range j.scan.runs {
		if r.lo < done {
			continue
		}
		end := r.hi
		if r.lo >= tried {
			end = wrappedEnd(j.src, r.lo, r.hi)
			tried = end
		}
		if done = r.hi; v.fresh(r.lo, end) {
			if end = f.run(r.lo, r.hi, end); end > 0 {
				done = end
				f.taken = append(f.taken, region{r.lo, end})
			}
		}
	}
	j.pieces(traitCipher, f.scattered)
	for _, b := range [...]*builder{f.views[0], f.views[1], f.views[2], f.views[3], f.views[4], f.turned} {
		if b != nil {
			b.encoded = true
			b.commit()
		}
	}
}

// nextRun finds the next run of at least minBlob base64 characters that starts in [i, stop). It looks at every sixteenth character
// first.
func nextRun(p []byte, i, stop int) (lo, hi int) {
	for i < stop && i+minBlob <= len(p) {
		k := i + minBlob - 1
		for k >= i && base64Chars[p[k]] != 0xff {
			k--
		}
		if k >= i {
			i = k + 1
			continue
		}
		hi = i + minBlob
		for hi < len(p) && base64Chars[p[hi]] != 0xff {
			hi++
		}
		return i, hi
	}
	return len(p), len(p)
}

// run tries the run [lo, hi), first together with the lines up to end that it may go on in. It returns where the text it found ends,
// or 0.
func (f *blobs) run(lo, hi, end int) int {
	f.j.s.Work += end - lo
	if f.lines(lo, hi, end) {
		return end
	}
	if end > hi && f.lines(lo, hi, hi) || f.backwards(lo, hi) {
		return hi
	}
	return 0
}

// lines tries [lo, end), whose first line ends at hi, with each coding.
func (f *blobs) lines(lo, hi, end int) bool {
	if a, b := hexPart(f.src, lo, hi); b-a >= minBlob && f.text(viewHex, &hexCoding, a, max(b, wrappedHex(f.src, b, hi, end))) {
		return true
	}
	switch casesOf(f.src[lo:hi]) {
	case 0, caseUpper, caseLower:
		return onlyOf(f.src[lo:hi], base32Chars) && f.text(viewBase32, &base32Coding, lo, end)
	}
	return f.text(viewBase64, &base64Coding, lo, end)
}

// The cases of the letters in a run. Base64 of a dozen bytes of text nearly always has both; base32 has one.
const (
	caseUpper = 1 << iota
	caseLower
)

func casesOf(p []byte) (cases int) {
	for _, c := range p {
		switch {
		case c >= 'a':
			cases |= caseLower
		case c >= 'A' && c <= 'Z':
			cases |= caseUpper
		}
		if cases == caseUpper|caseLower {
			break
		}
	}
	return cases
}

// onlyOf reports whether all characters of p are in an alphabet.
func onlyOf(p []byte, a *alphabet) bool {
	for _, c := range p {
		if a[c] == 0xff {
			return false
		}
	}
	return true
}

// hexPart finds the hexadecimal digits at the end of a run, after a prefix such as "0x".
func hexPart(p []byte, lo, hi int) (int, int) {
	k := hi
	for k > lo && hexChars[p[k-1]] != 0xff {
		k--
	}
	return k, hi
}

// wrappedHex is the end of the whole wrapped blob if it is hexadecimal too.
func wrappedHex(p []byte, part, hi, end int) int {
	for _, c := range p[hi:end] {
		if c > ' ' && hexChars[c] == 0xff {
			return part
		}
	}
	return end
}

// wrappedEnd extends a run over lines of the same length and a last shorter one.
func wrappedEnd(p []byte, lo, hi int) int {
	width := hi - lo
	for {
		next, lines := hi, 0
		for next < len(p) && next-hi < maxWrap && p[next] <= ' ' {
			if p[next] == '\n' {
				lines++
			}
			next++
		}
		if next == hi || next == len(p) || lines > 1 {
			return hi
		}
		end := next
		for end < len(p) && end-next <= width && base64Chars[p[end]] != 0xff {
			end++
		}
		if n := end - next; n == 0 || n > width {
			return hi
		} else if n < width {
			return end
		}
		hi = end
	}
}

const (
	// minWhole is how many ASCII characters a blob must hold to be taken for text without looking at its words: ten random bytes are
	// hardly ever all printable. minHead is the least text at the start of binary data, minStretch the least within it.
	minWhole, minHead, minStretch = 10, 5, 24
	// headPhases is how much of a blob is decoded from an alignment that shows no text so far.
	headPhases = 64
)

// text decodes [lo, hi) with one coding and keeps the stretches of text in it. Characters glued to the front of base64 shift the groups,
// so each alignment is tried until one yields text. Hexadecimal is aligned to its end.
func (f *blobs) text(view int, cd *coding, lo, hi int) bool {
	if cd.bits == 4 && (hi-lo)%2 != 0 {
		lo++
	}
	if f.phase(view, cd, lo, hi, true) {
		return true
	}
	for phase := 1; phase < cd.in && cd.bits == 6; phase++ {
		if f.phase(view, cd, lo+phase, hi, false) {
			return true
		}
	}
	return false
}

// phase decodes [lo, hi) from one alignment.
func (f *blobs) phase(view int, cd *coding, lo, hi int, first bool) bool {
	g := groups{cd: cd, src: f.src, pos: lo, end: hi}
	found, from, size, zeros := false, lo, 0, 0
	for g.next() {
		good := true
		for _, c := range g.bytes[:g.n] {
			good = good && readable(c)
			if c == 0 {
				zeros++
			}
		}
		if good {
			if size == 0 {
				from = g.start
			}
			size += g.n
			continue
		}
		found = f.keep(view, cd, from, g.start, hi, size, first && from == lo) || found
		if size = 0; !first && !found && g.start-lo > headPhases {
			return false
		}
		if zeros > 3 && g.start-lo < 64 && first && f.wide(view, cd, lo, hi) {
			return true
		}
	}
	return f.keep(view, cd, from, hi, hi, size, first && from == lo) || found
}

// readable reports whether a byte may be part of text.
func readable(c byte) bool {
	return c >= ' ' && c != 0x7f || c == '\n' || c == '\t' || c == '\r'
}

// keep appends the text decoded from [lo, hi), if it is one; size is how many bytes it has, head that the blob starts with it, and end
// where the blob ends.
func (f *blobs) keep(view int, cd *coding, lo, hi, end, size int, head bool) bool {
	if size < minHead || !head && size < minStretch {
		return false
	}
	b := f.builder(view, cd.name)
	at := b.mark()
	b.sep('\n', lo)
	start := len(b.text)
	b.decode(cd, lo, hi)
	got := trimPartial(b.text[start:])
	if !head && !utf8.Valid(got) {
		// The first groups may be the end of the binary data before the text.
		b.rewind(at)
		if lo = f.plainGroup(cd, lo, hi); lo == hi {
			return false
		}
		b.sep('\n', lo)
		b.decode(cd, lo, hi)
		got = trimPartial(b.text[start:])
	}
	sure := head && hi == end && len(got) >= minWhole && !hasHigh(got) && !(cd.bits == 4 && allDigits(f.src[lo:hi]))
	if !textual(got) || !sure && !spelled(got) {
		b.rewind(at)
		return false
	}
	b.cut(start + len(got))
	return true
}

// plainGroup finds the first group of [lo, hi) that decodes to ASCII, and steps over at most four others.
func (f *blobs) plainGroup(cd *coding, lo, hi int) int {
	g := groups{cd: cd, src: f.src, pos: lo, end: hi}
	for n := 0; n < 4 && g.next(); n++ {
		if !hasHigh(g.bytes[:g.n]) {
			return g.start
		}
	}
	return hi
}

func (f *blobs) builder(view int, name string) *builder {
	if f.views[view] == nil {
		f.views[view] = f.j.build(stepFresh, name)
	}
	return f.views[view]
}

// allDigits reports whether p holds no letter: such a hexadecimal number is more likely a decimal one.
func allDigits(p []byte) bool {
	for _, c := range p {
		if letter(c) {
			return false
		}
	}
	return true
}

// trimPartial drops an incomplete character from the end.
func trimPartial(p []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if c := p[len(p)-n]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-n:]) {
				return p[:len(p)-n]
			}
			break
		}
	}
	return p
}

// groups walks over the code groups of a text, skipping white space.
type groups struct {
	cd         *coding
	src        []byte
	pos, end   int
	start, fin int     // where the group is in the source
	bytes      [5]byte // what it decodes to
	n          int
}

// next reads a group. The last one may be incomplete.
func (g *groups) next() bool {
	if g.whole() {
		return true
	}
	var acc uint64
	chars := 0
	for g.pos < g.end && chars < g.cd.in {
		c := g.src[g.pos]
		v := g.cd.chars[c]
		if v == 0xff {
			if c > ' ' {
				g.end = g.pos
				break
			}
			g.pos++
			continue
		}
		if chars == 0 {
			g.start = g.pos
		}
		acc = acc<<g.cd.bits | uint64(v)
		chars++
		g.pos++
	}
	g.fin = g.pos
	bits := chars * g.cd.bits
	g.n = bits / 8
	for i := range g.n {
		g.bytes[i] = byte(acc >> (bits - 8*(i+1)))
	}
	return g.n > 0
}

// whole is next for the usual case: a complete group without white space in it.
func (g *groups) whole() bool {
	cd := g.cd
	if g.pos+cd.in > g.end {
		return false
	}
	var acc uint64
	var all byte
	for _, c := range g.src[g.pos : g.pos+cd.in] {
		v := cd.chars[c]
		all |= v
		acc = acc<<(cd.bits&63) | uint64(v)
	}
	if all == 0xff {
		return false
	}
	g.start, g.n = g.pos, cd.out
	g.pos += cd.in
	g.fin = g.pos
	for i := cd.out - 1; i >= 0; i-- {
		g.bytes[i] = byte(acc)
		acc >>= 8
	}
	return true
}

// decode appends the bytes coded in [lo, hi).
func (b *builder) decode(cd *coding, lo, hi int) {
	g := groups{cd: cd, src: b.src, pos: lo, end: hi}
	for g.next() {
		b.put(g.bytes[:g.n], g.start, g.fin)
	}
}

// wide decodes [lo, hi) to UTF-16, as Windows tools encode commands.
func (f *blobs) wide(view int, cd *coding, lo, hi int) bool {
	var raw []byte
	g := groups{cd: cd, src: f.src, pos: lo, end: hi}
	for g.next() {
		raw = append(raw, g.bytes[:g.n]...)
	}
	w := widthOf(raw)
	if w.unit == 0 {
		return false
	}
	b := f.builder(view, cd.name)
	at := b.mark()
	b.sep('\n', lo)
	start := len(b.text)
	var text []byte
	w.each(raw, func(r rune, _, _ int) { text = utf8.AppendRune(text, r) })
	b.put(text, lo, hi)
	if !textual(b.text[start:]) {
		b.rewind(at)
		return false
	}
	return true
}

// backwards tries a run that is base64 read from its end: padding before it gives it away.
func (f *blobs) backwards(lo, hi int) bool {
	if lo == 0 || f.src[lo-1] != '=' || hi < len(f.src) && f.src[hi] == '=' {
		return false
	}
	var head [minBlob]byte
	for i := range head {
		head[i] = f.src[hi-1-i]
	}
	g := groups{cd: &base64Coding, src: head[:], end: len(head)}
	for g.next() {
		for _, c := range g.bytes[:g.n] {
			if !readable(c) || c >= utf8.RuneSelf {
				return false
			}
		}
	}
	if f.turned == nil {
		f.turned = f.j.build(stepFresh, "reversed")
	}
	f.turned.sep('\n', lo)
	f.turned.reverse(lo, hi)
	return true
}

// minTokens is how many short tokens in a row are tried as pieces of one blob, or as one blob each.
const minTokens = 3

// scattered looks for blobs in [lo, hi) that white space cuts into tokens too short to be noticed: "aWdu b3Jl".
func (f *blobs) scattered(lo, hi int) {
	for n := 0; lo > f.settled && f.src[lo-1] > ' ' && n < minBlob; n++ {
		lo--
	}
	list := f.squeeze[:0]
	for i := lo; i < hi; {
		end := i
		for end < hi && end-i < minBlob && (base64Chars[f.src[end]] != 0xff || f.src[end] == '=') {
			end++
		}
		for len(f.taken) > 0 && f.taken[0].hi <= i {
			f.taken = f.taken[1:]
		}
		if done := len(f.taken) > 0 && f.taken[0].lo < end; end > i && !done && (end == hi || f.src[end] <= ' ') {
			list = append(list, region{i, end})
		} else {
			f.tokens(list)
			list = list[:0]
			for end < hi && f.src[end] > ' ' {
				end++
			}
		}
		for i = end; i < hi && f.src[i] <= ' '; {
			i++
		}
	}
	f.tokens(list)
	f.squeeze, f.settled = list[:0], hi
}

// tokens tries neighbouring tokens as one blob, then as one each.
func (f *blobs) tokens(list []region) {
	if len(list) < minTokens {
		return
	}
	lo, hi := list[0].lo, list[len(list)-1].hi
	if f.promising(lo, min(hi, lo+headPhases)) {
		b := f.builder(viewScattered, "base64")
		at := b.mark()
		if f.text(viewScattered, &base64Coding, lo, hi) && !spelled(b.text[at.text:]) {
			b.rewind(at)
		}
	}
	good := 0
	for _, t := range list {
		if f.word(t) {
			good++
		}
	}
	if good >= minTokens && good*2 >= len(list) {
		f.words(list)
	}
}

// promising reports whether some alignment of [lo, hi) decodes to a stretch of ASCII text.
func (f *blobs) promising(lo, hi int) bool {
	for phase := range base64Coding.in {
		g := groups{cd: &base64Coding, src: f.src, pos: lo + phase, end: hi}
		for size := 0; g.next(); {
			for _, c := range g.bytes[:g.n] {
				if size++; !readable(c) || c >= utf8.RuneSelf {
					size = 0
				}
			}
			if size > minWhole {
				return true
			}
		}
	}
	return false
}

// word reports whether a token decodes to something that starts like a word.
func (f *blobs) word(t region) bool {
	g := groups{cd: &base64Coding, src: f.src, pos: t.lo, end: t.hi}
	return g.next() && g.n > 1 && letter(g.bytes[0]) && readable(g.bytes[1]) && g.bytes[1] < utf8.RuneSelf
}

// words appends each token that is a word of its own, with spaces between them.
func (f *blobs) words(list []region) {
	b := f.builder(viewWords, "base64")
	at := b.mark()
	b.sep('\n', list[0].lo)
	start := len(b.text)
	for i, t := range list {
		if !f.word(t) {
			continue
		}
		word := b.mark()
		if i > 0 {
			b.sep(' ', t.lo)
		}
		from := len(b.text)
		if b.decode(&base64Coding, t.lo, t.hi); !textual(b.text[from:]) {
			b.rewind(word)
		}
	}
	if !spelled(b.text[start:]) {
		b.rewind(at)
	}
}
