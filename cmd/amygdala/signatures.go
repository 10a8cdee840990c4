package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/view"
	"github.com/amygdala-host/amygdala/signatures"
)

func newSignatures(io stdio) *cobra.Command {
	cmd := &cobra.Command{Use: "signatures", Short: "List, lint and try threat signatures", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newSignaturesList(io), newSignaturesLint(io), newSignaturesTest(io))
	return cmd
}

// loadPacks reads the packs of each path: a folder of packs or one pack file. No path: the built-in packs.
func loadPacks(paths []string) ([]*signatures.Pack, error) {
	if len(paths) == 0 {
		return signatures.Load(signatures.Default())
	}
	var all []*signatures.Pack
	for _, p := range paths {
		packs, err := loadPath(p)
		if err != nil {
			return nil, err
		}
		all = append(all, packs...)
	}
	return all, nil
}

func loadPath(p string) ([]*signatures.Pack, error) {
	st, err := os.Stat(p)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		data, err := os.ReadFile(p)
		if err != nil {
			return nil, err
		}
		pack, err := signatures.Parse(p, data)
		return []*signatures.Pack{pack}, err
	}
	packs, err := signatures.Load(os.DirFS(p))
	if err == nil && len(packs) == 0 {
		err = fmt.Errorf("%s holds no *.yaml or *.yml file", p)
	}
	return packs, err
}

func newSignaturesList(io stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list [DIR|FILE]...", Short: "List signatures (default: the built-in packs)",
		RunE: func(_ *cobra.Command, args []string) error {
			packs, err := loadPacks(args)
			if err != nil {
				return err
			}
			if asJSON {
				return listJSON(io, packs)
			}
			return listTable(io, packs)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "one JSON object a signature")
	return cmd
}

func listJSON(io stdio, packs []*signatures.Pack) error {
	enc := json.NewEncoder(io.out)
	for _, p := range packs {
		for _, s := range p.Signatures {
			line := map[string]any{"id": s.ID, "version": s.Version, "pack": p.Name, "threat": s.Threat.String(), "severity": s.Severity.String(),
				"confidence": s.Confidence, "maturity": s.Maturity.String(), "tags": s.Tags, "file": s.File, "line": s.Line}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	return nil
}

func listTable(io stdio, packs []*signatures.Pack) error {
	tw := tabwriter.NewWriter(io.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "ID\tVERSION\tPACK\tTHREAT\tSEVERITY\tCONFIDENCE\tMATURITY\tTAGS")
	n := 0
	for _, p := range packs {
		for _, s := range p.Signatures {
			n++
			fmt.Fprintf(tw, "%s\t%d\t%s %s\t%s\t%s\t%.2f\t%s\t%s\n", s.ID, s.Version, p.Name, p.Version, s.Threat, s.Severity, s.Confidence, s.Maturity, strings.Join(s.Tags, " "))
		}
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(io.out, "%d signatures in %d packs\n", n, len(packs))
	return err
}

func newSignaturesLint(io stdio) *cobra.Command {
	var strict bool
	cmd := &cobra.Command{
		Use: "lint [DIR|FILE]...", Short: "Check signatures and run their examples (default: the built-in packs)",
		Long: "Prints one line, file:line: signature: what is wrong and how to mend it, for each problem. Exit code 1 if there is an error.",
		RunE: func(_ *cobra.Command, args []string) error {
			packs, err := loadPacks(args)
			if abi.KindOf(err) == v1.ErrorKindInvalid { // a pack that cannot be read is a finding of lint, not a failure of it
				fmt.Fprintln(io.out, err)
				return errNo
			}
			if err != nil {
				return err
			}
			return reportLint(io, packs, strict)
		},
	}
	cmd.Flags().BoolVar(&strict, "strict", false, "warnings fail too")
	return cmd
}

func reportLint(io stdio, packs []*signatures.Pack, strict bool) error {
	errs, warnings, n := 0, 0, 0
	for _, p := range packs {
		n += len(p.Signatures)
	}
	for _, p := range signatures.Lint(packs) {
		if p.Level == signatures.Error {
			errs++
		} else {
			warnings++
		}
		fmt.Fprintln(io.out, p)
	}
	fmt.Fprintf(io.out, "%d signatures in %d packs: %d errors, %d warnings\n", n, len(packs), errs, warnings)
	if errs > 0 || strict && warnings > 0 {
		return errNo
	}
	return nil
}

func newSignaturesTest(io stdio) *cobra.Command {
	var dirs []string
	var kind string
	var cost int
	cmd := &cobra.Command{
		Use: "test [FILE|-]...", Short: "Show which signatures match a text, in which view, and what matching costs",
		Long: `Runs the matcher alone, without detectors: what it prints is evidence, not a verdict. With --cost it also lists the signatures that
the text made expensive: how often their literals occurred, how often that came to nothing, and the work it took.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			k, err := parseKind(kind)
			if err != nil {
				return err
			}
			packs, err := loadPacks(dirs)
			if err != nil {
				return err
			}
			m, err := signatures.Compile(packs)
			if err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{"-"}
			}
			profile := m.Profile()
			for _, name := range args {
				data, err := readAll(cmd.Context(), name, io.in, maxLine)
				if err != nil {
					return err
				}
				set := view.Of(data, k, view.Limits{})
				err = testText(io, profile, printable(name), set, signatures.Query{Kind: k, Budget: signatures.NewBudget(len(data))})
				set.Release()
				if err != nil {
					return err
				}
			}
			return printCosts(io, profile, cost)
		},
	}
	cmd.Flags().IntVar(&cost, "cost", 0, "also list the `N` dearest signatures")
	cmd.Flags().StringArrayVar(&dirs, "signatures", nil, "a `DIR` or file of packs instead of the built-in ones; may be repeated")
	cmd.Flags().StringVar(&kind, "kind", "doc", "what the input is: "+kindNames())
	return cmd
}

func testText(io stdio, m *signatures.Profile, name string, set *view.Set, q signatures.Query) error {
	hits, verified := 0, int64(0)
	for i := range set.Views {
		v := &set.Views[i]
		found, err := m.Match(nil, v.Text, q)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, h := range found {
			from, to := v.Origin(h.Start, h.End)
			fmt.Fprintf(io.out, "%s:%d-%d  %s  %s %.2f  in %s: %q\n", name, from, to, h.Sig.ID, h.Sig.Threat, h.Sig.Confidence, v.Name, v.Text[h.Start:h.End])
		}
		hits += len(found)
		if used := q.Budget.Used() - verified; used > 0 {
			fmt.Fprintf(io.out, "%s: view %s: %d bytes, %d verified\n", name, v.Name, len(v.Text), used)
		}
		verified = q.Budget.Used()
	}
	_, err := fmt.Fprintf(io.out, "%s: %d views, %d hits, %d bytes verified\n", name, len(set.Views), hits, verified)
	return err
}

// printCosts lists the n dearest signatures.
func printCosts(io stdio, p *signatures.Profile, n int) error {
	costs := p.Costs()
	if n = min(n, len(costs)); n <= 0 {
		return nil
	}
	tw := tabwriter.NewWriter(io.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "SIGNATURE\tWORK\tANCHORS\tCANDIDATES\tREAD\tTRIED\tHITS")
	for _, c := range costs[:n] {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%d\t%d\t%d\t%d\n", c.Sig.ID, c.Work, c.Anchors, c.Candidates, c.Read, c.Tried, c.Hits)
	}
	return tw.Flush()
}
