package v1_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// message is what every generated type can do.
type message interface {
	SizeProto() int
	AppendProto(dst []byte) []byte
	UnmarshalProto(b []byte) error
	AppendJSON(dst []byte) []byte
	UnmarshalJSON(b []byte) error
	Validate() error
}

// entry is one message of the contract.
type entry struct {
	name       string
	make       func() message
	strict     func(b []byte) error
	strictJSON func(b []byte) error
}

// descriptors are the messages of the .proto files as the official implementation sees them, by name.
var descriptors = sync.OnceValue(func() map[string]protoreflect.MessageDescriptor {
	c := protocompile.Compiler{Resolver: &protocompile.SourceResolver{ImportPaths: []string{"."}}}
	files, err := c.Compile(testContext, "common.proto", "detector.proto", "plugin.proto", "provider.proto", "strategy.proto")
	if err != nil {
		panic(err)
	}
	all := map[string]protoreflect.MessageDescriptor{}
	for _, f := range files {
		for i := range f.Messages().Len() {
			d := f.Messages().Get(i)
			all[string(d.Name())] = d
		}
	}
	return all
})

var (
	officialBytes = proto.MarshalOptions{Deterministic: true}
	officialJSON  = protojson.MarshalOptions{UseEnumNumbers: true}
)

// official decodes b with the official implementation.
func official(tb testing.TB, name string, b []byte) proto.Message {
	tb.Helper()
	m := dynamicpb.NewMessage(descriptors()[name])
	if err := proto.Unmarshal(b, m); err != nil {
		tb.Fatalf("%s: the official decoder refuses %x: %v", name, b, err)
	}
	return m
}

// TestRegistryComplete fails when a message of the .proto files has no generated type, or the other way round.
func TestRegistryComplete(t *testing.T) {
	if len(registry) != len(descriptors()) {
		t.Errorf("%d messages in the .proto files, %d in the registry", len(descriptors()), len(registry))
	}
	for _, e := range registry {
		if descriptors()[e.name] == nil {
			t.Errorf("%s is not in the .proto files", e.name)
		}
	}
}

// TestDifferential holds our codec against the official one on random messages: bytes and JSON, in both directions.
func TestDifferential(t *testing.T) {
	for _, e := range registry {
		t.Run(e.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(1, uint64(len(e.name))))
			for range 200 {
				compare(t, e, randomMessage(rnd, descriptors()[e.name], 0))
			}
		})
	}
}

func compare(t *testing.T, e entry, want proto.Message) {
	t.Helper()
	wire, err := officialBytes.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	m := e.make()
	if err := m.UnmarshalProto(wire); err != nil {
		t.Fatalf("our decoder refuses %x: %v", wire, err)
	}
	ours := m.AppendProto(nil)
	if len(ours) != m.SizeProto() {
		t.Fatalf("SizeProto says %d, AppendProto wrote %d bytes", m.SizeProto(), len(ours))
	}
	if got := official(t, e.name, ours); !proto.Equal(got, want) {
		t.Fatalf("bytes\n got %v\nwant %v", got, want)
	}
	compareJSON(t, e, m, want)
}

func compareJSON(t *testing.T, e entry, m message, want proto.Message) {
	t.Helper()
	got := dynamicpb.NewMessage(descriptors()[e.name])
	ours := m.AppendJSON(nil)
	if err := protojson.Unmarshal(ours, got); err != nil {
		t.Fatalf("the official decoder refuses %s: %v", ours, err)
	}
	if !proto.Equal(got, want) {
		t.Fatalf("JSON\n got %v\nwant %v", got, want)
	}
	for _, opt := range []protojson.MarshalOptions{officialJSON, {}, {UseProtoNames: true, EmitUnpopulated: true, Multiline: true}} {
		theirs, err := opt.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		back := e.make()
		if err := back.UnmarshalJSON(theirs); err != nil {
			t.Fatalf("our decoder refuses %s: %v", theirs, err)
		}
		if a, b := back.AppendProto(nil), m.AppendProto(nil); string(a) != string(b) {
			t.Fatalf("JSON %s\n got %x\nwant %x", theirs, a, b)
		}
	}
}

// randomMessage fills about half the fields. Enums are known values, floats finite, strings UTF-8.
func randomMessage(rnd *rand.Rand, d protoreflect.MessageDescriptor, depth int) *dynamicpb.Message {
	m := dynamicpb.NewMessage(d)
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if rnd.IntN(2) == 0 || f.ContainingOneof() != nil && m.WhichOneof(f.ContainingOneof()) != nil {
			continue
		}
		if !f.IsList() {
			m.Set(f, randomValue(rnd, f, depth))
			continue
		}
		list := m.Mutable(f).List()
		for range rnd.IntN(4) {
			list.Append(randomValue(rnd, f, depth))
		}
	}
	return m
}

func randomValue(rnd *rand.Rand, f protoreflect.FieldDescriptor, depth int) protoreflect.Value {
	n := rnd.Uint64() >> rnd.IntN(64)
	switch f.Kind() {
	case protoreflect.MessageKind:
		return protoreflect.ValueOfMessage(randomMessage(rnd, f.Message(), depth+1))
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(f.Enum().Values().Get(rnd.IntN(f.Enum().Values().Len())).Number())
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(n&1 != 0)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(randomText(rnd))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(randomText(rnd))[:])
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(n))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(n)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind:
		return protoreflect.ValueOfInt32(int32(n))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind:
		return protoreflect.ValueOfInt64(int64(n))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(finite(math.Float32frombits(uint32(rnd.Uint64()))))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(finite(math.Float64frombits(rnd.Uint64())))
	}
	panic(fmt.Sprintf("a field of kind %v is not in the contract", f.Kind()))
}

// finite maps what JSON cannot hold to an awkward number that it can.
func finite[F float32 | float64](f F) F {
	if g := float64(f); math.IsNaN(g) || math.IsInf(g, 0) {
		return 1e-7
	}
	return f
}

func randomText(rnd *rand.Rand) string {
	alphabet := []rune("aZ09 \"\\/\b\f\n\r\t\x00\x1f\x7f<>&\u00e9\u2028\ufffd\U0001f600")
	text := make([]rune, rnd.IntN(12))
	for i := range text {
		text[i] = alphabet[rnd.IntN(len(alphabet))]
	}
	return string(text)
}
