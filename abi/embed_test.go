//go:build !wasip1

package abi_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/abi"
)

// TestSources: everything an author needs to compile is carried, and no test.
func TestSources(t *testing.T) {
	have := map[string]bool{}
	err := fs.WalkDir(abi.Sources(), ".", func(path string, d fs.DirEntry, err error) error {
		have[path] = err == nil && !d.IsDir()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*.go", "*.md", "v1/*.go", "v1/*.proto"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			if want := !strings.HasSuffix(name, "_test.go"); have[filepath.ToSlash(name)] != want {
				t.Errorf("%s: carried %v, want %v", name, !want, want)
			}
		}
	}
	for name, file := range have {
		if _, err := os.Stat(filepath.FromSlash(name)); file && err != nil {
			t.Errorf("%s is carried but not in the tree", name)
		}
	}
}
