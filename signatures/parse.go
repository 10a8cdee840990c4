package signatures

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"gopkg.in/yaml.v3"
)

// maxShownErrors is how many errors of one file are told at once.
const maxShownErrors = 20

// Parse reads one pack. name is used in errors and Signature.File. What it accepts is well formed, but not yet good: Lint says the rest.
// The error is of kind invalid and has one line, "name:LINE: what is wrong and how to mend it", for each mistake.
func Parse(name string, data []byte) (*Pack, error) {
	d := &decoder{file: name}
	p := &Pack{File: name, Digest: sha256.Sum256(data), lines: lines{}}
	if root := d.document(data); root != nil {
		decodeMapping(d, root, p, "", p.lines, packFields)
		d.finish(p)
	}
	if err := d.err(); err != nil {
		return nil, abi.E("parse", v1.ErrorKindInvalid, name, err)
	}
	return p, nil
}

// Load parses every *.yaml and *.yml file at the top of fsys, in the order of their names. No file at all is no error: it gives no packs.
// All mistakes of all files are told together.
func Load(fsys fs.FS) ([]*Pack, error) {
	entries, err := fs.ReadDir(fsys, ".")
	if err != nil {
		return nil, abi.E("load", v1.ErrorKindIO, "signatures", err)
	}
	var names []string
	for _, e := range entries {
		ext := path.Ext(e.Name())
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") && (ext == ".yaml" || ext == ".yml") {
			names = append(names, e.Name())
		}
	}
	packs, errs := make([]*Pack, len(names)), make([]error, len(names))
	var group sync.WaitGroup
	next := make(chan int)
	for range min(len(names), runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := range next {
				packs[i], errs[i] = loadFile(fsys, names[i])
			}
		})
	}
	for i := range names {
		next <- i
	}
	close(next)
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return packs, nil
}

// loadFile reads no more of a file than a pack may be long.
func loadFile(fsys fs.FS, name string) (*Pack, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, abi.E("load", v1.ErrorKindIO, name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxPackBytes+1))
	if err != nil {
		return nil, abi.E("load", v1.ErrorKindIO, name, err)
	}
	return Parse(name, data)
}

// decoder walks YAML nodes and gathers mistakes, so that an author sees all of them at once.
type decoder struct {
	file string
	errs []mistake
}

type mistake struct {
	line int
	text string
}

func (d *decoder) fail(line int, format string, args ...any) {
	d.errs = append(d.errs, mistake{line, fmt.Sprintf(format, args...)})
}

// err joins the mistakes in the order of the lines.
func (d *decoder) err() error {
	if len(d.errs) == 0 {
		return nil
	}
	sort.SliceStable(d.errs, func(i, j int) bool { return d.errs[i].line < d.errs[j].line })
	var out []error
	for i, m := range d.errs {
		if i == maxShownErrors {
			out = append(out, fmt.Errorf("%s: and %d more mistakes", d.file, len(d.errs)-i))
			break
		}
		out = append(out, fmt.Errorf("%s:%d: %s", d.file, m.line, m.text))
	}
	return errors.Join(out...)
}

// document returns the mapping that the file is, or nil after a mistake.
func (d *decoder) document(data []byte) *yaml.Node {
	if len(data) > MaxPackBytes {
		d.fail(1, "the file is larger than %d bytes; split the pack", MaxPackBytes)
		return nil
	}
	if !utf8.Valid(data) {
		d.fail(1+bytes.Count(data[:firstInvalid(data)], []byte("\n")), "the file is not UTF-8 here; save it as UTF-8")
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); err != nil {
		d.failYAML(err)
		return nil
	}
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		d.fail(max(1, second.Line), "only one document per file; split the file at \"---\"")
		return nil
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		d.fail(max(1, doc.Line), "a pack is a mapping that starts with \"pack: NAME\"")
		return nil
	}
	return doc.Content[0]
}

// failYAML takes the line out of the YAML library's error text, "yaml: line 3: ...".
func (d *decoder) failYAML(err error) {
	line, text := 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if errors.Is(err, io.EOF) {
		text = "the file is empty; a pack starts with \"pack: NAME\""
	}
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	}
	d.fail(line, "not valid YAML: %s", text)
}

