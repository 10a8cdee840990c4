package guest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Builtin is a plugin that the host brings along.
type Builtin struct {
	// Name is what its manifest must say.
	Name string
	// Wasm may be packed or bare; a bare module is asked for its manifest.
	Wasm []byte
}

// Failure tells why a plugin, the policy or the signatures are not what the operator put there.
type Failure struct {
	// Stage is one of the Stage constants.
	Stage string `json:"stage"`
	// Kind is the error's kind by name, such as "refused".
	Kind    string    `json:"kind"`
	Message string    `json:"message"`
	Time    time.Time `json:"time"`
	// Path is the file, or "builtin".
	Path string `json:"path,omitempty"`
	// SHA256 is the digest of that file, if it could be read.
	SHA256 string `json:"sha256,omitempty"`
}

// maxMessage bounds the text of a Failure in bytes: it may hold what a guest printed.
const maxMessage = 4 << 10

func failure(stage string, err error, pkg *Package) *Failure {
	if staged := (*stagedError)(nil); errors.As(err, &staged) {
		stage, err = staged.stage, staged.err
	}
	msg := err.Error()
	if len(msg) > maxMessage {
		msg = msg[:maxMessage] + "..."
	}
	f := &Failure{Stage: stage, Kind: abi.KindOf(err).String(), Message: strings.ToValidUTF8(msg, "\ufffd"), Time: time.Now()}
	if pkg != nil {
		f.Path, f.SHA256 = sourceOf(pkg), pkg.Digest()
	}
	return f
}

// sourceOf names where a package came from, for a person.
func sourceOf(pkg *Package) string {
	if pkg.Path == "" {
		return "builtin"
	}
	return pkg.Path
}

// candidate is what the sources offer under one name.
type candidate struct {
	// override comes from a plugin directory and wins over builtin. Either may be nil.
	override, builtin *Package
	// problem is set if a directory holds something under this name that cannot be used.
	problem *Failure
}

// sources is one look at everything plugins come from.
type sources struct {
	byName map[string]*candidate
	// orphans are unusable files that never had a usable version, so that nothing is known of their name.
	orphans []orphan
}

type orphan struct {
	name    string
	failure *Failure
}

func (s *sources) at(name string) *candidate {
	c := s.byName[name]
	if c == nil {
		c = &candidate{}
		s.byName[name] = c
	}
	return c
}

// openBuiltins reads the built-in plugins, once.
func openBuiltins(list []Builtin) (map[string]*Package, error) {
	out := map[string]*Package{}
	for _, b := range list {
		pkg, err := open("builtin "+b.Name, b.Wasm)
		if err != nil {
			return nil, err
		}
		pkg.Path = ""
		if pkg.Manifest == nil {
			pkg.Name = b.Name
		}
		if pkg.Name != b.Name || out[b.Name] != nil {
			return nil, abi.E("open plugin", v1.ErrorKindConflict, "builtin "+b.Name, fmt.Errorf("its manifest says %s, or there are two of it", pkg.Name))
		}
		out[b.Name] = pkg
	}
	return out, nil
}

// look reads the plugin directories. names remembers which file had which name, so that a file that broke is told from one that went.
func look(builtins map[string]*Package, dirs []string, names map[string]string) *sources {
	s := &sources{byName: map[string]*candidate{}}
	for name, pkg := range builtins {
		s.at(name).builtin = pkg
	}
	for _, dir := range dirs {
		s.lookInto(dir, names)
	}
	return s
}

func (s *sources) lookInto(dir string, names map[string]string) {
	paths, err := pluginFiles(dir)
	if err != nil {
		s.lost(dir, err, names)
		return
	}
	for _, path := range paths {
		pkg, err := OpenFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed between listing and reading
		}
		if err != nil {
			s.broken(path, failure(StageOpen, err, &Package{Path: path}), names)
			continue
		}
		names[path] = pkg.Name
		s.offer(pkg)
	}
	forget(dir, paths, names)
}

// pluginFiles lists the .wasm files of a directory.
func pluginFiles(dir string) ([]string, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, errors.New("it is not a folder; name the folder that holds the plugin")
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if filepath.Ext(path) != ".wasm" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			continue
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// offer adds a package from a directory. Two files with one name are both refused: nobody could say which one was meant.
func (s *sources) offer(pkg *Package) {
	c := s.at(pkg.Name)
	if c.override == nil {
		c.override = pkg
		return
	}
	err := abi.E("open plugin", v1.ErrorKindConflict, pkg.Name, fmt.Errorf("%s and %s both hold a plugin of this name; remove one", c.override.Path, pkg.Path))
	c.problem = failure(StageOpen, err, pkg)
}

// broken notes a file that cannot be used, under the name it last had.
func (s *sources) broken(path string, f *Failure, names map[string]string) {
	f.SHA256 = ""
	name, known := names[path]
	if !known {
		s.orphans = append(s.orphans, orphan{strings.TrimSuffix(filepath.Base(path), ".wasm"), f})
		return
	}
	s.at(name).problem = f
}

// lost notes a directory that cannot be read: everything that came from it stays as it is.
func (s *sources) lost(dir string, err error, names map[string]string) {
	err = abi.E("read plugins", v1.ErrorKindIO, dir, err)
	found := false
	for path, name := range names {
		if filepath.Dir(path) == filepath.Clean(dir) {
			s.at(name).problem = failure(StageOpen, err, &Package{Path: path})
			s.at(name).problem.SHA256 = ""
			found = true
		}
	}
	if !found {
		f := failure(StageOpen, err, &Package{Path: dir})
		f.SHA256 = ""
		s.orphans = append(s.orphans, orphan{dir, f})
	}
}

// forget drops the remembered names of files that are gone.
func forget(dir string, present []string, names map[string]string) {
	still := map[string]bool{}
	for _, p := range present {
		still[p] = true
	}
	for path := range names {
		if filepath.Dir(path) == filepath.Clean(dir) && !still[path] {
			delete(names, path)
		}
	}
}
