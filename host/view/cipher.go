package view

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// substitution maps each letter to another one; index 0 is unused.
type substitution [27]byte

// shifted is the Caesar cipher's inverse for the given key; mirroredAlphabet is Atbash, its own inverse.
func shifted(key int) (s substitution) {
	for c := 1; c <= 26; c++ {
		s[c] = byte((c-1+26-key)%26 + 1)
	}
	return s
}

func mirroredAlphabet() (s substitution) {
	for c := 1; c <= 26; c++ {
		s[c] = byte(27 - c)
	}
	return s
}

// ciphers are the substitutions that are tried, rot13 first.
var ciphers = func() []substitution {
	list := []substitution{shifted(13)}
	for key := 1; key < 26; key++ {
		if key != 13 {
			list = append(list, shifted(key))
		}
	}
	return append(list, mirroredAlphabet())
}()

var cipherGains = func() (list []*gains) {
	for i := range ciphers {
		list = append(list, ciphers[i].gains())
	}
	return list
}()

// mirrorGains are mirrorBits as a table; other classes than letters count as white space.
var mirrorGains = func() *gains {
	g := new(gains)
	for a := range byte(classes) {
		for b := range byte(classes) {
			g[int(a)*classes+int(b)] = float32(mirrorBits(a, b) - spent)
		}
	}
	return g
}()

// gains says, for each pair of letter classes, how many bits more likely the pair becomes by a substitution.
type gains [classes * classes]float32

func (s *substitution) gains() *gains {
	g := new(gains)
	for a := byte(1); a <= 26; a++ {
		for b := byte(1); b <= 26; b++ {
			g[int(a)*classes+int(b)] = float32(languageBits(s[a], s[b]) - languageBits(a, b) - spent)
		}
	}
	return g
}

// of replaces a letter and keeps its case; other bytes stay.
func (s *substitution) of(c byte) byte {
	if !letter(c) {
		return c
	}
	return c&^31 | s[c&31]
}

const (
	// margin is how far beyond a noticed region a passage may reach.
	margin = 2 * window
	// piece is the longest stretch that is judged at once, so that a disguised sentence is not outvoted by a long text around it.
	piece = 512
	// A passage is taken for deciphered when it gains minGain bits of likelihood in all, and its letter pairs have fluent bits each.
	minGain = 40
	fluent  = 0.5
	// spent is charged for each letter pair, so that a passage does not grow over text that gains nothing.
	spent = 0.1
	// minPairs is the least number of letter pairs that statistics say anything about.
	minPairs = 8
)

// pieces calls f for each region with its margins, cut into pieces; pieces do not overlap.
func (j job) pieces(t trait, f func(lo, hi int)) {
	done := 0
	for _, r := range j.scan.regions[t] {
		if !j.s.Views[j.parent].fresh(r.lo, r.hi) {
			continue
		}
		lo, hi := max(r.lo-margin, done), min(r.hi+margin, len(j.src))
		j.s.Work += max(hi-lo, 0)
		for lo < hi {
			end := min(lo+piece, hi)
			if hi-end < margin {
				end = hi
			}
			f(lo, end)
			lo = end
		}
		done = max(done, hi)
	}
}

// decodeCipher finds passages in rot13 ("rot13") or in another shift or mirror of the alphabet ("caesar").
func decodeCipher(j job) {
	rot13, other := j.build(stepCipher, "rot13"), j.build(stepCipher, "caesar")
	rot13.encoded, other.encoded = true, true
	j.pieces(traitCipher, func(lo, hi int) {
		if !wordy(j.src[lo:hi]) || rot13.decipher(0, lo, hi, minPairs) {
			return
		}
		if k := likeliest(j.src[lo:hi]); k > 0 {
			other.decipher(k, lo, hi, minCaesar)
		}
	})
	rot13.commit()
	other.commit()
}

// wordy reports whether a piece of text has spaces at all, or is short: what has none is a blob.
func wordy(p []byte) bool {
	return len(p) < 4*window || bytes.IndexByte(p, ' ') >= 0 || bytes.IndexByte(p, '\n') >= 0
}

// likeliest picks the cipher whose plain text has the most usual letters; 0 when none stands out or it is rot13.
func likeliest(p []byte) int {
	var count [27]float64
	total := 0.0
	for _, c := range p {
		if letter(c) {
			count[c&31]++
			total++
		}
	}
	best, at := 0.0, 0
	for k := range ciphers {
		sum := 0.0
		for c := 1; c <= 26; c++ {
			sum += count[c] * unigrams[ciphers[k][c]]
		}
		if k == 0 || sum > best {
			best, at = sum, k
		}
	}
	return at
}

