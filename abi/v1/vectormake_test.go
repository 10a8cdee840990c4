package v1_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// vectorMaker derives the cases of one message from its descriptor, with the official implementation as the encoder of every valid one.
type vectorMaker struct {
	t    *testing.T
	e    entry
	d    protoreflect.MessageDescriptor
	rule rules
	file vectorFile
}

func makeVectors(t *testing.T, e entry) vectorFile {
	t.Helper()
	v := &vectorMaker{t: t, e: e, d: descriptors()[e.name], rule: contractRules()[e.name]}
	v.file.Message = e.name
	v.valid("minimal", v.rule.fill(v.d, false))
	v.valid("full", v.rule.fill(v.d, true))
	v.members()
	v.extremes()
	for _, x := range examples(t, e.name) {
		m := dynamicpb.NewMessage(v.d)
		if err := protojson.Unmarshal([]byte(x.json), m); err != nil {
			t.Fatalf("example %s: %v", x.name, err)
		}
		v.valid(x.name, m)
	}
	v.accepted()
	v.ignored()
	v.invalid()
	v.invalidJSON()
	return v.file
}

func (v *vectorMaker) wire(m proto.Message) []byte {
	v.t.Helper()
	b, err := officialBytes.Marshal(m)
	if err != nil {
		v.t.Fatal(err)
	}
	return b
}

// json is the canonical JSON of bytes, through our codec, which TestDifferential holds against the official one.
func (v *vectorMaker) json(wire []byte) json.RawMessage {
	v.t.Helper()
	m := v.e.make()
	if err := m.UnmarshalProto(wire); err != nil {
		v.t.Fatal(err)
	}
	return m.AppendJSON(nil)
}

// valid writes the fields in the order of their numbers, which the official encoder does not do for members of a oneof.
func (v *vectorMaker) valid(name string, m proto.Message) {
	ours := v.e.make()
	if err := ours.UnmarshalProto(v.wire(m)); err != nil {
		v.t.Fatal(err)
	}
	b := ours.AppendProto(nil)
	s := hex.EncodeToString(b)
	v.file.Valid = append(v.file.Valid, vector{Name: name, Protobuf: &s, JSON: v.json(b)})
}

// members makes a valid case of each member of each oneof but the first, which "full" has.
func (v *vectorMaker) members() {
	for i := range v.d.Oneofs().Len() {
		o := v.d.Oneofs().Get(i)
		for j := 1; j < o.Fields().Len() && !o.IsSynthetic(); j++ {
			f := o.Fields().Get(j)
			m := v.rule.fill(v.d, false)
			m.Set(f, sample(f, false))
			v.valid(string(o.Name())+" "+string(f.Name()), m)
		}
	}
}

// extremes makes a valid case of the smallest and largest numbers and of awkward text.
func (v *vectorMaker) extremes() {
	m := v.rule.fill(v.d, false)
	for i := range v.d.Fields().Len() {
		f := v.d.Fields().Get(i)
		if x, ok := extreme(f); ok && !f.IsList() {
			m.Set(f, x)
		}
	}
	if !proto.Equal(m, v.rule.fill(v.d, false)) {
		v.valid("extremes", m)
	}
}

func extreme(f protoreflect.FieldDescriptor) (protoreflect.Value, bool) {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString("\u0000\"\\/\u007f\u2028\U0001f600"), true
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{0, 0xff, 0xfe, '"', 0x80}), true
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(math.MaxUint32), true
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(math.MaxUint64), true
	case protoreflect.Sint32Kind:
		return protoreflect.ValueOfInt32(math.MinInt32), true
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(math.MinInt64), true
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(math.SmallestNonzeroFloat32), true
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(-math.MaxFloat64), true
	}
	return protoreflect.Value{}, false
}

// accepted makes other encodings of the full message.
func (v *vectorMaker) accepted() {
	full := v.wire(v.rule.fill(v.d, true))
	if len(full) == 0 {
		return
	}
	add := func(name string, wire []byte) {
		s := hex.EncodeToString(wire)
		v.file.Accepted = append(v.file.Accepted, vector{Name: name, Protobuf: &s, JSON: v.json(wire)})
	}
	fields := split(v.t, full)
	slices.Reverse(fields)
	if !v.repeats() {
		add("fields in reverse order", slices.Concat(fields...))
	}
	if base := v.wire(v.rule.fill(v.d, false)); len(base) > 0 && base[0] < 0x80 {
		add("field tag longer than needed", append([]byte{base[0] | 0x80, 0x00}, base[1:]...))
	}
	if b, ok := v.unpacked(); ok {
		add("list of numbers not packed", b)
	}
	for _, x := range v.texts() {
		v.file.Accepted = append(v.file.Accepted, vector{Name: x.name, Text: &x.json, JSON: v.json(full)})
	}
}

