package signatures

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func perfPacks(tb testing.TB) []*Pack {
	if d := os.Getenv("SIGDIR"); d != "" {
		var packs []*Pack
		es, _ := os.ReadDir(d)
		for _, e := range es {
			data, _ := os.ReadFile(filepath.Join(d, e.Name()))
			p, err := Parse(e.Name(), data)
			if err != nil {
				tb.Log(err)
				continue
			}
			var good []*Signature
			for _, s := range p.Signatures {
				if _, bad := compileSignature(s, &memory{}); len(bad) == 0 {
					good = append(good, s)
				}
			}
			p.Signatures = good
			packs = append(packs, p)
		}
		return packs
	}
	packs, err := Load(Default())
	if err != nil {
		tb.Fatal(err)
	}
	return packs
}

// corpus reads the rows of a development set.
func corpus(tb testing.TB, name string) [][]byte {
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
	var out [][]byte
	sc := bufio.NewScanner(z)
	sc.Buffer(nil, 1<<24)
	for sc.Scan() {
		var row struct{ Text string }
		if err := json.Unmarshal(sc.Bytes(), &row); err != nil {
			tb.Fatal(err)
		}
		out = append(out, []byte(row.Text))
	}
	return out
}

func BenchmarkMatch(b *testing.B) {
	t0 := time.Now()
	packs := perfPacks(b)
	t1 := time.Now()
	m, err := Compile(packs)
	if err != nil {
		b.Fatal(err)
	}
	t2 := time.Now()
	var ms runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&ms)
	fmt.Printf("parse %v compile %v sigs %d literals %d states %d arcs %d width %d full %d heap %d MB\n", t1.Sub(t0), t2.Sub(t1), len(m.sigs), len(m.literals),
		int(m.auto.full)+len(m.auto.sparse), len(m.auto.arcs), m.auto.width, m.auto.full, ms.HeapAlloc>>20)
	for _, set := range []string{"dev_benign_docs", "dev_user_prompts", "dev_security_docs_hardneg", "dev_frr_benign"} {
		all := bytes.Join(corpus(b, set), []byte("\n\n"))
		for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
			if size > len(all) {
				continue
			}
			b.Run(fmt.Sprintf("%s/%dK", set, size>>10), func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				var dst []Hit
				off, hits, used := 0, 0, int64(0)
				runtime.LockOSThread()
				c0 := cpuTime()
				for b.Loop() {
					if off+size > len(all) {
						off = 0
					}
					bud := NewBudget(size)
					var err error
					dst, err = m.Match(dst[:0], all[off:off+size], Query{Budget: bud})
					if err != nil {
						b.Fatal(err)
					}
					hits += len(dst)
					used += bud.used
					off += size
				}
				b.ReportMetric(float64(cpuTime()-c0)/float64(b.N)/float64(size), "cpuns/B")
				b.ReportMetric(float64(hits)/float64(b.N), "hits")
				b.ReportMetric(float64(used)/float64(b.N)/float64(size), "work/B")
			})
		}
	}
}

