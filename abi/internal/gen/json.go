package main

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// emitJSON writes the JSON codec.
func emitJSON(p *printer, s *schema) {
	for _, m := range s.messages {
		emitAppendJSON(p, m)
		emitUnmarshalJSON(p, m)
	}
}

func emitAppendJSON(p *printer, m *message) {
	p.p("// AppendJSON appends m in the canonical JSON mapping of proto3 to dst, enums as numbers, without white space.")
	p.p("func (m *%s) AppendJSON(dst []byte) []byte {\ndst = append(dst, '{')", m.name)
	if len(m.fields) > 0 {
		p.p("if m == nil {\nreturn append(dst, '}')\n}")
	}
	for _, f := range m.fields {
		emitAppendJSONField(p, f)
	}
	p.p("return append(dst, '}')\n}\n")
}

func emitAppendJSONField(p *printer, f *field) {
	x := "m." + f.name
	key := fmt.Sprintf("jsonKey(dst, %q)", f.json)
	switch {
	case f.repeated:
		p.p("if len(%s) > 0 {\ndst = append(%s, '[')\nfor i, v := range %s {", x, key, x)
		p.p("dst = %s(jsonItem(dst, i)%s)\n}\ndst = append(dst, ']')\n}", jsonFunc(f, "v"), jsonArg(f, "v"))
	case f.required && packable(f):
		p.p("dst = %s(%s%s)", jsonFunc(f, x), key, jsonArg(f, x))
	default:
		p.p("if %s {\ndst = %s(%s%s)\n}", isSet(p, f, x), jsonFunc(f, x), key, jsonArg(f, deref(f, x)))
	}
}

// deref is the value of a field: what it points to if it is optional.
func deref(f *field, x string) string {
	if f.optional {
		return "*" + x
	}
	return x
}

// isSet is the condition under which a field is written.
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

// jsonFunc is the function that appends one value, jsonArg its second argument.
func jsonFunc(f *field, x string) string {
	switch f.kind {
	case protoreflect.MessageKind:
		return x + ".AppendJSON"
	case protoreflect.StringKind:
		return "jsonString"
	case protoreflect.BytesKind:
		return "jsonBytes"
	case protoreflect.BoolKind:
		return "jsonBool"
	case protoreflect.FloatKind:
		return "jsonFloat32"
	case protoreflect.DoubleKind:
		return "jsonFloat64"
	case protoreflect.Int64Kind, protoreflect.Sint64Kind:
		return "jsonInt64"
	case protoreflect.Uint64Kind:
		return "jsonUint64"
	}
	return "jsonNumber"
}

func jsonArg(f *field, x string) string {
	switch jsonFunc(f, x) {
	case x + ".AppendJSON":
		return ""
	case "jsonNumber":
		return ", int64(" + x + ")"
	}
	return ", " + x
}

func emitUnmarshalJSON(p *printer, m *message) {
	p.p("// UnmarshalJSON replaces m by the message in b. Unknown and duplicate keys, wrong types and trailing data are errors; null means")
	p.p("// absent. Enums may be numbers or names. The error is a *DecodeError; m is then half filled.")
	p.p("func (m *%s) UnmarshalJSON(b []byte) error {\n*m = %s{}\nreturn unmarshalJSON(b, false, m.decodeJSON)\n}\n", m.name, m.name)
	p.p("func (m *%s) decodeJSON(d *jsonDecoder) {\nvar s fieldSet\nif !d.open() {\nreturn\n}", m.name)
	p.p("for first := true; d.next(&first); {\nswitch string(d.key) {")
	for _, f := range m.fields {
		emitDecodeJSONField(p, f)
	}
	p.p("default:\nd.unknown()\n}\n}")
	for _, o := range m.oneofs {
		var mask uint64
		for _, f := range o.fields {
			mask |= 1 << f.place
		}
		p.p("d.one(s.set&%#x, %q)", mask, o.proto)
		if o.required {
			p.p("d.need(s.set&%#x != 0, %q)", mask, o.proto)
		}
	}
	for _, f := range m.fields {
		if f.required {
			p.p("d.need(%s, %q)", present(f), f.json)
		}
	}
	if len(m.fields) == 0 {
		p.p("_ = s")
	}
	p.p("}\n")
}

func emitDecodeJSONField(p *printer, f *field) {
	x := "m." + f.name
	names := fmt.Sprintf("%q", f.json)
	if f.json != f.proto {
		names += fmt.Sprintf(", %q", f.proto)
	}
	p.p("case %s:\nif d.field(&s, %d, %q) {", names, f.place, f.json)
	switch {
	case f.repeated && f.message != nil:
		p.p("for i := 0; d.list(i); i++ {\nv := new(%s)\nv.decodeJSON(d)\n%s = append(%s, v)\n}", f.message.name, x, x)
	case f.message != nil:
		p.p("%s = new(%s)\n%s.decodeJSON(d)", x, f.message.name, x)
	case f.repeated && f.enum != nil:
		p.p("for i := 0; d.list(i); i++ {\n%s = append(%s, listed(d, %s))\n}", x, x, readJSON(f))
	case f.repeated:
		p.p("for i := 0; d.list(i); i++ {\n%s = append(%s, %s)\n}", x, x, readJSON(f))
	case f.optional:
		p.p("%s = new(%s)", x, readJSON(f))
	default:
		p.p("%s = %s", x, readJSON(f))
	}
	p.p("}")
}

// present is the condition under which a required field counts as given.
func present(f *field) string {
	switch {
	case f.repeated, f.kind == protoreflect.StringKind, f.kind == protoreflect.BytesKind:
		return "len(m." + f.name + ") > 0"
	case f.message != nil:
		return "m." + f.name + " != nil"
	case f.enum != nil:
		return "m." + f.name + " != 0"
	}
	return fmt.Sprintf("s.set>>%d&1 != 0", f.place)
}

// readJSON reads one value.
func readJSON(f *field) string {
	switch f.kind {
	case protoreflect.EnumKind:
		return fmt.Sprintf("jsonEnum(d, %q, Parse%s)", f.enum.prefix, f.enum.name)
	case protoreflect.StringKind:
		return "d.str()"
	case protoreflect.BytesKind:
		return "d.bytes()"
	case protoreflect.BoolKind:
		return "d.bool()"
	case protoreflect.FloatKind:
		return "float32(d.float(32))"
	case protoreflect.DoubleKind:
		return "d.float(64)"
	case protoreflect.Uint32Kind:
		return "uint32(d.uint(32))"
	case protoreflect.Uint64Kind:
		return "d.uint(64)"
	case protoreflect.Int64Kind, protoreflect.Sint64Kind:
		return "d.int(64)"
	}
	return "int32(d.int(32))"
}
