package injection

import (
	"cmp"
	"slices"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// severity follows from how sure the window is: the harm of a steered assistant is what its tools can do, which this detector cannot know.
func severity(p float64) v1.Severity {
	switch {
	case p >= 0.8:
		return v1.SeverityHigh
	case p >= 0.5:
		return v1.SeverityMedium
	}
	return v1.SeverityLow
}

// strongest returns the signature of the heaviest clue.
func (t *tally) strongest() string {
	at := role(0)
	for r := range roles {
		if t.best[r] > t.best[at] {
			at = r
		}
	}
	return t.sig[at]
}

// reason says in one sentence what the window does, heaviest first. It never repeats payload text.
func reason(t *tally, v *v1.View) string {
	var found []role
	for r := range roles {
		if t.best[r] > 0 {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b role) int { return cmp.Compare(t.best[b], t.best[a]) })
	parts := make([]string, 0, 3)
	for _, r := range found[:min(len(found), 3)] {
		parts = append(parts, says[r])
	}
	out := strings.Join(parts, ", ")
	switch {
	case v.Hidden:
		out += "; hidden from readers"
	case v.Encoded:
		out += "; written in a code"
	}
	if !t.spoken {
		out += "; rather quoted than said"
	}
	return out
}
