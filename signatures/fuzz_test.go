package signatures

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// FuzzParse feeds the loader anything. It must not crash, must name the file and a line in every error, and what it accepts must survive lint
// and compile.
func FuzzParse(f *testing.F) {
	f.Add([]byte(samplePack))
	f.Add([]byte("pack: a\nversion: 1.0.0\nsignatures: [{id: b}]"))
	f.Add([]byte("a: &x [*x]"))
	f.Add([]byte("---\n---\n"))
	f.Add([]byte("pack: \xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 4<<10 {
			return // a large pack is slow to lint, and shows no more
		}
		p, err := Parse("fuzz.yaml", data)
		if err != nil {
			if !strings.Contains(err.Error(), "fuzz.yaml:") {
				t.Fatalf("error without a place: %v", err)
			}
			return
		}
		problems := Lint([]*Pack{p})
		m, err := Compile([]*Pack{p})
		if err != nil {
			if !hasError(problems) {
				t.Fatalf("lint is content, but: %v", err)
			}
			return
		}
		if _, err := m.Match(nil, data, Query{}); err != nil {
			t.Logf("match: %v", err)
		}
	})
}

// FuzzMatch compares the matcher with the definition on signatures drawn from a seed and on any text.
func FuzzMatch(f *testing.F) {
	f.Add(uint64(1), []byte("ignore prior rules"))
	f.Add(uint64(2), []byte("x\xc2\xa0\xe3\x80 ab** ab\n>#_rule"))
	f.Add(uint64(3), []byte(strings.Repeat("aab ", 90)))
	f.Add(uint64(4), []byte("\xff\x80\xed\xa0\x80КЛЮЧ\xd0"))
	f.Fuzz(func(t *testing.T, seed uint64, text []byte) {
		if len(text) > 2<<10 {
			return // the definition takes its time
		}
		r := rand.New(rand.NewPCG(seed, 3))
		p := &Pack{}
		for i := range 6 {
			p.Signatures = append(p.Signatures, randomSignature(r, i))
		}
		m, err := Compile([]*Pack{p})
		if err != nil {
			t.Fatal(err)
		}
		checkAgainstReference(t, m, text)
	})
}
