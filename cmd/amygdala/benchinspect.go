package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/signatures"
)

// inspect measures whole inspections with the built-in detectors and packs, on one core, no verdict cache.
func (b *bench) inspect(ctx context.Context) error {
	h, err := b.flags.open(ctx, b.stdio)
	if err != nil {
		return err
	}
	defer h.Close()
	judge := func(kind v1.PayloadKind, text []byte) error {
		_, err := h.Inspect(ctx, host.Payload{Data: text, Kind: kind})
		return err
	}
	var typical time.Duration
	for _, c := range []struct {
		name    string
		size, n int
	}{{"4k", 4 << 10, 600}, {"64k", 64 << 10, 150}, {"1m", 1 << 20, 15}} {
		texts := make([][]byte, c.n+3)
		for i := range texts {
			texts[i] = benignText(c.size, uint64(i))
		}
		times, err := timed(c.n, func(i int) error { return judge(v1.PayloadKindDoc, texts[i]) })
		if err != nil {
			return err
		}
		if c.name == "64k" {
			typical = median(times)
		}
		b.addInspect(c.name, times)
	}
	if err := b.hostile(judge, typical); err != nil {
		return err
	}
	return b.matching()
}

func (b *bench) addInspect(name string, times []time.Duration) {
	if name == "1m" {
		b.add(figure{Name: "inspect.1m_p50_ms", Value: ms(median(times)), Unit: "ms", N: len(times)})
		return
	}
	b.add(figure{Name: "inspect." + name + "_p50_us", Value: us(median(times)), Unit: "us", N: len(times)})
	b.add(figure{Name: "inspect." + name + "_p99_us", Value: us(percentile(times, 0.99)), Unit: "us", N: len(times)})
}

// hostile reports the dearest of the texts made to hurt, and each of them.
func (b *bench) hostile(judge func(v1.PayloadKind, []byte) error, typical time.Duration) error {
	const size, n = 64 << 10, 7
	worst, worstName := time.Duration(0), ""
	for _, t := range hostileTexts {
		rng := rand.New(rand.NewPCG(1, 1))
		times, err := timed(n, func(int) error { return judge(v1.PayloadKindWeb, []byte(t.make(size, rng))) })
		if err != nil {
			return err
		}
		if m := median(times); m > worst {
			worst, worstName = m, t.name
		}
		b.add(figure{Name: "inspect.hostile_64k_ms/" + strings.ReplaceAll(t.name, " ", "_"), Value: ms(median(times)), Unit: "ms",
			Baseline: "benign text of the same size", Ratio: against(median(times), typical), N: n})
	}
	b.add(figure{Name: "inspect.hostile_64k_ms", Value: ms(worst), Unit: "ms", Baseline: "benign text of the same size (worst: " + worstName + ")",
		Ratio: against(worst, typical), N: n * len(hostileTexts)})
	return nil
}

// matching compares the matcher with what one would write without it: every pattern by itself, and one alternation that only runs when
// some required literal is there.
func (b *bench) matching() error {
	packs, err := signatures.Load(signatures.Default())
	if err != nil {
		return err
	}
	m, err := signatures.Compile(packs)
	if err != nil {
		return err
	}
	one, all, literals, err := baselinePatterns(packs)
	if err != nil {
		return err
	}
	const size = 4 << 10
	var hits []signatures.Hit
	ours, err := timed(400, func(i int) error {
		hits, err = m.Match(hits[:0], benignText(size, uint64(i)), signatures.Query{Kind: v1.PayloadKindDoc})
		return err
	})
	if err != nil {
		return err
	}
	text, err := timed(400, func(i int) error { benignText(size, uint64(i)); return nil })
	if err != nil {
		return err
	}
	mine := max(median(ours)-median(text), time.Microsecond)
	single, err := timed(5, func(i int) error {
		t := benignText(size, uint64(i))
		for _, re := range one {
			re.FindIndex(t)
		}
		return nil
	})
	if err != nil {
		return err
	}
	joined, err := timed(20, func(i int) error {
		t := benignText(size, uint64(i))
		if containsAny(strings.ToLower(string(t)), literals) {
			all.FindAllIndex(t, -1)
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.add(figure{Name: "inspect.goregexp_ratio", Value: float64(median(single)) / float64(mine), Unit: "x", N: len(ours),
		Baseline: fmt.Sprintf("Go regexp, %d patterns one by one, 4 KiB of benign text: %.0f us; the matcher: %.1f us", len(one), us(median(single)), us(mine))})
	b.add(figure{Name: "inspect.prefilter_regexp_ratio", Value: float64(median(joined)) / float64(mine), Unit: "x", N: len(ours),
		Baseline: fmt.Sprintf("one alternation of %d patterns after a literal prefilter: %.0f us", len(one), us(median(joined)))})
	return nil
}

func baselinePatterns(packs []*signatures.Pack) (one []*regexp.Regexp, all *regexp.Regexp, literals []string, err error) {
	var sources []string
	for _, p := range packs {
		for _, s := range p.Signatures {
			literals = append(literals, s.Literals[0]...)
			for _, pattern := range s.Patterns {
				if !s.Exact {
					pattern = "(?i)" + pattern
				}
				sources = append(sources, "(?:"+pattern+")")
			}
		}
	}
	for _, s := range sources {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, nil, nil, err
		}
		one = append(one, re)
	}
	all, err = regexp.Compile(strings.Join(sources, "|"))
	return one, all, literals, err
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
