package signatures

import (
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// hammerMatcher has enough signatures to share literals, groups, windows and automata.
func hammerMatcher(t testing.TB) *Matcher {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	p := &Pack{}
	for i := range 60 {
		p.Signatures = append(p.Signatures, randomSignature(r, i))
	}
	m, err := Compile([]*Pack{p})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestHammer shares matchers between goroutines, and swaps them as a reload does. Every answer must be that of a matcher used alone. Run it
// with -race.
func TestHammer(t *testing.T) {
	const texts, workers, rounds = 24, 8, 40
	r := rand.New(rand.NewPCG(8, 8))
	var inputs [][]byte
	var want [][]string
	alone := hammerMatcher(t)
	for range texts {
		text := []byte(randomText(r, 1+r.IntN(120)))
		hits, err := alone.Match(nil, text, Query{Budget: &Budget{limit: 1 << 40}})
		if err != nil {
			t.Fatal(err)
		}
		inputs, want = append(inputs, text), append(want, render(hits))
	}

	var current atomic.Pointer[Matcher]
	current.Store(hammerMatcher(t))
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			var hits []Hit
			for i := range rounds {
				n := (i*7 + w*3) % texts
				var err error
				hits, err = current.Load().Match(hits[:0], inputs[n], Query{Budget: &Budget{limit: 1 << 40}})
				if err != nil || !slices.Equal(render(hits), want[n]) {
					t.Errorf("text %d: %v, want %v (%v)", n, render(hits), want[n], err)
					return
				}
			}
		})
	}
	for range 4 {
		current.Store(hammerMatcher(t))
	}
	group.Wait()
}
