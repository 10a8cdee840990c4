package plugins

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuildToARelativePath: the compiler runs in the source's folder, and out is relative to ours.
func TestBuildToARelativePath(t *testing.T) {
	src := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module tiny\n\ngo 1.26.0\n", "main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(src, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(t.TempDir())
	if err := Build(t.Context(), src, "tiny.wasm"); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("tiny.wasm")
	if err != nil || !strings.HasPrefix(string(data), "\x00asm") {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	entries, err := os.ReadDir(src)
	if err != nil || len(entries) != 2 {
		t.Errorf("left in the source's folder: %v %v", entries, err)
	}
}

// TestBuildOfNothing names the folder that is not there, and leaves nothing behind.
func TestBuildOfNothing(t *testing.T) {
	dir := t.TempDir()
	err := Build(t.Context(), filepath.Join(dir, "nosuch"), filepath.Join(dir, "out.wasm"))
	if err == nil {
		t.Fatal("it was built")
	}
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("left behind: %v", entries)
	}
}

// TestDamagedCacheIsBuiltAnew: what a crash or a full disk left of a built guest counts as absent.
func TestDamagedCacheIsBuiltAnew(t *testing.T) {
	dir := t.TempDir()
	write := func(data string) {
		if err := os.WriteFile(filepath.Join(dir, "x.wasm"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const module = "\x00asm\x01\x00\x00\x00"
	write(module)
	if g := readBuilt(dir, []string{"x"}, "cached"); g != nil {
		t.Error("a file that nobody finished was taken for a plugin")
	}
	if err := seal(dir, "x"); err != nil {
		t.Fatal(err)
	}
	if g := readBuilt(dir, []string{"x"}, "cached"); len(g) != 1 {
		t.Error("a finished file was not")
	}
	for _, damaged := range []string{"", module[:5], module + "\x00", "not wasm"} {
		write(damaged)
		if g := readBuilt(dir, []string{"x"}, "cached"); g != nil {
			t.Errorf("%q was taken for a plugin", damaged)
		}
	}
}
