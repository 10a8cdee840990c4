// Command gen writes the Go code and the reference parts of ABI.md from the .proto files of the contract. Run it with
//
//	go generate ./abi/...
//
// Its output depends on nothing but its input, so a test can tell whether the files in the tree are fresh.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", ".", "folder of the module")
	check := flag.Bool("check", false, "write nothing; fail if a file in the tree is stale")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// run generates every file and writes those that changed, or names them if check is set.
func run(root string, check bool) error {
	files, err := generate(root)
	if err != nil {
		return err
	}
	var stale []string
	for _, f := range files {
		old, err := os.ReadFile(filepath.Join(root, f.name))
		if err == nil && bytes.Equal(old, f.data) {
			continue
		}
		stale = append(stale, f.name)
		if check {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, f.name), f.data, 0o644); err != nil {
			return err
		}
	}
	if check && len(stale) > 0 {
		return fmt.Errorf("stale, run go generate ./abi/...: %q", stale)
	}
	return nil
}

// output is one generated file; name is relative to the module's folder.
type output struct {
	name string
	data []byte
}

// generate returns every generated file, without writing it.
func generate(root string) ([]output, error) {
	s, err := load(filepath.Join(root, "abi", "v1"))
	if err != nil {
		return nil, err
	}
	parts := []struct {
		name string
		emit func(*printer, *schema)
	}{
		{"enums", emitEnums},
		{"messages", emitMessages},
		{"proto", emitProto},
		{"envelope", emitEnvelopes},
		{"json", emitJSON},
		{"strict", emitStrict},
	}
	var files []output
	for _, part := range parts {
		var p printer
		part.emit(&p, s)
		code, err := p.source("v1")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		files = append(files, output{"abi/v1/" + part.name + ".gen.go", code})
	}
	tests, err := emitRegistry(s)
	if err != nil {
		return nil, err
	}
	files = append(files, output{"abi/v1/registry_gen_test.go", tests})
	return files, nil
}
