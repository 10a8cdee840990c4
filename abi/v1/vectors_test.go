package v1_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

const vectorFolder = "../testdata/vectors"

// vectorFile is one file of golden vectors: everything about one message. Its format is described in README.md beside it.
type vectorFile struct {
	Message  string   `json:"message"`
	Valid    []vector `json:"valid"`
	Accepted []vector `json:"accepted"`
	Ignored  []vector `json:"ignored"`
	Invalid  []vector `json:"invalid"`
}

// vector is one case. Protobuf is in hexadecimal digits; Text is JSON that is not in canonical form, as a string.
type vector struct {
	Name     string          `json:"name"`
	Protobuf *string         `json:"protobuf,omitempty"`
	Text     *string         `json:"text,omitempty"`
	JSON     json.RawMessage `json:"json,omitempty"`
	Error    string          `json:"error,omitempty"`
}

// TestVectors checks every golden vector, and that the files in the tree are what the generator makes of the contract.
func TestVectors(t *testing.T) {
	for _, e := range registry {
		t.Run(e.name, func(t *testing.T) {
			made := encodeVectors(t, makeVectors(t, e))
			name := filepath.Join(vectorFolder, e.name+".json")
			if *update {
				if err := os.WriteFile(name, made, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data, made) {
				t.Errorf("%s is stale; if the contract was meant to change: go test ./abi/v1 -run TestVectors -update", name)
			}
			checkVectors(t, e, data)
		})
	}
}

// TestNoStrayVectors finds files of messages that are gone.
func TestNoStrayVectors(t *testing.T) {
	files, err := filepath.Glob(vectorFolder + "/*.json")
	if err != nil || len(files) != len(registry) {
		t.Errorf("%d vector files for %d messages (%v)", len(files), len(registry), err)
	}
}

// checkVectors takes the file as an implementation in another language would.
func checkVectors(t *testing.T, e entry, data []byte) {
	var f vectorFile
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatal(err)
	}
	for _, v := range f.Valid {
		t.Run("valid/"+v.Name, func(t *testing.T) { checkValid(t, e, v) })
	}
	for _, v := range f.Accepted {
		t.Run("accepted/"+v.Name, func(t *testing.T) { checkAccepted(t, e, v) })
	}
	for _, v := range f.Ignored {
		t.Run("ignored/"+v.Name, func(t *testing.T) { checkIgnored(t, e, v) })
	}
	for _, v := range f.Invalid {
		t.Run("invalid/"+v.Name, func(t *testing.T) { checkInvalid(t, e, v) })
	}
}

func unhex(t *testing.T, s *string) []byte {
	t.Helper()
	b, err := hex.DecodeString(*s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func checkValid(t *testing.T, e entry, v vector) {
	wire := unhex(t, v.Protobuf)
	m := e.make()
	if err := m.UnmarshalProto(wire); err != nil {
		t.Fatal(err)
	}
	if got := m.AppendProto(nil); !bytes.Equal(got, wire) {
		t.Errorf("protobuf to protobuf\n got %x\nwant %x", got, wire)
	}
	if got := m.AppendJSON(nil); !bytes.Equal(got, v.JSON) {
		t.Errorf("protobuf to JSON\n got %s\nwant %s", got, v.JSON)
	}
	back := e.make()
	if err := back.UnmarshalJSON(v.JSON); err != nil {
		t.Fatal(err)
	}
	if got := back.AppendProto(nil); !bytes.Equal(got, wire) {
		t.Errorf("JSON to protobuf\n got %x\nwant %x", got, wire)
	}
	for _, err := range []error{e.strict(wire), e.strictJSON(v.JSON), m.Validate()} {
		if err != nil {
			t.Errorf("the strict check refuses a valid message: %v", err)
		}
	}
	compare(t, e, official(t, e.name, wire))
}

// checkAccepted: other encodings of the same message, which the strict check takes too.
func checkAccepted(t *testing.T, e entry, v vector) {
	m := e.make()
	strict, decode, input := e.strictJSON, m.UnmarshalJSON, []byte(nil)
	if v.Protobuf != nil {
		strict, decode, input = e.strict, m.UnmarshalProto, unhex(t, v.Protobuf)
	} else {
		input = []byte(*v.Text)
	}
	if err := strict(input); err != nil {
		t.Errorf("strict check: %v", err)
	}
	if err := decode(input); err != nil {
		t.Fatal(err)
	}
	if got := m.AppendJSON(nil); !bytes.Equal(got, v.JSON) {
		t.Errorf("got %s\nwant %s", got, v.JSON)
	}
}

// checkIgnored: what a guest must read past in a request, and the host refuses in an answer.
func checkIgnored(t *testing.T, e entry, v vector) {
	m := e.make()
	if err := m.UnmarshalProto(unhex(t, v.Protobuf)); err != nil {
		t.Fatal(err)
	}
	if got := m.AppendJSON(nil); !bytes.Equal(got, v.JSON) {
		t.Errorf("got %s\nwant %s", got, v.JSON)
	}
	if err := e.strict(unhex(t, v.Protobuf)); err == nil || err.Error() != v.Error {
		t.Errorf("strict check says %v, want %s", err, v.Error)
	}
}

func checkInvalid(t *testing.T, e entry, v vector) {
	var err error
	if v.Protobuf != nil {
		err = e.strict(unhex(t, v.Protobuf))
	} else {
		err = e.strictJSON([]byte(*v.Text))
	}
	if err == nil || err.Error() != v.Error {
		t.Errorf("strict check says %v, want %s", err, v.Error)
	}
}

// encodeVectors writes one case a line, so that a change shows as the cases it changes.
func encodeVectors(t *testing.T, f vectorFile) []byte {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("{\"message\": \"" + f.Message + "\"")
	for _, group := range []struct {
		name  string
		cases []vector
	}{{"valid", f.Valid}, {"accepted", f.Accepted}, {"ignored", f.Ignored}, {"invalid", f.Invalid}} {
		b.WriteString(",\n\"" + group.name + "\": [")
		for i, v := range group.cases {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString("\n  ")
			line := json.NewEncoder(&b)
			line.SetEscapeHTML(false)
			if err := line.Encode(v); err != nil {
				t.Fatal(err)
			}
			b.Truncate(b.Len() - 1)
		}
		b.WriteString("]")
	}
	b.WriteString("}\n")
	return b.Bytes()
}