// decipher finds the passage of [lo, hi) that gains most by a substitution, and appends it if it then reads like language.
func (b *builder) decipher(cipher, lo, hi, pairs int) bool {
	from, to, gain := bestPassage(b.src, lo, hi, cipherGains[cipher])
	if gain < minGain {
		return false
	}
	sub := &ciphers[cipher]
	at := b.mark()
	b.substitute(sub, from, to)
	if !fluentText(b.text[at.text:], pairs) {
		b.rewind(at)
		return false
	}
	b.rewind(at)
	from, to = widen(b.src, from, to, lo, hi)
	if l := b.last(); l == nil || int(l.src+l.n) != from {
		b.sep('\n', from)
	}
	b.substitute(sub, from, to)
	return true
}

// substitute appends [lo, hi) with its letters replaced.
func (b *builder) substitute(sub *substitution, lo, hi int) {
	for i := lo; i < hi; i++ {
		if c := b.src[i]; letter(c) {
			b.putByte(sub.of(c), i, i+1)
		} else {
			b.copy(i, i+1)
		}
	}
}

// minCaesar is how many letter pairs a passage in another cipher than rot13 must have: with 26 to choose from, one of them makes
// something like language of any short string.
const minCaesar = 20

// fluentText reports whether p reads like language: by its letter pairs, or, when it is short or in a language not sampled, by them
// together with the words. least is how many pairs there must be.
func fluentText(p []byte, least int) bool {
	bits, pairs := prose(p)
	found, total := knownWords(p)
	return pairs >= least && (bits >= 2*fluent || bits >= fluent && found*3 >= total && found > 0)
}

// bestPassage finds the range of [lo, hi) whose pairs have the greatest sum of gains, widened to whole words.
func bestPassage(p []byte, lo, hi int, g *gains) (from, to int, best float32) {
	sum, start, prev := float32(0), lo, classSpace
	for i := lo; i < hi; i++ {
		cur := classOf[p[i]]
		if sum += g[(int(prev)<<5|int(cur))&(classes*classes-1)]; sum < 0 {
			sum, start = 0, i
		}
		if sum > best {
			best, from, to = sum, start, i+1
		}
		prev = cur
	}
	for from > lo && p[from-1] > ' ' {
		from--
	}
	for to < hi && p[to] > ' ' {
		to++
	}
	return from, to, best
}

// widen extends the range [from, to) within [lo, hi) to the ends of its lines if they are near.
func widen(p []byte, from, to, lo, hi int) (int, int) {
	const near = 24
	if end := min(to+near, hi); bytes.IndexByte(p[to:end], '\n') >= 0 || end == len(p) {
		to = min(lineEnd(p, to), hi)
	}
	start := max(from-near, lo)
	if k := bytes.LastIndexByte(p[start:from], '\n'); k >= 0 || start == 0 {
		from = start + k + 1
	}
	return from, to
}

// decodeMirror finds passages written backwards ("reversed"). Whether letters or also the order of the words is turned around cannot
// be told from the letters, so both readings are given, one after the other.
func decodeMirror(j job) {
	b := j.build(stepMirror, "reversed")
	b.encoded = true
	var from, to, words int
	flush := func() {
		if to > from && words > 0 {
			b.sep('\n', from)
			b.reverse(from, to)
			b.sep('\n', from)
			b.reverseWords(from, to)
		}
		from, to, words = 0, 0, 0
	}
	if j.scan.seen&markHigh != 0 {
		b.mirroredLines()
	}
	j.pieces(traitMirror, func(lo, hi int) {
		f, t, found := j.mirrored(lo, hi)
		if t == f || found == 0 {
			return
		}
		if f-to > margin {
			flush()
			from = f
		}
		to, words = t, words+found
	})
	flush()
	b.commit()
}

// mirrored finds the passage of [lo, hi) that reads better backwards, and counts the words known in that direction. The range is
// empty if forwards is as good.
func (j job) mirrored(lo, hi int) (from, to, found int) {
	if !wordy(j.src[lo:hi]) {
		return 0, 0, 0
	}
	from, to, best := bestPassage(j.src, lo, hi, mirrorGains)
	if best < minGain/2 {
		return 0, 0, 0
	}
	forward, total := knownWords(j.src[from:to])
	found = knownMirrored(j.src[from:to])
	if found < 2*forward || best < minGain && found < 2 || best < 2*minGain && found*5 < total {
		return 0, 0, 0
	}
	from, to = widen(j.src, from, to, lo, hi)
	return from, to, found
}