func hostileTexts(m *Matcher, size int) map[string][]byte {
	fill := func(next func(i int) string) []byte {
		var b bytes.Buffer
		for i := 0; b.Len() < size; i++ {
			b.WriteString(next(i))
		}
		return b.Bytes()[:size]
	}
	spell := func(l *literal) string {
		s := ""
		for _, e := range l.elems {
			if e.gap != noGap {
				s += " "
			} else {
				s += string(e.runes[len(e.runes)-1])
			}
		}
		return s
	}
	n := len(m.literals)
	out := map[string][]byte{}
	out["all-literals"] = fill(func(i int) string { return spell(m.literals[i*7%n].literal) + " " })
	out["prefixes"] = fill(func(i int) string { s := spell(m.literals[i*7%n].literal); return s[:len(s)-1] })
	out["gaps"] = fill(func(i int) string {
		c := m.sigs[i*11%len(m.sigs)]
		s := ""
		for _, g := range c.groups {
			s += spell(g[i%len(g)]) + " xx yy zz ww vv uu "
		}
		return s
	})
	out["far"] = fill(func(i int) string {
		c := m.sigs[i*11%len(m.sigs)]
		s := ""
		for _, g := range c.groups {
			s += spell(g[i%len(g)]) + string(bytes.Repeat([]byte("x "), 31))
		}
		return s
	})
	var most int
	for i := range m.literals {
		c := 0
		for _, a := range m.literals[i].anchors {
			c += len(a.sigs)
		}
		b := 0
		for _, a := range m.literals[most].anchors {
			b += len(a.sigs)
		}
		if c > b {
			most = i
		}
	}
	out["one-anchor"] = fill(func(i int) string { return spell(m.literals[most].literal) + " " })
	out["pattern"] = fill(func(i int) string {
		c := m.sigs[i*11%len(m.sigs)]
		s := ""
		for k := len(c.groups) - 1; k >= 0; k-- {
			g := c.groups[k]
			s += spell(g[i%len(g)]) + " "
		}
		return s
	})
	out["spaces"] = fill(func(i int) string { return "ignore" + string(bytes.Repeat([]byte(" *"), 30)) })
	return out
}

func BenchmarkHostile(b *testing.B) {
	m, err := Compile(perfPacks(b))
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range hostileTexts(m, 64<<10) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			var dst []Hit
			var bud *Budget
			var err error
			runtime.LockOSThread()
			c0 := cpuTime()
			defer func() { b.ReportMetric(float64(cpuTime()-c0)/float64(b.N)/float64(len(text)), "cpuns/B") }()
			for b.Loop() {
				bud = NewBudget(len(text))
				dst, err = m.Match(dst[:0], text, Query{Budget: bud})
			}
			b.ReportMetric(float64(len(dst)), "hits")
			b.ReportMetric(float64(bud.used)/float64(len(text)), "work/B")
			if err != nil {
				b.ReportMetric(1, "held")
			}
		})
	}
}

func cpuTime() time.Duration {
	var u unix.Rusage
	unix.Getrusage(unix.RUSAGE_THREAD, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestPerfMin prints the least time of many runs, which other work on the machine disturbs the least.
func TestPerfMin(t *testing.T) {
	if os.Getenv("PERF") == "" {
		t.Skip("PERF is not set")
	}
	m, err := Compile(perfPacks(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"dev_benign_docs", "dev_user_prompts", "dev_security_docs_hardneg", "dev_frr_benign"} {
		all := bytes.Join(corpus(t, set), []byte("\n\n"))
		for _, size := range []int{4 << 10, 64 << 10} {
			total, work, chunks := time.Duration(0), int64(0), 0
			for off := 0; off+size <= len(all) && chunks < 1<<20/size; off += size {
				best := time.Hour
				var bud *Budget
				for range 25 {
					bud = &Budget{limit: 1 << 50}
					t0 := time.Now()
					m.Match(nil, all[off:off+size], Query{Budget: bud})
					best = min(best, time.Since(t0))
				}
				work += bud.used
				total += best
				chunks++
			}
			n := float64(chunks * size)
			fmt.Printf("%s/%dK %.2f ns/B  %.0f us each  work/B %.3f\n", set, size>>10, float64(total)/n, float64(total.Microseconds())/float64(chunks), float64(work)/n)
		}
	}
	for name, text := range hostileTexts(m, 64<<10) {
		best := time.Hour
		var bud *Budget
		var err error
		var hits []Hit
		for range 15 {
			bud = NewBudget(len(text))
			t0 := time.Now()
			hits, err = m.Match(nil, text, Query{Budget: bud})
			best = min(best, time.Since(t0))
		}
		fmt.Printf("hostile %s %.2f ns/B %.2f ms work/B %.2f hits %d held %t\n", name, float64(best)/float64(len(text)), float64(best.Microseconds())/1000, float64(bud.used)/float64(len(text)), len(hits), err != nil)
	}
}
