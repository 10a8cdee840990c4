package schema

import (
	"fmt"

	"regexp"
	"strconv"
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/tree"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// node is a compiled schema. Nil pointers and negative counts mean "no such keyword".
type node struct {
	// path is the JSON pointer of the schema, for reasons.
	path string
	// never is the schema false.
	never bool
	ref   *node

	kinds    map[string]bool
	enum     []string // canonical forms
	hasEnum  bool
	props    map[string]*node
	patterns []patternSchema
	extra    *node
	names    *node
	required []string
	depends  map[string][]string
	implies  map[string]*node
	prefix   []*node
	items    *node
	contains *node
	unique   bool

	minProps, maxProps, minItems, maxItems, minContains, maxContains, minLength, maxLength int

	min, max, exMin, exMax, multiple *number

	pattern            *regexp.Regexp
	format             func(string) bool
	formatName         string
	all, any, one      []*node
	not, when, yes, no *node
}

type patternSchema struct {
	re *regexp.Regexp
	s  *node
}

// annotations are keywords that say nothing about validity. Source: JSON Schema 2020-12, core and validation.
var annotations = map[string]bool{
	"title": true, "description": true, "default": true, "examples": true, "$comment": true, "deprecated": true, "readOnly": true, "writeOnly": true,
	"contentEncoding": true, "contentMediaType": true, "contentSchema": true,
	"$id": true, "$defs": true, "$anchor": true, "definitions": true,
}

// compiler turns a tree into nodes. References may point forward and in circles.
type compiler struct {
	t       *tree.Tree
	root    int
	binary  bool // MessagePack: types "bytes" and "extension" exist
	done    map[int]*node
	anchors map[string]int
}

// maxDepth bounds how deep schemas and messages nest.
const maxDepth = 64

// compile reads the schema at node i of t.
func compile(t *tree.Tree, i int, binary bool) (*node, error) {
	c := &compiler{t: t, root: i, binary: binary, done: map[int]*node{}, anchors: map[string]int{}}
	if err := c.dialect(); err != nil {
		return nil, err
	}
	c.findAnchors(i)
	n, err := c.schema(i, 0)
	if err != nil {
		return nil, err
	}
	if err := c.definitions(i); err != nil {
		return nil, err
	}
	return n, c.circles()
}

func (c *compiler) dialect() error {
	s := c.t.Child(c.root, "$schema")
	if s != tree.None && strings.TrimSuffix(c.t.Nodes[s].Text, "#") != "https://json-schema.org/draft/2020-12/schema" {
		return fmt.Errorf("$schema names another dialect than JSON Schema 2020-12")
	}
	return nil
}

// findAnchors notes the "$anchor" of every schema below i.
func (c *compiler) findAnchors(i int) {
	if a := c.t.Child(i, "$anchor"); a != tree.None && c.t.Nodes[a].Kind == tree.String {
		c.anchors[c.t.Nodes[a].Text] = i
	}
	for k := c.t.Nodes[i].First; k != tree.None; k = c.t.Nodes[k].Next {
		c.findAnchors(k)
	}
}

// definitions compiles what nothing refers to as well, so that mistakes there are told.
func (c *compiler) definitions(i int) error {
	for _, key := range []string{"$defs", "definitions"} {
		d := c.t.Child(i, key)
		if d == tree.None {
			continue
		}
		for k := c.t.Nodes[d].First; k != tree.None; k = c.t.Nodes[k].Next {
			if _, err := c.schema(k, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// schema compiles the schema at i once.
func (c *compiler) schema(i, depth int) (*node, error) {
	if n := c.done[i]; n != nil {
		return n, nil
	}
	path := "#" + strings.TrimPrefix(c.t.Path(i), c.t.Path(c.root))
	n := &node{path: path, minProps: -1, maxProps: -1, minItems: -1, maxItems: -1, minContains: -1, maxContains: -1, minLength: -1, maxLength: -1}
	c.done[i] = n
	switch src := c.t.Nodes[i]; {
	case depth > maxDepth:
		return nil, fmt.Errorf("schema %s nests deeper than %d", path, maxDepth)
	case src.Kind == tree.Bool:
		n.never = src.Text == "false"
		return n, nil
	case src.Kind != tree.Object:
		return nil, fmt.Errorf("schema %s is a %s; a schema is an object, true or false", path, src.Kind)
	}
	for k := c.t.Nodes[i].First; k != tree.None; k = c.t.Nodes[k].Next {
		if err := c.keyword(n, k, depth+1); err != nil {
			return nil, fmt.Errorf("schema %s: %w", path, err)
		}
	}
	return n, nil
}

// circles refuses references that lead back to themselves without consuming anything of the instance.
func (c *compiler) circles() error {
	for _, n := range c.done {
		slow, fast := n, n
		for fast != nil && fast.ref != nil {
			slow, fast = slow.ref, fast.ref.ref
			if slow == fast && slow != nil {
				return fmt.Errorf("schema %s: $ref leads back to itself", n.path)
			}
		}
	}
	return nil
}

// keyword compiles one member of a schema.
func (c *compiler) keyword(n *node, k, depth int) (err error) {
	src := c.t.Nodes[k]
	switch src.Key {
	case "$ref":
		n.ref, err = c.reference(k, depth)
	case "type":
		n.kinds, err = c.types(k)
	case "enum":
		n.hasEnum = true
		n.enum, err = c.values(k)
	case "const":
		n.hasEnum = true
		n.enum = []string{canonical(c.t, k)}
	case "pattern":
		n.pattern, err = c.regex(k)
	case "format":
		n.formatName = src.Text
		if n.format = formats[src.Text]; n.format == nil {
			err = fmt.Errorf("format %q is unknown; known are %s", src.Text, strings.Join(formatNames(), ", "))
		}
	case "uniqueItems":
		n.unique, err = c.boolean(k)
	default:
		err = c.structural(n, k, depth)
	}
	return err
}

// structural compiles the keywords that hold schemas, and hands the rest on.
func (c *compiler) structural(n *node, k, depth int) (err error) {
	switch key := c.t.Nodes[k].Key; key {
	case "properties":
		n.props, err = c.schemas(k, depth)
	case "patternProperties":
		n.patterns, err = c.patternSchemas(k, depth)
	case "additionalProperties":
		n.extra, err = c.schema(k, depth)
	case "propertyNames":
		n.names, err = c.schema(k, depth)
	case "required":
		n.required, err = c.t.Texts(k)
	case "dependentRequired":
		n.depends, err = c.dependent(k)
	case "dependentSchemas":
		n.implies, err = c.schemas(k, depth)
	case "prefixItems":
		n.prefix, err = c.list(k, depth)
	case "items":
		n.items, err = c.schema(k, depth)
	case "contains":
		n.contains, err = c.schema(k, depth)
	case "allOf":
		n.all, err = c.list(k, depth)
	case "anyOf":
		n.any, err = c.list(k, depth)
	case "oneOf":
		n.one, err = c.list(k, depth)
	case "not":
		n.not, err = c.schema(k, depth)
	case "if":
		n.when, err = c.schema(k, depth)
	case "then":
		n.yes, err = c.schema(k, depth)
	case "else":
		n.no, err = c.schema(k, depth)
	default:
		return c.bound(n, k)
	}
	return err
}

// bound compiles the keywords that are a number. What is left over is an annotation or unknown.
func (c *compiler) bound(n *node, k int) (err error) {
	counts := map[string]*int{
		"minProperties": &n.minProps, "maxProperties": &n.maxProps, "minItems": &n.minItems, "maxItems": &n.maxItems, "minContains": &n.minContains,
		"maxContains": &n.maxContains,
		"minLength":   &n.minLength, "maxLength": &n.maxLength,
	}
	numbers := map[string]**number{"minimum": &n.min, "maximum": &n.max, "exclusiveMinimum": &n.exMin, "exclusiveMaximum": &n.exMax,
		"multipleOf": &n.multiple}
	src := c.t.Nodes[k]
	switch {
	case counts[src.Key] != nil:
		v, ok := parseNumber(src.Text)
		if !ok || src.Kind != tree.Number || !v.whole || v.int < 0 || v.int > 1<<31-1 {
			return fmt.Errorf("%s must be a whole number from 0", src.Key)
		}
		*counts[src.Key] = int(v.int)
	case numbers[src.Key] != nil:
		v, ok := parseNumber(src.Text)
		if src.Kind != tree.Number || !ok || src.Key == "multipleOf" && v.float <= 0 {
			return fmt.Errorf("%s must be a number, for multipleOf above 0", src.Key)
		}
		*numbers[src.Key] = &v
	case src.Key == "$id" && c.t.Nodes[k].Parent != c.root:
		return fmt.Errorf("$id inside a schema starts another document; use $anchor or a JSON pointer")
	case src.Key == "$schema" && k == c.t.Child(c.root, "$schema"), annotations[src.Key]:
	default:
		return fmt.Errorf("unknown keyword %q; the README lists the keywords that are understood", src.Key)
	}
	return nil
}

func (c *compiler) boolean(k int) (bool, error) {
	if c.t.Nodes[k].Kind != tree.Bool {
		return false, fmt.Errorf("%s must be true or false", c.t.Nodes[k].Key)
	}
	return c.t.Nodes[k].Text == "true", nil
}

func (c *compiler) regex(k int) (*regexp.Regexp, error) {
	re, err := regexp.Compile(c.t.Nodes[k].Text)
	if err != nil || c.t.Nodes[k].Kind != tree.String {
		return nil, fmt.Errorf("pattern is no RE2 expression: %w", err)
	}
	return re, nil
}

// types reads a type or a list of types.
func (c *compiler) types(k int) (map[string]bool, error) {
	names := []string{c.t.Nodes[k].Text}
	if c.t.Nodes[k].Kind == tree.Array {
		var err error
		if names, err = c.t.Texts(k); err != nil {
			return nil, err
		}
	}
	out := map[string]bool{}
	for _, name := range names {
		switch name {
		case "null", "boolean", "number", "integer", "string", "array", "object":
		case "bytes", "extension":
			if !c.binary {
				return nil, fmt.Errorf("type %q exists in MessagePack only", name)
			}
		default:
			return nil, fmt.Errorf("type %q is unknown", name)
		}
		out[name] = true
	}
	return out, nil
}

func (c *compiler) values(k int) ([]string, error) {
	if c.t.Nodes[k].Kind != tree.Array || c.t.Nodes[k].Len == 0 {
		return nil, fmt.Errorf("enum must be a list that is not empty")
	}
	var out []string
	for v := c.t.Nodes[k].First; v != tree.None; v = c.t.Nodes[v].Next {
		out = append(out, canonical(c.t, v))
	}
	return out, nil
}

func (c *compiler) list(k, depth int) ([]*node, error) {
	if c.t.Nodes[k].Kind != tree.Array || c.t.Nodes[k].Len == 0 {
		return nil, fmt.Errorf("%s must be a list of schemas that is not empty", c.t.Nodes[k].Key)
	}
	var out []*node
	for s := c.t.Nodes[k].First; s != tree.None; s = c.t.Nodes[s].Next {
		n, err := c.schema(s, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func (c *compiler) schemas(k, depth int) (map[string]*node, error) {
	if c.t.Nodes[k].Kind != tree.Object {
		return nil, fmt.Errorf("%s must be an object of schemas", c.t.Nodes[k].Key)
	}
	out := map[string]*node{}
	for s := c.t.Nodes[k].First; s != tree.None; s = c.t.Nodes[s].Next {
		n, err := c.schema(s, depth)
		if err != nil {
			return nil, err
		}
		out[c.t.Nodes[s].Key] = n
	}
	return out, nil
}

func (c *compiler) patternSchemas(k, depth int) ([]patternSchema, error) {
	all, err := c.schemas(k, depth)
	if err != nil {
		return nil, err
	}
	var out []patternSchema
	for s := c.t.Nodes[k].First; s != tree.None; s = c.t.Nodes[s].Next {
		key := c.t.Nodes[s].Key
		re, err := regexp.Compile(key)
		if err != nil {
			return nil, fmt.Errorf("patternProperties: %q is no RE2 expression: %w", key, err)
		}
		out = append(out, patternSchema{re, all[key]})
	}
	return out, nil
}

func (c *compiler) dependent(k int) (map[string][]string, error) {
	if c.t.Nodes[k].Kind != tree.Object {
		return nil, fmt.Errorf("dependentRequired must be an object of lists")
	}
	out := map[string][]string{}
	for s := c.t.Nodes[k].First; s != tree.None; s = c.t.Nodes[s].Next {
		list, err := c.t.Texts(s)
		if err != nil {
			return nil, err
		}
		out[c.t.Nodes[s].Key] = list
	}
	return out, nil
}

// reference resolves "#", "#/json/pointer" and "#anchor". Nothing is fetched.
func (c *compiler) reference(k, depth int) (*node, error) {
	ref := c.t.Nodes[k].Text
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, fmt.Errorf("$ref %q points outside the document; only local references (#...) are followed", ref)
	}
	target := c.root
	if !strings.HasPrefix(fragment, "/") && fragment != "" {
		if target, ok = c.anchors[fragment]; !ok {
			return nil, fmt.Errorf("$ref %q names no $anchor", ref)
		}
		return c.schema(target, depth)
	}
	for _, part := range pointer(fragment) {
		part = weburl.Unescape(part)
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		if target = c.step(target, part); target == tree.None {
			return nil, fmt.Errorf("$ref %q points at nothing", ref)
		}
	}
	return c.schema(target, depth)
}

func (c *compiler) step(i int, part string) int {
	if c.t.Nodes[i].Kind == tree.Object {
		return c.t.Child(i, part)
	}
	n, err := strconv.Atoi(part)
	if err != nil || c.t.Nodes[i].Kind != tree.Array {
		return tree.None
	}
	k := c.t.Nodes[i].First
	for ; n > 0 && k != tree.None; n-- {
		k = c.t.Nodes[k].Next
	}
	return k
}

// pointer splits a JSON pointer; the empty one names the whole document.
func pointer(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s[1:], "/")
}
