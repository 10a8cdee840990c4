package signatures

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxGapBytes is the longest run of white space and marks that one space of a literal matches.
const maxGapBytes = 64

// gapKind says which run of characters an element matches.
type gapKind uint8

const (
	noGap   gapKind = iota // one rune
	gapAny                 // white space, mixed with marks
	gapOnly                // white space only, since a mark of the literal stands beside it
)

// element is one rune of a literal, or one gap.
type element struct {
	gap gapKind
	*letter
}

// letter is what a rune of a literal looks like in texts. Letters are shared and never change.
type letter struct {
	ascii [2]uint64 // the ASCII ones among the forms
	runes []rune    // all forms, sorted
	both  []rune    // and the other case of ASCII letters: what the automaton takes
	name  string    // tells letters apart
	size  int       // bytes of each form, or 0 if they differ or the automaton takes more
}

func newLetter(runes []rune) *letter {
	l := &letter{runes: runes, both: bothCases(runes), name: string(runes), size: utf8.RuneLen(runes[0])}
	for _, r := range runes {
		if r < utf8.RuneSelf {
			l.ascii[r>>6] |= 1 << (r & 63)
		}
		if utf8.RuneLen(r) != l.size {
			l.size = 0
		}
	}
	if len(l.both) != len(runes) {
		l.size = 0
	}
	return l
}

