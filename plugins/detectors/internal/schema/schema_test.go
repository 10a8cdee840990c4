package schema

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// declare compiles one topic "t".
func declare(t testing.TB, encoding, schema string) *Detector {
	t.Helper()
	d, err := Parse([]byte(`{"topics":[{"match":"t","encoding":"` + encoding + `","schema":` + schema + `}]}`))
	if err != nil {
		t.Fatalf("Parse(%s): %v", schema, err)
	}
	return d
}

// breaches returns the reasons of the findings on one message.
func breaches(t testing.TB, d *Detector, data string) []string {
	t.Helper()
	req := &v1.DetectRequest{Kind: v1.PayloadKindToolOutput, Topic: "t", Original: []byte(data), Views: []*v1.View{{Name: "text",
		Text: []byte(strings.ToValidUTF8(data, "\ufffd")), Parent: -1}}}
	v, err := d.Detect(req)
	if err != nil {
		t.Fatalf("Detect(%q): %v", data, err)
	}
	var out []string
	for _, f := range v.Findings {
		if int(f.End) > len(req.Views[0].Text) || f.Start > f.End || f.Threat != v1.ThreatSchemaViolation {
			t.Fatalf("finding %+v", f)
		}
		out = append(out, f.Reason)
	}
	return out
}

func TestMatches(t *testing.T) {
	tests := []struct {
		pattern, topic string
		want           bool
	}{
		{"a/b", "a/b", true}, {"a/*", "a/b", true}, {"a/*/c", "a/b/c", true}, {"a/#", "a/b/c", true}, {"#", "a", true}, {"a/#", "a", true},
		{"a/*", "a/b/c", false}, {"a/b", "a", false}, {"a", "a/b", false}, {"#", "", false}, {"a/#/c", "a/b/c", false}, {"A", "a", false},
	}
	for _, tt := range tests {
		if got := Matches(tt.pattern, tt.topic); got != tt.want {
			t.Errorf("Matches(%q, %q) = %v", tt.pattern, tt.topic, got)
		}
	}
}

