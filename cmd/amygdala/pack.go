package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/host/guest"
)

func newPluginPack(io stdio) *cobra.Command {
	var manifest, out, assets string
	cmd := &cobra.Command{
		Use: "pack FILE.wasm", Short: "Put a manifest and assets into a module",
		Long: `Writes a packed plugin: the module with its manifest and assets as custom sections and a digest of each part. The manifest comes from
--manifest FILE.yaml, else from FILE.yaml beside the module, else from the module itself (DESCRIBE, run in the sandbox).`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if out == "" {
				out = args[0]
			}
			packed, err := packFile(cmd.Context(), args[0], manifest, assets)
			if err != nil {
				return err
			}
			if err := writeAtomic(out, packed); err != nil {
				return err
			}
			return printBuilt(io, out)
		},
	}
	f := cmd.Flags()
	f.StringVar(&manifest, "manifest", "", "the manifest as a YAML `FILE`")
	f.StringVar(&assets, "assets", "", "a `DIR` whose files become the plugin's assets")
	f.StringVarP(&out, "output", "o", "", "the `FILE` to write (default: in place)")
	return cmd
}

func packFile(ctx context.Context, file, manifest, assetDir string) ([]byte, error) {
	wasm, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if st, err := os.Stat(assetDir); assetDir != "" && (err != nil || !st.IsDir()) {
		return nil, errors.Join(fmt.Errorf("--assets %s is not a folder", assetDir), err)
	}
	assets, err := readAssets(assetDir)
	if err != nil {
		return nil, err
	}
	sidecar := strings.TrimSuffix(file, ".wasm") + ".yaml"
	if manifest == "" {
		if _, err := os.Stat(sidecar); err == nil {
			manifest = sidecar
		}
	}
	if manifest == "" {
		return packModule(ctx, filepath.Base(file), wasm, assets)
	}
	text, err := os.ReadFile(manifest)
	if err != nil {
		return nil, err
	}
	m, err := guest.ParseManifest(manifest, text)
	if err != nil {
		return nil, err
	}
	return guest.Pack(wasm, m, assets)
}

// packModule asks a module for its manifest and packs it with that.
func packModule(ctx context.Context, name string, wasm []byte, assets []*v1.Asset) ([]byte, error) {
	engine, err := host.NewEngine("")
	if err != nil {
		return nil, err
	}
	defer engine.Close()
	bare := wasm
	if p, err := guest.Open(name, wasm); err == nil {
		bare = p.Module // packed before: start from the module alone
	}
	m, err := guest.Describe(ctx, engine, name, bare)
	if err != nil {
		return nil, err
	}
	return guest.Pack(bare, m, assets)
}

// readAssets reads the files of a folder, by their slash-separated names. No folder means no assets.
func readAssets(dir string) ([]*v1.Asset, error) {
	if dir == "" {
		return nil, nil
	}
	var out []*v1.Asset
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == "." {
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		out = append(out, &v1.Asset{Name: name, Data: data})
		return err
	})
	return out, err
}

// inspectPlugin prints a packed plugin without running it.
func inspectPlugin(io stdio, name string, data []byte, asJSON bool) error {
	p, err := guest.Open(name, data)
	if err != nil {
		return err
	}
	m := p.Manifest
	if asJSON {
		_, err := fmt.Fprintf(io.out, "%s\n", m.AppendJSON(nil))
		return err
	}
	fmt.Fprintf(io.out, "%s %s  %s, abi %d, %s\n", m.Name, m.Version, m.Kind, m.ABI, m.Encoding)
	if m.Summary != "" {
		fmt.Fprintf(io.out, "  summary   %s\n", printable(m.Summary))
	}
	fmt.Fprintf(io.out, "  sha256    %x\n  module    %d bytes\n  ops       %s\n", p.SHA256, len(p.Module), names(m.Ops))
	if m.Kind == v1.PluginKindDetector {
		fmt.Fprintf(io.out, "  threats   %s\n  wakes on  %s\n", names(m.Threats), wakeText(m.Wake))
	}
	for _, a := range p.Assets {
		fmt.Fprintf(io.out, "  asset     %s, %d bytes\n", printable(a.Name), len(a.Data))
	}
	for _, g := range m.Grants {
		fmt.Fprintf(io.out, "  grant     %s %s\n", g.Type, printable(g.Value))
	}
	signed := "unsigned"
	if len(m.Signature) > 0 {
		signed = "carries a signature (not checked here)"
	}
	_, err = fmt.Fprintf(io.out, "  signed    %s\n", signed)
	return err
}

func names[T fmt.Stringer](list []T) string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = x.String()
	}
	return strings.Join(out, ", ")
}

func wakeText(w *v1.Wake) string {
	if w == nil {
		return "nothing of its own; the policy may add reasons"
	}
	var parts []string
	add := func(what, list string) {
		if list != "" {
			parts = append(parts, what+" "+list)
		}
	}
	if w.Always {
		parts = append(parts, "every payload")
	}
	add("kinds", names(w.Kinds))
	add("hits of", names(w.Threats))
	add("views", strings.Join(w.Views, ", "))
	add("topics", strings.Join(w.Topics, ", "))
	if w.SizeOver > 0 {
		parts = append(parts, fmt.Sprintf("payloads over %d bytes", w.SizeOver))
	}
	return strings.Join(parts, "; ")
}
