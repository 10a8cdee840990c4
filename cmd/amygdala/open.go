package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/amygdala-host/amygdala/host"
)

// hostFlags are the flags of every command that runs a host.
type hostFlags struct {
	plugins    []string
	signatures []string
	policy     string
	cache      string
	verbose    bool
}

func (f *hostFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringArrayVar(&f.plugins, "plugins", nil, "a `DIR` of plugins to load beside the built-in ones; may be repeated")
	fs.StringArrayVar(&f.signatures, "signatures", nil, "a `DIR` of signature packs to load beside the built-in ones; may be repeated")
	fs.StringVar(&f.policy, "policy", "", "a policy `FILE` laid over the built-in one (see `amygdala policy`)")
	fs.StringVar(&f.cache, "cache", "", "the `DIR` for compiled plugins (default: amygdala in the user's cache folder)")
	fs.BoolVarP(&f.verbose, "verbose", "v", false, "log what happens on standard error")
	_ = cmd.MarkFlagDirname("plugins")
	_ = cmd.MarkFlagDirname("signatures")
	_ = cmd.MarkFlagFilename("policy", "yaml", "yml")
}

func (f *hostFlags) options(log *slog.Logger, io stdio) host.Options {
	return host.Options{
		PluginDirs: f.plugins, SignatureDirs: f.signatures, PolicyFile: f.policy, Cache: f.cache, Logger: log,
		Progress: func(line string) { fmt.Fprintln(io.err, "amygdala: "+line) },
	}
}

// open starts a host that does not watch for changes: a command that ends soon judges everything by one generation. A plugin that was asked
// for and cannot run is an error: whoever named it relies on it.
func (f *hostFlags) open(ctx context.Context, io stdio) (*host.Host, error) {
	h, err := f.openAnyway(ctx, io)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil { // what could not be loaded then is nobody's fault
		return nil, errors.Join(err, h.Close())
	}
	var errs []error
	for _, p := range h.Status().Plugins {
		for _, w := range p.Warnings {
			fmt.Fprintf(io.err, "amygdala: plugin %s warns: %s\n", p.Name, w)
		}
		if p.LastError != nil {
			errs = append(errs, fmt.Errorf("plugin %s (%s) cannot run: %s: %s", p.Name, p.LastError.Path, p.LastError.Stage, p.LastError.Message))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(append(errs, h.Close())...)
	}
	return h, nil
}

// openAnyway is open for commands that show what is wrong.
func (f *hostFlags) openAnyway(ctx context.Context, io stdio) (*host.Host, error) {
	level := slog.LevelError + 4 // what matters is returned as an error
	if f.verbose {
		level = slog.LevelDebug
	}
	log := slog.New(slog.NewTextHandler(io.err, &slog.HandlerOptions{Level: level}))
	return host.New(ctx, f.options(log, io))
}
