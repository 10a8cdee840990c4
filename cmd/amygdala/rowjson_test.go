package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDecodeRow(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"plain", `{"text":"a","kind":"web"}`, ""},
		{"keys of others, also inside", `{"text":"a","x":{"text":1,"text":[{"text":2}]},"x":null,"y":[",\"text\":"]}`, ""},
		{"escapes", `{"text":"a\"b\\","id":"\\\""}`, ""},
		{"white space", "\t{ \"text\" : \"a\" , \"id\" : \"b\" }\r\n", ""},
		{"a value that looks like a key", `{"id":"text","text":"id","source":"text"}`, ""},
		{"twice", `{"text":"an attack","text":"hello"}`, `"text" is given twice`},
		{"twice, once escaped", `{"text":"an attack","\u0074ext":"hello"}`, `"text" is given twice`},
		{"twice, the last one null", `{"text":"an attack","text":null,"bytes":""}`, `"text" is given twice`},
		{"kind twice", `{"text":"a","kind":"web","kind":"url"}`, `"kind" is given twice`},
		{"in capitals", `{"text":"an attack","TEXT":"hello"}`, `unknown key "TEXT"; write "text"`},
		{"with a long s", `{"text":"a","ſource":"b"}`, `write "source"`},
		{"not UTF-8", "{\"text\":\"a\xff\"}", `"bytes" in base64`},
		{"not an object", `["text"]`, "cannot unmarshal array"},
		{"two objects", `{"text":"a"}{"text":"b"}`, "after top-level value"},
	} {
		_, err := decodeRow([]byte(c.data))
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// FuzzDecodeRow: what is accepted means the same to a reader that takes the first of two equal keys as to one that takes the last.
func FuzzDecodeRow(f *testing.F) {
	for _, s := range []string{`{"text":"a"}`, `{"text":"a","text":"b"}`, `{"\u0074ext":"a","Text":""}`, `{"a":["text",{"text":1}],"text":"x\\"}`, `null`, `""`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := decodeRow(data)
		if err != nil {
			return
		}
		dec := json.NewDecoder(strings.NewReader(string(data)))
		if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
			return
		}
		texts := 0
		for dec.More() {
			key, err := dec.Token()
			if err != nil {
				t.Fatal(err)
			}
			var value json.RawMessage
			if err := dec.Decode(&value); err != nil {
				t.Fatal(err)
			}
			if key == "text" {
				texts++
				continue
			}
			if k, _ := key.(string); strings.EqualFold(k, "text") {
				t.Fatalf("%q was taken for text", k)
			}
		}
		if texts > 1 || x.Text != nil && texts != 1 {
			t.Fatalf("%d texts in %q", texts, data)
		}
	})
}
