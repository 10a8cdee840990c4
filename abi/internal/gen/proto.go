package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// emitProto writes the protobuf codec.
func emitProto(p *printer, s *schema) {
	for _, m := range s.messages {
		emitSize(p, m)
		emitAppend(p, m)
		emitUnmarshal(p, m)
	}
}

func emitSize(p *printer, m *message) {
	p.p("// SizeProto returns the length of what AppendProto appends, in bytes.")
	p.p("func (m *%s) SizeProto() int {", m.name)
	if len(m.fields) == 0 {
		p.p("return 0\n}\n")
		return
	}
	p.p("if m == nil {\nreturn 0\n}\nn := 0")
	for _, f := range m.fields {
		emitSizeField(p, f)
	}
	p.p("return n\n}\n")
}

func emitSizeField(p *printer, f *field) {
	x := "m." + f.name
	tag := tagLen(f)
	switch {
	case f.repeated && packable(f):
		p.p("if len(%s) > 0 {\nn += %d + sizeBytes(size%s(m))\n}", x, tag, packName(f))
	case f.repeated:
		p.p("for _, v := range %s {\nn += %d + %s\n}", x, tag, sizeValue(f, "v"))
	case f.required && packable(f):
		p.p("n += %d + %s", tag, sizeValue(f, x))
	default:
		p.p("if %s {\nn += %d + %s\n}", isSet(p, f, x), tag, sizeValue(f, deref(f, x)))
	}
}

func emitAppend(p *printer, m *message) {
	p.p("// AppendProto appends m in protobuf to dst: fields in the order of their numbers, the same bytes for the same message.")
	p.p("func (m *%s) AppendProto(dst []byte) []byte {", m.name)
	if len(m.fields) == 0 {
		p.p("return dst\n}\n")
		return
	}
	p.p("if m == nil {\nreturn dst\n}")
	for _, f := range m.fields {
		emitAppendField(p, f)
	}
	p.p("return dst\n}\n")
	for _, f := range m.fields {
		if f.repeated && packable(f) {
			emitPackedSize(p, m, f)
		}
	}
}

func emitAppendField(p *printer, f *field) {
	x := "m." + f.name
	tag := tagBytes(f)
	switch {
	case f.repeated && packable(f):
		p.p("if len(%s) > 0 {\ndst = append(dst, %s)\ndst = appendVarint(dst, uint64(size%s(m)))", x, tag, packName(f))
		p.p("for _, v := range %s {\n%s\n}\n}", x, appendValue(f, "v"))
	case f.repeated:
		p.p("for _, v := range %s {\ndst = append(dst, %s)\n%s\n}", x, tag, appendValue(f, "v"))
	case f.required && packable(f):
		p.p("dst = append(dst, %s)\n%s", tag, appendValue(f, x))
	default:
		p.p("if %s {\ndst = append(dst, %s)\n%s\n}", isSet(p, f, x), tag, appendValue(f, deref(f, x)))
	}
}

// emitPackedSize writes the function that sizes the values of a packed list.
func emitPackedSize(p *printer, m *message, f *field) {
	p.p("func size%s(m *%s) int {", packName(f), m.name)
	if fixed := sizeValue(f, "v"); !strings.Contains(fixed, "v") {
		p.p("return %s * len(m.%s)\n}\n", fixed, f.name)
		return
	}
	p.p("n := 0")
	p.p("for _, v := range m.%s {\nn += %s\n}\nreturn n\n}\n", f.name, sizeValue(f, "v"))
}

func emitUnmarshal(p *printer, m *message) {
	p.p("// UnmarshalProto replaces m by the message in b. Unknown fields are ignored. Fields of bytes alias b, so b must not change")
	p.p("// while m is in use. The error is a *DecodeError; m is then half filled.")
	p.p("func (m *%s) UnmarshalProto(b []byte) error {", m.name)
	p.p("*m = %s{}\nif err := m.decode(b, 0); err != nil {\nreturn err\n}\nreturn nil\n}\n", m.name)
	p.p("func (m *%s) decode(b []byte, depth int) *DecodeError {\nd := newDecoder(b, depth)", m.name)
	for _, f := range m.fields {
		if f.repeated && f.message != nil {
			p.p("var spare%s []%s", f.name, f.message.name)
		}
	}
	p.p("for d.next() {\nswitch d.tag {")
	for _, f := range m.fields {
		emitDecodeField(p, m, f)
	}
	p.p("default:\nd.skip()\n}\n}\nreturn d.err\n}\n")
}

func emitDecodeField(p *printer, m *message, f *field) {
	x := "m." + f.name
	p.p("case %d: // %s", f.num<<3|int(wireType(f)), f.proto)
	switch {
	case f.repeated && f.message != nil:
		p.p("%s, spare%s = batch(&d, %s, spare%s)", x, f.name, x, f.name)
		p.p("d.nested(%q, len(%s)-1, %s[len(%s)-1].decode(d.bytes(), depth+1))", f.proto, x, x, x)
	case f.message != nil:
		emitDecodeMessage(p, m, f)
	case f.repeated:
		p.p("%s = append(%s, %s)", x, x, readValue(f, "d"))
	case f.optional:
		p.p("%s = new(%s)", x, readValue(f, "d"))
	default:
		p.p("%s = %s", x, readValue(f, "d"))
	}
	if f.kind == protoreflect.StringKind {
		p.p("d.named(%q)", f.proto)
	}
	if f.repeated && packable(f) {
		p.p("case %d: // %s, packed", f.num<<3|int(protowire.BytesType), f.proto)
		p.p("packed := decoder{b: d.bytes()}\nfor packed.err == nil && packed.pos < len(packed.b) {")
		p.p("%s = append(%s, %s)\n}", x, x, readValue(f, "packed"))
		p.p("d.nested(%q, -1, packed.err)", f.proto)
	}
}

