package v1_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
)

// addSeeds gives the fuzzer vectors of every message and sort, in one form or the other, with the index of the message. Not all of them:
// the fuzzer runs each seed before it starts to look for more.
func addSeeds(f *testing.F, pick func(v vector) []byte) {
	f.Helper()
	for i, e := range registry {
		data, err := os.ReadFile(filepath.Join(vectorFolder, e.name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		var file vectorFile
		if err := json.Unmarshal(data, &file); err != nil {
			f.Fatal(err)
		}
		for _, group := range [][]vector{file.Valid, head(file.Accepted, 3), head(file.Invalid, 6)} {
			for _, v := range group {
				if b := pick(v); b != nil {
					f.Add(uint8(i), b)
				}
			}
		}
	}
}

func head(list []vector, n int) []vector { return list[:min(n, len(list))] }

func seedProto(v vector) []byte {
	if v.Protobuf == nil {
		return nil
	}
	b, err := hex.DecodeString(*v.Protobuf)
	if err != nil {
		panic(err)
	}
	return b
}

func seedJSON(v vector) []byte {
	if v.Text != nil {
		return []byte(*v.Text)
	}
	return v.JSON
}

// FuzzProto: no input panics; what our lenient decoder accepts, the official one accepts with the same meaning, unknown fields apart;
// what the strict check accepts survives a round trip unchanged.
func FuzzProto(f *testing.F) {
	addSeeds(f, seedProto)
	f.Fuzz(func(t *testing.T, i uint8, b []byte) {
		e := registry[int(i)%len(registry)]
		m := e.make()
		strict := e.strict(b)
		if err := m.UnmarshalProto(b); err != nil {
			if strict == nil {
				t.Fatalf("the strict check accepts what the decoder refuses: %v", err)
			}
			return
		}
		again := roundTrip(t, e, m)
		want := official(t, e.name, b)
		dropUnknown(want.(*dynamicpb.Message))
		if got := official(t, e.name, again); !proto.Equal(got, want) && !hasNaN(want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		if strict == nil {
			if err := m.Validate(); err != nil {
				t.Fatalf("accepted, but not valid when decoded: %v", err)
			}
		}
	})
}

// roundTrip encodes m, decodes the bytes and encodes again.
func roundTrip(t *testing.T, e entry, m message) []byte {
	t.Helper()
	once := m.AppendProto(nil)
	if len(once) != m.SizeProto() {
		t.Fatalf("SizeProto says %d, AppendProto wrote %d bytes", m.SizeProto(), len(once))
	}
	back := e.make()
	if err := back.UnmarshalProto(once); err != nil {
		t.Fatalf("our own bytes: %v", err)
	}
	if twice := back.AppendProto(nil); !bytes.Equal(once, twice) {
		t.Fatalf("not stable\n%x\n%x", once, twice)
	}
	return once
}

// dropUnknown forgets fields outside the contract, at every level.
func dropUnknown(m *dynamicpb.Message) {
	m.SetUnknown(nil)
	for f, v := range m.Range {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				dropUnknown(v.List().Get(i).Message().Interface().(*dynamicpb.Message))
			}
		default:
			dropUnknown(v.Message().Interface().(*dynamicpb.Message))
		}
	}
}

// hasNaN reports whether a message is unequal to itself; proto.Equal treats NaN as equal, but the payload of a NaN may change on the way.
func hasNaN(m proto.Message) bool {
	b, err := protojson.Marshal(m)
	return err != nil || bytes.Contains(b, []byte(`"NaN"`))
}

// FuzzJSON: no input panics; what our decoder accepts, the official one accepts with the same meaning, and it survives a round trip.
func FuzzJSON(f *testing.F) {
	addSeeds(f, seedJSON)
	f.Fuzz(func(t *testing.T, i uint8, b []byte) {
		e := registry[int(i)%len(registry)]
		m := e.make()
		strict := e.strictJSON(b)
		if err := m.UnmarshalJSON(b); err != nil {
			if strict == nil {
				t.Fatalf("the strict check accepts what the decoder refuses: %v", err)
			}
			return
		}
		text := m.AppendJSON(nil)
		back := e.make()
		if err := back.UnmarshalJSON(text); err != nil {
			t.Fatalf("our own text %s: %v", text, err)
		}
		if a, b := roundTrip(t, e, m), roundTrip(t, e, back); !bytes.Equal(a, b) {
			t.Fatalf("not stable\n%x\n%x", a, b)
		}
		want := dynamicpb.NewMessage(descriptors()[e.name])
		if err := protojson.Unmarshal(b, want); err != nil {
			t.Fatalf("we accept %q, the official decoder says %v", b, err)
		}
		if got := official(t, e.name, m.AppendProto(nil)); !proto.Equal(got, want) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		if strict == nil {
			if err := m.Validate(); err != nil {
				t.Fatalf("accepted, but not valid when decoded: %v", err)
			}
		}
	})
}

// FuzzStrictAcceptsOurs: whatever message random bytes make, if it is valid in memory the strict checks accept both of our encodings.
func FuzzStrictAcceptsOurs(f *testing.F) {
	addSeeds(f, seedProto)
	f.Fuzz(func(t *testing.T, i uint8, b []byte) {
		e := registry[int(i)%len(registry)]
		m := e.make()
		if m.UnmarshalProto(b) != nil || m.Validate() != nil {
			return
		}
		if err := e.strict(m.AppendProto(nil)); err != nil {
			t.Errorf("protobuf: %v", err)
		}
		if err := e.strictJSON(m.AppendJSON(nil)); err != nil {
			t.Errorf("JSON %s: %v", m.AppendJSON(nil), err)
		}
	})
}
