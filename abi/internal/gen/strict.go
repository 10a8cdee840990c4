package main

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// shapes maps kinds of field to the constants of abi/v1/strict.go.
var shapes = map[protoreflect.Kind]string{
	protoreflect.BoolKind: "shapeBool", protoreflect.EnumKind: "shapeEnum",
	protoreflect.Int32Kind: "shapeInt32", protoreflect.Int64Kind: "shapeInt64",
	protoreflect.Uint32Kind: "shapeUint32", protoreflect.Uint64Kind: "shapeUint64",
	protoreflect.Sint32Kind: "shapeSint32", protoreflect.Sint64Kind: "shapeSint64",
	protoreflect.FloatKind: "shapeFloat", protoreflect.DoubleKind: "shapeDouble",
	protoreflect.StringKind: "shapeString", protoreflect.BytesKind: "shapeBytes", protoreflect.MessageKind: "shapeMessage",
}

// emitStrict writes the tables of the strict check and its entry points.
func emitStrict(p *printer, s *schema) {
	for _, m := range s.messages {
		emitStrictFuncs(p, m)
	}
	p.p("// strictMessages holds the fields of every message, by number. Messages refer to each other by index.")
	p.p("var strictMessages = [...]strictMessage{")
	for _, m := range s.messages {
		emitStrictMessage(p, s, m)
	}
	p.p("}\n")
	p.p("// strictEnums holds the values of every enum except 0.")
	p.p("var strictEnums = [...][]int32{")
	for _, e := range s.enums {
		var nums []string
		for _, v := range e.values[1:] {
			nums = append(nums, fmt.Sprint(v.num))
		}
		p.p("{%s}, // %s", strings.Join(nums, ", "), e.name)
	}
	p.p("}")
}

func emitStrictFuncs(p *printer, m *message) {
	p.p("// CheckStrict%s accepts b only if it is a %s in protobuf of which every byte is understood and nothing required is", m.name, m.name)
	p.p("// missing. The error is a *DecodeError that names the path to the field at fault.")
	p.p("func CheckStrict%s(b []byte) error { return checkStrict(%d, b) }\n", m.name, m.index)
	p.p("// CheckStrict%sJSON is CheckStrict%s for the JSON form.", m.name, m.name)
	p.p("func CheckStrict%sJSON(b []byte) error { return unmarshalJSON(b, true, new(%s).decodeJSON) }\n", m.name, m.name)
	p.p("// Validate reports whether m is fit to be sent: what CheckStrict%s would say of its bytes.", m.name)
	p.p("func (m *%s) Validate() error { return CheckStrict%s(m.AppendProto(nil)) }\n", m.name, m.name)
}

func emitStrictMessage(p *printer, s *schema, m *message) {
	p.p("{ // %d: %s", m.index, m.name)
	for i, o := range m.oneofs {
		if o.required {
			p.p("needs: %d, name: %q,", i+1, o.proto)
		}
	}
	if len(m.fields) > 0 {
		p.p("fields: []strictField{")
		for _, f := range m.fields {
			p.p("{%s},", strictLine(s, f))
		}
		p.p("},")
	}
	p.p("},")
}

func strictLine(s *schema, f *field) string {
	parts := []string{fmt.Sprintf("name: %q, num: %d, shape: %s", f.proto, f.num, shapes[f.kind])}
	if f.message != nil {
		parts = append(parts, fmt.Sprintf("ref: %d", f.message.index))
	}
	if f.enum != nil {
		parts = append(parts, fmt.Sprintf("ref: %d", slices.Index(s.enums, f.enum)))
	}
	if f.oneof > 0 {
		parts = append(parts, fmt.Sprintf("oneof: %d", f.oneof))
	}
	if f.repeated {
		parts = append(parts, "repeated: true")
	}
	if f.required {
		parts = append(parts, "required: true")
	}
	return strings.Join(parts, ", ")
}
