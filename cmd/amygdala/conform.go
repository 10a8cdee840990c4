package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/plugins"
	"github.com/amygdala-host/amygdala/sdk/conformance"
	"github.com/amygdala-host/amygdala/sdk/conformance/hostile"
)

type conformFlags struct {
	builtin, hostile, all bool
	format                string
	level                 int
}

func newConform(io stdio) *cobra.Command {
	var f conformFlags
	cmd := &cobra.Command{
		Use: "conform FILE.wasm...", Short: "Prove that a plugin keeps the contract",
		Long: `Runs the conformance suite: does it load, keep the contract, survive hostile input, answer the same twice, keep nothing between
calls, and stay within its budgets. Exit code 1 when something required failed or was skipped.`,
		RunE: func(cmd *cobra.Command, files []string) error {
			if len(files) == 0 && !f.builtin && !f.hostile {
				return errors.New("name a .wasm file, or use --builtin or --hostile")
			}
			if f.hostile {
				return conformHostile(cmd, io, f)
			}
			return conformFiles(cmd, io, f, files)
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.builtin, "builtin", false, "run the suite over the shipped plugins")
	fs.BoolVar(&f.hostile, "hostile", false, "run the suite over its own hostile guests, each of which must fail for its reason")
	fs.BoolVar(&f.all, "all", false, "show passing cases too")
	fs.StringVar(&f.format, "format", "text", "text, json or junit")
	fs.IntVar(&f.level, "level", int(conformance.LevelBudget), "the `LEVEL` to prove: 1 loads, 2 contract, 3 hostile, 4 budget")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json", "junit"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// subjects are the plugins to run the suite over.
func (f conformFlags) subjects(cmd *cobra.Command, io stdio, files []string) ([]plugins.Guest, error) {
	var out []plugins.Guest
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(out, plugins.Guest{Name: name, Wasm: data})
	}
	if f.builtin {
		shipped, err := plugins.Open(cmd.Context(), plugins.Options{Progress: func(l string) { fmt.Fprintln(io.err, "amygdala: "+l) }})
		if err != nil {
			return nil, err
		}
		for _, g := range shipped { // they are built bare, and the suite proves what can be handed on: the packed file
			if g.Wasm, err = packModule(cmd.Context(), g.Name, g.Wasm, nil); err != nil {
				return nil, err
			}
			out = append(out, g)
		}
	}
	return out, nil
}

// suiteEngine keeps compiled code between runs and between subjects.
func suiteEngine() (host.Engine, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return host.NewEngine("")
	}
	return host.NewEngine(filepath.Join(base, "amygdala", "code"))
}

func conformFiles(cmd *cobra.Command, io stdio, f conformFlags, files []string) error {
	write, err := f.writer()
	if err != nil {
		return err
	}
	engine, err := suiteEngine()
	if err != nil {
		return err
	}
	defer engine.Close()
	subjects, err := f.subjects(cmd, io, files)
	if err != nil {
		return err
	}
	passed := true
	for _, s := range subjects {
		r, err := conformance.Run(cmd.Context(), s.Wasm, &conformance.Options{File: s.Name, Level: conformance.Level(f.level), Driver: engine})
		if err != nil {
			return err
		}
		passed = passed && r.Passed
		if err := write(r, io.out); err != nil {
			return err
		}
	}
	if !passed {
		return errNo
	}
	return nil
}

func (f conformFlags) writer() (func(*conformance.Report, io.Writer) error, error) {
	switch f.format {
	case "text":
		return func(r *conformance.Report, w io.Writer) error { return r.WriteText(w, f.all) }, nil
	case "json":
		return (*conformance.Report).WriteJSON, nil
	case "junit":
		return (*conformance.Report).WriteJUnit, nil
	}
	return nil, fmt.Errorf("unknown format %q: use text, json or junit", f.format)
}

// conformHostile shows that the suite itself works.
func conformHostile(cmd *cobra.Command, io stdio, f conformFlags) error {
	missed := 0
	for _, g := range hostile.All() {
		r, err := conformance.Run(cmd.Context(), g.Wasm, &conformance.Options{File: g.Name, Level: conformance.Level(f.level)})
		if err != nil {
			return err
		}
		ok, why := g.Refused(r.Passed, func(id string) (string, bool) {
			c := r.Result(id)
			if c == nil || c.Status != conformance.Fail {
				return "", false
			}
			return c.Message, true
		})
		mark := "refused"
		if !ok {
			mark = "MISSED "
			missed++
		}
		fmt.Fprintf(io.out, "%s  %-26s %-18s %s\n", mark, g.Name, g.Case, why)
	}
	fmt.Fprintf(io.out, "%d hostile guests, %d missed\n", len(hostile.All()), missed)
	if missed > 0 {
		return errNo
	}
	return nil
}
