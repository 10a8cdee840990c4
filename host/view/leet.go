package view

import (
	"bytes"
	"unicode/utf8"
)

// leetLetters gives the letter that a digit or sign stands for inside a word; for '1', see leetLetter.
var leetLetters = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
	}
	for _, p := range []string{"0o", "1i", "2z", "3e", "4a", "5s", "6g", "7t", "8b", "9g", "@a", "$s", "!i", "|l"} {
		t[p[0]] = p[1]
	}
	return t
}()

// minLeet is how many disguised words, known ones, a passage must hold.
const minLeet = 2

// decodeLeet finds passages in which digits stand for letters ("leet").
func decodeLeet(j job) {
	b := j.build(stepLeet, "leet")
	b.encoded = true
	done := 0
	j.pieces(traitLeet, func(lo, hi int) {
		for lo > done && j.src[lo-1] > ' ' && lo > hi-2*piece {
			lo--
		}
		b.leetPiece(lo, hi)
		done = hi
	})
	b.commit()
}

// leetPiece appends [lo, hi) with digits read as letters, if that turns enough strange words into known ones.
func (b *builder) leetPiece(lo, hi int) {
	at := b.mark()
	b.sep('\n', lo)
	start, found, changed := len(b.text), 0, 0
	for i := lo; i < hi; {
		k := i
		for k < hi && b.src[k] > ' ' {
			k++
		}
		word := len(b.text)
		if b.leetWord(i, k) {
			found += knownWord(b.text[word:])
			changed++
		}
		i = k
		for k < hi && b.src[k] <= ' ' {
			k++
		}
		b.copy(i, k)
		i = k
	}
	bits, pairs := prose(b.text[start:])
	if found < minLeet && (changed < 3*minLeet || bits < 2*fluent || pairs < 3*changed) || found*4 < changed {
		b.rewind(at)
	}
}

// knownWord is 1 if w, punctuation around it aside, is one word of three letters or more that the samples hold.
func knownWord(w []byte) int {
	w = bytes.TrimFunc(w, func(r rune) bool { return r < utf8.RuneSelf && !letter(byte(r)) })
	if found, total := knownWords(w); total == 1 && found == 1 && bytes.IndexFunc(w, func(r rune) bool { return r > 'z' || !letter(byte(r)) }) < 0 {
		return 1
	}
	return 0
}

// leetWord appends one word; it reports whether digits became letters.
func (b *builder) leetWord(lo, hi int) bool {
	letters, signs := 0, 0
	for _, c := range b.src[lo:hi] {
		if letter(c) {
			letters++
		} else if leetLetters[c] != c {
			signs++
		}
	}
	// A short number may be a whole word ("4 7op" is "a top"); a long one, or a word with few letters and many digits, is none.
	if signs == 0 || letters == 0 && signs > 3 || signs > 3*letters+3 || hi-lo > 2*maxKnown {
		b.copy(lo, hi)
		return false
	}
	for i := lo; i < hi; i++ {
		c := b.src[i]
		if to := b.leetLetter(i, lo, hi); to != c {
			b.putByte(to, i, i+1)
		} else {
			b.copy(i, i+1)
		}
	}
	return letters > 0
}

// leetLetter is the letter for the byte at i. '1' may be i or l: the neighbours decide. Signs count only inside a word.
func (b *builder) leetLetter(i, lo, hi int) byte {
	c := b.src[i]
	to := leetLetters[c]
	if to == c || (c == '!' || c == '|') && (i == lo || i+1 == hi) {
		return c
	}
	if c != '1' {
		return to
	}
	before, after := classSpace, classSpace
	if i > lo {
		before = classOf[leetLetters[b.src[i-1]]]
	}
	if i+1 < hi {
		after = classOf[leetLetters[b.src[i+1]]]
	}
	if pairBits(before, 'l'&31)+pairBits('l'&31, after) > pairBits(before, 'i'&31)+pairBits('i'&31, after) {
		return 'l'
	}
	return to
}
