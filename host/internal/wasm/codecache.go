package wasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

const (
	// sealName is the file that lists what an entry must contain.
	sealName = "seal"
	// keyLength is that of an entry's name, in hexadecimal digits.
	keyLength = 32
	// maxEntries is how many modules the cache remembers; the least recently used go first.
	maxEntries = 64
)

// A codeCache keeps the native code of modules on disk, a folder each: what wazero wrote, and a seal with a checksum of it. The seal is
// written last, so it also says that the original module was valid. wazero's own checksum does not cover the function offsets, and
// a damaged file makes it fail instead of compiling.
type codeCache struct {
	// dir is empty when nothing is kept.
	dir string
}

// openCodeCache makes the folder, or refuses one that others could write to.
func openCodeCache(dir string) (*codeCache, error) {
	if dir == "" {
		return &codeCache{}, nil
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, abi.E("open code cache", v1.ErrorKindIO, dir, err)
	}
	if err := privateFolder(dir); err != nil {
		return nil, abi.E("open code cache", v1.ErrorKindDenied, dir, err)
	}
	return &codeCache{dir: dir}, nil
}

// key covers everything that decides the native code: the bytes that are compiled, the bytes that are validated, and the program
// that does both.
func cacheKey(original, metered []byte) string {
	h := sha256.New()
	fmt.Fprintf(h, "amygdala code 2\nwazero %s\nfeatures %x\n%x\n%x\n", wazeroVersion(), uint64(features), sha256.Sum256(original), sha256.Sum256(metered))
	return hex.EncodeToString(h.Sum(nil)[:keyLength/2])
}

// wazeroVersion is what this program was built with.
func wazeroVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				return d.Version
			}
		}
	}
	return "unknown"
}

// entry is the folder of one module, and whether its seal is unbroken.
func (c *codeCache) entry(key string) (dir string, sealed bool) {
	if c.dir == "" {
		return "", false
	}
	dir = filepath.Join(c.dir, key)
	want, err := os.ReadFile(filepath.Join(dir, sealName))
	if err == nil {
		if got, err := contents(dir); err == nil && got == string(want) {
			now := time.Now()
			_ = os.Chtimes(dir, now, now) // only the order of eviction suffers
			return dir, true
		}
	}
	return dir, false
}

// drop removes an entry that is broken or half written.
func (c *codeCache) drop(dir string) {
	if dir != "" {
		_ = os.RemoveAll(dir) // what is left over is found broken again
	}
}

// partSuffix ends the name of a folder that is still being filled.
const partSuffix = ".part"

// abandoned is the age at which such a folder belongs to a process that died.
const abandoned = time.Hour

// part makes a private folder in which an entry is filled. Without a cache it is empty.
func (c *codeCache) part(dir string) (string, error) {
	if dir == "" {
		return "", nil
	}
	return os.MkdirTemp(c.dir, filepath.Base(dir)+".*"+partSuffix)
}

// publish seals a filled folder and makes it the entry, unless another process was faster. Without an entry the next load compiles again.
func (c *codeCache) publish(part, dir string) {
	if part == "" {
		return
	}
	defer c.drop(part) // gone already when the rename worked
	if c.seal(part) != nil {
		return
	}
	if os.Rename(part, dir) == nil {
		c.evict()
	}
}

// seal writes down what a folder holds now.
func (c *codeCache) seal(dir string) error {
	text, err := contents(dir)
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, sealName+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.WriteString(text)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), filepath.Join(dir, sealName))
}

// contents lists the files of an entry with their hashes, without seals and files that are still being written.
func contents(dir string) (string, error) {
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), sealName) || strings.HasSuffix(d.Name(), ".tmp") {
			return err
		}
		sum, err := hashFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %s\n", sum, filepath.ToSlash(rel))
		return err
	})
	return b.String(), err
}

func hashFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := crc32.New(castagnoli)
	n, err := io.Copy(h, f)
	if err != nil {
		return nil, err
	}
	return fmt.Appendf(nil, "%d:%08x", n, h.Sum32()), nil
}

// castagnoli is the checksum that processors have an instruction for: seals are read at every start, and tell damage, not malice.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// evict keeps the newest entries, and removes folders that nobody will finish. Failures do not matter: the next load tries again.
func (c *codeCache) evict() {
	all, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	age := func(e fs.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	var entries []fs.DirEntry
	for _, e := range all {
		switch {
		case len(e.Name()) == keyLength:
			entries = append(entries, e)
		case strings.HasSuffix(e.Name(), partSuffix) && time.Since(age(e)) > abandoned:
			c.drop(filepath.Join(c.dir, e.Name()))
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return age(a).Compare(age(b)) })
	for _, e := range entries[:max(0, len(entries)-maxEntries)] {
		c.drop(filepath.Join(c.dir, e.Name()))
	}
}

// compile validates the original, and compiles the metered module or takes its code from the cache. Only compiling waits its turn.
func (m *module) compile(ctx context.Context, original []byte) error {
	key := cacheKey(original, m.metered.Wasm)
	if dir, sealed := m.eng.codes.entry(key); sealed && m.build(ctx, dir) == nil {
		return nil
	}
	if err := wait(ctx, m.eng.compiles, "compile", m.name); err != nil {
		return err
	}
	defer func() { <-m.eng.compiles }()
	dir, sealed := m.eng.codes.entry(key) // someone may have compiled the same module in the meantime
	if sealed && m.build(ctx, dir) == nil {
		return nil
	}
	m.eng.codes.drop(dir)
	if err := validate(ctx, original); err != nil {
		return m.refused(fmt.Errorf("it is not valid: %w", err))
	}
	if err := ctx.Err(); err != nil {
		return abi.E("compile", contextKind(err), m.name, err)
	}
	return m.compileAnew(ctx, dir)
}

// compileAnew compiles into a folder of its own, which becomes the entry when it is complete: other processes share the cache. A disk that
// fails costs the cache, not the plugin.
func (m *module) compileAnew(ctx context.Context, dir string) error {
	part, err := m.eng.codes.part(dir)
	if err == nil && m.build(ctx, part) == nil {
		m.eng.codes.publish(part, dir)
		return nil
	}
	m.eng.codes.drop(part)
	if err := m.build(ctx, ""); err != nil {
		return m.refused(fmt.Errorf("compiling the metered module failed: %w", err))
	}
	return nil
}

// build opens a runtime of the module's own, so that closing it frees everything.
func (m *module) build(ctx context.Context, dir string) (err error) {
	if dir == "" {
		m.cache = wazero.NewCompilationCache()
	} else if m.cache, err = wazero.NewCompilationCacheWithDir(dir); err != nil {
		return err
	}
	m.runtime = wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithCoreFeatures(features).WithCompilationCache(m.cache).WithDebugInfoEnabled(false))
	if m.compiled, err = m.runtime.CompileModule(ctx, m.metered.Wasm); err != nil {
		return errors.Join(err, m.runtime.Close(ctx), m.cache.Close(ctx))
	}
	m.codeSize = int64(4 * len(m.metered.Wasm)) // an estimate; wazero does not tell
	return nil
}