// keywordTests are a schema, a document that fits and one that does not.
var keywordTests = []struct{ schema, good, bad string }{
	{`true`, `1`, ``}, {`{}`, `null`, ``}, {`false`, ``, `1`},
	{`{"type":"integer"}`, `1.0`, `1.5`}, {`{"type":"number"}`, `1e3`, `"1"`}, {`{"type":["string","null"]}`, `null`, `1`}, {`{"type":"boolean"}`,
		`true`, `0`}, {`{"type":"array"}`, `[]`, `{}`}, {`{"type":"object"}`, `{}`, `[]`},
	{`{"enum":[1,"a",{"b":[1,2],"c":null}]}`, `{"c":null,"b":[1.0,2]}`, `{"b":[2,1],"c":null}`}, {`{"const":0}`, `0.0`, `false`}, {`{"const":"true"}`,
		`"true"`, `true`},
	{`{"properties":{"a":{"type":"string"}}}`, `{"a":"x","b":1}`, `{"a":1}`}, {`{"properties":{"a":true},"additionalProperties":false}`, `{"a":1}`,
		`{"b":1}`},
	{`{"patternProperties":{"^x":{"type":"number"}},"additionalProperties":{"type":"string"}}`, `{"x1":1,"y":"s"}`, `{"y":1}`},
	{`{"patternProperties":{"^x":{"type":"number"}}}`, `{"x":1}`, `{"x":"1"}`},
	{`{"propertyNames":{"maxLength":2}}`, `{"ab":1}`, `{"abc":1}`}, {`{"required":["a","b"]}`, `{"a":1,"b":2}`, `{"a":1}`},
	{`{"minProperties":1,"maxProperties":2}`, `{"a":1}`, `{}`}, {`{"dependentRequired":{"a":["b"]}}`, `{"b":1}`, `{"a":1}`},
	{`{"dependentSchemas":{"a":{"required":["b"]}}}`, `{"a":1,"b":1}`, `{"a":1}`},
	{`{"prefixItems":[{"type":"string"}],"items":{"type":"number"}}`, `["a",1,2]`, `["a","b"]`}, {`{"items":{"type":"number"}}`, `[1,2]`, `[1,"2"]`},
	{`{"contains":{"const":1}}`, `[0,1]`, `[0]`}, {`{"contains":{"const":1},"minContains":2,"maxContains":3}`, `[1,1]`, `[1]`},
	{`{"contains":{"const":1},"minContains":0}`, `[]`, ``}, {`{"minItems":1,"maxItems":2}`, `[1]`, `[1,2,3]`}, {`{"uniqueItems":true}`, `[1,"1",true]`,
		`[{"a":1,"b":2},{"b":2,"a":1.0}]`},
	{`{"minLength":2,"maxLength":3}`, `"äöü"`, `"äöüß"`}, {`{"pattern":"^a+$"}`, `"aaa"`, `"b"`}, {`{"minimum":1,"maximum":2}`, `1`, `2.5`},
	{`{"exclusiveMinimum":1}`, `1.1`, `1`}, {`{"exclusiveMaximum":1}`, `0`, `1`},
	{`{"multipleOf":0.1}`, `0.3`, `0.35`}, {`{"multipleOf":3}`, `9007199254740993`, `9007199254740992`}, {`{"minimum":9007199254740993}`,
		`9007199254740993`, `9007199254740992`}, {`{"maximum":10}`, `-1e400`, `1e400`},
	{`{"allOf":[{"minimum":1},{"maximum":2}]}`, `1`, `3`}, {`{"anyOf":[{"type":"string"},{"minimum":5}]}`, `5`, `4`},
	{`{"oneOf":[{"type":"integer"},{"minimum":2}]}`, `1`, `3`}, {`{"not":{"type":"string"}}`, `1`, `"a"`},
	{`{"if":{"type":"string"},"then":{"minLength":2},"else":{"minimum":2}}`, `"ab"`, `1`}, {`{"if":{"type":"string"},"then":{"minLength":2}}`, `1`,
		`"a"`},
	{`{"$defs":{"n":{"properties":{"next":{"$ref":"#/$defs/n"},"v":{"type":"number"}},"additionalProperties":false}},"$ref":"#/$defs/n"}`,
		`{"v":1,"next":{"v":2}}`, `{"next":{"next":{"v":"x"}}}`},
	{`{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}`, `{"a":{"a":{}}}`, `{"a":{"b":1}}`},
	{`{"$defs":{"x":{"$anchor":"here","type":"null"}},"$ref":"#here"}`, `null`, `1`}, {`{"$defs":{"a/b":{"type":"null"}},"$ref":"#/$defs/a~1b"}`,
		`null`, `1`},
	{`{"allOf":[{"type":"string"}],"$ref":"#/allOf/0"}`, `"a"`, `1`},
	{`{"format":"date-time"}`, `"2026-11-30T12:00:00Z"`, `"2026-13-30T12:00:00Z"`}, {`{"format":"date"}`, `"2026-02-28"`, `"2026-02-30"`},
	{`{"format":"time"}`, `"12:00:00.5+01:00"`, `"25:00:00Z"`}, {`{"format":"email"}`, `"a@b.example"`, `"a@"`}, {`{"format":"uuid"}`,
		`"550e8400-e29b-41d4-a716-446655440000"`, `"550e8400"`},
	{`{"format":"ipv4"}`, `"10.0.0.1"`, `"010.0.0.1"`}, {`{"format":"ipv6"}`, `"::1"`, `"10.0.0.1"`}, {`{"format":"hostname"}`, `"a-b.example"`, `"-a"`},
	{`{"format":"uri"}`, `"https://a/b?c#d"`, `"a b"`},
	{`{"title":"t","description":"d","default":1,"examples":[1],"$comment":"c","deprecated":true,"readOnly":true,"writeOnly":false,"$id":"urn:x","$schema":"https://json-schema.org/draft/2020-12/schema"}`,
		`1`, ``},
}

func TestKeywords(t *testing.T) {
	for _, tt := range keywordTests {
		d := declare(t, "json", tt.schema)
		if tt.good != "" {
			if got := breaches(t, d, tt.good); len(got) > 0 {
				t.Errorf("%s refuses %s: %v", tt.schema, tt.good, got)
			}
		}
		if tt.bad != "" && len(breaches(t, d, tt.bad)) == 0 {
			t.Errorf("%s accepts %s", tt.schema, tt.bad)
		}
	}
}

func TestMalformedDocuments(t *testing.T) {
	d := declare(t, "json", `{}`)
	for _, data := range []string{"", "{", "{}x", "\xff", "{\"a\":1,\"a\":2}", "NaN"} {
		if len(breaches(t, d, data)) == 0 {
			t.Errorf("%q is accepted", data)
		}
	}
	if len(breaches(t, declare(t, "msgpack", `{}`), "\xc1")) == 0 {
		t.Error("malformed MessagePack is accepted")
	}
}

