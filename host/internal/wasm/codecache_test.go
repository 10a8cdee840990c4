package wasm

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/amygdala-host/amygdala/host/guest"
)

// TestCodeCacheHeals damages every file of an entry in every way.
func TestCodeCacheHeals(t *testing.T) {
	damages := map[string]func(path string) error{
		"truncated": func(p string) error { return os.Truncate(p, 20) },
		"emptied":   func(p string) error { return os.Truncate(p, 0) },
		"removed":   os.Remove,
		"garbage":   func(p string) error { return os.WriteFile(p, []byte("#!/bin/sh"), 0o600) },
		"one bit":   flip,
	}
	for name, damage := range damages {
		for nth := range 2 {
			dir := t.TempDir()
			loadOnce(t, dir)
			files := cached(t, dir)
			if len(files) != 2 {
				t.Fatalf("an entry has files %v, want the code and its seal", files)
			}
			if err := damage(files[nth]); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s", name, filepath.Base(files[nth]))
			loadOnce(t, dir)
			c := &codeCache{dir: dir}
			if _, sealed := c.entry(filepath.Base(entries(t, dir)[0])); !sealed {
				t.Errorf("%s %s was not healed", name, filepath.Base(files[nth]))
			}
		}
	}
}

func flip(path string) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[len(b)/3] ^= 0x10
	return os.WriteFile(path, b, 0o600)
}

func loadOnce(t *testing.T, dir string) {
	t.Helper()
	e := openEngine(t, Options{CacheDir: dir})
	m := load(t, e, counter(), guest.LoadOptions{})
	if got := ask(t, m, "x").Body[0]; got != 1 {
		t.Errorf("counted %d", got)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, filepath.Join(dir, e.Name()))
	}
	return names
}

func cached(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCodeCacheIsUsed(t *testing.T) {
	dir := t.TempDir()
	loadOnce(t, dir)
	before := stat(t, cached(t, dir)[0])
	loadOnce(t, dir)
	if after := stat(t, cached(t, dir)[0]); !after.ModTime().Equal(before.ModTime()) {
		t.Error("the second load compiled again")
	}
	if len(entries(t, dir)) != 1 {
		t.Errorf("one module has entries %v", entries(t, dir))
	}
}

func stat(t *testing.T, path string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func TestCodeCacheEvictsTheOldest(t *testing.T) {
	dir := t.TempDir()
	e := openEngine(t, Options{CacheDir: dir})
	for i := range maxEntries + 5 {
		if err := load(t, e, withMemory(uint64(i+1)), guest.LoadOptions{}).Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(entries(t, dir)); n != maxEntries {
		t.Errorf("%d entries, want %d", n, maxEntries)
	}
}

func TestCodeCacheFolderIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "codes")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	openEngine(t, Options{CacheDir: dir})
	if mode := stat(t, dir).Mode().Perm(); mode&0o077 != 0 {
		t.Errorf("the folder of native code has mode %o", mode)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := New(&Options{CacheDir: file})
	wantError(t, err, 13 /* io */, file)
}
