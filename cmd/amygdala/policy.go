package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amygdala-host/amygdala/plugins"
	"github.com/amygdala-host/amygdala/policies"
	"github.com/amygdala-host/amygdala/signatures"
)

func newPolicy(io stdio) *cobra.Command {
	var check string
	cmd := &cobra.Command{
		Use: "policy", Short: "Print the built-in policy, which documents every setting, or check one of your own",
		Long: `Prints the built-in policy with its comments: the reference of all settings. With --check FILE it lays FILE over the built-in policy
and says what is wrong with it, with line numbers, or prints the digest of the result. Names that are not built in are noted: they
are right for plugins and packs of your own, and without effect if misspelt.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if check == "" {
				_, err := io.out.Write(policies.DefaultYAML())
				return err
			}
			data, err := os.ReadFile(check)
			if err != nil {
				return err
			}
			p, err := policies.Parse(check, data)
			if err != nil {
				return err
			}
			if err := noteStrangers(io, check, p); err != nil {
				return err
			}
			_, err = fmt.Fprintf(io.out, "%s: good, digest %.12s\n", check, p.DigestString())
			return err
		},
	}
	cmd.Flags().StringVar(&check, "check", "", "a policy `FILE` to check")
	_ = cmd.MarkFlagFilename("check", "yaml", "yml")
	return cmd
}

// noteStrangers names what the policy speaks of and this program does not bring along. A policy may come before what it is about, so this
// is no error, but a misspelt name would otherwise do nothing in silence.
func noteStrangers(io stdio, file string, p *policies.Policy) error {
	packs, err := signatures.Load(signatures.Default())
	if err != nil {
		return err
	}
	known := map[string]bool{}
	for _, pack := range packs {
		for _, s := range pack.Signatures {
			known[s.ID] = true
		}
	}
	for _, id := range p.Signatures() {
		if !known[id] {
			fmt.Fprintf(io.err, "%s: note: no built-in signature is called %q; it has an effect only if a pack of yours has it\n", file, id)
		}
	}
	for _, name := range p.Detectors() {
		if !slices.Contains(plugins.Detectors, name) {
			fmt.Fprintf(io.err, "%s: note: no built-in detector is called %q; it has an effect only if a plugin of yours is\n", file, name)
		}
	}
	return nil
}
