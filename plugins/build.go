package plugins

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sort"
	"strings"

	"github.com/rogpeppe/go-internal/lockedfile"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Module is this project's module path; a checkout is recognised by it.
const Module = "github.com/amygdala-host/amygdala"

// Options of Open. The zero value works.
type Options struct {
	// Cache is the folder built guests are kept in. Empty: "amygdala/guests" in the user's cache folder.
	Cache string
	// FromSource ignores what is embedded; a release build refreshes that with it.
	FromSource bool
	// Progress is told, in one line each, what takes long. nil: silence.
	Progress func(line string)
}

func (o Options) say(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// Open returns the shipped detectors. See Find for where they come from.
func Open(ctx context.Context, opt Options) ([]Guest, error) { return Find(ctx, opt, Detectors...) }

// Find returns shipped guests by name: those of Detectors, and Bench. They come from the first of: the binary itself, a checkout of this module (around the working
// directory, or where this binary was built), the module cache. Building takes some tens of seconds the first time and is remembered by
// the content of the sources. Errors are kind unavailable and name all three places.
func Find(ctx context.Context, opt Options, names ...string) ([]Guest, error) {
	if !opt.FromSource {
		if g, err := embedded(names); g != nil || err != nil {
			return g, err
		}
	}
	root, tried := sourceRoot()
	if root == "" {
		return nil, abi.E("open plugins", v1.ErrorKindUnavailable, strings.Join(names, ", "), fmt.Errorf(
			"not embedded in this binary, and no source to build them from (%s); run inside a clone of %s, install a release, or `go install %s/cmd/amygdala@latest`",
			strings.Join(tried, "; "), Module, Module))
	}
	cache, err := opt.cacheDir()
	if err != nil {
		return nil, err
	}
	key, err := sourceKey(root)
	if err != nil {
		return nil, failed("hash sources", root, err)
	}
	return opt.openBuilt(ctx, root, filepath.Join(cache, key), names)
}

func (o Options) cacheDir() (string, error) {
	if o.Cache != "" {
		return o.Cache, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", failed("find cache folder", "", fmt.Errorf("%w; set XDG_CACHE_HOME or HOME", err))
	}
	return filepath.Join(base, "amygdala", "guests"), nil
}

// openBuilt reads dir, building what is missing under a lock so that parallel processes build once.
func (o Options) openBuilt(ctx context.Context, root, dir string, names []string) ([]Guest, error) {
	if g := readBuilt(dir, names, "cached"); g != nil {
		return g, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, failed("make cache folder", dir, err)
	}
	unlock, err := lockedfile.MutexAt(filepath.Join(dir, "lock")).Lock()
	if err != nil {
		return nil, failed("lock cache folder", dir, err)
	}
	defer unlock()
	if g := readBuilt(dir, names, "cached"); g != nil {
		return g, nil
	}
	o.say("building %s from %s (once per version; needs the Go toolchain)", strings.Join(names, ", "), root)
	for i, name := range names {
		o.say("  %d/%d %s", i+1, len(names), name)
		if err := Build(ctx, folder(root, name), filepath.Join(dir, name+".wasm")); err != nil {
			return nil, err
		}
		if err := seal(dir, name); err != nil {
			return nil, failed("keep built plugin", dir, err)
		}
	}
	g := readBuilt(dir, names, "built from "+root)
	if g == nil {
		return nil, failed("read built plugins", dir, errors.New("a file vanished after it was built; run again"))
	}
	return g, nil
}

// folder is where the source of a guest lies.
func folder(root, name string) string {
	if name == Bench {
		return filepath.Join(root, "plugins", "bench")
	}
	return filepath.Join(root, "plugins", "detectors", name)
}

func readBuilt(dir string, names []string, from string) []Guest {
	var out []Guest
	for _, name := range names {
		wasm, err := os.ReadFile(filepath.Join(dir, name+".wasm"))
		sum, sumErr := os.ReadFile(filepath.Join(dir, name+".sum"))
		if err != nil || sumErr != nil || string(sum) != digest(wasm) { // a crash or a full disk may have left a part
			return nil
		}
		out = append(out, Guest{Name: name, Wasm: wasm, From: from})
	}
	return out
}

// seal notes what a built guest holds, so that a damaged one is built again instead of refused at every start.
func seal(dir, name string) error {
	wasm, err := os.ReadFile(filepath.Join(dir, name+".wasm"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, name+".sum"), []byte(digest(wasm)), 0o600)
}

// digest tells a whole file from a damaged one. It is read at every start, so it is the checksum that processors have an instruction for;
// against an attacker who may write to the folder no checksum in the same folder would help.
func digest(data []byte) string {
	return fmt.Sprintf("%d %08x", len(data), crc32.Checksum(data, castagnoli))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Build compiles the main package in dir to a wasip1 reactor module at out, replacing it atomically. env adds to the environment, for
// example a module proxy. The build is reproducible: the same sources and toolchain give the same bytes. Errors carry the compiler's text.
func Build(ctx context.Context, dir, out string, env ...string) error {
	goTool, err := exec.LookPath("go")
	if err != nil {
		return failed("build", dir, fmt.Errorf("the Go toolchain is needed and `go` is not on PATH: %w", err))
	}
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return failed("build", dir, errors.Join(errors.New("it is not a folder of Go source"), err))
	}
	if out, err = filepath.Abs(out); err != nil { // the compiler runs in dir
		return failed("build", out, err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(out), filepath.Base(out)+".*.part")
	if err != nil {
		return failed("build", out, err)
	}
	tmp.Close()
	defer os.Remove(tmp.Name())
	// -w drops DWARF, not the name section: a trap then still names the guest's function.
	cmd := exec.CommandContext(ctx, goTool, "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", tmp.Name(), ".")
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOWORK=off"), env...)
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &text
	if err := cmd.Run(); err != nil {
		return failed("build", dir, fmt.Errorf("%w\n%s", err, bytes.TrimSpace(text.Bytes())))
	}
	if err := os.Chmod(tmp.Name(), 0o644); err != nil {
		return failed("build", out, err)
	}
	if err := os.Rename(tmp.Name(), out); err != nil {
		return failed("build", out, err)
	}
	return nil
}

// sourceRoot finds the module's source folder, and says where it looked when there is none.
func sourceRoot() (root string, tried []string) {
	if wd, err := os.Getwd(); err == nil {
		if r := moduleRoot(wd); r != "" {
			return r, nil
		}
		tried = append(tried, "no checkout around the working directory")
	}
	if _, file, _, ok := runtime.Caller(0); ok && filepath.IsAbs(file) {
		if r := moduleRoot(filepath.Dir(file)); r != "" {
			return r, nil
		}
		tried = append(tried, "the checkout this binary was built from is gone")
	}
	if r := moduleCacheRoot(); r != "" {
		return r, nil
	}
	return "", append(tried, "not in the module cache")
}

func moduleRoot(dir string) string {
	for {
		if data, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && namesModule(data) {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
}

func namesModule(gomod []byte) bool {
	for line := range strings.Lines(string(gomod)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "module" {
			return f[1] == Module
		}
	}
	return false
}

func moduleCacheRoot() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != Module || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return ""
	}
	out, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return ""
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), Module+"@"+info.Main.Version)
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err != nil {
		return ""
	}
	return dir
}

// sourceKey is a hash over every file that can change a guest, and the toolchain's version.
func sourceKey(root string) (string, error) {
	var files []string
	for _, top := range []string{"abi", "sdk", "plugins", "go.mod"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(p string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && isSource(filepath.ToSlash(p)) && !strings.Contains(p, "testdata") {
				files = append(files, p)
			}
			return err
		})
		if err != nil {
			return "", err
		}
	}
	sort.Strings(files)
	h := sha256.New()
	fmt.Fprintln(h, "guests/1", runtime.Version())
	for _, p := range files {
		data, err := os.ReadFile(p)
		if err != nil {
			return "", err
		}
		rel, _ := filepath.Rel(root, p)
		fmt.Fprintf(h, "%s %x\n", filepath.ToSlash(rel), sha256.Sum256(data))
	}
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

func failed(op, subject string, err error) error {
	return abi.E(op, v1.ErrorKindUnavailable, subject, err)
}
