package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/amygdala-host/amygdala/abi"
	"github.com/amygdala-host/amygdala/plugins"
	"github.com/amygdala-host/amygdala/sdk"
)

// sdkGoMod is the go.mod of the module an author builds against: abi and sdk only, which need nothing but the standard library.
const sdkGoMod = "module " + plugins.Module + "\n\ngo 1.26.0\n"

// modProxy is a file-system Go module proxy that serves the abi and sdk this binary was built with, so that an author builds offline and
// against exactly the contract this host speaks.
type modProxy struct {
	dir     string
	version string
}

// sdkVersion begins the version of every sdk that a binary carries. x: a semver identifier of digits only may not start with 0.
const sdkVersion = "v0.0.0-sdk.x"

// openModProxy writes the proxy into the user's cache folder unless it is there already. It is named by the content it serves.
func openModProxy() (*modProxy, error) {
	files, err := sdkFiles()
	if err != nil {
		return nil, err
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find cache folder: %w; set XDG_CACHE_HOME or HOME", err)
	}
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%s %d\n%s", f.path, len(f.data), f.data)
	}
	id := hex.EncodeToString(h.Sum(nil)[:6])
	p := &modProxy{dir: filepath.Join(base, "amygdala", "modproxy", id), version: sdkVersion + id}
	if _, err := os.Stat(p.file("zip")); err == nil {
		return p, nil
	}
	return p, p.write(files)
}

func (p *modProxy) file(ext string) string {
	return filepath.Join(p.dir, filepath.FromSlash(plugins.Module), "@v", p.version+"."+ext)
}

// env makes the toolchain ask this proxy first and the user's own after it.
func (p *modProxy) env() []string {
	rest := os.Getenv("GOPROXY")
	if rest == "" {
		rest = "https://proxy.golang.org,direct"
	}
	private := plugins.Module
	if old := os.Getenv("GONOSUMDB"); old != "" {
		private += "," + old
	}
	return []string{"GOPROXY=" + fileURL(p.dir) + "," + rest, "GONOSUMDB=" + private}
}

func fileURL(dir string) string {
	dir = filepath.ToSlash(dir)
	if !strings.HasPrefix(dir, "/") {
		dir = "/" + dir
	}
	return "file://" + dir
}

// write puts the zip last, by rename, so that a half-written proxy is never used.
func (p *modProxy) write(files []memFile) error {
	if err := os.MkdirAll(filepath.Dir(p.file("zip")), 0o700); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": p.version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	var z bytes.Buffer
	zf := make([]zip.File, len(files))
	for i := range files {
		zf[i] = files[i]
	}
	if err := zip.Create(&z, module.Version{Path: plugins.Module, Version: p.version}, zf); err != nil {
		return fmt.Errorf("pack the sdk: %w", err)
	}
	list := filepath.Join(filepath.Dir(p.file("zip")), "list")
	for _, f := range []struct {
		name string
		data []byte
	}{{list, []byte(p.version + "\n")}, {p.file("info"), info}, {p.file("mod"), []byte(sdkGoMod)}, {p.file("zip"), z.Bytes()}} {
		if err := writeAtomic(f.name, f.data); err != nil {
			return err
		}
	}
	return nil
}

// writeAtomic replaces name with data; a reader sees the old file or the new one.
func writeAtomic(name string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.part")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(data); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	if err := os.Chmod(tmp.Name(), 0o644); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// sdkFiles lists go.mod and every file of abi and sdk, sorted.
func sdkFiles() ([]memFile, error) {
	files := []memFile{{"go.mod", []byte(sdkGoMod)}}
	for prefix, fsys := range map[string]fs.FS{"abi": abi.Sources(), "sdk": sdk.Sources()} {
		err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") {
				return err
			}
			data, err := fs.ReadFile(fsys, name)
			files = append(files, memFile{path.Join(prefix, name), data})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].path < files[j].path })
	return files, nil
}

// memFile is a file of the module zip.
type memFile struct {
	path string
	data []byte
}

func (f memFile) Path() string                 { return f.path }
func (f memFile) Lstat() (fs.FileInfo, error)  { return f, nil }
func (f memFile) Open() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(f.data)), nil }
func (f memFile) Name() string                 { return path.Base(f.path) }
func (f memFile) Size() int64                  { return int64(len(f.data)) }
func (f memFile) Mode() fs.FileMode            { return 0o644 }
func (f memFile) ModTime() time.Time           { return time.Unix(0, 0) }
func (f memFile) IsDir() bool                  { return false }
func (f memFile) Sys() any                     { return nil }
