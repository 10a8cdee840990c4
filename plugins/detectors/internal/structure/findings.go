package structure

import v1 "github.com/amygdala-host/amygdala/abi/v1"

// maxFindings is how many findings one payload gets. The strongest of overlapping ones is kept.
const maxFindings = 32

// place is a byte range of one view.
type place struct {
	view, start, end int
}

func (p place) overlaps(o place) bool { return p.view == o.view && p.start < o.end && o.start < p.end }

// findings gathers accusations.
type findings struct {
	list []*v1.Finding
}

// add records an accusation. One that overlaps an equal accusation replaces or joins it, whichever is stronger.
func (f *findings) add(threat v1.Threat, severity v1.Severity, score float32, at place, signature, why string) {
	if score <= 0 || at.end <= at.start {
		return
	}
	n := &v1.Finding{
		Threat: threat, Severity: severity, Confidence: min(score, 0.99), View: uint32(at.view), Start: uint32(at.start), End: uint32(at.end),
		Signature: signature, Reason: why,
	}
	for i, o := range f.list {
		if o.Threat == threat && at.overlaps(place{int(o.View), int(o.Start), int(o.End)}) {
			if n.Confidence > o.Confidence {
				if n.Signature == "" {
					n.Signature = o.Signature
				}
				f.list[i] = n
			}
			return
		}
	}
	if len(f.list) < maxFindings {
		f.list = append(f.list, n)
		return
	}
	f.replaceWeakest(n)
}

func (f *findings) replaceWeakest(n *v1.Finding) {
	weakest := 0
	for i, o := range f.list {
		if o.Confidence < f.list[weakest].Confidence {
			weakest = i
		}
	}
	if f.list[weakest].Confidence < n.Confidence {
		f.list[weakest] = n
	}
}

// strongest returns the highest confidence of the threat so far.
func (f *findings) strongest(threat v1.Threat) float32 {
	var best float32
	for _, o := range f.list {
		if o.Threat == threat {
			best = max(best, o.Confidence)
		}
	}
	return best
}
