package watch

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrTooLarge is the File.Err of a file above Options.MaxFileBytes. Its Sum covers size and time instead of the content.
var ErrTooLarge = errors.New("the file is larger than the watcher hashes")

// errUnsettled marks a file that changed while it was hashed.
var errUnsettled = errors.New("the file is being written")

// File is one followed file as it was when last seen at rest.
type File struct {
	// Path is absolute, and not resolved: a symbolic link keeps its own name.
	Path string
	Size int64
	// Sum is the SHA-256 of the content.
	Sum [sha256.Size]byte
	// Err says why the content could not be read. The file exists.
	Err error
}

func (f File) equal(g File) bool {
	return f.Path == g.Path && f.Size == g.Size && f.Sum == g.Sum && (f.Err == nil) == (g.Err == nil)
}

// Snapshot is the state of all followed files, sorted by path. Treat it as read-only.
type Snapshot struct {
	Files []File
	// Missing lists followed directories that cannot be read, each with its error.
	Missing []MissingDir
}

// MissingDir is a followed directory that cannot be read now.
type MissingDir struct {
	Path string
	Err  error
}

// Find returns the file with this absolute path.
func (s Snapshot) Find(path string) (File, bool) {
	i, ok := slices.BinarySearchFunc(s.Files, path, func(f File, p string) int { return strings.Compare(f.Path, p) })
	if !ok {
		return File{}, false
	}
	return s.Files[i], true
}

func snapshot(dirs map[string]*dir) (s Snapshot) {
	for _, d := range dirs {
		s.Files = append(s.Files, d.files...)
		if d.err != nil {
			s.Missing = append(s.Missing, MissingDir{d.path, d.err})
		}
	}
	slices.SortFunc(s.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(s.Missing, func(a, b MissingDir) int { return strings.Compare(a.Path, b.Path) })
	return s
}

// dir is one followed directory, and what was last found in it.
type dir struct {
	path   string
	accept func(name string) bool
	files  []File
	// links are the real paths of files that are reached through a symbolic link.
	links []string
	err   error
}

// scan hashes the directory's files. differs tells that something changed since the last scan, unsettled that a file was left out
// (or kept as it was before) because it is being written.
func (d *dir) scan(limit int64) (differs, unsettled bool) {
	names, err := list(d.path, d.accept)
	var files []File
	var links []string
	for _, name := range names {
		path := filepath.Join(d.path, name)
		f, ok := hash(path, limit)
		if f.Err == errUnsettled {
			unsettled = true
			f, ok = Snapshot{Files: d.files}.Find(path)
		}
		if ok {
			files = append(files, f)
		}
		if real, err := filepath.EvalSymlinks(path); err == nil && real != path {
			links = append(links, real)
		}
	}
	differs = (err == nil) != (d.err == nil) || !slices.EqualFunc(files, d.files, File.equal)
	d.files, d.links, d.err = files, links, err
	return differs, unsettled
}

// list names the entries of dir that may be followed files.
func list(dir string, accept func(string) bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && accept(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// hash reads one file; ok is false when there is no regular file.
func hash(path string, limit int64) (f File, ok bool) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return File{}, false
	}
	f = File{Path: path}
	if err != nil {
		f.Err = err
		return f, true
	}
	f.Size = info.Size()
	if f.Size > limit {
		f.Sum = sha256.Sum256(fmt.Appendf(nil, "%d %d", f.Size, info.ModTime().UnixNano()))
		f.Err = ErrTooLarge
		return f, true
	}
	f.Sum, f.Err = hashContent(path, limit)
	return f, !errors.Is(f.Err, fs.ErrNotExist)
}

// hashContent hashes what is in the file, unless size or time move meanwhile.
func hashContent(path string, limit int64) (sum [sha256.Size]byte, err error) {
	file, err := os.Open(path)
	if err != nil {
		return sum, err
	}
	defer file.Close()
	before, err := file.Stat()
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, limit+1))
	if err != nil {
		return sum, err
	}
	after, err := file.Stat()
	if err != nil {
		return sum, err
	}
	if n != before.Size() || n != after.Size() || !before.ModTime().Equal(after.ModTime()) {
		return sum, errUnsettled
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// outline tells states of the directories apart by names, sizes, times and modes, without reading contents.
func outline(dirs map[string]*dir) string {
	var b strings.Builder
	for _, path := range slices.Sorted(maps.Keys(dirs)) {
		names, err := list(path, dirs[path].accept)
		fmt.Fprintf(&b, "%q %v\n", path, err == nil)
		for _, name := range names {
			if info, err := os.Stat(filepath.Join(path, name)); err == nil {
				fmt.Fprintf(&b, "%q %d %d %v\n", name, info.Size(), info.ModTime().UnixNano(), info.Mode())
			}
		}
	}
	return b.String()
}
