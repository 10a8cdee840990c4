package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"sort"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
)

func newEval(io stdio) *cobra.Command {
	var open hostFlags
	var asJSON bool
	var misses string
	cmd := &cobra.Command{
		Use:   "eval FILE.jsonl[.gz]...",
		Short: "Measure recall and false positives on labelled rows, per file and subset",
		Long: `Reads rows {"id","text"|"bytes","kind","label","subset"} and reports, per file and per subset: recall, false-positive rate,
precision, F1 and latency percentiles.

Only the verdict "threat" counts as positive; "hold" has its own column. A row is a true positive only if a finding's threat
equals its label; jailbreak and prompt_injection count as one family. Rows labelled policy_block are left out, and so are ssrf rows of
another kind than url and tool_call. Figures are never pooled over files.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error {
			if misses != "" && !slices.Contains([]string{"fn", "fp", "hold"}, misses) {
				return fmt.Errorf("unknown column %q: use fn, fp or hold", misses)
			}
			h, err := open.open(cmd.Context(), io)
			if err != nil {
				return err
			}
			defer h.Close()
			return evalFiles(cmd.Context(), h, files, asJSON, misses, io)
		},
	}
	open.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON line a file and one a subset")
	cmd.Flags().StringVar(&misses, "list", "", "also list the rows counted as `COLUMN` (fn, fp or hold) with their findings, as JSONL on standard error")
	return cmd
}

func evalFiles(ctx context.Context, h *host.Host, files []string, asJSON bool, list string, stdio stdio) error {
	enc := json.NewEncoder(stdio.out)
	tw := tabwriter.NewWriter(stdio.out, 0, 4, 2, ' ', tabwriter.AlignRight)
	if !asJSON {
		fmt.Fprintln(tw, "file\tsubset\tlabel\tn\ttp\tfn\tfp\ttn\thold\trecall\tfpr\tprecision\tf1\tp50 µs\tp99 µs\t")
	}
	for _, name := range files {
		e := newEvaluation(name, list, stdio.err)
		if err := e.read(ctx, h, name, stdio.in); err != nil {
			return err
		}
		for _, s := range e.scores() {
			if asJSON {
				if err := enc.Encode(s); err != nil {
					return err
				}
				continue
			}
			s.print(tw)
		}
	}
	return tw.Flush()
}

// evalScore is one line of the result. Rates are nil where they would divide by nothing.
type evalScore struct {
	File      string   `json:"file"`
	Subset    string   `json:"subset"`
	Label     string   `json:"label"`
	N         int      `json:"n"`
	TP        int      `json:"tp"`
	FN        int      `json:"fn"`
	FP        int      `json:"fp"`
	TN        int      `json:"tn"`
	Hold      int      `json:"hold"`
	Recall    *float64 `json:"recall"`
	FPR       *float64 `json:"fpr"`
	Precision *float64 `json:"precision"`
	F1        *float64 `json:"f1"`
	P50       float64  `json:"p50_us"`
	P99       float64  `json:"p99_us"`
}

// tally collects one file or one subset.
type tally struct {
	evalScore
	times []time.Duration
}

type evaluation struct {
	whole   *tally
	subsets map[[2]string]*tally
	list    string
	out     io.Writer
}

func newEvaluation(file, list string, out io.Writer) *evaluation {
	return &evaluation{whole: &tally{evalScore: evalScore{File: file}}, subsets: map[[2]string]*tally{}, list: list, out: out}
}

func (e *evaluation) read(ctx context.Context, h *host.Host, name string, in io.Reader) error {
	f, err := openRows(ctx, name, in)
	if err != nil {
		return err
	}
	defer f.Close()
	return eachRow(name, f, func(_ int, r *row) error {
		if err := checkLabel(r.Label); err != nil {
			return err
		}
		if leftOut(r) {
			return nil
		}
		p, err := r.payload()
		if err != nil {
			return err
		}
		d, err := h.Inspect(ctx, p)
		if err != nil {
			return err
		}
		e.count(r, d)
		return nil
	})
}

// checkLabel refuses a label that no finding could ever equal: it would count as a miss.
func checkLabel(label string) error {
	if label == "" {
		return errors.New(`a "label" is required: benign or a threat's name`)
	}
	if _, ok := v1.ParseThreat(label); ok || label == "benign" || label == "policy_block" {
		return nil
	}
	return fmt.Errorf("unknown label %q: use benign, policy_block or a threat's name", label)
}

