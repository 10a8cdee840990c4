// Command amygdala inspects what an AI agent is about to read, runs the inspection as a service, and helps authors write, prove and
// publish plugins. It is the only reader of configuration files; everything else it does through package host.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // whoever does not want to wait sends the signal again
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// Exit codes of every command: 0 done (scan: clear), 1 done with a "no" (scan: threat, ambiguous or hold; conform, lint: failed), 2 could
// not be done.
const (
	exitOK    = 0
	exitNo    = 1
	exitError = 2
)

// errNo makes a command exit with 1 after it has said what it found.
var errNo = errors.New("no")

// stdio is what a command reads and writes; tests bring their own.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// run is main without the process: testable, and free of globals.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	root := newRoot(stdio{in, out, errw})
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errNo):
		return exitNo
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(errw, "amygdala: interrupted")
		return exitError
	}
	fmt.Fprintf(errw, "amygdala: %s\n", printableText(err.Error()))
	return exitError
}

func newRoot(io stdio) *cobra.Command {
	root := &cobra.Command{
		Use:   "amygdala",
		Short: "An immune system for AI agents",
		Long: `amygdala stands between an AI agent and everything it reads. Sandboxed detectors judge each payload; a
verdict is clear, ambiguous, threat, or hold (it could not be judged, so it must not pass).

Exit codes: 0 done (scan: clear), 1 done with a "no" (scan: threat, ambiguous, hold), 2 could not be done.`,
		SilenceUsage: true, SilenceErrors: true,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see `%s --help`", err, cmd.CommandPath())
	})
	root.AddCommand(newScan(io), newEval(io), newServe(io), newPlugin(io), newConform(io), newSignatures(io), newBench(io), newPolicy(io), newVersion(io), newReference(io))
	return root
}
