package main

import (
	"strconv"
	"strings"
)

// envelopes are the messages whose body is wrapped and unwrapped without linking the codec of every other body: a detector does not
// carry the messages of providers.
var envelopes = []string{"Request", "Response"}

// emitEnvelopes writes a head, a reader and a writer for each envelope.
func emitEnvelopes(p *printer, s *schema) {
	for _, m := range s.messages {
		for _, name := range envelopes {
			if m.name == name {
				emitEnvelope(p, m)
			}
		}
	}
}

func emitEnvelope(p *printer, m *message) {
	var plain []*field
	for _, f := range m.fields {
		if f.oneof == 0 {
			plain = append(plain, f)
		}
	}
	emitEnvelopeBodies(p, m)
	p.p("// %sHead is a %s whose body has not been decoded, so that a program links only the bodies it decodes itself.", m.name, m.name)
	p.p("type %sHead struct {", m.name)
	for _, f := range plain {
		p.comment(fieldComment(m, f))
		p.p("%s %s", f.name, goType(f))
	}
	p.p("// Field is the number of the member of %s.%s; 0: none.", m.name, m.oneofs[0].proto)
	p.p("Field int")
	p.p("// Body is that member in protobuf. It aliases the input.")
	p.p("Body []byte\n}\n")
	emitEnvelopeReader(p, m, plain)
	emitEnvelopeWriter(p, m, plain)
}

func emitEnvelopeBodies(p *printer, m *message) {
	lower := string(m.name[0]|0x20) + m.name[1:]
	p.p("// %sBody is a message that a %s can carry.", m.name, m.name)
	p.p("type %sBody interface {\nSizeProto() int\nAppendProto(dst []byte) []byte\n%sField() int\n}\n", m.name, lower)
	for _, f := range m.oneofs[0].fields {
		p.p("func (*%s) %sField() int { return %d }", f.message.name, lower, f.num)
	}
	p.p("")
}

func emitEnvelopeReader(p *printer, m *message, plain []*field) {
	p.p("// UnmarshalProto reads the envelope in b. It is as lenient as that of %s, save that a body in two pieces is not joined.", m.name)
	p.p("func (m *%sHead) UnmarshalProto(b []byte) error {\n*m = %sHead{}\nd := newDecoder(b, 0)", m.name, m.name)
	p.p("for d.next() {\nswitch d.tag {")
	for _, f := range plain {
		emitDecodeField(p, m, f)
	}
	var tags []string
	for _, f := range m.oneofs[0].fields {
		tags = append(tags, strconv.Itoa(tag(f)))
	}
	p.p("case %s:\nm.Field, m.Body = int(d.tag>>3), d.bytes()\ndefault:\nd.skip()\n}\n}\nreturn asError(d.err)\n}\n", strings.Join(tags, ", "))
	lower := string(m.name[0]|0x20) + m.name[1:]
	p.p("// Holds reports whether Body is a message of the type of body.")
	p.p("func (m *%sHead) Holds(body %sBody) bool { return m.Field == body.%sField() }\n", m.name, m.name, lower)
}

func emitEnvelopeWriter(p *printer, m *message, plain []*field) {
	p.p("// Append%s appends a %s with the given body: the same bytes as AppendProto, without linking the other bodies. The body", m.name, m.name)
	p.p("// must not be nil.")
	if len(plain) == 0 {
		p.p("func Append%s(dst []byte, body %sBody) []byte {", m.name, m.name)
	} else {
		p.p("// Field and Body of the head are not used.")
		p.p("func Append%s(dst []byte, m %sHead, body %sBody) []byte {", m.name, m.name, m.name)
	}
	lower := string(m.name[0]|0x20) + m.name[1:]
	first := m.oneofs[0].fields[0].num
	for _, f := range plain {
		if f.num < first {
			emitAppendField(p, f)
		}
	}
	p.p("dst = body.AppendProto(mustHead(dst, uint32(body.%sField()<<3|wireBytes), body.SizeProto()))", lower)
	for _, f := range plain {
		if f.num > first {
			emitAppendField(p, f)
		}
	}
	p.p("return dst\n}\n")
}
