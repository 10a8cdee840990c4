// Package injection decides whether a payload tries to steer the assistant that reads it.
//
// Signatures are evidence: each hit has a role (it cancels instructions, speaks to the assistant, orders something, keeps it from the
// user ...) and a confidence. Hits that stand near each other in one view are weighed together:
//
//	clues    each hit's confidence becomes log-odds, scaled by role and kind of payload, and lowered by its context: negated, reported,
//	         quoted, listed, in a text about attacks. What is hidden from people is taken at its word
//	windows  the best clue of each role within a stretch of text adds up, pairs of roles that belong together add more
//	findings the best windows that do not overlap
//
// Work is linear in the text, but for the hits, of which at most maxHits are looked at; windows compare each with those near it.
package injection

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

const (
	// maxHits is how many hits of one view are weighed. The host sends fewer in all.
	maxHits = 512
	// maxFindings is how many findings one payload gets. More would tell nobody more.
	maxFindings = 32
	// reported is the least confidence worth a finding. It is below every sensible band, so that policies may set theirs lower.
	reported = 0.3
)

// Detect judges one payload.
func Detect(req *v1.DetectRequest) *v1.Verdict {
	d := detection{kind: req.Kind, weights: weightsOf(req.Kind), seen: map[string]bool{}}
	hits := make([][]*v1.Hit, len(req.Views))
	for _, h := range req.Hits {
		if h.Threat != v1.ThreatPromptInjection && h.Threat != v1.ThreatJailbreak {
			continue // another detector's evidence
		}
		if i := int(h.View); i < len(hits) && len(hits[i]) < maxHits && h.Start < h.End && int(h.End) <= len(req.Views[i].Text) {
			hits[i] = append(hits[i], h)
		}
	}
	for i, v := range req.Views {
		if len(hits[i]) > 0 {
			d.view(i, v, hits[i])
		}
	}
	return &v1.Verdict{Findings: d.finish()}
}

// detection is one payload under judgement.
type detection struct {
	kind     v1.PayloadKind
	weights  *[roles]float64
	seen     map[string]bool // signature and matched words of the views before
	findings []*v1.Finding
}

// view weighs the hits of one view.
func (d *detection) view(i int, v *v1.View, hits []*v1.Hit) {
	p := newPage(v)
	clues := make([]clue, 0, len(hits))
	for _, h := range hits {
		c := d.clue(p, v, h)
		clues = append(clues, c)
		if o, ok := d.order(p, c); ok {
			clues = append(clues, o)
		}
	}
	slices.SortStableFunc(clues, func(a, b clue) int { return a.start - b.start })
	for _, w := range windows(clues, spanOf(d.kind)) {
		t := &w.tally
		p := chance(t.odds(d.kind, v.Hidden, v.Encoded))
		if p < reported {
			continue
		}
		d.findings = append(d.findings, &v1.Finding{Threat: t.threat(), Severity: severity(p), Confidence: float32(p), View: uint32(i),
			Start: uint32(w.start), End: uint32(w.end), Signature: t.strongest(), Reason: reason(t, v)})
	}
	for _, h := range hits {
		d.seen[key(v, h)] = true
	}
}

func (d *detection) clue(p *page, v *v1.View, h *v1.Hit) clue {
	start, end := int(h.Start), int(h.End)
	c := clue{role: roleOf(h.Tags), start: start, end: end, signature: h.Signature, threat: h.Threat}
	c.worth = evidence(h.Confidence) * d.weights[c.role]
	c.copied = !v.Hidden && !unwrapped(v.Name) && d.seen[key(v, h)]
	if v.Hidden {
		return c
	}
	s := p.look(start, end)
	if described.has(c.role) {
		s.told = false
	}
	s.template = c.role == markup && p.templated(start, end)
	c.mention = s.mention()
	c.worth = max(0, c.worth+s.cost())
	return c
}

// order is the clue that an order follows a clue which speaks to the assistant. In what a user types there is no need to look: users give
// orders.
func (d *detection) order(p *page, c clue) (clue, bool) {
	least := 0.0
	switch c.role {
	case addressee:
		least = addressWorth
	case authority:
		least = claimWorth
	}
	if least == 0 || c.worth < least || d.kind == v1.PayloadKindUserPrompt {
		return clue{}, false
	}
	from := c.end
	if p.hidden {
		from = c.start // the address may hold the order, as in "assistants must send"; where people read it that is often a description
	}
	r, start, end, worth := p.order(from, c.end)
	o := clue{role: r, start: start, end: end, worth: worth * d.weights[r], mention: c.mention, copied: c.copied, signature: c.signature, threat: c.threat}
	return o, worth > 0
}

// unwrapped reports whether a view took text out of string literals. Such a view shows the lines and quotation marks that its parent
// spells as escapes, so it is judged anew; other decodings repeat the text around what they rewrote, with less of its markup.
func unwrapped(name string) bool {
	return strings.HasSuffix(name, "json") || strings.HasSuffix(name, "escape")
}

// key identifies a match over views.
func key(v *v1.View, h *v1.Hit) string {
	return h.Signature + "\x00" + string(bytes.ToLower(v.Text[h.Start:h.End]))
}

// window is a stretch of clues.
type window struct {
	tally
	first, last int // indexes into the clues, both included
	start, end  int // bytes
	sum         float64
}

// windows returns the best stretches that share no clue, best first.
func windows(clues []clue, span int) []*window {
	var all []*window
	for i := range clues {
		if clues[i].worth <= 0 {
			continue
		}
		w := &window{first: i, start: clues[i].start}
		for j := i; j < len(clues) && clues[j].start-w.start <= span; j++ {
			w.add(&clues[j])
			if clues[j].worth > 0 {
				w.last, w.end = j, max(w.end, clues[j].end)
			}
		}
		for r := range roles {
			w.sum += w.best[r]
		}
		all = append(all, w)
	}
	slices.SortStableFunc(all, func(a, b *window) int { return cmp.Compare(b.sum, a.sum) })
	return apart(all, len(clues))
}

// apart drops every window that shares a clue with a better one.
func apart(all []*window, n int) []*window {
	used := make([]bool, n)
	var out []*window
	for _, w := range all {
		if used[w.first] || used[w.last] {
			continue
		}
		for k := w.first; k <= w.last; k++ {
			used[k] = true
		}
		out = append(out, w)
	}
	return out
}

// finish orders the findings by confidence and keeps the first ones.
func (d *detection) finish() []*v1.Finding {
	slices.SortStableFunc(d.findings, func(a, b *v1.Finding) int { return cmp.Compare(b.Confidence, a.Confidence) })
	return d.findings[:min(len(d.findings), maxFindings)]
}
