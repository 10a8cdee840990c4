package conformance_test

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/sdk/conformance"
	"github.com/amygdala-host/amygdala/sdk/conformance/hostile"
)

// TestModelPasses keeps the hostile set honest: without its offence, a guest of that make passes everything, in either encoding.
func TestModelPasses(t *testing.T) {
	for name, wasm := range map[string][]byte{"protobuf": hostile.Model(), "json": hostile.ModelJSON()} {
		r, err := conformance.Run(t.Context(), wasm, &conformance.Options{File: name})
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if err := r.WriteText(&text, true); err != nil {
			t.Fatal(err)
		}
		if !r.Passed || r.Level != conformance.LevelBudget {
			t.Error(text.String())
		}
		// It reads no request, so it cannot refuse one: the suite says so, and that decides nothing.
		if c := r.Result("contract.unreadable"); c.Status != conformance.Note || !strings.Contains(text.String(), "note  contract.unreadable") {
			t.Errorf("%+v\n%s", c, text.String())
		}
	}
}

// TestHostileGuestsAreRefused runs the suite over every hostile guest: each fails, in the case it was made for, for its own reason.
func TestHostileGuestsAreRefused(t *testing.T) {
	for _, g := range hostile.All() {
		t.Run(g.Name, func(t *testing.T) {
			t.Parallel()
			r, err := conformance.Run(t.Context(), g.Wasm, &conformance.Options{File: g.Name})
			if err != nil {
				t.Fatal(err)
			}
			ok, why := g.Refused(r.Passed, func(id string) (string, bool) {
				c := r.Result(id)
				if c == nil || c.Status != conformance.Fail {
					return "", false
				}
				return c.Message, true
			})
			if !ok {
				t.Error(why)
			}
		})
	}
}

// TestSkippedMeansFailed: a plugin that does not load leaves required cases unrun, and that is no pass.
func TestSkippedMeansFailed(t *testing.T) {
	r, err := conformance.Run(t.Context(), []byte("not a module"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if pass, failed, skipped := r.Counts(); r.Passed || pass != 0 || failed != 1 || skipped == 0 {
		t.Errorf("passed %v with %d passes, %d failures, %d skips", r.Passed, pass, failed, skipped)
	}
}

func TestReportForms(t *testing.T) {
	r, err := conformance.Run(t.Context(), hostile.Model(), &conformance.Options{File: "model", Level: conformance.LevelLoads})
	if err != nil {
		t.Fatal(err)
	}
	var j, x bytes.Buffer
	if err := r.WriteJSON(&j); err != nil || !bytes.Contains(j.Bytes(), []byte(`"passed":true`)) {
		t.Errorf("JSON: %v %s", err, j.String())
	}
	if err := r.WriteJUnit(&x); err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	if err := xml.Unmarshal(x.Bytes(), &suite); err != nil || suite.Tests != len(r.Results) || suite.Failures != 0 {
		t.Errorf("JUnit: %v %+v\n%s", err, suite, x.String())
	}
}
