// Package finding gathers the accusations of one payload: the strongest of overlapping ones, and not too many.
package finding

import v1 "github.com/amygdala-host/amygdala/abi/v1"

// maxFindings is how many findings one payload gets. The strongest of overlapping ones is kept.
const maxFindings = 32

// Place is a byte range of one view.
type Place struct {
	View, Start, End int
}

// At returns the range [start, end) of view.
func At(view, start, end int) Place { return Place{View: view, Start: start, End: end} }

// Overlaps reports whether two places share a byte.
func (p Place) Overlaps(o Place) bool { return p.View == o.View && p.Start < o.End && o.Start < p.End }

// List gathers accusations. The zero List is ready.
type List struct {
	all []*v1.Finding
}

// Verdict returns what was gathered.
func (f *List) Verdict() *v1.Verdict { return &v1.Verdict{Findings: f.all} }

// Add records an accusation. A score of 0 or an empty place is ignored. One that overlaps an equal accusation replaces or joins it, whichever is stronger.
func (f *List) Add(threat v1.Threat, severity v1.Severity, score float32, at Place, signature, why string) {
	if score <= 0 || at.End <= at.Start {
		return
	}
	n := &v1.Finding{
		Threat: threat, Severity: severity, Confidence: min(score, 0.99), View: uint32(at.View), Start: uint32(at.Start), End: uint32(at.End),
		Signature: signature, Reason: why,
	}
	for i, o := range f.all {
		if o.Threat == threat && at.Overlaps(At(int(o.View), int(o.Start), int(o.End))) {
			if n.Confidence > o.Confidence {
				if n.Signature == "" {
					n.Signature = o.Signature
				}
				f.all[i] = n
			}
			return
		}
	}
	if len(f.all) < maxFindings {
		f.all = append(f.all, n)
		return
	}
	f.replaceWeakest(n)
}

func (f *List) replaceWeakest(n *v1.Finding) {
	weakest := 0
	for i, o := range f.all {
		if o.Confidence < f.all[weakest].Confidence {
			weakest = i
		}
	}
	if f.all[weakest].Confidence < n.Confidence {
		f.all[weakest] = n
	}
}

// enough is how many strong accusations of one threat make more of them pointless.
const (
	enough = 16
	strong = 0.8
)

// Enough reports whether further accusations of the threat would change nothing, so that a text full of them costs no more than one.
func (f *List) Enough(threat v1.Threat) bool {
	n := 0
	for _, o := range f.all {
		if o.Threat == threat && o.Confidence >= strong {
			n++
		}
	}
	return n >= enough
}

// Name gives the strongest unsigned accusation of the threat at a place the name of a signature, and reports whether there was one.
func (f *List) Name(threat v1.Threat, at Place, signature string) bool {
	for _, o := range f.all {
		if o.Threat == threat && at.Overlaps(At(int(o.View), int(o.Start), int(o.End))) {
			if o.Signature == "" {
				o.Signature = signature
			}
			return true
		}
	}
	return false
}
