package signatures

import "testing"

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