func TestMessagePackTypes(t *testing.T) {
	d := declare(t, "msgpack",
		`{"type":"object","properties":{"b":{"type":"bytes","maxLength":2},"n":{"type":"integer"}},"required":["b"],"additionalProperties":false}`)
	if got := breaches(t, d, "\x82\xa1b\xc4\x02\x00\xff\xa1n\x07"); len(got) > 0 {
		t.Errorf("a good message: %v", got)
	}
	for _, data := range []string{"\x81\xa1b\xa2hi", "\x81\xa1b\xc4\x03abc", "\x80", "\x82\xa1b\xc4\x00\xa1x\xc0",
		"\x82\xa1b\xc4\x00\xa1n\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00"} {
		if len(breaches(t, d, data)) == 0 {
			t.Errorf("%x is accepted", data)
		}
	}
}

func TestReasonsHoldNoPayload(t *testing.T) {
	d := declare(t, "json", `{"type":"object","properties":{"n":{"maximum":3}},"additionalProperties":false}`)
	for _, reason := range breaches(t, d, `{"n":98765,"sesame-open":"sesame-open"}`) {
		if strings.Contains(reason, "98765") || strings.Contains(reason, "sesame") {
			t.Errorf("reason %q quotes the message", reason)
		}
	}
}

func TestFindingsPointAtTheValue(t *testing.T) {
	d := declare(t, "json", `{"properties":{"n":{"type":"string"}}}`)
	data := `{"pad":"ü","n":42}`
	v, err := d.Detect(&v1.DetectRequest{Topic: "t", Original: []byte(data), Views: []*v1.View{{Name: "text", Text: []byte(data), Parent: -1}}})
	if err != nil || len(v.Findings) != 1 || data[v.Findings[0].Start:v.Findings[0].End] != "42" {
		t.Errorf("findings = %+v, %v", v, err)
	}
}

func TestOtherTopicsAreLeftAlone(t *testing.T) {
	d := declare(t, "json", `false`)
	for _, topic := range []string{"", "u", "t/x"} {
		if v, err := d.Detect(&v1.DetectRequest{Topic: topic, Original: []byte("1")}); err != nil || len(v.Findings) > 0 {
			t.Errorf("topic %q: %+v, %v", topic, v, err)
		}
	}
}

func TestConfigErrorsNameTheMistake(t *testing.T) {
	topic := func(encoding, schema string) string {
		return `{"topics":[{"match":"t","encoding":"` + encoding + `","schema":` + schema + `}]}`
	}
	for config, want := range map[string]string{
		`{`: "JSON", `[]`: "object", `{"topic":[]}`: `"topic"`, `{"topics":{}}`: "list",
		`{"topics":[{"match":"t","encoding":"json"}]}`: "schema is missing", `{"topics":[{"encoding":"json","schema":{}}]}`: "match",
		topic("xml", `{}`): `"xml"`, topic("json", `{"typ":"string"}`): `"typ"`, topic("json", `{"type":"text"}`): `"text"`, topic("json",
			`{"unevaluatedProperties":false}`): "unevaluatedProperties", topic("json", `{"type":"bytes"}`): "MessagePack",
		topic("json", `{"$ref":"https://example.org/x"}`): "outside", topic("json", `{"$ref":"#/$defs/x"}`): "nothing", topic("json",
			`{"$ref":"#x"}`): "$anchor", topic("json", `{"pattern":"("}`): "RE2", topic("json", `{"format":"colour"}`): `"colour"`,
		topic("json", `{"minimum":"1"}`): "minimum", topic("json", `{"multipleOf":0}`): "multipleOf", topic("json", `{"minLength":-1}`): "minLength",
		topic("json", `{"enum":[]}`): "enum", topic("json", `{"allOf":[]}`): "allOf", topic("json", `{"items":[{}]}`): "items",
		topic("json", `{"$ref":"#"}`): "itself", topic("json", `{"items":{"$id":"x"}}`): "$id", topic("json",
			`{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}`): "itself", topic("json",
			`{"$schema":"http://json-schema.org/draft-07/schema#"}`): "dialect", topic("json",
			`{"properties":{"a":{"$defs":{"x":{"bogus":1}},"$ref":"#/properties/a/$defs/x"}}}`): "bogus",
		topic("protobuf", `{"message":"M"}`): "descriptors", topic("protobuf", `{"message":"M","descriptors":"!"}`): "base64", topic("protobuf",
			`{"message":"M","descriptors":"AAAA"}`): "FileDescriptorSet", topic("protobuf", `{"message":"M","messages":{}}`): `"M"`,
		topic("protobuf", `{"message":"M","messages":{"M":{"0":{"name":"a","type":"string"}}}}`): "number", topic("protobuf",
			`{"message":"M","messages":{"M":{"1":{"name":"a","type":"X"}}}}`): `"X"`, topic("protobuf",
			`{"message":"M","messages":{"M":{"1":{"name":"a","type":"string","label":"x"}}}}`): "label",
		topic("protobuf", `{"message":"M","unknown_fields":"maybe","messages":{"M":{}}}`): "unknown_fields",
	} {
		if _, err := Parse([]byte(config)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%s) = %v, want a mention of %s", config, err, want)
		}
	}
	for _, config := range []string{"", " ", "{}", `{"topics":[]}`} {
		if _, err := Parse([]byte(config)); err != nil {
			t.Errorf("Parse(%q) = %v", config, err)
		}
	}
}

