package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// examples shows calls byte by byte. The messages are files of abi/testdata/examples and thereby golden vectors too.
func (c *contract) examples() (string, error) {
	var b strings.Builder
	for _, x := range []struct{ title, request, response string }{
		{"DESCRIBE: `amygdala_call(1, ptr, len)`", "describe", "manifest"},
		{"CONFIGURE: `amygdala_call(2, ptr, len)`", "configure", "configured"},
		{"DETECT: `amygdala_call(16, ptr, len)`", "detect", "verdict"},
		{"Nothing found", "", "nothing"},
		{"JUDGE, which this plugin does not implement", "", "error"},
	} {
		fmt.Fprintf(&b, "### %s\n\n", x.title)
		if x.request != "" {
			if err := c.example(&b, "Request", x.request, new(v1.Request)); err != nil {
				return "", err
			}
		}
		if err := c.example(&b, "Response", x.response, new(v1.Response)); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// envelope is a Request or a Response.
type envelope interface {
	UnmarshalJSON(b []byte) error
	AppendProto(dst []byte) []byte
	AppendJSON(dst []byte) []byte
}

func (c *contract) example(b *strings.Builder, message, name string, m envelope) error {
	text, err := os.ReadFile(filepath.Join(c.root, "abi", "testdata", "examples", message+"."+name+".json"))
	if err != nil {
		return err
	}
	if err := m.UnmarshalJSON(text); err != nil {
		return fmt.Errorf("%s.%s: %w", message, name, err)
	}
	wire := m.AppendProto(nil)
	fmt.Fprintf(b, "%s in protobuf, %d bytes:\n\n```\n", message, len(wire))
	dump(b, c.message(message), wire, "")
	fmt.Fprintf(b, "```\n\nThe same in JSON:\n\n```json\n%s\n```\n\n", m.AppendJSON(nil))
	return nil
}

// dump writes one field a line: its bytes, and what they say.
func dump(b *strings.Builder, d protoreflect.MessageDescriptor, wire []byte, indent string) {
	for len(wire) > 0 {
		num, typ, tagLen := protowire.ConsumeTag(wire)
		n := tagLen + protowire.ConsumeFieldValue(num, typ, wire[tagLen:])
		f := d.Fields().ByNumber(num)
		if f.Kind() == protoreflect.MessageKind {
			body, _ := protowire.ConsumeBytes(wire[tagLen:])
			line(b, indent, wire[:n-len(body)], fmt.Sprintf("%s, %d bytes: %s", f.Name(), len(body), f.Message().Name()))
			dump(b, f.Message(), body, indent+"  ")
		} else {
			line(b, indent, wire[:n], fmt.Sprintf("%s = %s", f.Name(), valueText(f, typ, wire[tagLen:n])))
		}
		wire = wire[n:]
	}
}

// line writes the bytes in rows of at most 12 and the meaning behind the first row.
func line(b *strings.Builder, indent string, raw []byte, meaning string) {
	const row, width = 12, 44
	for i := 0; i < len(raw); i += row {
		hex := indent + fmt.Sprintf("% x", raw[i:min(i+row, len(raw))])
		if i == 0 {
			hex = fmt.Sprintf("%-*s%s", width, hex, meaning)
		}
		b.WriteString(hex + "\n")
	}
}

func valueText(f protoreflect.FieldDescriptor, typ protowire.Type, raw []byte) string {
	switch typ {
	case protowire.Fixed32Type:
		v, _ := protowire.ConsumeFixed32(raw)
		return strconv.FormatFloat(float64(math.Float32frombits(v)), 'g', -1, 32)
	case protowire.VarintType:
		v, _ := protowire.ConsumeVarint(raw)
		return numberText(f, v)
	}
	body, _ := protowire.ConsumeBytes(raw)
	if f.IsList() && f.Kind() == protoreflect.EnumKind {
		var names []string
		for len(body) > 0 {
			v, n := protowire.ConsumeVarint(body)
			names = append(names, numberText(f, v))
			body = body[n:]
		}
		return "[" + strings.Join(names, ", ") + "]"
	}
	if utf8.Valid(body) {
		return strconv.Quote(string(body))
	}
	return fmt.Sprintf("%d bytes", len(body))
}

func numberText(f protoreflect.FieldDescriptor, v uint64) string {
	switch f.Kind() {
	case protoreflect.EnumKind:
		return string(f.Enum().Values().ByNumber(protoreflect.EnumNumber(v)).Name())
	case protoreflect.Sint32Kind:
		return strconv.FormatInt(protowire.DecodeZigZag(v), 10)
	case protoreflect.BoolKind:
		return strconv.FormatBool(v != 0)
	}
	return strconv.FormatUint(v, 10)
}

// guest is the C source of a whole detector.
func (c *contract) guest() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.root, "abi", "testdata", "guest.c"))
	return "```c\n" + string(text) + "```\n", err
}
