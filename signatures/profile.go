package signatures

import "slices"

// Profile matches texts like its Matcher, and adds up what each signature cost. It is for authors, and for one goroutine at a time.
type Profile struct {
	m     *Matcher
	costs []Cost
	bytes int64
}

// Cost is what one signature cost on the texts of a profile.
type Cost struct {
	Sig *Signature
	// Anchors is how often a literal of the first group occurred, Candidates how often all other groups were near it.
	Anchors, Candidates int
	// Read is how many bytes the automata of its patterns and excludes were fed, Tried the instructions that the exact matcher
	// ran because an automaton said yes. Many of them without hits mean a pattern that text often starts to match.
	Read, Tried int
	// Hits counts the matches.
	Hits int
	// Work is the whole cost in the units of a Budget.
	Work int
}

// Profile returns an empty profile.
func (m *Matcher) Profile() *Profile {
	p := &Profile{m: m, costs: make([]Cost, len(m.sigs))}
	for i, c := range m.sigs {
		p.costs[i].Sig = c.sig
	}
	return p
}

// Match is Matcher.Match, and notes the costs.
func (p *Profile) Match(dst []Hit, text []byte, q Query) ([]Hit, error) {
	p.bytes += int64(len(text))
	return p.m.match(dst, text, q, p)
}

// Bytes returns how much text was matched.
func (p *Profile) Bytes() int64 { return p.bytes }

// Costs returns the signatures that cost something, the dearest first.
func (p *Profile) Costs() []Cost {
	var out []Cost
	for _, c := range p.costs {
		if c.Work > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Cost) int { return b.Work - a.Work })
	return out
}

// add notes what a signature cost; a nil profile notes nothing.
func (p *Profile) add(sig int32, c Cost) {
	if p == nil {
		return
	}
	to := &p.costs[sig]
	to.Anchors += c.Anchors
	to.Candidates += c.Candidates
	to.Read += c.Read
	to.Tried += c.Tried
	to.Hits += c.Hits
	to.Work += c.Work
}
