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

var codings = []coding{
	{name: "hex", chars: hexChars, bits: 4, in: 2, out: 1},
	{name: "base32", chars: base32Chars, bits: 5, in: 8, out: 5},
	{name: "base64", chars: base64Chars, bits: 6, in: 4, out: 3},
}

// decodeBlobs decodes runs of base64, base32 and hexadecimal that turn out to be text.
func decodeBlobs(j job) {
	var views [3]*builder
	done := 0
	for _, r := range j.scan.runs {
		if r.lo >= done && j.s.Views[j.parent].fresh(r.lo, r.hi) {
			done = j.blob(&views, r.lo, r.hi)
		}
	}
	for _, b := range views {
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

// blob tries the run [lo, hi), together with the lines it may go on in, and returns where to go on.
func (j job) blob(views *[3]*builder, lo, hi int) int {
	wrapped := wrappedEnd(j.src, lo, hi)
	for {
		for c := range codings {
			if j.try(views, c, lo, wrapped) {
				return wrapped
			}
		}
		if wrapped == hi {
			return hi
		}
		wrapped = hi
	}
}

// wrappedEnd extends a run over lines of the same length and a last shorter one.
func wrappedEnd(p []byte, lo, hi int) int {
	width := hi - lo
	for {
		next := hi
		for next < len(p) && next-hi < maxWrap && p[next] <= ' ' {
			next++
		}
		if next == hi || next == len(p) {
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

// try decodes [lo, hi) with one coding. It commits to the result only if that is text.
func (j job) try(views *[3]*builder, c int, lo, hi int) bool {
	cd := &codings[c]
	if !cd.plausible(j.src[lo:hi]) {
		return false
	}
	b := views[c]
	if b == nil {
		b = j.build(stepFresh, cd.name)
		views[c] = b
	}
	at := b.mark()
	b.sep('\n', lo)
	start := len(b.text)
	cd.decode(b, lo, hi)
	if got := trimPartial(b.text[start:]); len(got) < 4 || !textual(got) || cd.bits == 4 && allDigits(j.src[lo:hi]) && !fluentText(got, minPairs) {
		b.rewind(at)
		return false
	}
	return true
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

// plausible is a cheap test of the first characters: all of the alphabet, and the first group must not decode to control characters.
func (cd *coding) plausible(p []byte) bool {
	var acc, n uint64
	for _, c := range p[:min(len(p), 24)] {
		if c <= ' ' {
			continue
		}
		v := cd.chars[c]
		if v == 0xff {
			return false
		}
		acc = acc<<cd.bits | uint64(v)
		if n += uint64(cd.bits); n >= 8 {
			n -= 8
			if b := byte(acc >> n); b < ' ' && b != '\n' && b != '\t' && b != '\r' || b == 0x7f {
				return false
			}
		}
	}
	return true
}

// decode appends the bytes coded in [lo, hi), skipping white space.
func (cd *coding) decode(b *builder, lo, hi int) {
	var acc uint64
	chars, start := 0, lo
	flush := func(end int) {
		bits := chars * cd.bits
		var out [8]byte
		n := bits / 8
		for i := range n {
			out[i] = byte(acc >> (bits - 8*(i+1)))
		}
		b.put(out[:n], start, end)
		acc, chars = 0, 0
	}
	for i := lo; i < hi; i++ {
		v := cd.chars[b.src[i]]
		if v == 0xff {
			if b.src[i] > ' ' {
				break
			}
			continue
		}
		if chars == 0 {
			start = i
		}
		acc = acc<<cd.bits | uint64(v)
		if chars++; chars == cd.in {
			flush(i + 1)
		}
	}
	if chars > 0 {
		flush(hi)
	}
}
