// Package plugins finds or builds the plugins that ship with amygdala, and builds plugin source folders for authors.
//
// Each shipped plugin is a main package under detectors, providers or strategies. A release build embeds them compressed in builtin;
// a fresh clone has none, so the first run builds them with the Go toolchain and keeps the result in the user's cache folder.
package plugins

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"path"
	"strings"
)

//go:embed all:builtin
var builtin embed.FS

// Detectors are the names of the shipped detectors; each is a folder of plugins/detectors.
var Detectors = []string{"injection", "privilege", "schema", "structure"}

// Bench is the guest that measures the engine. It is not part of a host.
const Bench = "bench"

// Guest is one shipped plugin, ready to load.
type Guest struct {
	Name string
	Wasm []byte
	// From says where it came from, for a person: "embedded", "built from FOLDER", "cached".
	From string
}

// embedded returns the compiled-in guests, or nil when any of names is missing.
func embedded(names []string) ([]Guest, error) {
	var out []Guest
	for _, name := range names {
		z, err := builtin.ReadFile(path.Join("builtin", name+".wasm.gz"))
		if err != nil {
			return nil, nil
		}
		wasm, err := gunzip(z)
		if err != nil {
			return nil, failed("embedded", name, err)
		}
		out = append(out, Guest{Name: name, Wasm: wasm, From: "embedded"})
	}
	return out, nil
}

func gunzip(z []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(z))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// isSource reports whether a file can change what a guest is built to.
func isSource(name string) bool {
	if strings.HasSuffix(name, "_test.go") {
		return false
	}
	switch path.Ext(name) {
	case ".go", ".mod", ".sum", ".json", ".yaml", ".bin", ".txt":
		return true
	}
	return false
}
