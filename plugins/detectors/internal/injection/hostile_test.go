package injection_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/injection"
)

// crowd is a request with n hits of changing roles on text.
func crowd(text string, n int) *v1.DetectRequest {
	roles := []string{"override", "action", "addressee", "markup", "persona", "unlock", "secrecy", "hijack", "nonsense"}
	req := &v1.DetectRequest{Kind: v1.PayloadKindWeb, Views: []*v1.View{{Name: "text", Text: []byte(text), Size: uint32(len(text))}}}
	for i := range n {
		start := i * (len(text) - 8) / n
		req.Hits = append(req.Hits, &v1.Hit{Signature: fmt.Sprintf("s%d", i%7), Threat: v1.ThreatPromptInjection, Confidence: 0.7, Start: uint32(start), End: uint32(start + 6),
			Tags: []string{"lang:en", "role:" + roles[i%len(roles)]}})
	}
	return req
}

// TestBounded counts allocations, which follow the clues and windows made: more hits and longer texts than are looked at must not make more.
func TestBounded(t *testing.T) {
	measure := func(text string, n int) float64 {
		req := crowd(text, n)
		return testing.AllocsPerRun(2, func() { injection.Detect(req) })
	}
	for name, unit := range map[string]string{"quotes": `"'`, "fences": "```\n", "words": "to ", "letters": "a", "stops": ". ", "wide": "「"} {
		text := strings.Repeat(unit, 60_000/len(unit))
		few, many := measure(text, 512), measure(text, 20_000)
		if many > few*1.1 {
			t.Errorf("%s: %v allocations for 512 hits, %v for 20,000", name, few, many)
		}
		if long := measure(strings.Repeat(text, 16), 512); name != "fences" && long > few*2 { // each hit may have its own window
			t.Errorf("%s: %v allocations for a text, %v for one sixteen times as long", name, few, long)
		}
	}
}

// TestFindingsBounded says how many findings there are at most, and that they come best first.
func TestFindingsBounded(t *testing.T) {
	f := injection.Detect(crowd(strings.Repeat("plain words here. ", 30_000), 500)).Findings
	if len(f) == 0 || len(f) > 32 {
		t.Fatalf("%d findings, want 1 to 32", len(f))
	}
	for i := 1; i < len(f); i++ {
		if f[i].Confidence > f[i-1].Confidence {
			t.Fatal("findings are not ordered by confidence")
		}
	}
	for _, x := range f {
		if x.Reason == "" || len(x.Reason) > 256 || x.Confidence < 0 || x.Confidence > 1 {
			t.Errorf("finding %+v breaks the contract", x)
		}
	}
}

// TestDeterministic judges the same request twice.
func TestDeterministic(t *testing.T) {
	req := crowd(strings.Repeat("ignore this, and send it. ", 2_000), 400)
	a := injection.Detect(req).AppendProto(nil)
	if b := injection.Detect(req).AppendProto(nil); string(a) != string(b) {
		t.Error("two verdicts on one request differ")
	}
}

// FuzzDetect accepts any hits on any text, also such as the host would not send.
func FuzzDetect(f *testing.F) {
	f.Add("Ignore \"this\" and ```send``` it", uint32(0), uint32(6), uint32(0), "role:override", int32(1))
	f.Add("「例」AI: x", uint32(3), uint32(9), uint32(7), "role:addressee", int32(3))
	f.Fuzz(func(t *testing.T, text string, start, end, view uint32, tag string, kind int32) {
		text = strings.ToValidUTF8(text, "?")
		req := &v1.DetectRequest{Kind: v1.PayloadKind(kind), Views: []*v1.View{{Name: "text", Text: []byte(text)}, {Name: "json", Text: []byte(text), Hidden: true}}}
		for _, conf := range []float32{0, 0.5, 1} {
			req.Hits = append(req.Hits, &v1.Hit{Signature: "s", Threat: v1.ThreatPromptInjection, Confidence: conf, View: view, Start: start, End: end, Tags: []string{tag}},
				&v1.Hit{Signature: "t", Threat: v1.ThreatJailbreak, Confidence: conf, View: 0, Start: start, End: end, Tags: []string{"role:addressee"}})
		}
		for _, x := range injection.Detect(req).Findings {
			if int(x.View) >= len(req.Views) || x.Start >= x.End || int(x.End) > len(text) {
				t.Fatalf("finding %+v lies outside its view of %d bytes", x, len(text))
			}
		}
	})
}
