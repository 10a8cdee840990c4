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
	traits
)

var traitMarks = [traits]marks{markSpaced, markNumbers, markLeet, markCipher, markMirror}

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

// The statistics of a window are sums over its pairs of neighbouring bytes. All six fit into one 64-bit word, so that one table
// lookup and one addition per byte keep them: two sums of 16 bits and four counts of 8 bits.
const (
	window = 32 // bytes

	laneCipher  = 0  // 16 bits: how little the letters look like language
	laneMirror  = 16 // 16 bits: how much they look like language backwards
	laneStarts  = 32 // letters after something that is no letter
	laneNumbers = 40 // digits, dots, dashes
	laneLeet    = 48 // digits next to letters
	laneMarks   = 56 // bytes that decoders look for

	laneBias  = 128 // keeps every addend of the 16-bit lanes positive
	bitsScale = 8   // addends are in eighths of a bit
)

// limits a lane must reach for its trait, and the word that, added to the sums, sets each such lane's top bit.
type thresholds struct{ cipher, mirror, starts, numbers, leet uint64 }

const topBits = 1<<63 | 1<<55 | 1<<47 | 1<<39 | 1<<31 | 1<<15

func (t thresholds) word() uint64 {
	return (1<<15-t.cipher)<<laneCipher | (1<<15-t.mirror)<<laneMirror | (1<<7-t.starts)<<laneStarts |
		(1<<7-t.numbers)<<laneNumbers | (1<<7-t.leet)<<laneLeet | (1<<7-1)<<laneMarks
}

// The limits: a window of prose stays far below, a window of the disguise far above. In a text of few windows half of one is enough.
var (
	longText  = thresholds{cipher: window*laneBias + 6*bitsScale, mirror: window*laneBias + 7*bitsScale, starts: 9, numbers: 10, leet: 4}.word()
	shortText = thresholds{cipher: window*laneBias + 3*bitsScale, mirror: window*laneBias + 3*bitsScale, starts: 5, numbers: 6, leet: 3}.word()
)

// short is the length up to which a text counts as short.
const short = 4 * window

// lanes is the table of addends, by class of the first and the second byte.
var lanes = func() (t [classes * classes]uint64) {
	for a := range byte(classes) {
		for b := range byte(classes) {
			t[int(a)*classes+int(b)] = laneAddend(a, b)
		}
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
	limit, prev, i := longText, classSpace, 0
	if len(p) <= short {
		limit = shortText
	}
	blobs := 0 // up to where blobs were looked for
	for ; i+window <= len(p); i += window {
		w := (*[window]byte)(p[i:])
		sum := limit
		sum, prev = addLanes(sum, w, prev)
		if sum&topBits != 0 {
			s.note(sum, w[:], i)
		}
		if dense(w) && i+window > blobs {
			blobs = s.findRuns(p, max(i-minBlob, blobs), i+window)
		}
	}
	if i < len(p) {
		s.rest(p, i, max(i-minBlob, blobs), limit, prev)
	}
}

// addLanes adds the pairs of one window.
func addLanes(sum uint64, w *[window]byte, prev byte) (uint64, byte) {
	for k := 0; k < window; k += 4 {
		a, b, c, d := classOf[w[k]], classOf[w[k+1]], classOf[w[k+2]], classOf[w[k+3]]
		sum += lanes[(int(prev)<<5|int(a))&(classes*classes-1)]
		sum += lanes[(int(a)<<5|int(b))&(classes*classes-1)]
		sum += lanes[(int(b)<<5|int(c))&(classes*classes-1)]
		sum += lanes[(int(c)<<5|int(d))&(classes*classes-1)]
		prev = d
	}
	return sum, prev
}

// rest scans the last, incomplete window, as if spaces followed.
func (s *scan) rest(p []byte, i, blobs int, limit uint64, prev byte) {
	var w [window]byte
	for k := copy(w[:], p[i:]); k < window; k++ {
		w[k] = ' '
	}
	if sum, _ := addLanes(limit, &w, prev); sum&topBits != 0 {
		s.note(sum, w[:], i)
		for t := range s.regions {
			if n := len(s.regions[t]); n > 0 {
				s.regions[t][n-1].hi = min(s.regions[t][n-1].hi, len(p))
			}
		}
	}
	s.findRuns(p, blobs, len(p))
}

// note records the traits of a window.
func (s *scan) note(sum uint64, w []byte, at int) {
	if sum>>63 != 0 {
		for _, c := range w {
			s.seen |= markOf[c]
		}
	}
	s.noteTrait(traitCipher, sum>>15, at)
	s.noteTrait(traitMirror, sum>>31, at)
	s.noteTrait(traitSpaced, sum>>39, at)
	s.noteTrait(traitNumbers, sum>>47, at)
	s.noteTrait(traitLeet, sum>>55, at)
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
func dense(w *[window]byte) bool {
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