func (v *vectorMaker) repeats() bool {
	for i := range v.d.Fields().Len() {
		if v.d.Fields().Get(i).IsList() {
			return true
		}
	}
	return false
}

// texts are other JSON forms of the full message.
func (v *vectorMaker) texts() []example {
	m := v.rule.fill(v.d, true)
	var list []example
	for _, o := range []struct {
		name string
		opt  protojson.MarshalOptions
	}{
		{"names of enum values and white space", protojson.MarshalOptions{Multiline: true}},
		{"names as in the .proto file, and empty values", protojson.MarshalOptions{UseProtoNames: true, UseEnumNumbers: true, EmitUnpopulated: true}},
	} {
		b, err := o.opt.Marshal(m)
		if err != nil {
			v.t.Fatal(err)
		}
		list = append(list, example{o.name, tidyJSON(v.t, b, o.opt.Multiline)})
	}
	return list
}

// tidyJSON takes out the random white space of the official encoder.
func tidyJSON(t *testing.T, b []byte, indent bool) string {
	t.Helper()
	var tight, out bytes.Buffer
	if err := json.Compact(&tight, b); err != nil {
		t.Fatal(err)
	}
	if !indent {
		return tight.String()
	}
	if err := json.Indent(&out, tight.Bytes(), "", "\t"); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// example is a hand-written message: a file of testdata/examples named MESSAGE.NAME.json.
type example struct{ name, json string }

func examples(t *testing.T, message string) []example {
	t.Helper()
	files, err := filepath.Glob("../testdata/examples/" + message + ".*.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []example
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, example{strings.Split(filepath.Base(name), ".")[1], string(b)})
	}
	return list
}

// unpacked is the minimal message with its first list of numbers written one by one.
func (v *vectorMaker) unpacked() ([]byte, bool) {
	for i := range v.d.Fields().Len() {
		f := v.d.Fields().Get(i)
		if !f.IsList() || f.Kind() != protoreflect.EnumKind {
			continue
		}
		m := v.rule.fill(v.d, false)
		m.Clear(f)
		b := v.wire(m)
		for _, n := range []uint64{1, 2} {
			b = protowire.AppendVarint(protowire.AppendTag(b, f.Number(), protowire.VarintType), n)
		}
		return b, true
	}
	return nil, false
}

// ignored adds fields that nobody knows yet to the minimal message.
func (v *vectorMaker) ignored() {
	full := v.wire(v.rule.fill(v.d, false))
	add := func(name string, wire []byte) {
		s := hex.EncodeToString(wire)
		v.file.Ignored = append(v.file.Ignored, vector{Name: name, Protobuf: &s, JSON: v.json(full), Error: errorText(v.t, name, v.e.strict(wire))})
	}
	const num = 1000
	add("unknown varint", protowire.AppendVarint(protowire.AppendTag(slices.Clone(full), num, protowire.VarintType), 7))
	add("unknown 32 bits", protowire.AppendFixed32(protowire.AppendTag(slices.Clone(full), num, protowire.Fixed32Type), 7))
	add("unknown 64 bits", protowire.AppendFixed64(protowire.AppendTag(slices.Clone(full), num, protowire.Fixed64Type), 7))
	add("unknown bytes", protowire.AppendString(protowire.AppendTag(slices.Clone(full), num, protowire.BytesType), "new"))
}

func errorText(t *testing.T, name string, err error) string {
	t.Helper()
	if err == nil {
		t.Errorf("%s: the strict check accepts it", name)
		return ""
	}
	return err.Error()
}

// split cuts a message into its fields.
func split(t *testing.T, b []byte) [][]byte {
	t.Helper()
	var fields [][]byte
	for len(b) > 0 {
		_, _, n := protowire.ConsumeField(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		fields = append(fields, b[:n])
		b = b[n:]
	}
	return fields
}
