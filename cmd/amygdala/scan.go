package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
)

func newScan(io stdio) *cobra.Command {
	var open hostFlags
	s := &scanner{stdio: io}
	var kind string
	cmd := &cobra.Command{
		Use:   "scan [FILE|-]...",
		Short: "Judge files, standard input, or rows of JSONL",
		Long: `Judges each FILE ("-" or none: standard input) and prints the verdict with its findings: byte offsets into the file, the view
(decoding) that revealed it, the detector, the signature and the confidence.

With --jsonl the input holds rows {"id","text"|"bytes","kind","source","topic"} and each gives one line
{"id","verdict","score","findings","generation","fuel"} in input order.

Exit code 0: all clear. 1: a threat, an ambiguous payload, or one that is held because it could not be judged. 2: an error.`,
		Example: "  amygdala scan --kind web page.html\n  curl -s https://example.com | amygdala scan --kind web -\n  amygdala scan --jsonl rows.jsonl",
		RunE: func(cmd *cobra.Command, files []string) error {
			k, err := parseKind(kind)
			if err != nil {
				return err
			}
			s.kind = k
			if len(files) == 0 {
				files = []string{"-"}
			}
			h, err := open.open(cmd.Context(), io)
			if err != nil {
				return err
			}
			defer h.Close()
			return s.run(cmd.Context(), h, files)
		},
	}
	open.add(cmd)
	f := cmd.Flags()
	f.StringVar(&kind, "kind", "doc", "what the input is: "+kindNames())
	f.StringVar(&s.source, "source", "", "who sent it (a URL, a tool's name); detectors see it")
	f.StringVar(&s.topic, "topic", "", "the topic it came on, such as agent/telemetry; detectors may wake for it")
	f.BoolVar(&s.json, "json", false, "one JSON object per file")
	f.BoolVar(&s.jsonl, "jsonl", false, "the input holds one JSON row per line")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(strings.Split(kindNames(), ", "), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

type scanner struct {
	stdio
	kind        v1.PayloadKind
	source      string
	topic       string
	json, jsonl bool
	worst       bool // something was not clear
}

func (s *scanner) run(ctx context.Context, h *host.Host, files []string) error {
	for _, name := range files {
		var err error
		if s.jsonl {
			err = s.rows(ctx, h, name)
		} else {
			err = s.file(ctx, h, name)
		}
		if err != nil {
			return err
		}
	}
	if s.worst {
		return errNo
	}
	return nil
}

func (s *scanner) file(ctx context.Context, h *host.Host, name string) error {
	data, err := readAll(ctx, name, s.in, h.MaxPayload())
	if err != nil {
		return err
	}
	p := host.Payload{ID: name, Data: data, Kind: s.kind, Source: s.source, Topic: s.topic}
	d, err := h.Inspect(ctx, p)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	s.worst = s.worst || d.Verdict != host.Clear
	if s.json {
		return json.NewEncoder(s.out).Encode(d)
	}
	return printDecision(s.out, name, data, d)
}

// readAll reads one byte more than the host accepts, so that an oversized input is held and not cut.
func readAll(ctx context.Context, name string, in io.Reader, limit int) ([]byte, error) {
	f, err := openInput(ctx, name, in)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return data, nil
}

func printDecision(w io.Writer, name string, data []byte, d *host.Decision) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s: %s  (score %.2f, generation %d, fuel %d)\n", printable(name), strings.ToUpper(string(d.Verdict)), d.Score, d.Generation, d.Fuel)
	for _, why := range d.Held {
		fmt.Fprintf(b, "  held: %s\n", why)
	}
	for _, f := range d.Findings {
		what := f.Detector
		if f.Signature != "" {
			what += "/" + f.Signature
		}
		fmt.Fprintf(b, "  %-18s %.2f  %s  bytes %d-%d (line %d) in %s", f.ThreatName, f.Confidence, what, f.Start, f.End, lineOf(data, f.Start), f.View)
		if f.Reason != "" {
			fmt.Fprintf(b, "\n  %-18s       %s", "", f.Reason)
		}
		fmt.Fprintln(b)
	}
	return b.Flush()
}

func lineOf(data []byte, at int) int {
	return 1 + strings.Count(string(data[:min(at, len(data))]), "\n")
}

// job is one row on its way through the workers.
type job struct {
	line int
	row  *row
	out  chan result
}

type result struct {
	decision *host.Decision
	err      error
}

// rows judges a JSONL file with one worker per core and prints in input order. The queue between reading and printing is bounded, so
// memory does not grow with the file.
func (s *scanner) rows(ctx context.Context, h *host.Host, name string) error {
	in, err := openRows(ctx, name, s.in)
	if err != nil {
		return err
	}
	defer in.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	bar := newProgress(s.err, name)
	workers := runtime.GOMAXPROCS(0)
	todo, order := make(chan job, workers), make(chan job, 16*workers)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() { judge(ctx, h, todo) })
	}
	readErr := make(chan error, 1)
	go func() {
		readErr <- eachRow(name, bar.reader(in), func(line int, r *row) error { return enqueue(ctx, job{line, r, make(chan result, 1)}, todo, order) })
		close(todo)
		close(order)
	}()
	err = s.printRows(name, order, bar)
	cancel()
	for range order { // let the reader end
	}
	wg.Wait()
	bar.done()
	if rerr := <-readErr; err == nil && rerr != nil {
		err = rerr
	}
	return err
}

func enqueue(ctx context.Context, j job, todo, order chan<- job) error {
	for _, c := range []chan<- job{todo, order} { // todo first: what is waited for in order is surely judged
		select {
		case c <- j:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func judge(ctx context.Context, h *host.Host, todo <-chan job) {
	for j := range todo {
		p, err := j.row.payload()
		if err != nil {
			j.out <- result{err: err}
			continue
		}
		d, err := h.Inspect(ctx, p)
		j.out <- result{d, err}
	}
}

func (s *scanner) printRows(name string, order <-chan job, bar *progress) error {
	w := bufio.NewWriter(s.out)
	defer w.Flush()
	enc := json.NewEncoder(w)
	for j := range order {
		r := <-j.out
		if r.err != nil {
			return fmt.Errorf("%s:%d: %w", name, j.line, r.err)
		}
		s.worst = s.worst || r.decision.Verdict != host.Clear
		bar.tick()
		if err := enc.Encode(r.decision); err != nil {
			return err
		}
		if len(order) == 0 {
			w.Flush()
		}
	}
	return nil
}
