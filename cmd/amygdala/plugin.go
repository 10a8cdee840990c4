package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"

	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/plugins"
)

func newPlugin(io stdio) *cobra.Command {
	cmd := &cobra.Command{Use: "plugin", Short: "Write, build, pack and look at plugins", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(newPluginNew(io), newPluginBuild(io), newPluginPack(io), newPluginInspect(io), newPluginList(io), newPluginEmbed(io))
	return cmd
}

//go:embed template/*.tmpl
var templates embed.FS

var pluginName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)

func newPluginNew(io stdio) *cobra.Command {
	return &cobra.Command{
		Use: "new KIND NAME", Short: "Make a folder with a working plugin to start from",
		Long: `Makes the folder NAME with a detector that works, its test and its go.mod. The abi and sdk come from this binary, so nothing is
fetched. KIND is detector (providers and strategies get a template with their host side).`,
		Args: kindAndName, ValidArgs: []string{"detector"},
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "detector" {
				return fmt.Errorf("unknown plugin kind %q; use detector", args[0])
			}
			if !pluginName.MatchString(args[1]) {
				return fmt.Errorf("%q cannot be a plugin's name; use lower-case letters, digits and -, starting with a letter, at most 64", args[1])
			}
			if err := os.Mkdir(args[1], 0o755); err != nil {
				return err
			}
			if err := newDetector(cmd.Context(), args[1]); err != nil {
				return errors.Join(err, os.RemoveAll(args[1])) // half a plugin helps nobody, and the folder is ours
			}
			_, err := fmt.Fprintf(io.out, "made %s/; next:\n  cd %s\n  amygdala plugin build\n  amygdala conform %s.wasm\n", args[1], args[1], args[1])
			return err
		},
	}
}

func kindAndName(_ *cobra.Command, args []string) error {
	if len(args) != 2 {
		return errors.New("a kind and a name are required, such as: amygdala plugin new detector zebra")
	}
	return nil
}

// newDetector fills a new folder and lets the toolchain pin the sdk, so that plain go commands work in it afterwards.
func newDetector(ctx context.Context, name string) error {
	proxy, err := openModProxy()
	if err != nil {
		return err
	}
	data := map[string]string{"Name": name, "Phrase": "let the " + strings.ReplaceAll(name, "-", " ") + " loose"}
	for tmpl, file := range map[string]string{"detector.go.tmpl": "main.go", "detector_test.go.tmpl": "main_test.go", "README.md.tmpl": "README.md"} {
		var b bytes.Buffer
		if err := template.Must(template.ParseFS(templates, "template/"+tmpl)).Execute(&b, data); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(name, file), b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	gomod := fmt.Sprintf("module %s\n\ngo 1.26.0\n\nrequire %s %s\n", name, plugins.Module, proxy.version)
	if err := os.WriteFile(filepath.Join(name, "go.mod"), []byte(gomod), 0o644); err != nil {
		return err
	}
	return goCommand(ctx, name, proxy, "mod", "tidy")
}

func goCommand(ctx context.Context, dir string, proxy *modProxy, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), proxy.env()...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, bytes.TrimSpace(out))
	}
	return nil
}