func TestAlternativesDoNotExplode(t *testing.T) {
	// Each level tries two alternatives that look the same: 2^60 ways without a bound.
	schema := `{"$defs":{"n":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/n"},"b":false},"required":["b"]},{"properties":{"a":{"$ref":"#/$defs/n"},"c":false},"required":["c"]}]}},"$ref":"#/$defs/n"}`
	d := declare(t, "json", schema)
	data := strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)
	_, err := d.Detect(&v1.DetectRequest{Topic: "t", Original: []byte(data)})
	if err == nil || !strings.Contains(err.Error(), "steps") {
		t.Errorf("Detect = %v, want a limit", err)
	}
}

const table = `{"message":"Reading","messages":{
	"Reading":{"1":{"name":"sensor","type":"string","label":"required"},"2":{"name":"values","type":"double","label":"repeated"},"3":{"name":"unit","type":"Unit"},"4":{"name":"child","type":"Reading"},"5":{"name":"raw","type":"bytes"},"6":{"name":"n","type":"int32"},"7":{"name":"on","type":"bool"},"8":{"name":"ids","type":"uint32","label":"repeated"}}},
	"enums":{"Unit":[0,1]}}`

func TestProtobuf(t *testing.T) {
	d := declare(t, "protobuf", table)
	good := "\x0a\x01s"
	for _, data := range []string{
		good, good + "\x11\x00\x00\x00\x00\x00\x00\xf0\x3f\x11\x00\x00\x00\x00\x00\x00\xf0\x3f", good + "\x12\x08\x00\x00\x00\x00\x00\x00\xf0\x3f",
		good + "\x18\x01", good + "\x22\x03\x0a\x01c", good + "\x2a\x02\xff\xfe",
		good + "\x30\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", good + "\x38\x01", good + "\x42\x03\x01\xac\x02", good + "\x40\x07\x40\x08",
	} {
		if got := breaches(t, d, data); len(got) > 0 {
			t.Errorf("%x: %v", data, got)
		}
	}
	for name, data := range map[string]string{
		"missing required": "", "unknown field": good + "\x78\x01", "wrong wire type": good + "\x19\x00\x00\x00\x00\x00\x00\x00\x00",
		"bad UTF-8": "\x0a\x01\xff", "truncated": "\x0a\x05s", "truncated tag": good + "\x80", "undeclared enum": good + "\x18\x07",
		"twice": good + good, "child without required": good + "\x22\x00", "varint too long": good + "\x30" + strings.Repeat("\x80", 10) + "\x01",
		"int32 too large": good + "\x30\x80\x80\x80\x80\x10", "no bool": good + "\x38\x02", "field number 0": good + "\x00\x00",
		"wire type 7": good + "\x0f", "stray group end": good + "\x0c",
		"group": good + "\x0b\x0c", "packed cut": good + "\x12\x07\x00\x00\x00\x00\x00\x00\x00",
		"packed uint32 too large": good + "\x42\x05\xff\xff\xff\xff\x7f", "length beyond the end": "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		if len(breaches(t, d, data)) == 0 {
			t.Errorf("%s: %x is accepted", name, data)
		}
	}
}

