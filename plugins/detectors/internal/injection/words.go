package injection

import (
	"bytes"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/text"
)

// stops separate the words before an order from it.
const stops = ",;:()!?.\""

// joined reports whether nothing but space and harmless signs stands in [from, to).
func (p *page) joined(from, to int) bool {
	for _, b := range p.text[from:max(from, to)] {
		for i := range len(stops) {
			if b == stops[i] {
				return false
			}
		}
	}
	return true
}

// led judges the words right before start, as far as no sign separates them: is the order forbidden, or is it somebody else's?
func (p *page) led(start, low int) (negated, told bool) {
	low = max(low, start-leadReach)
	at := start
	i := text.First(p.words, start)
	for n := 0; n < 4 && i > 0; n++ {
		i--
		w := p.words[i]
		if int(w.End) <= low || int(w.End) > at || !p.joined(int(w.End), at) {
			break
		}
		at = int(w.Start)
		switch m := w.Meaning; {
		case m&double != 0:
			return false, false
		case m&negator != 0:
			return true, told
		case n == 0 && m&infinitive != 0:
			told = i == 0 || p.words[i-1].Meaning&commanding == 0
		case n == 0 && m&speaker != 0:
			told = i == 0 || p.words[i-1].Meaning&causing == 0
		}
	}
	return false, told
}

// cued reports whether a word in [from, to) says that words are being talked about: one with this bit.
func (p *page) cued(from, to int, bit text.Meaning) bool {
	for i := text.First(p.words, from); i < len(p.words) && int(p.words[i].Start) < to; i++ {
		w := p.words[i]
		if w.Meaning&bit == 0 {
			continue
		}
		if w.End-w.Start == 1 {
			if p.abbreviated(int(w.Start)) {
				return true
			}
		} else if !p.inName(int(w.Start), int(w.End)) {
			return true
		}
	}
	return false
}

// abbreviated reports whether the letter at i ends e.g. or z.B.
func (p *page) abbreviated(i int) bool {
	if i < 2 || p.text[i-1] != '.' {
		return false
	}
	a, b := text.Lower(p.text[i-2]), text.Lower(p.text[i])
	return a == 'e' && b == 'g' || a == 'z' && b == 'b'
}

// nameSigns join the parts of addresses, paths and identifiers.
const nameSigns = `./@_-\&=?%`

// inName reports whether the word [from, to) is a part of an address, a path or an identifier: "example" in evil.example.com is no cue.
func (p *page) inName(from, to int) bool {
	t := p.text
	return from > 0 && nameSign(t[from-1]) || to+1 < len(t) && nameSign(t[to]) && text.Letter(t[to+1])
}

func nameSign(b byte) bool {
	for i := range len(nameSigns) {
		if nameSigns[i] == b {
			return true
		}
	}
	return false
}

// listed reports whether the hit is an entry of a list of phrases, a table or a rule.
func (p *page) listed(start int, q text.Quote, quoted bool) bool {
	line := max(lineStart(p.text, start), start-sentenceReach)
	head := line
	for head < start && (p.text[head] == ' ' || p.text[head] == '\t') {
		head++
	}
	if head < start && p.text[head] == '|' || p.keyed(head, start) {
		return true
	}
	if !quoted || q.Code || q.Open < line {
		return false
	}
	i := q.Open - 1
	for i >= line && (p.text[i] == ' ' || p.text[i] == '\t') {
		i--
	}
	return i >= line && (p.text[i] == '-' || p.text[i] == '*' || p.text[i] == ',' || p.text[i] == '[' || p.text[i] == '.')
}

// keyed reports whether a key of rules, with a colon, begins the line at head.
func (p *page) keyed(head, start int) bool {
	i := text.First(p.words, head)
	if i == len(p.words) || p.words[i].Meaning&ruleKey == 0 || int(p.words[i].End) > start {
		return false
	}
	for _, b := range p.text[head:p.words[i].Start] {
		if text.Letter(b) || bytes.IndexByte([]byte(" \t-\"'{,"), b) < 0 {
			return false
		}
	}
	return bytes.IndexByte(p.text[p.words[i].End:min(start, int(p.words[i].End)+3)], ':') >= 0
}

// topic counts the groups of words about attacks and defence around a hit. The hit's own words prove nothing.
func (p *page) topic(start, end int) int {
	var seen uint64
	n := 0
	for i := text.First(p.words, start-topicReach); i < len(p.words) && int(p.words[i].Start) < end+topicReach && n < topicMost; i++ {
		w := p.words[i]
		group := w.Meaning >> topicShift
		if group == 0 || int(w.Start) >= start && int(w.Start) < end || seen>>group&1 != 0 {
			continue
		}
		seen |= 1 << group
		n++
	}
	return n
}
