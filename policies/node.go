package policies

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Caps on one policy file. They bound the parser, not the policy: the default has about a tenth of each.
const (
	maxFile  = 1 << 20
	maxDepth = 32
	maxNodes = 100_000
	// maxErrors is how many mistakes are told at once.
	maxErrors = 10
)

// reader walks the nodes of one file and collects what is wrong with them.
type reader struct {
	file  string
	errs  []error
	nodes int
}

// fail notes a mistake at a node. path is the setting, such as "limits.payload"; it may be empty.
func (r *reader) fail(n *yaml.Node, path, format string, args ...any) {
	if len(r.errs) >= maxErrors {
		return
	}
	at := r.at(n)
	if path != "" {
		at += ": " + path
	}
	r.errs = append(r.errs, fmt.Errorf("%s: %w", at, fmt.Errorf(format, args...)))
}

// at is the place of a node, "file:line".
func (r *reader) at(n *yaml.Node) string { return fmt.Sprintf("%s:%d", r.file, n.Line) }

// result turns what was collected into one error, or nil.
func (r *reader) result() error {
	if len(r.errs) == 0 {
		return nil
	}
	return abi.E("parse policy", v1.ErrorKindInvalid, r.file, errors.Join(r.errs...))
}

// document parses a file into its root mapping and refuses every feature of YAML that a policy has no use for.
func (r *reader) document(data []byte) (root *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil { // the library has panicked on malformed input before
			err = abi.E("parse policy", v1.ErrorKindInvalid, r.file, fmt.Errorf("the file is not YAML: %v", p))
		}
	}()
	if len(data) > maxFile {
		return nil, abi.E("parse policy", v1.ErrorKindLimit, r.file, fmt.Errorf("the file has %d bytes; at most %d are read", len(data), maxFile))
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("the file is empty; it must at least say `version: %d`", Version)
		}
		return nil, abi.E("parse policy", v1.ErrorKindInvalid, r.file, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, abi.E("parse policy", v1.ErrorKindInvalid, r.file, errors.New("there is a second document in the file (after `---`), or text that is not YAML; remove it"))
	}
	root = doc.Content[0]
	r.plain(root, "", 0)
	return root, r.result()
}

// plain refuses aliases, anchors, merge keys, custom tags and repeated keys, and bounds depth and number of nodes.
func (r *reader) plain(n *yaml.Node, path string, depth int) {
	if r.nodes++; r.nodes > maxNodes || depth > maxDepth {
		if r.nodes == maxNodes+1 || depth > maxDepth {
			r.fail(n, path, "the file is nested too deeply or has too many values (at most %d levels, %d values)", maxDepth, maxNodes)
		}
		return
	}
	switch {
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		r.fail(n, path, "anchors and aliases (& and *) are not supported; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		r.fail(n, path, "the tag %s is not supported; write a plain value", n.Tag)
	case n.Kind == yaml.MappingNode:
		r.plainMapping(n, path, depth)
	case n.Kind == yaml.SequenceNode:
		for i, c := range n.Content {
			r.plain(c, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	}
}

func (r *reader) plainMapping(n *yaml.Node, path string, depth int) {
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Tag == "!!merge" || k.Anchor != "" || k.Style&yaml.TaggedStyle != 0 {
			r.fail(k, path, "a key must be a plain name")
			continue
		}
		if line, ok := seen[k.Value]; ok {
			r.fail(k, join(path, k.Value), "the key is given twice, first in line %d; remove one", line)
		}
		seen[k.Value] = k.Line
		r.plain(v, join(path, k.Value), depth+1)
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// field reads one value of an object.
type field func(n *yaml.Node, path string)

// object reads a mapping whose keys are all known. An absent value (a key with everything under it commented out) changes nothing.
func (r *reader) object(n *yaml.Node, path string, fields map[string]field) {
	r.each(n, path, func(k, v *yaml.Node, path string) {
		read, ok := fields[k.Value]
		if !ok {
			known := make([]string, 0, len(fields))
			for name := range fields {
				known = append(known, name)
			}
			slices.Sort(known)
			r.fail(k, path, "unknown key; known here: %s", strings.Join(known, ", "))
			return
		}
		read(v, path)
	})
}

// each walks a mapping with free keys.
func (r *reader) each(n *yaml.Node, path string, visit func(k, v *yaml.Node, path string)) {
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, path, "expected settings (key: value), found %s", describe(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		visit(n.Content[i], n.Content[i+1], join(path, n.Content[i].Value))
	}
}

// list walks a sequence.
func (r *reader) list(n *yaml.Node, path string, visit func(n *yaml.Node, path string)) {
	if n.Kind != yaml.SequenceNode {
		r.fail(n, path, "expected a list such as [a, b], found %s", describe(n))
		return
	}
	for i, c := range n.Content {
		visit(c, fmt.Sprintf("%s[%d]", path, i))
	}
}

// scalar returns a value's text; ok is false, with an error noted, for lists, mappings and nothing.
func (r *reader) scalar(n *yaml.Node, path string) (text string, ok bool) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		r.fail(n, path, "expected a single value, found %s", describe(n))
		return "", false
	}
	return n.Value, true
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

func describe(n *yaml.Node) string {
	switch {
	case isNull(n):
		return "nothing"
	case n.Kind == yaml.MappingNode:
		return "settings"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%q", n.Value)
}
