package v1_test

import (
	"encoding/hex"
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

// without is the minimal message less one field.
func (v *vectorMaker) without(f protoreflect.FieldDescriptor) []byte {
	m := v.rule.fill(v.d, false)
	m.Clear(f)
	return v.wire(m)
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
		if o := f.ContainingOneof(); o != nil {
			for i := range o.Fields().Len() {
				m.Clear(o.Fields().Get(i))
			}
		}
		m.Set(f, value)
		once := v.wire(m)
		v.broken(name+"twice", append(slices.Clone(once), only(v.t, once, f)...))
	}
	if v.rule.required[string(f.Name())] {
		v.broken(name+"missing", v.without(f))
	}
	wrong := protowire.Fixed64Type
	if f.Kind() == protoreflect.DoubleKind {
		wrong = protowire.Fixed32Type
	}
	v.broken(name+"with a wrong wire type", v.with(f, wrong, make([]byte, 8))[:len(v.with(f, wrong, nil))+map[protowire.Type]int{protowire.Fixed64Type: 8, protowire.Fixed32Type: 4}[wrong]])
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
	m := v.rule.fill(v.d, false)
	for i := range o.Fields().Len() {
		m.Clear(o.Fields().Get(i))
	}
	none := v.wire(m)
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
	add := func(name, text string) {
		v.file.Invalid = append(v.file.Invalid, vector{Name: name, Text: &text, Error: errorText(v.t, v.e.name+": "+name, v.e.strictJSON([]byte(text)))})
	}
	// plus puts a member in front of the others.
	plus := func(member string) string {
		if base == "{}" {
			return "{" + member + "}"
		}
		return "{" + member + "," + base[1:]
	}
	add("JSON: unknown key", plus(`"noSuchField":1`))
	add("JSON: more after the end", base+"{}")
	add("JSON: cut off", base[:len(base)-1])
	add("JSON: a list", "["+base+"]")
	add("JSON: null", "null")
	for i := range v.d.Fields().Len() {
		f := v.d.Fields().Get(i)
		key := `"` + f.JSONName() + `":`
		add("JSON: "+f.JSONName()+" of a wrong type", plus(key+wrongJSON(f)))
		if strings.Contains(base, key) {
			add("JSON: "+f.JSONName()+" twice", plus(key+"null"))
		}
		if f.Kind() == protoreflect.EnumKind && !strings.Contains(base, key) {
			add("JSON: "+f.JSONName()+" unknown value", plus(key+map[bool]string{true: "[9999]", false: "9999"}[f.IsList()]))
		}
	}
	if base != "{}" {
		v.missingJSON(add)
	}
}

// missingJSON leaves out each required field and the needed oneof.
func (v *vectorMaker) missingJSON(add func(name, text string)) {
	for i := range v.d.Fields().Len() {
		f := v.d.Fields().Get(i)
		o := f.ContainingOneof()
		switch {
		case v.rule.required[string(f.Name())]:
			add("JSON: "+f.JSONName()+" missing", string(v.json(v.without(f))))
		case o != nil && v.rule.needs[string(o.Name())] && o.Fields().Get(0) == f:
			add("JSON: no member of "+string(o.Name()), string(v.json(v.without(f))))
		}
	}
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
