package host

import (
	"errors"
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/policies"
)

func found(confidence ...float64) []Finding {
	var out []Finding
	for _, c := range confidence {
		out = append(out, Finding{Threat: v1.ThreatPromptInjection, Confidence: c})
	}
	return out
}

// TestVerdict is the whole table of combining.
func TestVerdict(t *testing.T) {
	p := policies.Default()
	for _, c := range []struct {
		name     string
		findings []Finding
		held     bool
		want     Verdict
	}{
		{"nothing", nil, false, Clear},
		{"a weak finding", found(0.49), false, Clear},
		{"doubt", found(0.5), false, Ambiguous},
		{"the worst decides", found(0.1, 0.8, 0.6), false, Threat},
		{"a failure", nil, true, Hold},
		{"a failure outranks doubt", found(0.6), true, Hold},
		{"a threat outranks a failure", found(0.9), true, Threat},
	} {
		if got := verdictOf(p, v1.PayloadKindWeb, c.findings, c.held); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRoundMeetsTheBand(t *testing.T) {
	for _, edge := range []float64{0.5, 0.7, 0.8, 0.9, 1} {
		if got := round(float64(float32(edge))); got < edge {
			t.Errorf("%v as a 32-bit fraction fell below its band: %v", edge, got)
		}
	}
}

// TestFailureTellsNothingOfThePayload: a guest prints what it was reading before it traps; that must not come back in a decision.
func TestFailureTellsNothingOfThePayload(t *testing.T) {
	err := abi.E("detect", v1.ErrorKindTrap, "x", errors.New(`unreachable; the guest wrote: "password=hunter2"`))
	got := failure(&guest.Entry{Name: "x", Plugin: &guest.Plugin{}}, err)
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "x failed (trap)") {
		t.Error(got)
	}
}

func TestCleanKeepsOneLine(t *testing.T) {
	if got := clean("a\nb\x1b[31mc\u202ed"); strings.ContainsAny(got, "\n\x1b\u202e") {
		t.Errorf("%q", got)
	}
}

func TestDistinct(t *testing.T) {
	f := func(view string, start, end int, confidence float64) Finding {
		return Finding{Detector: "d", Threat: v1.ThreatPromptInjection, View: view, Start: start, End: end, Confidence: confidence}
	}
	other := f("text", 10, 50, 0.9)
	other.Detector = "e"
	got := distinct([]Finding{f("text", 10, 50, 0.9), f("html.comment", 20, 50, 0.9), f("text", 60, 70, 0.7), f("base64", 12, 40, 0.5), other})
	var views []string
	for _, g := range got {
		views = append(views, g.Detector+" "+g.View)
	}
	if want := "d html.comment, e text, d text"; strings.Join(views, ", ") != want {
		t.Errorf("%v, want %s", views, want)
	}
}