// emitDecodeMessage reads a message field: into the one that is there already, as protobuf merges; a oneof keeps the last member.
func emitDecodeMessage(p *printer, m *message, f *field) {
	x := "m." + f.name
	p.p("if %s == nil {\n%s = new(%s)\n}", x, x, f.message.name)
	if f.oneof > 0 {
		for _, other := range m.oneofs[f.oneof-1].fields {
			if other != f {
				p.p("m.%s = nil", other.name)
			}
		}
	}
	p.p("d.nested(%q, -1, %s.decode(d.bytes(), depth+1))", f.proto, x)
}

// packable reports whether the values are numbers.
func packable(f *field) bool { return wireType(f) != protowire.BytesType }

func wireType(f *field) protowire.Type {
	switch f.kind {
	case protoreflect.StringKind, protoreflect.BytesKind, protoreflect.MessageKind:
		return protowire.BytesType
	case protoreflect.FloatKind:
		return protowire.Fixed32Type
	case protoreflect.DoubleKind:
		return protowire.Fixed64Type
	}
	return protowire.VarintType
}

func tag(f *field) []byte {
	t := wireType(f)
	if f.repeated {
		t = protowire.BytesType
	}
	return protowire.AppendTag(nil, protowire.Number(f.num), t)
}

func tagLen(f *field) int { return len(tag(f)) }

func tagBytes(f *field) string {
	var parts []string
	for _, b := range tag(f) {
		parts = append(parts, fmt.Sprintf("%#02x", b))
	}
	return strings.Join(parts, ", ")
}

// packName names the size function of a packed list.
func packName(f *field) string { return f.owner.name + f.name }

// deref is the value of a field: what it points to if it is optional.
func deref(f *field, x string) string {
	if f.optional {
		return "*" + x
	}
	return x
}

// isSet is the condition under which a field without presence is written.
func isSet(p *printer, f *field, x string) string {
	if f.optional {
		return x + " != nil"
	}
	switch f.kind {
	case protoreflect.MessageKind:
		return x + " != nil"
	case protoreflect.StringKind, protoreflect.BytesKind:
		return "len(" + x + ") > 0"
	case protoreflect.BoolKind:
		return x
	case protoreflect.FloatKind:
		p.use("math")
		return "math.Float32bits(" + x + ") != 0"
	case protoreflect.DoubleKind:
		p.use("math")
		return "math.Float64bits(" + x + ") != 0"
	}
	return x + " != 0"
}

// sizeValue is the size of one value, without its tag.
func sizeValue(f *field, x string) string {
	switch f.kind {
	case protoreflect.MessageKind:
		return "sizeBytes(" + x + ".SizeProto())"
	case protoreflect.StringKind, protoreflect.BytesKind:
		return "sizeBytes(len(" + x + "))"
	case protoreflect.BoolKind:
		return "1"
	case protoreflect.FloatKind:
		return "4"
	case protoreflect.DoubleKind:
		return "8"
	}
	return "sizeVarint(" + varint(f, x) + ")"
}

func appendValue(f *field, x string) string {
	switch f.kind {
	case protoreflect.MessageKind:
		return "dst = " + x + ".AppendProto(appendVarint(dst, uint64(" + x + ".SizeProto())))"
	case protoreflect.StringKind, protoreflect.BytesKind:
		return "dst = appendBytes(dst, " + x + ")"
	case protoreflect.BoolKind:
		return "dst = appendBool(dst, " + x + ")"
	case protoreflect.FloatKind:
		return "dst = appendFloat(dst, " + x + ")"
	case protoreflect.DoubleKind:
		return "dst = appendDouble(dst, " + x + ")"
	}
	return "dst = appendVarint(dst, " + varint(f, x) + ")"
}

// varint is x as the unsigned number that goes on the wire.
func varint(f *field, x string) string {
	switch f.kind {
	case protoreflect.Sint32Kind:
		return "zigzag32(" + x + ")"
	case protoreflect.Sint64Kind:
		return "zigzag64(" + x + ")"
	case protoreflect.Uint64Kind:
		return x
	}
	return "uint64(" + x + ")"
}

// readValue reads one value from decoder d.
func readValue(f *field, d string) string {
	switch f.kind {
	case protoreflect.StringKind:
		return d + ".str()"
	case protoreflect.BytesKind:
		return d + ".bytes()"
	case protoreflect.BoolKind:
		return d + ".bool()"
	case protoreflect.FloatKind:
		return d + ".float()"
	case protoreflect.DoubleKind:
		return d + ".double()"
	case protoreflect.Sint32Kind:
		return d + ".sint32()"
	case protoreflect.Sint64Kind:
		return d + ".sint64()"
	case protoreflect.Uint64Kind:
		return d + ".varint()"
	}
	return elemType(f) + "(" + d + ".varint())"
}
