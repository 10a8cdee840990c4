package injection

import (
	"bytes"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/text"
)

// What an order behind an address is worth, in log-odds. Signatures know telling phrases; single verbs count only right behind wording that
// speaks to the assistant, where whatever is ordered is ordered of it.
const (
	harmfulWorth  = 1.5
	steeringWorth = 1.0
	orderReach    = 260 // bytes behind the address in which it is looked for
	addressWorth  = 1.5 // what the address itself must be worth: "you are an AI agent" describes, "note to AI agents" addresses
	claimWorth    = 2.1 // and a claim of authority: "I am your developer" speaks to the reader, "the user has approved" may not
)

// order looks for a verb that orders something in and behind [start, end), which speaks to the assistant, within the same paragraph.
func (p *page) order(start, end int) (r role, from, to int, worth float64) {
	high := p.orderEnd(end)
	for i := text.First(p.words, start); i < len(p.words) && int(p.words[i].Start) < high; i++ {
		w := p.words[i]
		kind, gain := other, 0.0
		switch {
		case w.Meaning&harmful != 0:
			kind, gain = action, harmfulWorth
		case w.Meaning&steering != 0:
			kind, gain = hijack, steeringWorth
		}
		if gain <= worth || p.nouned(i) || p.inName(int(w.Start), int(w.End)) {
			continue
		}
		if negated, told := p.led(int(w.Start), start); negated || told {
			continue
		}
		r, from, to, worth = kind, int(w.Start), int(w.End), gain
	}
	return r, from, to, worth
}

// orderEnd returns where what is said at at ends: with the comment, element or paragraph.
func (p *page) orderEnd(at int) int {
	t := p.text[at:min(len(p.text), at+orderReach)]
	for _, stop := range [...]string{"-->", "</", "*/"} {
		if i := bytes.Index(t, []byte(stop)); i >= 0 {
			t = t[:i]
		}
	}
	if i := bytes.Index(t, []byte("\n\n")); i > 40 { // an address may be a heading
		t = t[:i]
	}
	return at + len(t)
}

// nouned reports whether the word before words[i] makes a noun or a statement of it.
func (p *page) nouned(i int) bool {
	return i > 0 && p.words[i-1].Meaning&nouning != 0 && p.joined(int(p.words[i-1].End), int(p.words[i].Start))
}
