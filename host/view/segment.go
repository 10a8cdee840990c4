package view

// decodeSegments puts spaces between words that were run together: theseWords, these_words, these-words, these.words ("segmented").
func decodeSegments(j job) {
	b := j.build(stepSegment, "segmented")
	runs, done := j.scan.runs, 0
	flush := func(until int) {
		for len(runs) > 0 && runs[0].lo < until {
			if r := runs[0]; r.lo >= done && b.fresh(r.lo, r.hi) {
				b.segment(r.lo, r.hi)
				done = r.hi
			}
			runs = runs[1:]
		}
	}
	j.pieces(traitGlued, func(lo, hi int) {
		for i := max(lo, done); i < hi; {
			end := i
			for end < len(j.src) && (letter(j.src[end]) || glue[j.src[end]]) {
				end++
			}
			if end-i >= minBlob {
				flush(i)
				if i >= done {
					b.segment(i, end)
					done = end
				}
			}
			i = end + 1
		}
	})
	flush(len(j.src))
	b.commit()
}

// minSegments is how many words a run must fall into, most of them known.
const minSegments = 4

// segment appends the run [lo, hi) with spaces between its words, if it is made of known words.
func (b *builder) segment(lo, hi int) {
	at := b.mark()
	b.sep('\n', lo)
	start := len(b.text)
	for i := lo; i < hi; {
		end := wordEnd(b.src, i, hi)
		if end == i {
			i++
			continue
		}
		if len(b.text) > start {
			b.putByte(' ', i, i)
		}
		b.unglue(i, end)
		i = end
	}
	found, total := knownWords(b.text[start:])
	if found < minSegments-1 || total < minSegments || found*2 < total {
		b.rewind(at)
	}
}

// wordEnd is the end of the letters at i that belong to one word by their case.
func wordEnd(p []byte, i, hi int) int {
	k := i
	for k < hi && letter(p[k]) && (k == i || p[k]&0x20 != 0 || p[k-1]&0x20 == 0) {
		k++
	}
	return k
}

const (
	// minGlued and maxGlued bound the runs of letters that are split: shorter ones are words, longer ones cost too much.
	minGlued, maxGlued = 12, 256
	// The cost of a known word of three letters or more, and of a letter that belongs to none.
	costWord, costStray = 4, 5
	// A run is split if at most one letter in strays belongs to no word: compounds of other languages fall into scraps.
	strays = 4
)

// unglue appends the letters [lo, hi), split at the least cost.
func (b *builder) unglue(lo, hi int) {
	n := hi - lo
	if bits, _ := prose(b.src[lo:hi]); n > maxGlued || n < minGlued || bits < fluent/2 {
		b.copy(lo, hi)
		return
	}
	b.s.Work += n * maxKnown
	var cost, back [maxGlued + 1]int
	var w [maxGlued]byte
	for i := range n {
		w[i] = b.src[lo+i] | 0x20
		cost[i+1] = (i + 1) * costStray
	}
	for k := range n {
		if c := cost[k] + costStray; c <= cost[k+1] {
			cost[k+1], back[k+1] = c, k
		}
		h := hashStart
		for i := k; i < min(n, k+maxKnown); i++ {
			h = (h ^ uint32(w[i])) * hashPrime
			if c := cost[k] + costWord; i-k > 1 && c < cost[i+1] && known.has(w[k:i+1], h) {
				cost[i+1], back[i+1] = c, k
			}
		}
	}
	stray := 0
	for i := n; i > 0; i = back[i] {
		if back[i] == i-1 {
			stray++
		}
	}
	if stray*strays > n {
		b.copy(lo, hi)
		return
	}
	b.emitGlued(lo, back[:n+1])
}

// emitGlued appends the words that the back pointers describe; letters that belong to none stay together.
func (b *builder) emitGlued(lo int, back []int) {
	var cuts [maxGlued + 1]int
	n := len(cuts)
	for i := len(back) - 1; i > 0; i = back[i] {
		n--
		cuts[n] = i
	}
	from, stray := 0, false
	for _, to := range cuts[n:] {
		if lone := to-from == 1; from > 0 && !(lone && stray) {
			b.putByte(' ', lo+from, lo+from)
		}
		b.copy(lo+from, lo+to)
		from, stray = to, to-from == 1
	}
}
