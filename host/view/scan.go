package view

import (
	"encoding/binary"
	"math"
)

// marks is a set of the things that decoders look for in a text: bytes, and traits of whole stretches.
type marks uint32

const (
	markEscape    marks = 1 << iota // ESC, backspace, a carriage return
	markControl                     // other control characters
	markHigh                        // above 0x7F
	markLess                        // <
	markAmp                         // &
	markPercent                     // %
	markBackslash                   // \
	markEqual                       // =
	markBracket                     // [
	markQuote                       // "
	markPlus                        // +
	markWord                        // letters and digits
	// Traits, found by statistics; see trait.
	markRun // base64 characters, see minBlob
	markSpaced
	markNumbers
	markLeet
	markCipher
	markMirror
	markGlued
)

// markAny wakes a decoder on every text.
const markAny = ^marks(0)

// scanned are the marks that the first pass looks for among ASCII characters.
const scanned = markEscape | markControl | markLess | markAmp | markPercent | markBackslash | markEqual | markBracket | markQuote | markPlus

var markOf = func() (t [256]marks) {
	for i := range t {
		switch c := byte(i); {
		case c >= 0x80:
			t[i] = markHigh
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f:
			t[i] = markControl
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9':
			t[i] = markWord
		}
	}
	for c, m := range map[byte]marks{'<': markLess, '&': markAmp, '%': markPercent, '\\': markBackslash, '=': markEqual, '[': markBracket,
		'"': markQuote, '+': markPlus, '\r': markEscape, '\b': markEscape, 0x1b: markEscape} {
		t[c] = m
	}
	return t
}()

// trait is what statistics tell about a stretch of text.
type trait uint8

const (
	traitSpaced  trait = iota // hardly two letters in a row
	traitNumbers              // mostly digits, or dots and dashes
	traitLeet                 // digits among letters
	traitCipher               // letters, but no language
	traitMirror               // like prose read backwards
	traitGlued                // words with punctuation for spaces
	traits
)

var traitMarks = [traits]marks{markSpaced, markNumbers, markLeet, markCipher, markMirror, markGlued}

// region is a range of bytes.
type region struct{ lo, hi int }

// scan is what one pass over a text finds. Its memory is reused.
type scan struct {
	seen marks
	// runs are the stretches of at least minBlob base64 characters.
	runs []region
	// regions are where each trait was noticed: whole windows, neighbours merged.
	regions [traits][]region
}

func (s *scan) reset() {
	s.seen, s.runs = 0, s.runs[:0]
	for t := range s.regions {
		s.regions[t] = s.regions[t][:0]
	}
}

// The statistics of a window are sums over its pairs of neighbouring bytes. All seven fit into one 64-bit word, so that one table
// lookup and one addition per byte keep them: two sums of 14 bits and five counts of 7 bits.
const (
	window = 32 // bytes

	laneCipher  = 0  // how little the letters look like language
	laneMirror  = 14 // how much they look like language backwards
	laneStarts  = 28 // letters after something that is no letter
	laneNumbers = 35 // digits, dots, dashes
	laneLeet    = 42 // digits next to letters
	laneGlue    = 49 // letters after punctuation
	laneMarks   = 56 // bytes that decoders look for

	sumTop, countTop = 13, 6 // the top bits of a sum and of a count

	laneBias  = 128 // keeps every addend of a sum positive
	bitsScale = 8   // addends are in eighths of a bit
)

// thresholds are what each lane must reach for its trait.
type thresholds struct{ cipher, mirror, starts, numbers, leet, glue uint64 }

const topBits = 1<<(laneMarks+countTop) | 1<<(laneGlue+countTop) | 1<<(laneLeet+countTop) | 1<<(laneNumbers+countTop) |
	1<<(laneStarts+countTop) | 1<<(laneMirror+sumTop) | 1<<(laneCipher+sumTop)

// word is the value that, added to the sums, sets the top bit of each lane that reaches its threshold.
func (t thresholds) word() uint64 {
	sum := func(least uint64) uint64 { return 1<<sumTop - window*laneBias - least*bitsScale }
	count := func(least uint64) uint64 { return 1<<countTop - least }
	return sum(t.cipher)<<laneCipher | sum(t.mirror)<<laneMirror | count(t.starts)<<laneStarts | count(t.numbers)<<laneNumbers |
		count(t.leet)<<laneLeet | count(t.glue)<<laneGlue | count(1)<<laneMarks
}

// The limits: a window of prose stays far below, a window of the disguise far above. In a text of few windows half of one is enough.
var (
	longText  = thresholds{cipher: 9, mirror: 7, starts: 9, numbers: 10, leet: 4, glue: 4}.word()
	shortText = thresholds{cipher: 3, mirror: 3, starts: 5, numbers: 6, leet: 3, glue: 3}.word()
)

// short is the length up to which a text counts as short.
const short = 4 * window

// lanes is the table of addends, by the first byte and, times 256, the second. It takes 512 KiB, of which any one text uses little.
var lanes = func() (t [1 << 16]uint64) {
	var byClass [classes * classes]uint64
	for a := range byte(classes) {
		for b := range byte(classes) {
			byClass[int(a)*classes+int(b)] = laneAddend(a, b)
		}
	}
	for i := range t {
		a, b := byte(i), byte(i>>8)
		t[i] = byClass[int(classOf[a])*classes+int(classOf[b])]
		if letter(b) && glue[a] {
			t[i] |= 1 << laneGlue
		}
	}
	return t
}()

