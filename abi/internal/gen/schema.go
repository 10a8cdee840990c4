package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/amygdala-host/amygdala/abi/internal/gen/source"
)

// schema is the contract as the emitters see it: every enum and message of the package, in the order of the files.
type schema struct {
	enums    []*enum
	messages []*message
}

type enum struct {
	name, comment string // name is the Go name, which equals the proto name
	prefix        string // of the proto value names, such as ERROR_KIND_
	file          string
	values        []value
}

type value struct {
	name, short, comment string // Go name, short lower-case name
	num                  int32
}

type message struct {
	name, comment string
	file          string
	fields        []*field // by number
	oneofs        []oneof
	index         int
}

// oneof is a choice between message fields.
type oneof struct {
	name     string // Go name
	proto    string
	required bool
	fields   []*field
}

type field struct {
	name, proto, json string // Go name, name in the file, key in JSON
	comment, note     string // note is what trails on the line of the field, less "required"
	num               int
	kind              protoreflect.Kind
	repeated          bool
	required          bool
	optional          bool // a scalar with presence
	oneof             int  // index from 1; 0: none
	place             int  // position in message.fields
	owner             *message
	message           *message
	enum              *enum
}

// load reads and links all .proto files in dir.
func load(dir string) (*schema, error) {
	files, err := source.Load(dir)
	if err != nil {
		return nil, err
	}
	b := builder{enums: map[protoreflect.FullName]*enum{}, messages: map[protoreflect.FullName]*message{}}
	for _, f := range files {
		b.declare(f)
	}
	for _, f := range files {
		if err := b.define(f); err != nil {
			return nil, err
		}
	}
	return &b.schema, nil
}

// builder turns descriptors into a schema: names first, since messages refer to each other, then fields.
type builder struct {
	schema
	enums    map[protoreflect.FullName]*enum
	messages map[protoreflect.FullName]*message
}

func (b *builder) declare(f protoreflect.FileDescriptor) {
	for i := range f.Enums().Len() {
		d := f.Enums().Get(i)
		e := &enum{name: string(d.Name()), comment: source.Comment(d), file: f.Path()}
		e.prefix = strings.ToUpper(snake(e.name)) + "_"
		b.enums[d.FullName()] = e
		b.schema.enums = append(b.schema.enums, e)
	}
	for i := range f.Messages().Len() {
		d := f.Messages().Get(i)
		m := &message{name: string(d.Name()), comment: source.Comment(d), file: f.Path(), index: len(b.schema.messages)}
		b.messages[d.FullName()] = m
		b.schema.messages = append(b.schema.messages, m)
	}
}

func (b *builder) define(f protoreflect.FileDescriptor) error {
	for i := range f.Enums().Len() {
		d := f.Enums().Get(i)
		if err := b.values(b.enums[d.FullName()], d.Values()); err != nil {
			return err
		}
	}
	for i := range f.Messages().Len() {
		d := f.Messages().Get(i)
		if err := b.fields(b.messages[d.FullName()], d); err != nil {
			return fmt.Errorf("%s: %s: %w", f.Path(), d.Name(), err)
		}
	}
	return nil
}

func (b *builder) values(e *enum, list protoreflect.EnumValueDescriptors) error {
	for i := range list.Len() {
		d := list.Get(i)
		tail, ok := strings.CutPrefix(string(d.Name()), e.prefix)
		if !ok {
			return fmt.Errorf("%s: %s does not start with %s", e.name, d.Name(), e.prefix)
		}
		short := strings.ToLower(tail)
		e.values = append(e.values, value{name: e.name + camel(short), short: short, comment: source.Comment(d), num: int32(d.Number())})
	}
	if e.values[0].short != "unspecified" {
		return fmt.Errorf("%s: the first value must be %sUNSPECIFIED", e.name, e.prefix)
	}
	return nil
}

