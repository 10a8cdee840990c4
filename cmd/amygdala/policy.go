package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/amygdala-host/amygdala/policies"
)

func newPolicy(io stdio) *cobra.Command {
	var check string
	cmd := &cobra.Command{
		Use: "policy", Short: "Print the built-in policy, which documents every setting, or check one of your own",
		Long: `Prints the built-in policy with its comments: the reference of all settings. With --check FILE it lays FILE over the built-in policy
and says what is wrong with it, with line numbers, or prints the digest of the result.`,
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
			_, err = fmt.Fprintf(io.out, "%s: good, digest %.12s\n", check, p.DigestString())
			return err
		},
	}
	cmd.Flags().StringVar(&check, "check", "", "a policy `FILE` to check")
	_ = cmd.MarkFlagFilename("check", "yaml", "yml")
	return cmd
}
