package view

import (
	"bytes"
	"math"
)

// Letter classes. Everything the statistics do not tell apart shares a class.
const (
	classSpace byte = 0 // white space; letters are 1 to 26
	classDigit byte = 27
	classPunct byte = 28
	classMark  byte = 29 // a byte that some decoder looks for, or a control character
	classHigh  byte = 30 // above 0x7F
	classDot   byte = 31 // dot and dash
	classes         = 32
)

var classOf = func() (t [256]byte) {
	for i := range t {
		c := byte(i)
		switch {
		case c >= 0x80:
			t[i] = classHigh
		case c == ' ' || c == '\t' || c == '\n':
			t[i] = classSpace
		case letter(c):
			t[i] = c & 31
		case '0' <= c && c <= '9' || c == '@' || c == '$':
			t[i] = classDigit
		case markOf[c]&scanned != 0:
			t[i] = classMark
		case c == '.' || c == '-':
			t[i] = classDot
		default:
			t[i] = classPunct
		}
	}
	return t
}()

// bigrams holds, for each pair of letter classes, the base-2 logarithm of its probability in the samples. Only white space and
// letters have probabilities; other classes count as white space.
var bigrams = func() (t [classes * classes]float64) {
	for i := range t {
		t[i] = 0.3
	}
	for n, text := range samples {
		weight := 1.0
		if n == 0 {
			weight = 2 // English is what most disguised text is written in
		}
		prev := classSpace
		for _, c := range []byte(text) {
			cur := letterClass(classOf[c])
			if prev != classSpace || cur != classSpace {
				t[int(prev)*classes+int(cur)] += weight
			}
			prev = cur
		}
	}
	total := 0.0
	for i, n := range t {
		if i/classes <= 26 && i%classes <= 26 {
			total += n
		}
	}
	for i := range t {
		t[i] = math.Log2(t[i] / total)
	}
	return t
}()

// letterClass is the class itself for letters, white space for all else.
func letterClass(c byte) byte {
	if c > 26 {
		return classSpace
	}
	return c
}

func pairBits(a, b byte) float64 { return bigrams[int(letterClass(a))*classes+int(letterClass(b))] }

// unigrams are the letters' own log probabilities.
var unigrams = func() (t [27]float64) {
	for a := range t {
		sum := 0.0
		for b := range t {
			sum += math.Exp2(bigrams[a*classes+b])
		}
		t[a] = math.Log2(sum)
	}
	return t
}()

// randomPair is the log probability of a given pair of letters if all were alike.
var randomPair = func() float64 {
	sum := 0.0
	for a := 1; a <= 26; a++ {
		for b := 1; b <= 26; b++ {
			sum += math.Exp2(bigrams[a*classes+b])
		}
	}
	return math.Log2(sum / (26 * 26))
}()

// languageBits says by how many bits a pair of letters is more likely in prose than among random letters. Other pairs say nothing.
func languageBits(a, b byte) float64 {
	if a-1 >= 26 || b-1 >= 26 {
		return 0
	}
	return bigrams[int(a)*classes+int(b)] - randomPair
}

// mirrorBits says by how many bits a pair is more likely in prose read backwards.
func mirrorBits(a, b byte) float64 { return pairBits(b, a) - pairBits(a, b) }

// prose is the mean languageBits of a text over its letter pairs, and how many of those it has.
func prose(p []byte) (bits float64, pairs int) {
	prev := classSpace
	for _, c := range p {
		cur := classOf[c]
		if prev-1 < 26 && cur-1 < 26 {
			bits += languageBits(prev, cur)
			pairs++
		}
		prev = cur
	}
	return bits / float64(max(pairs, 1)), pairs
}

// lexicon is a set of words in lower case. Looking up every piece of a run of letters must be cheap, so a filter of one bit per hash
// value answers for nearly all that are not in it.
type lexicon struct {
	words  map[string]bool
	filter [1 << filterBits / 64]uint64
}

const filterBits = 16

// The hash of a word is built letter by letter (FNV-1a).
const (
	hashStart uint32 = 2166136261
	hashPrime uint32 = 16777619
)

func (l *lexicon) add(w []byte) {
	h := hashStart
	for _, c := range w {
		h = (h ^ uint32(c)) * hashPrime
	}
	h >>= 32 - filterBits
	l.filter[h/64] |= 1 << (h % 64)
	l.words[string(w)] = true
}

// has reports whether the set holds w, whose hash is h.
func (l *lexicon) has(w []byte, h uint32) bool {
	h >>= 32 - filterBits
	return l.filter[h/64]>>(h%64)&1 != 0 && l.words[string(w)]
}

// known holds the words of the samples that have two letters or more.
var known = func() *lexicon {
	l := &lexicon{words: map[string]bool{}}
	for _, text := range samples {
		for _, w := range bytes.FieldsFunc(bytes.ToLower([]byte(text)), func(r rune) bool { return r < 'a' || r > 'z' }) {
			if len(w) > 1 {
				l.add(w)
			}
		}
	}
	return l
}()

// maxKnown is longer than any word of the samples.
const maxKnown = 24

// knownWords counts the words of three letters or more in a text, and how many of them the samples hold.
func knownWords(p []byte) (found, total int) {
	var w [maxKnown]byte
	n, h := 0, hashStart
	for i := 0; i <= len(p); i++ {
		if i < len(p) && letter(p[i]) {
			if n < maxKnown {
				w[n] = p[i] | 0x20
				h = (h ^ uint32(w[n])) * hashPrime
			}
			n++
			continue
		}
		if n > 2 {
			total++
			if n <= maxKnown && known.has(w[:n], h) {
				found++
			}
		}
		n, h = 0, hashStart
	}
	return found, total
}