func (b *builder) fields(m *message, d protoreflect.MessageDescriptor) error {
	if m.comment == "" {
		return fmt.Errorf("the message has no comment, which is its documentation in Go and in ABI.md")
	}
	for i := range d.Fields().Len() {
		f, err := b.field(d.Fields().Get(i))
		if err != nil {
			return err
		}
		m.fields = append(m.fields, f)
	}
	if d.Enums().Len()+d.Messages().Len() > 0 {
		return fmt.Errorf("nested types are not supported")
	}
	slices.SortFunc(m.fields, func(a, b *field) int { return a.num - b.num })
	if len(m.fields) > 63 {
		return fmt.Errorf("more than 63 fields")
	}
	for i, f := range m.fields {
		if slices.Contains(methods, f.name) {
			return fmt.Errorf("%s: the field would hide a method of the Go type", f.proto)
		}
		f.place, f.owner = i, m
	}
	for i := range d.Oneofs().Len() {
		o := d.Oneofs().Get(i)
		if o.IsSynthetic() {
			continue
		}
		required, _ := source.Mark(o)
		m.oneofs = append(m.oneofs, oneof{name: camel(string(o.Name())), proto: string(o.Name()), required: required})
	}
	for _, f := range m.fields {
		if f.oneof > 0 {
			m.oneofs[f.oneof-1].fields = append(m.oneofs[f.oneof-1].fields, f)
		}
	}
	return nil
}

// methods are the names every generated message type uses.
var methods = []string{"SizeProto", "AppendProto", "UnmarshalProto", "AppendJSON", "UnmarshalJSON", "Validate"}

// field refuses what the generated code cannot express.
func (b *builder) field(d protoreflect.FieldDescriptor) (*field, error) {
	f := &field{
		name: camel(string(d.Name())), proto: string(d.Name()), json: d.JSONName(), comment: source.Comment(d),
		num: int(d.Number()), kind: d.Kind(), repeated: d.IsList(),
	}
	f.required, f.note = source.Mark(d)
	if o := d.ContainingOneof(); o != nil && !o.IsSynthetic() {
		f.oneof = o.Index() + 1 // synthetic oneofs come last, so the index holds
	}
	f.optional = d.HasOptionalKeyword()
	switch {
	case d.IsMap():
		return nil, fmt.Errorf("%s: map fields have no fixed order; use a repeated message", d.Name())
	case f.optional && (f.required || wireType(f) == protowire.BytesType):
		return nil, fmt.Errorf("%s: only numbers that are not required can be optional", d.Name())
	case f.oneof > 0 && f.kind != protoreflect.MessageKind:
		return nil, fmt.Errorf("%s: a member of a oneof must be a message", d.Name())
	}
	switch f.kind {
	case protoreflect.MessageKind:
		f.message = b.messages[d.Message().FullName()]
	case protoreflect.EnumKind:
		f.enum = b.enums[d.Enum().FullName()]
	case protoreflect.GroupKind, protoreflect.Sfixed32Kind, protoreflect.Sfixed64Kind, protoreflect.Fixed32Kind, protoreflect.Fixed64Kind:
		return nil, fmt.Errorf("%s: %v fields are not supported", d.Name(), f.kind)
	}
	return f, nil
}

// initialisms are the words that Go spells in capitals.
var initialisms = []string{"abi", "api", "http", "id", "io", "json", "jwt", "llm", "sha256", "slm", "ssrf", "ttl", "uri", "url", "usd", "utf8"}

// camel turns snake_case into the Go name.
func camel(s string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(s, "_") {
		switch {
		case slices.Contains(initialisms, word):
			b.WriteString(strings.ToUpper(word))
		case word != "":
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// snake turns CamelCase into snake_case; a run of capitals is one word (HTTPRequest: http_request).
func snake(s string) string {
	var b strings.Builder
	for i, c := range s {
		upper := c >= 'A' && c <= 'Z'
		if upper && i > 0 && (isLower(s[i-1]) || i+1 < len(s) && isLower(s[i+1])) {
			b.WriteByte('_')
		}
		b.WriteString(strings.ToLower(string(c)))
	}
	return b.String()
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
