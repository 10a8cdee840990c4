package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
)

// figure is one line of the bench. Ratio is value against baseline, measured in the same run; figures whose name ends in _ratio are a
// ratio themselves.
type figure struct {
	Name     string   `json:"name"`
	Value    float64  `json:"value"`
	Unit     string   `json:"unit"`
	Baseline string   `json:"baseline"`
	Ratio    *float64 `json:"ratio"` // null: nothing to compare with
	N        int      `json:"n"`
}

// bench collects figures.
type bench struct {
	stdio
	flags   hostFlags
	figures []figure
	asJSON  bool
	only    string
}

func (b *bench) add(f figure) {
	f.Value = significant(f.Value)
	if f.Ratio != nil {
		r := significant(*f.Ratio)
		f.Ratio = &r
	}
	b.figures = append(b.figures, f)
	if b.asJSON {
		_ = json.NewEncoder(b.out).Encode(f)
	}
}

// wants reports whether a group of figures was asked for.
func (b *bench) wants(group string) bool { return b.only == "" || strings.HasPrefix(group, b.only) }

func newBench(io stdio) *cobra.Command {
	b := &bench{stdio: io}
	cmd := &cobra.Command{
		Use: "bench", Short: "Measure this machine: engine, inspection, reload, start",
		Long: `Measures on this machine and prints each figure with what it is compared to, measured in the same run. Trust the ratios: absolute
times are this machine's. Texts differ from call to call, so that no cache flatters a figure. Takes about a minute.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context()) },
	}
	b.flags.add(cmd)
	cmd.Flags().BoolVar(&b.asJSON, "json", false, "one JSON line a figure")
	cmd.Flags().StringVar(&b.only, "only", "", "one `GROUP` of figures: engine, inspect, reload or serve")
	return cmd
}

func (b *bench) run(ctx context.Context) error {
	groups := []struct {
		name string
		run  func(context.Context) error
	}{{"engine", b.engine}, {"inspect", b.inspect}, {"reload", b.reload}, {"serve", b.serve}}
	known := false
	for _, g := range groups {
		known = known || b.wants(g.name)
	}
	if !known {
		return fmt.Errorf("unknown group %q: use engine, inspect, reload or serve", b.only)
	}
	for _, g := range groups {
		if !b.wants(g.name) {
			continue
		}
		fmt.Fprintf(b.err, "measuring %s\n", g.name)
		runtime.GC()
		if err := g.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
	}
	if b.asJSON {
		return nil
	}
	return b.print()
}

func (b *bench) print() error {
	fmt.Fprintf(b.out, "%s, %d of %d cores, %s/%s\n", runtime.Version(), runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	if cpu := cpuModel(); cpu != "" {
		fmt.Fprintln(b.out, cpu)
	}
	tw := tabwriter.NewWriter(b.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "FIGURE\tVALUE\tUNIT\tRATIO\tAGAINST\tN")
	for _, f := range b.figures {
		ratio := "-"
		if f.Ratio != nil {
			ratio = fmt.Sprintf("%.3g", *f.Ratio)
		}
		fmt.Fprintf(tw, "%s\t%.4g\t%s\t%s\t%s\t%d\n", f.Name, f.Value, f.Unit, ratio, f.Baseline, f.N)
	}
	return tw.Flush()
}

// cpuModel is the processor's name where the system tells it.
func cpuModel() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(data)) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == "model name" {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// significant keeps four digits.
func significant(x float64) float64 {
	var y float64
	if _, err := fmt.Sscanf(fmt.Sprintf("%.4g", x), "%g", &y); err != nil {
		return x
	}
	return y
}

// sample times f n times on one core, after a few unmeasured calls, and returns the sorted times. i counts up, so that f can use another
// input each time.
func timed(n int, f func(i int) error) ([]time.Duration, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	warm := min(3, n)
	times := make([]time.Duration, 0, n)
	for i := range n + warm {
		start := time.Now()
		if err := f(i); err != nil {
			return nil, err
		}
		if d := time.Since(start); i >= warm {
			times = append(times, d)
		}
	}
	slices.Sort(times)
	return times, nil
}

func median(times []time.Duration) time.Duration { return percentile(times, 0.5) }

func us(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }
func ms(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }

func against(value, baseline time.Duration) *float64 {
	r := float64(value) / float64(baseline)
	return &r
}

func sorted(times []time.Duration) []time.Duration {
	slices.Sort(times)
	return times
}
