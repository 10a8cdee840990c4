package meter_test

import (
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// benchSlice is the size of a refuelling in the benchmarks.
const benchSlice = 50_000

// jobs are the work whose price is compared: a loop of four instructions of machine code, and the exports of the Go guest.
var jobs = []struct {
	name  string
	guest func(testing.TB) []byte
	f     string
	arg   uint64
}{
	{"tight_loop", func(testing.TB) []byte { return tightLoop() }, "f", 1_000_000},
	{"go_byte_loop", goModule, "sum", 300},
	{"go_calls", goModule, "calls", 24},
	{"go_regexp", goModule, "match", 3},
	{"go_copies", goModule, "copies", 2000},
}

func goModule(t testing.TB) []byte { return build(t, namedGuest) }

// BenchmarkRun runs each job plain, metered, and with wazero's own way to stop a guest, turn by turn, so that the machine's moods
// hit all three alike. It reports the fastest turn of each, and the ratios to the plain one.
func BenchmarkRun(b *testing.B) {
	for _, j := range jobs {
		b.Run(j.name, func(b *testing.B) {
			bin := j.guest(b)
			cfg := runtimeConfig().WithDebugInfoEnabled(false)
			hosts := []*host{
				start(b, bin, cfg, 0, 0),
				start(b, rewrite(b, bin, meter.Options{}).Wasm, cfg, benchSlice, plenty),
				start(b, bin, cfg.WithCloseOnContextDone(true), 0, 0),
			}
			best := make([]time.Duration, len(hosts))
			for b.Loop() {
				for i, h := range hosts {
					begin := time.Now()
					if _, err := h.call(b, j.f, j.arg); err != nil {
						b.Fatal(err)
					}
					if d := time.Since(begin); best[i] == 0 || d < best[i] {
						best[i] = d
					}
				}
			}
			plain := float64(best[0])
			b.ReportMetric(plain, "plain-ns")
			b.ReportMetric(float64(best[1])/plain, "metered-ratio")
			b.ReportMetric(float64(best[2])/plain, "closeondone-ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkRewrite measures the rewriting of a Go module of 2.5 MB.
func BenchmarkRewrite(b *testing.B) {
	bin := build(b, namedGuest)
	b.SetBytes(int64(len(bin)))
	b.ReportAllocs()
	for b.Loop() {
		rewrite(b, bin, meter.Options{})
	}
}

// BenchmarkRefuel measures one refuelling: a loop that asks at every round, less the round.
func BenchmarkRefuel(b *testing.B) {
	h := start(b, rewrite(b, tightLoop(), meter.Options{}).Wasm, runtimeConfig(), 1, plenty)
	for b.Loop() {
		if _, err := h.call(b, "f", 1000); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(h.refuels), "ns/refuel")
}
