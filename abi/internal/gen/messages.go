package main

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// emitMessages writes one struct per message.
func emitMessages(p *printer, s *schema) {
	for _, m := range s.messages {
		p.comment(m.comment)
		p.p("type %s struct {", m.name)
		for _, f := range m.fields {
			p.comment(fieldComment(m, f))
			p.p("%s %s", f.name, goType(f))
		}
		p.p("}\n")
		for _, o := range m.oneofs {
			emitOneof(p, m, o)
		}
	}
}

// emitOneof writes a method that tells which member is set.
func emitOneof(p *printer, m *message, o oneof) {
	p.p("// %sField returns the field number of the member of %s that is set, the first one if several are; 0 if none is.", o.name, o.proto)
	p.p("func (m *%s) %sField() int {\nswitch {\ncase m == nil:\nreturn 0", m.name, o.name)
	for _, f := range o.fields {
		p.p("case m.%s != nil:\nreturn %d", f.name, f.num)
	}
	p.p("}\nreturn 0\n}\n")
}

func fieldComment(m *message, f *field) string {
	text := f.comment
	if f.note != "" {
		text = strings.TrimLeft(text+"\n"+f.note, "\n")
	}
	if f.required {
		text = strings.TrimLeft(text+"\nRequired.", "\n")
	}
	if f.optional {
		text = strings.TrimLeft(text+"\nOptional: nil is not the same as zero.", "\n")
	}
	if f.oneof > 0 {
		text = strings.TrimLeft(text+"\nMember of oneof "+m.oneofs[f.oneof-1].proto+".", "\n")
	}
	return text
}

// goType is the type of the struct field.
func goType(f *field) string {
	t := elemType(f)
	if f.message != nil || f.optional {
		t = "*" + t
	}
	if f.repeated {
		t = "[]" + t
	}
	return t
}

// elemType is the type of one value, without pointer.
func elemType(f *field) string {
	switch {
	case f.message != nil:
		return f.message.name
	case f.enum != nil:
		return f.enum.name
	}
	switch f.kind {
	case protoreflect.BoolKind:
		return "bool"
	case protoreflect.StringKind:
		return "string"
	case protoreflect.BytesKind:
		return "[]byte"
	case protoreflect.FloatKind:
		return "float32"
	case protoreflect.DoubleKind:
		return "float64"
	case protoreflect.Uint32Kind:
		return "uint32"
	case protoreflect.Uint64Kind:
		return "uint64"
	case protoreflect.Int64Kind, protoreflect.Sint64Kind:
		return "int64"
	}
	return "int32"
}
