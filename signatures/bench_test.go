package signatures

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// corpus returns the texts of a development set, joined.
func corpus(tb testing.TB, name string) []byte {
	dir := os.Getenv("AMYGDALA_DATA")
	if dir == "" {
		tb.Skip("AMYGDALA_DATA is not set: the development sets are elsewhere")
	}
	f, err := os.Open(filepath.Join(dir, "eval", name+".jsonl.gz"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	var out bytes.Buffer
	rows := bufio.NewScanner(z)
	rows.Buffer(nil, 1<<24)
	for rows.Scan() {
		var row struct{ Text string }
		if err := json.Unmarshal(rows.Bytes(), &row); err != nil {
			tb.Fatal(err)
		}
		out.WriteString(row.Text + "\n\n")
	}
	return out.Bytes()
}

// defaultMatcher compiles the built-in packs.
func defaultMatcher(tb testing.TB) *Matcher {
	tb.Helper()
	packs, err := Load(Default())
	if err != nil {
		tb.Fatal(err)
	}
	m, err := Compile(packs)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// BenchmarkMatch matches ordinary text; every round takes another part of it.
func BenchmarkMatch(b *testing.B) {
	m := defaultMatcher(b)
	for _, set := range []string{"dev_user_prompts", "dev_benign_docs", "dev_security_docs_hardneg"} {
		text := corpus(b, set)
		for _, size := range []int{4 << 10, 64 << 10} {
			b.Run(fmt.Sprintf("%s/%dK", set, size>>10), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				var hits []Hit
				work, at := int64(0), 0
				for b.Loop() {
					budget := NewBudget(size)
					var err error
					if hits, err = m.Match(hits[:0], text[at:at+size], Query{Kind: v1.PayloadKindDoc, Budget: budget}); err != nil {
						b.Fatal(err)
					}
					work += budget.Used()
					if at += size; at+size > len(text) {
						at = 0
					}
				}
				b.ReportMetric(float64(work)/float64(b.N*size), "work/B")
			})
		}
	}
}

// BenchmarkHostile matches texts written to hurt.
func BenchmarkHostile(b *testing.B) {
	m := defaultMatcher(b)
	for name, text := range hostileTexts(m, 64<<10) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var hits []Hit
			for b.Loop() {
				budget := NewBudget(len(text))
				hits, _ = m.Match(hits[:0], text, Query{Budget: budget})
				b.ReportMetric(float64(budget.Used())/float64(len(text)), "work/B")
			}
		})
	}
}

// BenchmarkCompile is the cost of a reload.
func BenchmarkCompile(b *testing.B) {
	packs, err := Load(Default())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Compile(packs); err != nil {
			b.Fatal(err)
		}
	}
}
