package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"
)

// serveConfig is the --config file. Relative paths in it are relative to the file.
type serveConfig struct {
	Addr       string    `yaml:"addr"`
	Plugins    []string  `yaml:"plugins"`
	Signatures []string  `yaml:"signatures"`
	Policy     string    `yaml:"policy"`
	Cache      string    `yaml:"cache"`
	Log        logConfig `yaml:"log"`
}

type logConfig struct {
	Level  string `yaml:"level"`
	Format string `yaml:"format"`
}

func defaultServeConfig() serveConfig {
	return serveConfig{Addr: "127.0.0.1:7433", Log: logConfig{Level: "info", Format: "text"}}
}

// resolve lays the file under the flags that were given, and completes flags with what only the file says.
func (c serveConfig) resolve(cmd *cobra.Command, file string, flags *hostFlags) (serveConfig, error) {
	if file == "" {
		return c, nil
	}
	fromFile := defaultServeConfig()
	data, err := os.ReadFile(file)
	if err != nil {
		return c, fmt.Errorf("read --config: %w", err)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	dec.KnownFields(true)
	if err := dec.Decode(&fromFile); err != nil && !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("%s: %w", file, plainYAML(err))
	}
	if err := dec.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return c, fmt.Errorf("%s: there is more than one document in the file", file)
	}
	if fromFile.Addr == "" || slices.Contains(slices.Concat(fromFile.Plugins, fromFile.Signatures), "") {
		return c, fmt.Errorf("%s: addr, and each entry of plugins and signatures, must say something; leave the key out for the default", file)
	}
	given := cmd.Flags().Changed
	if !given("addr") {
		c.Addr = fromFile.Addr
	}
	if !given("log-level") {
		c.Log.Level = fromFile.Log.Level
	}
	if !given("log-format") {
		c.Log.Format = fromFile.Log.Format
	}
	base := filepath.Dir(file)
	if !given("plugins") {
		flags.plugins = relativeTo(base, fromFile.Plugins)
	}
	if !given("signatures") {
		flags.signatures = relativeTo(base, fromFile.Signatures)
	}
	if !given("policy") && fromFile.Policy != "" {
		flags.policy = relativeTo(base, []string{fromFile.Policy})[0]
	}
	if !given("cache") && fromFile.Cache != "" {
		flags.cache = relativeTo(base, []string{fromFile.Cache})[0]
	}
	return c, nil
}

// plainYAML takes the names of Go types out of what the YAML package says about a file.
func plainYAML(err error) error {
	var t *yaml.TypeError
	if !errors.As(err, &t) {
		return err
	}
	said := strings.Join(t.Errors, "; ")
	said = strings.NewReplacer(" in type main.serveConfig", "", " in type main.logConfig", "").Replace(said)
	return fmt.Errorf("%s; the keys are addr, plugins, signatures, policy, cache, and log with level and format", said)
}

func relativeTo(base string, paths []string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		if out[i] = p; !filepath.IsAbs(p) {
			out[i] = filepath.Join(base, p)
		}
	}
	return out
}

func (l logConfig) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(l.Level)); err != nil {
		return nil, fmt.Errorf("log level %q: use debug, info, warn or error", l.Level)
	}
	opt := &slog.HandlerOptions{Level: level}
	switch l.Format {
	case "text":
		return slog.New(slog.NewTextHandler(w, opt)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, opt)), nil
	}
	return nil, fmt.Errorf("log format %q: use text or json", l.Format)
}