// mirroredLines appends the lines that punctuation and capitals show to be backwards, in whatever script: a mark before a word and
// none after it, a capital at the end of a word and none at its start.
func (b *builder) mirroredLines() {
	for lo := 0; lo < len(b.src); {
		hi := lineEnd(b.src, lo)
		if line := b.src[lo:hi]; startsStopped(line) && hasHigh(line) && backwardSigns(line) >= minSigns {
			b.sep('\n', lo)
			b.reverse(lo, hi)
		}
		lo = hi + 1
	}
}

// startsStopped reports whether some word of the line has a punctuation mark before it. Hardly any line does, and it is quick to see.
func startsStopped(line []byte) bool {
	if r, _ := utf8.DecodeRune(line); stop(r) {
		return true
	}
	for i := 1; i+1 < len(line); i++ {
		if line[i-1] == ' ' && line[i] < '@' && line[i+1] > '@' && stop(rune(line[i])) {
			return true
		}
	}
	return false
}

// minSigns is how many more signs of backward writing than of forward writing a line must have.
const minSigns = 3

// backwardSigns counts the signs for backward writing in a line, less those against it.
func backwardSigns(line []byte) (signs int) {
	before, last := ' ', ' '
	for i := 0; i <= len(line); {
		r, n := ' ', 1
		if i < len(line) {
			r, n = utf8.DecodeRune(line[i:])
		}
		i += n
		switch {
		case unicode.IsLetter(r) && stop(last) && before == ' ':
			signs++
		case r == ' ' && stop(last) && unicode.IsLetter(before):
			signs -= 2
		}
		switch {
		case unicode.IsUpper(last) && unicode.IsLower(before) && !unicode.IsLetter(r):
			signs++
		case unicode.IsUpper(last) && !unicode.IsLetter(before) && unicode.IsLower(r):
			signs -= 2
		}
		before, last = last, r
	}
	return signs
}

// stop reports whether r ends a sentence or a part of one, in the scripts of the world.
func stop(r rune) bool { return strings.ContainsRune(".,;:!?。、，！？؟،।", r) }

// knownMirrored counts the words of p that are known when read backwards.
func knownMirrored(p []byte) (found int) {
	var w [maxKnown]byte
	n, h := 0, hashStart
	for i := len(p) - 1; i >= -1; i-- {
		if i >= 0 && letter(p[i]) {
			if n < maxKnown {
				w[n] = p[i] | 0x20
				h = (h ^ uint32(w[n])) * hashPrime
			}
			n++
			continue
		}
		if n > 2 && n <= maxKnown && known.has(w[:n], h) {
			found++
		}
		n, h = 0, hashStart
	}
	return found
}

// reverse appends [lo, hi) backwards, character by character.
func (b *builder) reverse(lo, hi int) {
	for i := hi; i > lo; {
		_, n := utf8.DecodeLastRune(b.src[lo:i])
		if n == 1 {
			b.mirrorByte(b.src[i-1], i-1)
		} else {
			b.put(b.src[i-n:i], i-n, i)
		}
		i -= n
	}
}

// mirrorByte appends one byte that stands before the last one in the source.
func (b *builder) mirrorByte(c byte, at int) {
	l := b.last()
	if l == nil || l.flags&spanMirror == 0 || int(l.src) != at+1 {
		if !b.room(1) {
			return
		}
		b.add(span{src: uint32(at), n: 1, groupOut: 1, groupSrc: 1, flags: spanMirror})
		b.text = append(b.text, c)
	} else if b.room(1) {
		l.src--
		l.n++
		b.text = append(b.text, c)
	}
	b.novel |= markOf[c]
	b.changed++
}

// reverseWords appends [lo, hi) with each word turned around, and the words in their order.
func (b *builder) reverseWords(lo, hi int) {
	for lo < hi {
		k := lo
		for k < hi && b.src[k] > ' ' {
			k++
		}
		b.reverse(lo, k)
		lo = k
		for k < hi && b.src[k] <= ' ' {
			k++
		}
		b.copy(lo, k)
		lo = k
	}
}
