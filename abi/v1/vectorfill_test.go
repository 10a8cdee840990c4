package v1_test

import (
	"strings"
	"sync"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// rules are the marks in the .proto files that descriptors do not carry: which fields of a message are required and which oneofs need a
// member. They are read from the comments here once more, independently of the generator.
type rules struct {
	required, needs map[string]bool
}

var contractRules = sync.OnceValue(func() map[string]rules {
	c := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{"."}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(testContext, "common.proto", "detector.proto", "plugin.proto", "provider.proto", "strategy.proto")
	if err != nil {
		panic(err)
	}
	all := map[string]rules{}
	for _, f := range files {
		for i := range f.Messages().Len() {
			all[string(f.Messages().Get(i).Name())] = rulesOf(f.Messages().Get(i))
		}
	}
	return all
})

func rulesOf(d protoreflect.MessageDescriptor) rules {
	r := rules{map[string]bool{}, map[string]bool{}}
	marked := func(x protoreflect.Descriptor) bool {
		return strings.HasPrefix(strings.TrimSpace(d.ParentFile().SourceLocations().ByDescriptor(x).TrailingComments), "required")
	}
	for i := range d.Fields().Len() {
		r.required[string(d.Fields().Get(i).Name())] = marked(d.Fields().Get(i))
	}
	for i := range d.Oneofs().Len() {
		r.needs[string(d.Oneofs().Get(i).Name())] = marked(d.Oneofs().Get(i))
	}
	return r
}

// fill makes a message with everything that is required, or with all fields.
func (r rules) fill(d protoreflect.MessageDescriptor, all bool) *dynamicpb.Message {
	m := dynamicpb.NewMessage(d)
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		want := all || r.required[string(f.Name())]
		if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
			want = o.Fields().Get(0) == f && (all || r.needs[string(o.Name())])
		}
		if !want {
			continue
		}
		if f.IsList() {
			list := m.Mutable(f).List()
			list.Append(element(f, all))
			if all {
				list.Append(element(f, false))
			}
			continue
		}
		m.Set(f, sample(f, all))
	}
	return m
}

// sample is a plausible value of a field, made from its name and number.
func sample(f protoreflect.FieldDescriptor, all bool) protoreflect.Value {
	if f.IsList() {
		list := dynamicpb.NewMessage(f.ContainingMessage()).NewField(f)
		list.List().Append(element(f, all))
		return list
	}
	return element(f, all)
}

func element(f protoreflect.FieldDescriptor, all bool) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return protoreflect.ValueOfMessage(contractRules()[string(f.Message().Name())].fill(f.Message(), all))
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		if all {
			return protoreflect.ValueOfEnum(values.Get(values.Len() - 1).Number())
		}
		return protoreflect.ValueOfEnum(values.Get(1).Number())
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(string(f.Name()))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(f.Name()))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(f.Number()) * 100)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(f.Number()) << 40)
	case protoreflect.Sint32Kind:
		return protoreflect.ValueOfInt32(-int32(f.Number()))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(-int64(f.Number()) << 40)
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(0.75)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(0.1)
	}
	panic("no sample for " + f.Kind().String())
}