// leftOut are rows that say nothing about detection: see the command's help.
func leftOut(r *row) bool {
	return r.Label == "policy_block" || r.Label == "ssrf" && r.Kind != "url" && r.Kind != "tool_call"
}

func (e *evaluation) count(r *row, d *host.Decision) {
	key := [2]string{r.Subset, r.Label}
	t := e.subsets[key]
	if t == nil {
		t = &tally{evalScore: evalScore{File: e.whole.File, Subset: r.Subset, Label: r.Label}}
		e.subsets[key] = t
	}
	column := outcome(r.Label, d)
	for _, t := range []*tally{e.whole, t} {
		t.add(column, d.Elapsed)
	}
	if column == e.list {
		_ = json.NewEncoder(e.out).Encode(map[string]any{"id": r.ID, "label": r.Label, "subset": r.Subset, "decision": d})
	}
}

// outcome is the column a row is counted in: tp, fn, fp, tn or hold. A held attack is not detected and a held benign row is not accused;
// both stand in hold alone, and recall and the false-positive rate count them as not flagged.
func outcome(label string, d *host.Decision) string {
	if d.Verdict == host.Hold {
		return "hold"
	}
	flagged := d.Verdict == host.Threat
	switch {
	case label == "benign" && flagged:
		return "fp"
	case label == "benign":
		return "tn"
	case flagged && slices.ContainsFunc(d.Findings, func(f host.Finding) bool { return family(f.ThreatName) == family(label) }):
		return "tp"
	}
	return "fn"
}

func family(threat string) string {
	if threat == "jailbreak" {
		return "prompt_injection"
	}
	return threat
}

func (t *tally) add(column string, d time.Duration) {
	t.N++
	t.times = append(t.times, d)
	switch column {
	case "tp":
		t.TP++
	case "fn":
		t.FN++
	case "fp":
		t.FP++
	case "tn":
		t.TN++
	case "hold":
		t.Hold++
	}
}

// scores gives the whole file first (subset and label empty), then its subsets by name.
func (e *evaluation) scores() []*evalScore {
	e.whole.finish(e.positives())
	out := []*evalScore{&e.whole.evalScore}
	keys := make([][2]string, 0, len(e.subsets))
	for k := range e.subsets {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool { return slices.Compare(keys[i][:], keys[j][:]) < 0 })
	for _, k := range keys {
		t := e.subsets[k]
		pos := 0
		if t.Label != "benign" {
			pos = t.N
		}
		t.finish(pos)
		out = append(out, &t.evalScore)
	}
	return out
}

// positives counts the rows that should be flagged, held ones included.
func (e *evaluation) positives() int {
	n := 0
	for _, t := range e.subsets {
		if t.Label != "benign" {
			n += t.N
		}
	}
	return n
}

func (t *tally) finish(positives int) {
	t.Recall = ratio(t.TP, positives)
	t.FPR = ratio(t.FP, t.N-positives)
	t.Precision = ratio(t.TP, t.TP+t.FP)
	t.F1 = ratio(2*t.TP, t.TP+t.FP+positives)
	slices.Sort(t.times)
	t.P50, t.P99 = micros(percentile(t.times, 0.50)), micros(percentile(t.times, 0.99))
}

func ratio(a, b int) *float64 {
	if b == 0 {
		return nil
	}
	r := math.Round(float64(a)/float64(b)*1e4) / 1e4
	return &r
}

// percentile is the nearest-rank percentile of a sorted list.
func percentile(sorted []time.Duration, p float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[max(0, int(math.Ceil(p*float64(len(sorted))))-1)]
}

func micros(d time.Duration) float64 { return math.Round(float64(d)/100) / 10 }

func (s *evalScore) print(w io.Writer) {
	subset := s.Subset
	if s.Label == "" {
		subset = "(all)"
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%.0f\t%.0f\t\n", printable(filepath.Base(s.File)), printable(subset), s.Label, s.N, s.TP, s.FN, s.FP, s.TN, s.Hold,
		percent(s.Recall), percent(s.FPR), percent(s.Precision), percent(s.F1), s.P50, s.P99)
}

func percent(r *float64) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", *r*100)
}
