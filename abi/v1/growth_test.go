package v1_test

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// nextRevision compiles the contract as a later revision might be: a new field, a new enum value, a new part.
func nextRevision(t *testing.T) protoreflect.FileDescriptor {
	t.Helper()
	grow := map[string][2]string{
		"provider.proto": {"  Text refusal = 6;\n  }", "  Text refusal = 6;\n  Text song = 7;\n  }"},
		"detector.proto": {"  bool truncated = 7;", "  bool truncated = 7;\n  string language = 1008;\n  repeated Hit weak_hits = 9;"},
		"common.proto":   {"  OP_STEP = 48;", "  OP_STEP = 48;\n  OP_DREAM = 49;"},
	}
	c := protocompile.Compiler{Resolver: &protocompile.SourceResolver{Accessor: func(path string) (io.ReadCloser, error) {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if g, ok := grow[path]; ok && !strings.Contains(string(b), g[0]) {
			t.Fatalf("%s does not contain %q", path, g[0])
		} else if ok {
			b = []byte(strings.Replace(string(b), g[0], g[1], 1))
		}
		return io.NopCloser(strings.NewReader(string(b))), nil
	}}}
	files, err := c.Compile(testContext, "plugin.proto")
	if err != nil {
		t.Fatal(err)
	}
	return files[0]
}

// newer makes a message of the later revision from its JSON-like parts.
func newer(t *testing.T, name string) *dynamicpb.Message {
	t.Helper()
	f := nextRevision(t)
	for i := range f.Imports().Len() {
		if d := f.Imports().Get(i).Messages().ByName(protoreflect.Name(name)); d != nil {
			return dynamicpb.NewMessage(d)
		}
	}
	t.Fatalf("no message %s", name)
	return nil
}

// TestGrowthOldGuest: a guest of today reads what a host of tomorrow sends, past what it does not know.
func TestGrowthOldGuest(t *testing.T) {
	m := newer(t, "DetectRequest")
	set := func(name string, v protoreflect.Value) {
		m.Set(m.Descriptor().Fields().ByName(protoreflect.Name(name)), v)
	}
	set("kind", protoreflect.ValueOfEnum(2))
	set("topic", protoreflect.ValueOfString("mail/in"))
	set("language", protoreflect.ValueOfString("de"))
	weak := m.Descriptor().Fields().ByName("weak_hits")
	m.Mutable(weak).List().Append(m.NewField(weak).List().NewElement())
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var old v1.DetectRequest
	if err := old.UnmarshalProto(wire); err != nil {
		t.Fatal(err)
	}
	if old.Kind != v1.PayloadKindWeb || old.Topic != "mail/in" {
		t.Errorf("got %+v", old)
	}
	if err := v1.CheckStrictDetectRequest(wire); err == nil {
		t.Error("the strict check understands a field that does not exist yet")
	}
}

// TestGrowthNewMember: a new member of a oneof reads as no member at all, and a new enum value as an unknown number.
func TestGrowthNewMember(t *testing.T) {
	m := newer(t, "Part")
	song := m.Descriptor().Fields().ByName("song")
	m.Set(song, m.NewField(song))
	wire, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var old v1.Part
	if err := old.UnmarshalProto(wire); err != nil {
		t.Fatal(err)
	}
	if old.ContentField() != 0 {
		t.Errorf("content is member %d", old.ContentField())
	}
	if op := v1.Op(49); op.Known() || op.String() != "op(49)" {
		t.Errorf("op 49 is known (%v) as %s", op.Known(), op)
	}
}

// TestGrowthNewReader: a reader of tomorrow finds every new field of today's message empty, which means "as before".
func TestGrowthNewReader(t *testing.T) {
	today := v1.DetectRequest{Kind: v1.PayloadKindEmail, Topic: "mail/in"}
	m := newer(t, "DetectRequest")
	if err := proto.Unmarshal(today.AppendProto(nil), m); err != nil {
		t.Fatal(err)
	}
	if len(m.GetUnknown()) > 0 || m.Has(m.Descriptor().Fields().ByName("language")) {
		t.Errorf("got %v", m)
	}
}
