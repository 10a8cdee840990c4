package main

import (
	"fmt"

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
	x, t := "m."+f.name, tagLen(f)
	switch {
	case f.repeated && packable(f):
		p.p("if len(%s) > 0 {\nn += sizeBody(%d, size%s(m))\n}", x, t, packName(f))
	case f.repeated && f.message != nil:
		p.p("for _, v := range %s {\nn += sizeBody(%d, v.SizeProto())\n}", x, t)
	case f.repeated:
		p.p("for _, v := range %s {\nn += sizeBody(%d, len(v))\n}", x, t)
	case f.message != nil:
		p.p("if %s != nil {\nn += sizeBody(%d, %s.SizeProto())\n}", x, t, x)
	case f.optional:
		p.p("if %s != nil {\nn += %d + %s\n}", x, t, sizeValue(f, "*"+x))
	case f.required && packable(f):
		p.p("n += %d + %s", t, sizeValue(f, x))
	default:
		p.p("n += %s", sizeUnlessZero(f, t, x))
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
	x, t := "m."+f.name, tag(f)
	switch {
	case f.repeated && packable(f):
		p.p("if len(%s) > 0 {\ndst = mustHead(dst, %d, size%s(m))", x, t, packName(f))
		p.p("for _, v := range %s {\ndst = %s\n}\n}", x, appendPacked(p, f, "v"))
	case f.repeated && f.message != nil:
		p.p("for _, v := range %s {\ndst = v.AppendProto(mustHead(dst, %d, v.SizeProto()))\n}", x, t)
	case f.repeated:
		p.p("for _, v := range %s {\ndst = mustText(dst, %d, v)\n}", x, t)
	case f.message != nil:
		p.p("if %s != nil {\ndst = %s.AppendProto(mustHead(dst, %d, %s.SizeProto()))\n}", x, x, t, x)
	case f.optional:
		p.p("if %s != nil {\ndst = must%s\n}", x, appendArgs(f, "*"+x))
	case f.required && packable(f):
		p.p("dst = must%s", appendArgs(f, x))
	default:
		p.p("dst = put%s", appendArgs(f, x))
	}
}

// emitPackedSize writes the function that sizes the values of a packed list.
func emitPackedSize(p *printer, m *message, f *field) {
	p.p("func size%s(m *%s) int {", packName(f), m.name)
	if w := wireType(f); w != protowire.VarintType || f.kind == protoreflect.BoolKind {
		p.p("return %s * len(m.%s)\n}\n", sizeValue(f, "v"), f.name)
		return
	}
	p.p("n := 0\nfor _, v := range m.%s {\nn += %s\n}\nreturn n\n}\n", f.name, sizeValue(f, "v"))
}

func emitUnmarshal(p *printer, m *message) {
	p.p("// UnmarshalProto replaces m by the message in b. Unknown fields are ignored. Fields of bytes alias b, so b must not change")
	p.p("// while m is in use. The error is a *DecodeError; m is then half filled.")
	p.p("func (m *%s) UnmarshalProto(b []byte) error {", m.name)
	p.p("*m = %s{}\nreturn asError(m.decode(b, 0))\n}\n", m.name)
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

// tag is the tag that our encoder writes: lists of numbers are packed.
func tag(f *field) int {
	t := wireType(f)
	if f.repeated {
		t = protowire.BytesType
	}
	return f.num<<3 | int(t)
}

func tagLen(f *field) int { return protowire.SizeVarint(uint64(tag(f))) }

// packName names the size function of a packed list.
func packName(f *field) string { return f.owner.name + f.name }

// sizeValue is the size of one number, without its tag.
func sizeValue(f *field, x string) string {
	switch f.kind {
	case protoreflect.BoolKind:
		return "1"
	case protoreflect.FloatKind:
		return "4"
	case protoreflect.DoubleKind:
		return "8"
	}
	return "sizeVarint(" + varint(f, x) + ")"
}

// sizeUnlessZero is the size of a field that is left out when it is zero, its tag of t bytes included.
func sizeUnlessZero(f *field, t int, x string) string {
	switch f.kind {
	case protoreflect.StringKind, protoreflect.BytesKind:
		return fmt.Sprintf("sizeText(%d, len(%s))", t, x)
	case protoreflect.BoolKind:
		return fmt.Sprintf("sizeBool(%d, %s)", t, x)
	case protoreflect.FloatKind:
		return fmt.Sprintf("sizeFloat(%d, %s)", t, x)
	case protoreflect.DoubleKind:
		return fmt.Sprintf("sizeDouble(%d, %s)", t, x)
	}
	return fmt.Sprintf("sizeUint(%d, %s)", t, varint(f, x))
}

// appendArgs is the tail of a call of a put or must function.
func appendArgs(f *field, x string) string {
	name, v := "Uint", x
	switch f.kind {
	case protoreflect.StringKind:
		name = "String"
	case protoreflect.BytesKind:
		name = "Bytes"
	case protoreflect.BoolKind:
		name = "Bool"
	case protoreflect.FloatKind:
		name = "Float"
	case protoreflect.DoubleKind:
		name = "Double"
	default:
		v = varint(f, x)
	}
	return fmt.Sprintf("%s(dst, %d, %s)", name, tag(f), v)
}

// appendPacked is one value of a packed list.
func appendPacked(p *printer, f *field, x string) string {
	switch f.kind {
	case protoreflect.FloatKind:
		p.use("math")
		return "appendFixed32(dst, math.Float32bits(" + x + "))"
	case protoreflect.BoolKind, protoreflect.DoubleKind:
		panic("lists of bool or double are not in the contract: " + f.owner.name + "." + f.proto)
	}
	return "appendVarint(dst, " + varint(f, x) + ")"
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
		return fmt.Sprintf("%s.str(%q)", d, f.proto)
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
