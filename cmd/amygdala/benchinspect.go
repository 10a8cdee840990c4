package main

import (
	"context"
	"fmt"
	"math/rand/v2"
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

// matching compares the matcher with what one would write without it: every pattern by itself; one alternation that runs when a required
// literal is there; each pattern in windows around its own literals.
func (b *bench) matching() error {
	packs, err := signatures.Load(signatures.Default())
	if err != nil {
		return err
	}
	m, err := signatures.Compile(packs)
	if err != nil {
		return err
	}
	base, err := signatures.NewBaseline(packs)
	if err != nil {
		return err
	}
	const size = 4 << 10
	texts := make([][]byte, 403)
	for i := range texts {
		texts[i] = benignText(size, uint64(i))
	}
	var hits []signatures.Hit
	ours, err := timed(400, func(i int) error {
		hits, err = m.Match(hits[:0], texts[i], signatures.Query{Kind: v1.PayloadKindDoc})
		return err
	})
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name, what string
		n          int
		run        func(text []byte) error
	}{
		{"goregexp", "Go's regexp, pattern by pattern", 5, func(t []byte) error { base.OneByOne(t, v1.PayloadKindDoc); return nil }},
		{"prefilter_regexp", "one alternation in Go's regexp, after a literal prefilter", 10, func(t []byte) error { _, err := base.Prefiltered(t, v1.PayloadKindDoc); return err }},
		{"windowed_regexp", "Go's regexp, each pattern in windows around its own literals", 40, func(t []byte) error { _, err := base.Windowed(t, v1.PayloadKindDoc); return err }},
	} {
		theirs, err := timed(c.n, func(i int) error { return c.run(texts[i]) })
		if err != nil {
			return err
		}
		b.add(figure{Name: "inspect." + c.name + "_ratio", Value: float64(median(theirs)) / float64(median(ours)), Unit: "x", N: c.n,
			Baseline: fmt.Sprintf("%s: %.0f us for 4 KiB of benign text; the matcher: %.1f us", c.what, us(median(theirs)), us(median(ours)))})
	}
	return nil
}