// bothCases adds the other case of ASCII letters.
func bothCases(runes []rune) []rune {
	out := slices.Clone(runes)
	for _, r := range runes {
		if r < utf8.RuneSelf {
			out = append(out, asciiCases(r)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// style says how much a letter of a text may differ from that of a literal.
type style rune

const (
	foldAll  style = iota << 24 // in case, accents and typography
	foldCase                    // in case and typography
	foldNone                    // not at all
)

// accentLetters is how many letters a literal needs to be found without its accents: à would be found wherever there is an a.
const accentLetters = 4

func styleOf(text string, exact bool) style {
	if exact {
		return foldNone
	}
	n := 0
	for _, r := range text {
		if isWord(r) {
			n++
		}
	}
	if n < accentLetters {
		return foldCase
	}
	return foldAll
}

// letters holds those that have been asked for, by rune and style.
var letters sync.Map

// letterOf returns the letter of r.
func letterOf(r rune, s style) *letter {
	key := r | rune(s)
	if l, ok := letters.Load(key); ok {
		return l.(*letter)
	}
	forms := []rune{r}
	if s != foldNone {
		forms = variants(r, s == foldAll)
	}
	l, _ := letters.LoadOrStore(key, newLetter(forms))
	return l.(*letter)
}

// literal is a compiled literal. A text position where it ends determines where it starts, and the other way round: a gap takes all it
// can, and what stands beside it in the literal is never part of a gap.
type literal struct {
	elems []element
	// size is the length in bytes if every occurrence has the same and the automaton finds nothing else, else 0.
	size int
	word bool
}

// newLiteral compiles text.
func newLiteral(text string, exact, exactSpaces, word bool) (*literal, error) {
	l := &literal{word: word}
	runes, style := []rune(text), styleOf(text, exact)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == utf8.RuneError || r == 0:
			return nil, errors.New("contains U+FFFD or a NUL, which no text view has; remove it")
		case exactSpaces || !isGapSpace(r):
			l.elems = append(l.elems, element{letter: letterOf(r, style)})
			continue
		}
		end := i
		for end+1 < len(runes) && isGapSpace(runes[end+1]) {
			end++
		}
		if i == 0 || end == len(runes)-1 {
			return nil, errors.New("starts or ends with a space; remove it and use \"word: true\" or \\b, or set \"spaces: exact\"")
		}
		l.elems = append(l.elems, element{gap: gapBetween(runes[i-1], runes[end+1])})
		i = end
	}
	if len(l.elems) == 0 {
		return nil, errors.New("is empty")
	}
	if len(l.core()) == len(l.elems) {
		l.size = fixedSize(l.elems)
	}
	return l, nil
}

func gapBetween(before, after rune) gapKind {
	if isMark(before) || isMark(after) {
		return gapOnly
	}
	return gapAny
}

// core returns the elements from the first on that is no gap or mark, or all if there is none.
func (l *literal) core() []element {
	for i, e := range l.elems {
		if e.gap == noGap && !isMark(e.runes[0]) && !isGapSpace(e.runes[0]) {
			return l.elems[i:]
		}
	}
	return l.elems
}

func fixedSize(elems []element) int {
	size := 0
	for _, e := range elems {
		if e.gap != noGap || e.size == 0 {
			return 0
		}
		size += e.size
	}
	return size
}

// endAt returns where the literal ends if it starts at text[i].
func (l *literal) endAt(text []byte, i int) (int, bool) {
	start := i
	for k := range l.elems {
		n, ok := l.elems[k].forward(text[i:])
		if !ok {
			return 0, false
		}
		i += n
	}
	return i, l.alone(text, start, i)
}

// startAt returns where the literal starts if it ends at text[i].
func (l *literal) startAt(text []byte, i int) (int, bool) {
	end := i
	for k := len(l.elems) - 1; k >= 0; k-- {
		n, ok := l.elems[k].backward(text[:i])
		if !ok {
			return 0, false
		}
		i -= n
	}
	return i, l.alone(text, i, end)
}

// alone checks the word rule: a letter or digit at an edge of the literal must not touch another one.
func (l *literal) alone(text []byte, start, end int) bool {
	if !l.word {
		return true
	}
	first, _ := runeAt(text, start)
	last := runeBefore(text, end)
	return !(isWord(first) && wordBefore(text, start)) && !(isWord(last) && wordAfter(text, end))
}

func (e *element) forward(text []byte) (int, bool) {
	if e.gap != noGap {
		return gapAfter(text, e.gap)
	}
	if len(text) > 0 && text[0] < utf8.RuneSelf {
		return 1, e.ascii[text[0]>>6]>>(text[0]&63)&1 != 0
	}
	r, n := utf8.DecodeRune(text)
	return n, n > 0 && slices.Contains(e.runes, r)
}

func (e *element) backward(text []byte) (int, bool) {
	if e.gap != noGap {
		return gapBefore(text, e.gap)
	}
	if n := len(text); n > 0 && text[n-1] < utf8.RuneSelf {
		return 1, e.ascii[text[n-1]>>6]>>(text[n-1]&63)&1 != 0
	}
	r, n := utf8.DecodeLastRune(text)
	return n, n > 0 && slices.Contains(e.runes, r)
}

// gapAfter measures the longest run of gap characters that text begins with; it must hold white space and not be longer than maxGapBytes.
func gapAfter(text []byte, kind gapKind) (int, bool) {
	n, space := 0, false
	for {
		r, size := runeAt(text, n)
		s := size > 0 && isGapSpace(r)
		if !s && (kind != gapAny || !isMark(r)) {
			return n, space && n <= maxGapBytes
		}
		n, space = n+size, space || s
		if n > maxGapBytes {
			return 0, false
		}
	}
}

// gapBefore measures the longest run of gap characters that text ends with, as gapAfter does.
func gapBefore(text []byte, kind gapKind) (int, bool) {
	n, space := 0, false
	for {
		r := runeBefore(text, len(text)-n)
		s := isGapSpace(r)
		if !s && (kind != gapAny || !isMark(r)) {
			return n, space && n <= maxGapBytes
		}
		n, space = n+max(1, utf8.RuneLen(r)), space || s
		if n > maxGapBytes {
			return 0, false
		}
	}
}

// key identifies literals that mean the same.
func (l *literal) key() string {
	var b strings.Builder
	if l.word {
		b.WriteByte('w')
	}
	for _, e := range l.elems {
		b.WriteByte(0) // which is in no literal
		if e.gap != noGap {
			b.WriteByte(byte(e.gap))
			b.WriteByte(0)
			continue
		}
		b.WriteString(e.name)
	}
	return b.String()
}

// begin is startAt, quick where the length is fixed and nothing else is asked.
func (l *literal) begin(text []byte, end int) (int, bool) {
	if l.size > 0 {
		start := end - l.size
		return start, l.alone(text, start, end)
	}
	return l.startAt(text, end)
}