// glue are the punctuation marks that may stand between words instead of spaces.
var glue = func() (t [256]bool) {
	for _, c := range []byte(".,;:!?*|~^#+_-/") {
		t[c] = true
	}
	return t
}()

func laneAddend(a, b byte) uint64 {
	scaled := func(bits float64) uint64 {
		return uint64(min(max(math.Round(bits*bitsScale), -laneBias), laneBias-1) + laneBias)
	}
	v := scaled(-languageBits(a, b))<<laneCipher | scaled(mirrorBits(a, b))<<laneMirror
	word := func(c byte) bool { return c-1 < 26 || c == classHigh }
	if word(b) && !word(a) {
		v |= 1 << laneStarts
	}
	if b == classDigit || b == classDot {
		v |= 1 << laneNumbers
	}
	if a == classDigit && b-1 < 26 || a-1 < 26 && b == classDigit {
		v |= 1 << laneLeet
	}
	if b == classMark || b == classHigh {
		v |= 1 << laneMarks
	}
	return v
}

// text scans p.
func (s *scan) text(p []byte) {
	s.reset()
	if len(p) == 0 {
		return
	}
	limit := longText
	if len(p) <= short {
		limit = shortText
	}
	s.seen = markOf[p[0]]
	i, blobs := 0, 0 // blobs: up to where they were looked for
	for ; i+window < len(p); i += window {
		w := (*[window + 1]byte)(p[i:])
		if sum := limit + sumPairs(w); sum&topBits != 0 {
			s.note(sum, w, i)
		}
		if dense(w) && i+window > blobs {
			blobs = s.findRuns(p, max(i-minBlob, blobs), i+window)
		}
	}
	s.rest(p, i, max(i-minBlob, blobs), limit)
}

// sumPairs adds the pairs of one window: its bytes, each with the one after it.
func sumPairs(w *[window + 1]byte) (sum uint64) {
	for k := 0; k < window; k += 8 {
		v := binary.LittleEndian.Uint64(w[k : k+8])
		sum += lanes[uint16(v)] + lanes[uint16(v>>8)] + lanes[uint16(v>>16)] + lanes[uint16(v>>24)] + lanes[uint16(v>>32)] +
			lanes[uint16(v>>40)] + lanes[uint16(v>>48)] + lanes[uint16(v>>56)|uint16(w[k+8])<<8]
	}
	return sum
}

// rest scans the last, incomplete window, as if spaces followed.
func (s *scan) rest(p []byte, i, blobs int, limit uint64) {
	var w [window + 1]byte
	for k := copy(w[:], p[i:]); k < len(w); k++ {
		w[k] = ' '
	}
	if sum := limit + sumPairs(&w); sum&topBits != 0 {
		s.note(sum, &w, i)
		for t := range s.regions {
			if n := len(s.regions[t]); n > 0 {
				s.regions[t][n-1].hi = min(s.regions[t][n-1].hi, len(p))
			}
		}
	}
	s.findRuns(p, blobs, len(p))
}

// note records the traits of a window.
func (s *scan) note(sum uint64, w *[window + 1]byte, at int) {
	if sum>>(laneMarks+countTop)&1 != 0 {
		for _, c := range w {
			s.seen |= markOf[c]
		}
	}
	if sum&(topBits&^(1<<(laneMarks+countTop))) == 0 {
		return
	}
	s.noteTrait(traitCipher, sum>>(laneCipher+sumTop), at)
	s.noteTrait(traitMirror, sum>>(laneMirror+sumTop), at)
	s.noteTrait(traitSpaced, sum>>(laneStarts+countTop), at)
	s.noteTrait(traitNumbers, sum>>(laneNumbers+countTop), at)
	s.noteTrait(traitLeet, sum>>(laneLeet+countTop), at)
	s.noteTrait(traitGlued, sum>>(laneGlue+countTop), at)
}

func (s *scan) noteTrait(t trait, bit uint64, at int) {
	if bit&1 == 0 {
		return
	}
	s.seen |= traitMarks[t]
	list := s.regions[t]
	if n := len(list); n > 0 && at-list[n-1].hi <= window {
		list[n-1].hi = at + window
		return
	}
	s.regions[t] = append(list, region{at, at + window})
}

// dense reports whether one of the four 8-byte words of a window is wholly made of visible ASCII. A run of fifteen such bytes always
// covers one.
func dense(w *[window + 1]byte) bool {
	return visible(binary.LittleEndian.Uint64(w[0:])) || visible(binary.LittleEndian.Uint64(w[8:])) ||
		visible(binary.LittleEndian.Uint64(w[16:])) || visible(binary.LittleEndian.Uint64(w[24:]))
}

// visible reports whether all eight bytes are in 0x21 to 0x7F.
func visible(w uint64) bool {
	const low, top = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	return (w&low+0x5f5f5f5f5f5f5f5f)&^w&top == top
}

// findRuns records the runs of base64 characters that start in [lo, hi) and returns up to where it looked.
func (s *scan) findRuns(p []byte, lo, hi int) int {
	for lo < hi {
		start, end := nextRun(p, lo, hi)
		if start >= hi {
			break
		}
		s.runs = append(s.runs, region{start, end})
		s.seen |= markRun
		lo = end
	}
	return max(lo, hi)
}
