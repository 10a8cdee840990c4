package signatures

import (
	"slices"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// TestDefaultPacks holds the built-in packs to what Lint asks of anybody's.
func TestDefaultPacks(t *testing.T) {
	packs, err := Load(Default())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range Lint(packs) {
		if p.Level == Error {
			t.Error(p)
		} else {
			t.Log(p)
		}
	}
}

// TestDefaultExamples runs every example of the built-in packs through the matcher of all of them. Lint tries each signature alone.
func TestDefaultExamples(t *testing.T) {
	m := defaultMatcher(t)
	n := 0
	for _, c := range m.sigs {
		s := c.sig
		hits := func(text string) bool {
			found, err := m.Match(nil, []byte(text), Query{Kind: s.exampleKind()})
			if err != nil {
				t.Errorf("%s: %v on %q", s.ID, err, clip(text, 80))
			}
			n++
			return slices.ContainsFunc(found, func(h Hit) bool { return h.Sig == s })
		}
		for _, text := range s.Positive {
			if !hits(text) {
				t.Errorf("%s does not match its example %q", s.ID, clip(text, 80))
			}
		}
		for _, text := range s.Negative {
			if hits(text) {
				t.Errorf("%s matches its counter-example %q", s.ID, clip(text, 80))
			}
		}
	}
	t.Logf("%d signatures, %d examples", len(m.sigs), n)
}

// maxOrdinaryWork is what ordinary text may cost on average, in units of a Budget a byte: well below BudgetPerByte, so that no harmless text
// is held for its cost.
const maxOrdinaryWork = 8

// TestOrdinaryTextIsCheap counts the work of the built-in packs on harmless texts, each set as one long text.
func TestOrdinaryTextIsCheap(t *testing.T) {
	m := defaultMatcher(t)
	for _, set := range []string{"dev_benign_docs", "dev_user_prompts", "dev_frr_benign", "dev_agent_instruction_files", "dev_security_docs_hardneg"} {
		text := corpus(t, set)
		p, b := m.Profile(), NewBudget(len(text))
		if _, err := p.Match(nil, text, Query{Kind: v1.PayloadKindDoc, Budget: b}); err != nil {
			t.Errorf("%s: %v", set, err)
		}
		work := float64(b.Used()) / float64(len(text))
		t.Logf("%s: %.2f a byte", set, work)
		if work > maxOrdinaryWork {
			for _, c := range p.Costs()[:5] {
				t.Errorf("%s: %.2f a byte, of which %s %.2f", set, work, c.Sig.ID, float64(c.Work)/float64(len(text)))
			}
		}
	}
}