func newPluginBuild(io stdio) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use: "build [DIR]", Short: "Build a plugin's folder to a packed .wasm file",
		Long: `Builds the main package in DIR (default: the working directory) for the sandbox and packs it: the plugin's own manifest, and
every file of DIR/assets, travel inside the .wasm. A go.mod made by another version of this program is moved to the sdk of this one.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := "."
			if len(args) == 1 {
				dir = args[0]
			}
			path, err := buildPlugin(cmd.Context(), io, dir, out)
			if err != nil {
				return err
			}
			return printBuilt(io, path)
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the `FILE` to write (default: NAME.wasm in DIR, NAME being the folder's)")
	return cmd
}

func buildPlugin(ctx context.Context, io stdio, dir, out string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	if out == "" {
		out = filepath.Join(abs, filepath.Base(abs)+".wasm")
	}
	if out, err = filepath.Abs(out); err != nil {
		return "", err
	}
	proxy, err := openModProxy()
	if err != nil {
		return "", err
	}
	if err := matchSDK(ctx, io, abs, proxy); err != nil {
		return "", err
	}
	if err := plugins.Build(ctx, abs, out, proxy.env()...); err != nil {
		return "", err
	}
	return out, packInPlace(ctx, out, filepath.Join(abs, "assets"))
}

// matchSDK moves a go.mod that was made by another version of this program to the sdk of this one: the other sdk can be had nowhere else.
func matchSDK(ctx context.Context, io stdio, dir string, proxy *modProxy) error {
	file := filepath.Join(dir, "go.mod")
	data, err := os.ReadFile(file)
	if err != nil {
		return nil //nolint:nilerr // the build says better what is wrong with the folder
	}
	mod, err := modfile.ParseLax(file, data, nil)
	if err != nil {
		return nil //nolint:nilerr // so does the toolchain about the file
	}
	at := slices.IndexFunc(mod.Require, func(r *modfile.Require) bool { return r.Mod.Path == plugins.Module })
	if at < 0 || mod.Require[at].Mod.Version == proxy.version || !strings.HasPrefix(mod.Require[at].Mod.Version, sdkVersion) {
		return nil
	}
	fmt.Fprintf(io.err, "amygdala: go.mod names the sdk of another amygdala, %s; moving it to this one's, %s\n", mod.Require[at].Mod.Version, proxy.version)
	err = goCommand(ctx, dir, proxy, "mod", "edit", "-require="+plugins.Module+"@"+proxy.version)
	if err == nil {
		err = goCommand(ctx, dir, proxy, "mod", "tidy")
	}
	if err != nil {
		return errors.Join(err, os.WriteFile(file, data, 0o644)) // as it was
	}
	return nil
}

// packInPlace asks the module for its manifest and writes that, and the assets, into the file.
func packInPlace(ctx context.Context, file, assetDir string) error {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	assets, err := readAssets(assetDir)
	if err != nil {
		return err
	}
	packed, err := packModule(ctx, filepath.Base(file), wasm, assets)
	if err != nil {
		return err
	}
	return writeAtomic(file, packed)
}

func printBuilt(io stdio, path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	size := fmt.Sprintf("%.2f MB", float64(st.Size())/1e6)
	if st.Size() < 100_000 {
		size = fmt.Sprintf("%.1f KB", float64(st.Size())/1e3)
	}
	_, err = fmt.Fprintf(io.out, "%s  %s\n", path, size)
	return err
}

func newPluginInspect(io stdio) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "inspect FILE.wasm", Short: "Show what a packed plugin says of itself, without running it", Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			data, err := os.ReadFile(args[0])
			if err != nil {
				return err
			}
			return inspectPlugin(io, args[0], data, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the manifest as JSON")
	return cmd
}

func newPluginList(io stdio) *cobra.Command {
	var flags hostFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the plugins a host would run", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := flags.openAnyway(cmd.Context(), io)
			if err != nil {
				return err
			}
			defer h.Close()
			st := h.Status()
			if asJSON {
				return json.NewEncoder(io.out).Encode(st)
			}
			return printPlugins(io, st)
		},
	}
	flags.add(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "what GET /api/plugins answers")
	return cmd
}

func printPlugins(io stdio, st *guest.Status) error {
	tw := tabwriter.NewWriter(io.out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(tw, "NAME\tVERSION\tKIND\tSTATE\tSOURCE\tSHA256")
	for _, p := range st.Plugins {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%.12s\n", printable(p.Name), p.Version, p.Kind, p.State, printable(p.Source), p.SHA256)
		if p.LastError != nil {
			fmt.Fprintf(tw, "\t%s: %s\t\t\t\t\n", p.LastError.Stage, printable(p.LastError.Message))
		}
	}
	return tw.Flush()
}

// newPluginEmbed is for release builds: it compresses the shipped plugins into the folder that go:embed reads.
func newPluginEmbed(io stdio) *cobra.Command {
	return &cobra.Command{
		Use: "embed", Short: "Build the shipped plugins into plugins/builtin of a checkout, for a release build", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			dir := filepath.Join("plugins", "builtin")
			if _, err := os.Stat(filepath.Join(dir, ".gitignore")); err != nil {
				return fmt.Errorf("run this in the root of a checkout: %w", err)
			}
			guests, err := plugins.Find(cmd.Context(), plugins.Options{FromSource: true, Progress: func(l string) { fmt.Fprintln(io.err, l) }},
				append([]string{plugins.Bench}, plugins.Detectors...)...)
			if err != nil {
				return err
			}
			for _, g := range guests {
				var z bytes.Buffer
				zw, _ := gzip.NewWriterLevel(&z, gzip.BestCompression)
				if _, err := zw.Write(g.Wasm); err != nil {
					return err
				}
				if err := zw.Close(); err != nil {
					return err
				}
				if err := writeAtomic(filepath.Join(dir, g.Name+".wasm.gz"), z.Bytes()); err != nil {
					return err
				}
				fmt.Fprintf(io.out, "%s  %.2f MB -> %.2f MB (%s)\n", g.Name, float64(len(g.Wasm))/1e6, float64(z.Len())/1e6, g.From)
			}
			return nil
		},
	}
}
