package host

import (
	"log/slog"

	"github.com/amygdala-host/amygdala/host/guest"
)

// Options of New. The zero value runs the shipped plugins, signatures and policy, and watches nothing.
type Options struct {
	// PluginDirs are folders of plugins (*.wasm). They are the operator's own and may be unsigned; a plugin in one of them overrides a
	// shipped one of the same name.
	PluginDirs []string
	// SignatureDirs are folders of signature packs (*.yaml) used beside the built-in ones.
	SignatureDirs []string
	// PolicyFile is laid over the built-in policy. Empty: the built-in policy alone.
	PolicyFile string
	// Cache is the folder for built and compiled plugins. Empty: "amygdala" in the user's cache folder.
	Cache string
	// Watch follows the folders and the file above, and takes changes over while serving.
	Watch bool
	// Builtins replaces the shipped plugins. nil: the shipped ones, built with the Go toolchain if this binary does not carry them. An
	// empty non-nil list means none, and then whatever the policy requires is missing and holds.
	Builtins []guest.Builtin
	// Logger receives what an operator should know; never payload text. nil: nothing is logged.
	Logger *slog.Logger
	// Progress is told, a line at a time, what makes a first start slow. nil: nobody is told.
	Progress func(line string)
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	return o
}
