package v1_test

import (
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// broken adds one invalid case in protobuf, with the error of our strict check.
func (v *vectorMaker) broken(name string, wire []byte) {
	s := hex.EncodeToString(wire)
	v.file.Invalid = append(v.file.Invalid, vector{Name: name, Protobuf: &s, Error: errorText(v.t, v.e.name+": "+name, v.e.strict(wire))})
}

// invalid breaks the minimal message in every way the strict check must notice.
func (v *vectorMaker) invalid() {
	base := v.wire(v.rule.fill(v.d, false))
	v.broken("field number 0", append(slices.Clone(base), 0x00, 0x00))
	v.broken("group", append(slices.Clone(base), 0xc3, 0x3e, 0xc4, 0x3e))
	v.broken("varint of more than 64 bits", append(slices.Clone(base), 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01))
	v.broken("tag cut off", append(slices.Clone(base), 0x80))
	for i := range v.d.Fields().Len() {
		f := v.d.Fields().Get(i)
		v.invalidField(f)
		v.invalidValue(f)
	}
	for i := range v.d.Oneofs().Len() {
		if o := v.d.Oneofs().Get(i); !o.IsSynthetic() {
			v.invalidOneof(o)
		}
	}
}

// without is the minimal message less one field, and less the oneof that the field is in.
func (v *vectorMaker) without(f protoreflect.FieldDescriptor) []byte {
	m := v.rule.fill(v.d, false)
	for _, x := range rivals(f) {
		m.Clear(x)
	}
	return v.wire(m)
}

// rivals are the fields that cannot be set beside f, f included.
func rivals(f protoreflect.FieldDescriptor) []protoreflect.FieldDescriptor {
	o := f.ContainingOneof()
	if o == nil {
		return []protoreflect.FieldDescriptor{f}
	}
	var list []protoreflect.FieldDescriptor
	for i := range o.Fields().Len() {
		list = append(list, o.Fields().Get(i))
	}
	return list
}

// with is the minimal message with f replaced by what raw holds, tag excluded.
func (v *vectorMaker) with(f protoreflect.FieldDescriptor, t protowire.Type, raw []byte) []byte {
	return append(protowire.AppendTag(v.without(f), f.Number(), t), raw...)
}

// invalidField: presence, number and wire type.
func (v *vectorMaker) invalidField(f protoreflect.FieldDescriptor) {
	name := string(f.Name()) + " "
	m := v.rule.fill(v.d, false)
	value := sample(f, false)
	if !f.IsList() {
		for _, x := range rivals(f) {
			m.Clear(x)
		}
		m.Set(f, value)
		once := v.wire(m)
		v.broken(name+"twice", append(slices.Clone(once), only(v.t, once, f)...))
	}
	if v.rule.required[string(f.Name())] {
		v.broken(name+"missing", v.without(f))
	}
	wrong, raw := protowire.Fixed64Type, make([]byte, 8)
	if f.Kind() == protoreflect.DoubleKind {
		wrong, raw = protowire.Fixed32Type, make([]byte, 4)
	}
	v.broken(name+"with a wrong wire type", v.with(f, wrong, raw))
}

// only is the last occurrence of f in b.
func only(t interface{ Helper() }, b []byte, f protoreflect.FieldDescriptor) []byte {
	t.Helper()
	var found []byte
	for len(b) > 0 {
		num, _, n := protowire.ConsumeField(b)
		if num == f.Number() {
			found = b[:n]
		}
		b = b[n:]
	}
	return found
}

// invalidValue: what the field's type forbids.
func (v *vectorMaker) invalidValue(f protoreflect.FieldDescriptor) {
	name := string(f.Name()) + " "
	required := v.rule.required[string(f.Name())]
	varint := func(n uint64) []byte { return v.with(f, protowire.VarintType, protowire.AppendVarint(nil, n)) }
	switch f.Kind() {
	case protoreflect.EnumKind:
		v.broken(name+"unknown value", varint(9999))
		v.broken(name+"beyond 32 bits", varint(1<<32+1))
		if required || f.IsList() {
			v.broken(name+"unspecified", varint(0))
		}
	case protoreflect.BoolKind:
		v.broken(name+"neither 0 nor 1", varint(2))
	case protoreflect.Uint32Kind, protoreflect.Sint32Kind:
		v.broken(name+"beyond 32 bits", varint(1<<32))
	case protoreflect.FloatKind:
		v.floats(f, protowire.Fixed32Type, protowire.AppendFixed32(nil, math.Float32bits(float32(math.NaN()))), protowire.AppendFixed32(nil, math.Float32bits(float32(math.Inf(1)))))
	case protoreflect.DoubleKind:
		v.floats(f, protowire.Fixed64Type, protowire.AppendFixed64(nil, math.Float64bits(math.NaN())), protowire.AppendFixed64(nil, math.Float64bits(math.Inf(-1))))
	case protoreflect.StringKind:
		v.broken(name+"not UTF-8", v.with(f, protowire.BytesType, protowire.AppendString(nil, "\xff")))
		fallthrough
	case protoreflect.BytesKind, protoreflect.MessageKind:
		v.broken(name+"cut off", v.with(f, protowire.BytesType, []byte{5, 'x'}))
		v.broken(name+"longer than memory", v.with(f, protowire.BytesType, protowire.AppendVarint(nil, math.MaxUint64)))
		if required && f.Kind() != protoreflect.MessageKind {
			v.broken(name+"empty", v.with(f, protowire.BytesType, []byte{0}))
		}
	}
}

func (v *vectorMaker) floats(f protoreflect.FieldDescriptor, t protowire.Type, nan, inf []byte) {
	if f.IsList() {
		nan, inf, t = protowire.AppendBytes(nil, nan), protowire.AppendBytes(nil, inf), protowire.BytesType
	}
	v.broken(string(f.Name())+" not a number", v.with(f, t, nan))
	v.broken(string(f.Name())+" infinite", v.with(f, t, inf))
}

func (v *vectorMaker) invalidOneof(o protoreflect.OneofDescriptor) {
	none := v.without(o.Fields().Get(0))
	if v.rule.needs[string(o.Name())] {
		v.broken("no member of "+string(o.Name()), none)
	}
	if o.Fields().Len() < 2 {
		return
	}
	both := none
	for _, f := range []protoreflect.FieldDescriptor{o.Fields().Get(0), o.Fields().Get(1)} {
		one := v.rule.fill(v.d, false)
		one.Set(f, sample(f, false))
		both = append(both, only(v.t, v.wire(one), f)...)
	}
	v.broken("two members of "+string(o.Name()), both)
}

// invalidJSON breaks the JSON form of the minimal message.
func (v *vectorMaker) invalidJSON() {
	base := string(v.json(v.wire(v.rule.fill(v.d, false))))
	v.brokenJSON("unknown key", withMember(base, `"noSuchField":1`))
	v.brokenJSON("more after the end", base+"{}")
	v.brokenJSON("cut off", base[:len(base)-1])
	v.brokenJSON("a list", "["+base+"]")
	v.brokenJSON("null", "null")
	for i := range v.d.Fields().Len() {
		v.invalidMember(base, v.d.Fields().Get(i))
	}
}

func (v *vectorMaker) brokenJSON(name, text string) {
	name = "JSON: " + name
	v.file.Invalid = append(v.file.Invalid, vector{Name: name, Text: &text, Error: errorText(v.t, v.e.name+": "+name, v.e.strictJSON([]byte(text)))})
}

// withMember puts a member in front of the others.
func withMember(object, member string) string {
	if object == "{}" {
		return "{" + member + "}"
	}
	return "{" + member + "," + object[1:]
}

func (v *vectorMaker) invalidMember(base string, f protoreflect.FieldDescriptor) {
	name, key := f.JSONName(), `"`+f.JSONName()+`":`
	rest := v.jsonWithout(f)
	v.brokenJSON(name+" of a wrong type", withMember(rest, key+wrongJSON(f)))
	if strings.Contains(base, key) {
		v.brokenJSON(name+" twice", withMember(base, key+"null"))
	}
	if f.Kind() == protoreflect.EnumKind {
		v.brokenJSON(name+" unknown value", withMember(rest, key+map[bool]string{true: "[9999]", false: "9999"}[f.IsList()]))
	}
	if o := f.ContainingOneof(); v.rule.required[string(f.Name())] {
		v.brokenJSON(name+" missing", rest)
	} else if o != nil && v.rule.needs[string(o.Name())] && o.Fields().Get(0) == f {
		v.brokenJSON("no member of "+string(o.Name()), rest)
	}
}

// jsonWithout is the JSON form of the minimal message less one member and its rivals.
func (v *vectorMaker) jsonWithout(f protoreflect.FieldDescriptor) string {
	v.t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(v.json(v.wire(v.rule.fill(v.d, false))), &members); err != nil {
		v.t.Fatal(err)
	}
	for _, x := range rivals(f) {
		delete(members, x.JSONName())
	}
	b, err := json.Marshal(members)
	if err != nil {
		v.t.Fatal(err)
	}
	return string(b)
}

func wrongJSON(f protoreflect.FieldDescriptor) string {
	switch {
	case f.IsList():
		return `{}`
	case f.Kind() == protoreflect.StringKind || f.Kind() == protoreflect.BytesKind:
		return `7`
	case f.Kind() == protoreflect.MessageKind:
		return `"x"`
	}
	return `"x"`
}
