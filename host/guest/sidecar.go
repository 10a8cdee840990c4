package guest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// ParseManifest reads a manifest written by hand, as YAML with the names of the contract: fields as in plugin.proto, enum values by
// their short names.
//
//	name: zebra
//	version: 0.1.0
//	kind: detector
//	abi: 1
//	encoding: json
//	ops: [describe, configure, detect]
//	threats: [prompt_injection]
//	wake: {kinds: [web], views: [html.comment]}
//
// Keys are strict. What the packer fills in (digests, signature) cannot be written. Errors are kind refused, with file and line.
func ParseManifest(name string, data []byte) (m *v1.Manifest, err error) {
	defer func() {
		if p := recover(); p != nil { // the library has panicked on malformed input before
			m, err = nil, refused(name, fmt.Errorf("the file is not YAML: %v", p))
		}
	}()
	if len(data) > abi.MaxManifest {
		return nil, refused(name, fmt.Errorf("the manifest has %d bytes, at most %d are allowed", len(data), abi.MaxManifest))
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the manifest is empty")
		}
		return nil, refused(name, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, refused(name, errors.New("there is more than one document in the manifest"))
	}
	m = &v1.Manifest{}
	if err := decodeNode(doc.Content[0], reflect.ValueOf(m).Elem(), ""); err != nil {
		return nil, refused(name, fmt.Errorf("%s:%w", name, err))
	}
	if len(m.Digests) > 0 || len(m.Signature) > 0 {
		return nil, refused(name, errors.New("digests and signature are written by the packer; remove them"))
	}
	if err := checkManifest(m); err != nil {
		return nil, refused(name, err)
	}
	return m, nil
}

// enumParsers finds the parser of an enum by its type, so that a new enum field needs no code here.
var enumParsers = map[reflect.Type]func(string) (int64, bool){
	reflect.TypeFor[v1.Op]():          enumParser(v1.ParseOp),
	reflect.TypeFor[v1.PluginKind]():  enumParser(v1.ParsePluginKind),
	reflect.TypeFor[v1.Encoding]():    enumParser(v1.ParseEncoding),
	reflect.TypeFor[v1.PayloadKind](): enumParser(v1.ParsePayloadKind),
	reflect.TypeFor[v1.Threat]():      enumParser(v1.ParseThreat),
	reflect.TypeFor[v1.Placement]():   enumParser(v1.ParsePlacement),
	reflect.TypeFor[v1.HTTPMethod]():  enumParser(v1.ParseHTTPMethod),
	reflect.TypeFor[v1.DeriveVia]():   enumParser(v1.ParseDeriveVia),
	reflect.TypeFor[v1.DeriveType]():  enumParser(v1.ParseDeriveType),
	reflect.TypeFor[v1.ActionKind]():  enumParser(v1.ParseActionKind),
	reflect.TypeFor[v1.AuthPurpose](): enumParser(v1.ParseAuthPurpose),
}

func enumParser[E ~int32](parse func(string) (E, bool)) func(string) (int64, bool) {
	return func(s string) (int64, bool) {
		v, ok := parse(s)
		return int64(v), ok
	}
}

// decodeNode fills one Go value of the contract. Errors begin with the line.
func decodeNode(n *yaml.Node, dst reflect.Value, path string) error {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return fmt.Errorf("%d: %s: anchors, aliases and tags are not supported; write a plain value", n.Line, path)
	}
	switch {
	case dst.Kind() == reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		return decodeNode(n, dst.Elem(), path)
	case dst.Kind() == reflect.Struct:
		return decodeStruct(n, dst, path)
	case dst.Kind() == reflect.Slice && dst.Type().Elem().Kind() != reflect.Uint8:
		return decodeList(n, dst, path)
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		return fmt.Errorf("%d: %s: expected a single value", n.Line, path)
	}
	return decodeScalar(n, dst, path)
}

func decodeStruct(n *yaml.Node, dst reflect.Value, path string) error {
	if n.Kind != yaml.MappingNode {
		return fmt.Errorf("%d: %s: expected settings (key: value)", n.Line, path)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+k.Value, ".")
		field, known := fieldByName(dst, k.Value)
		switch {
		case k.Kind != yaml.ScalarNode || !field.IsValid():
			return fmt.Errorf("%d: %s: unknown key; known here: %s", k.Line, at, strings.Join(known, ", "))
		case seen[k.Value]:
			return fmt.Errorf("%d: %s: the key is given twice", k.Line, at)
		}
		seen[k.Value] = true
		if err := decodeNode(v, field, at); err != nil {
			return err
		}
	}
	return nil
}

// fieldByName finds a field by its name in the .proto file, and lists all of them.
func fieldByName(dst reflect.Value, name string) (field reflect.Value, known []string) {
	for i := range dst.NumField() {
		snake := snakeCase(dst.Type().Field(i).Name)
		known = append(known, snake)
		if snake == name {
			field = dst.Field(i)
		}
	}
	return field, known
}

// snakeCase turns a Go name into that of the .proto file: MemoryPages to memory_pages, ABI to abi, BaseURL to base_url.
func snakeCase(s string) string {
	var b strings.Builder
	r := []rune(s)
	for i, c := range r {
		startsWord := i > 0 && unicode.IsUpper(c) && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1]))
		if startsWord {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

func decodeList(n *yaml.Node, dst reflect.Value, path string) error {
	if n.Kind != yaml.SequenceNode {
		return fmt.Errorf("%d: %s: expected a list such as [a, b]", n.Line, path)
	}
	for i, c := range n.Content {
		item := reflect.New(dst.Type().Elem()).Elem()
		if err := decodeNode(c, item, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
		dst.Set(reflect.Append(dst, item))
	}
	return nil
}

func decodeScalar(n *yaml.Node, dst reflect.Value, path string) error {
	s := n.Value
	if parse, ok := enumParsers[dst.Type()]; ok {
		v, ok := parse(s)
		if !ok {
			return fmt.Errorf("%d: %s: %q is not a value of it", n.Line, path, s)
		}
		dst.SetInt(v)
		return nil
	}
	var err error
	switch dst.Kind() {
	case reflect.String:
		dst.SetString(s)
	case reflect.Slice:
		dst.SetBytes([]byte(s))
	case reflect.Bool:
		var v bool
		if s != "true" && s != "false" {
			err = errors.New("not true or false")
		}
		v = s == "true"
		dst.SetBool(v)
	case reflect.Uint32, reflect.Uint64:
		var v uint64
		v, err = strconv.ParseUint(s, 10, dst.Type().Bits())
		dst.SetUint(v)
	default:
		err = errors.New("this field cannot be written in YAML; pack the plugin instead")
	}
	if err != nil {
		return fmt.Errorf("%d: %s: %q: %w", n.Line, path, s, err)
	}
	return nil
}