func firstInvalid(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(data)
}

// decodeMapping reads the keys that fields knows into to, and complains about all others.
func decodeMapping[T any](d *decoder, n *yaml.Node, to T, path string, at lines, fields []field[T]) {
	if !d.plain(path, n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		d.fail(n.Line, "%s: a mapping is expected here, not %s", orRoot(path), kindName(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		f := fieldNamed(fields, key.Value)
		switch first, twice := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode || f == nil:
			d.fail(key.Line, "%s: unknown key %q; the keys are %s", orRoot(path), key.Value, keyNames(fields))
			continue
		case twice:
			d.fail(key.Line, "%s: key %q was already set on line %d; remove one", orRoot(path), key.Value, first)
			continue
		}
		seen[key.Value], at[key.Value] = key.Line, key.Line
		f.set(d, to, below(path, key.Value), value)
	}
	for _, f := range fields {
		if f.required && seen[f.key] == 0 {
			d.fail(n.Line, "%s: key %q is missing; it is a %s", orRoot(path), f.key, f.typ)
		}
	}
}

func fieldNamed[T any](fields []field[T], key string) *field[T] {
	for i := range fields {
		if fields[i].key == key {
			return &fields[i]
		}
	}
	return nil
}

func keyNames[T any](fields []field[T]) string {
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.key
	}
	return strings.Join(names, ", ")
}

func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func orRoot(path string) string {
	if path == "" {
		return "pack"
	}
	return path
}

// plain refuses what would let a small file mean a large one, or hide what it means.
func (d *decoder) plain(path string, n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		d.fail(n.Line, "%s: YAML anchors and aliases are not allowed; write the value out", orRoot(path))
		return false
	}
	if strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!") {
		d.fail(n.Line, "%s: YAML tag %s is not allowed; remove it", orRoot(path), n.Tag)
		return false
	}
	return true
}

func kindName(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.ScalarNode:
		return fmt.Sprintf("%q", clip(n.Value, 40))
	}
	return "this"
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "..."
}

// text reads a scalar that is not empty.
func (d *decoder) text(path string, n *yaml.Node, limit int) string {
	switch {
	case !d.plain(path, n):
		return ""
	case n.Kind != yaml.ScalarNode:
		d.fail(n.Line, "%s: a single value is expected here, not %s", path, kindName(n))
		return ""
	case n.Value == "" || n.Tag == "!!null":
		d.fail(n.Line, "%s: is empty; give it a value or remove the key", path)
		return ""
	case len(n.Value) > limit:
		d.fail(n.Line, "%s: is %d bytes long; at most %d are allowed", path, len(n.Value), limit)
		return ""
	}
	return n.Value
}

// list returns the items of a sequence that is not empty.
func (d *decoder) list(path string, n *yaml.Node, limit int) []*yaml.Node {
	switch {
	case !d.plain(path, n):
		return nil
	case n.Kind != yaml.SequenceNode:
		d.fail(n.Line, "%s: a list is expected here, not %s", path, kindName(n))
		return nil
	case len(n.Content) == 0:
		d.fail(n.Line, "%s: the list is empty; add to it or remove the key", path)
		return nil
	case len(n.Content) > limit:
		d.fail(n.Line, "%s: has %d items; at most %d are allowed", path, len(n.Content), limit)
		return nil
	}
	return n.Content
}

func (d *decoder) texts(path string, n *yaml.Node, count, limit int) []string {
	var out []string
	for i, item := range d.list(path, n, count) {
		if s := d.text(fmt.Sprintf("%s[%d]", path, i), item, limit); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// finish hands the pack's defaults down and checks what depends on more than one key.
func (d *decoder) finish(p *Pack) {
	for _, s := range p.Signatures {
		s.Pack = p.Name
		if s.Threat == v1.ThreatUnspecified {
			s.Threat = p.Threat
		}
		if s.Threat == v1.ThreatUnspecified {
			d.fail(s.Line, "signature %s: no threat; set \"threat\" here or for the whole pack", s.ID)
		}
		if len(s.Patterns) > MaxPatterns {
			d.fail(s.Line, "signature %s: more than %d patterns; split it", s.ID, MaxPatterns)
		}
	}
}