func TestProtobufCanBeLenient(t *testing.T) {
	d := declare(t, "protobuf", strings.Replace(table, `{"message"`, `{"unknown_fields":"allow","unknown_enums":"allow","message"`, 1))
	if got := breaches(t, d, "\x0a\x01s\x78\x01\x18\x07"); len(got) > 0 {
		t.Errorf("%v", got)
	}
}

func TestProtobufDepthIsBounded(t *testing.T) {
	d := declare(t, "protobuf", table)
	data := "\x0a\x01s"
	for range 100 {
		size := len(data)
		head := []byte{0x22}
		for ; size >= 0x80; size >>= 7 {
			head = append(head, byte(size)|0x80)
		}
		data = "\x0a\x01s" + string(append(head, byte(size))) + data
	}
	if got := breaches(t, d, data); len(got) != 1 || !strings.Contains(got[0], "deeper") {
		t.Errorf("%v", got)
	}
}

// field writes one length-delimited protobuf field; all sizes here fit one byte.
func lenField(number int, body string) string {
	return string([]byte{byte(number<<3 | 2), byte(len(body))}) + body
}

func varField(number, v int) string {
	if number > 15 {
		return string([]byte{byte(number<<3) | 0x80, byte(number >> 4), byte(v)})
	}
	return string([]byte{byte(number << 3), byte(v)})
}

func TestDescriptorSet(t *testing.T) {
	fieldDesc := func(name string, number, label, typ int, rest string) string {
		return lenField(2, lenField(1, name)+varField(3, number)+varField(4, label)+varField(5, typ)+rest)
	}
	enum := lenField(4, lenField(1, "Unit")+lenField(2, lenField(1, "A"))+lenField(2, lenField(1, "B")+varField(2, 1)))
	msg := lenField(1, "M") + fieldDesc("s", 1, 1, 9, "") + fieldDesc("u", 2, 1, 14, lenField(6, ".p.M.Unit")) + fieldDesc("x", 3, 1, 9, varField(9,
		0)) + fieldDesc("y", 4, 1, 9, varField(9, 0)) + enum
	file := lenField(1, "m.proto") + lenField(2, "p")
	body := lenField(12, "proto3")
	big := string([]byte{4<<3 | 2, byte(len(msg)) | 0x80, byte(len(msg) >> 7)}) + msg
	file += big + body
	set := string([]byte{1<<3 | 2, byte(len(file)) | 0x80, byte(len(file) >> 7)}) + file
	d := declare(t, "protobuf", fmt.Sprintf(`{"message":"p.M","descriptors":%q}`, base64.StdEncoding.EncodeToString([]byte(set))))
	for data, want := range map[string]bool{"": true, "\x0a\x01s\x10\x01": true, "\x10\x02": false, "\x0a\x01\xff": false, "\x1a\x01x": true,
		"\x1a\x01x\x22\x01y": false, "\x28\x01": false} {
		if got := len(breaches(t, d, data)) == 0; got != want {
			t.Errorf("%x: accepted %v", data, got)
		}
	}
}

func FuzzProtobuf(f *testing.F) {
	for _, s := range []string{"\x0a\x01s", "\x0a\x01s\x12\x08\x00\x00\x00\x00\x00\x00\xf0\x3f", "\x0b\x0b\x0c\x0c", "\x22\x03\x0a\x01c"} {
		f.Add(s)
	}
	d := declare(f, "protobuf", table)
	f.Fuzz(func(t *testing.T, s string) { breaches(t, d, s) })
}

func FuzzDescriptors(f *testing.F) {
	f.Add("\x0a\x10\x22\x0e\x0a\x01M\x12\x09\x0a\x01s\x18\x01\x20\x01\x28\x09")
	f.Fuzz(func(t *testing.T, s string) {
		ts := newTypes()
		if ts.fromDescriptorSet([]byte(s)) == nil {
			_ = ts.link()
		}
	})
}

func FuzzJSONSchema(f *testing.F) {
	for _, tt := range keywordTests {
		f.Add(tt.schema, tt.good)
		f.Add(tt.schema, tt.bad)
	}
	f.Fuzz(func(t *testing.T, schema, data string) {
		config, err := json.Marshal(map[string]any{"topics": []any{map[string]any{"match": "t", "encoding": "json", "schema": json.RawMessage(schema)}}})
		if err != nil {
			return
		}
		d, err := Parse(config)
		if err != nil {
			return
		}
		_, _ = d.Detect(&v1.DetectRequest{Topic: "t", Original: []byte(data)})
	})
}
