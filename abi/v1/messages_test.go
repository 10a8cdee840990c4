package v1_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

func TestEnumNames(t *testing.T) {
	for _, k := range v1.PayloadKindValues() {
		if got, ok := v1.ParsePayloadKind(k.String()); !ok || got != k || !k.Known() {
			t.Errorf("%d: %s, %v, %v", k, k, got, ok)
		}
	}
	for _, op := range v1.OpValues() {
		if got, ok := v1.ParseOp(op.String()); !ok || got != op || !op.Known() {
			t.Errorf("%d: %s, %v, %v", op, op, got, ok)
		}
	}
	for _, s := range []string{"", "unspecified", "Web", "WEB", "PAYLOAD_KIND_WEB", "payload_kind(99)"} {
		if k, ok := v1.ParsePayloadKind(s); ok {
			t.Errorf("%q is %v", s, k)
		}
	}
	for _, k := range []v1.PayloadKind{0, -1, 9, 99} {
		if k.Known() {
			t.Errorf("%d is known", k)
		}
	}
	for _, op := range []v1.Op{0, 3, 15, 18, 31, 38, 47, 49} {
		if op.Known() {
			t.Errorf("op %d is known", op)
		}
	}
	if s := fmt.Sprint(v1.ThreatSSRF, v1.PayloadKindUserPrompt, v1.PayloadKind(77)); s != "ssrf user_prompt payload_kind(77)" {
		t.Error(s)
	}
}

func TestErrorPaths(t *testing.T) {
	bad := v1.Response{Verdict: &v1.Verdict{Findings: []*v1.Finding{
		{Threat: v1.ThreatSecret, Severity: v1.SeverityLow}, {Threat: 99, Severity: v1.SeverityLow},
	}}}
	const want = "verdict.findings[1].threat: unknown enum value 99"
	var e *v1.DecodeError
	if err := bad.Validate(); !errors.As(err, &e) || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	if err := v1.CheckStrictResponseJSON(bad.AppendJSON(nil)); err == nil || err.Error() != want {
		t.Errorf("JSON: got %v\nwant %s", err, want)
	}
	lenient := []byte{0x22, 0x04, 0x0a, 0x02, 0x3a, 0x05} // verdict{ findings{ signature: 5 bytes that are not there } }
	if err := new(v1.Response).UnmarshalProto(lenient); err == nil || !strings.HasPrefix(err.Error(), "verdict.findings[0]: ") {
		t.Errorf("got %v", err)
	}
}

func TestValidateFindsWhatEncodingCannotRefuse(t *testing.T) {
	for name, m := range map[string]message{
		"two members": &v1.Response{Verdict: &v1.Verdict{}, Error: &v1.Error{Kind: v1.ErrorKindLimit}},
		"no member":   &v1.Response{},
		"not UTF-8":   &v1.Error{Kind: v1.ErrorKindLimit, Op: "\xff"},
		"nil element": &v1.Verdict{Findings: []*v1.Finding{nil}},
		"nothing":     (*v1.Error)(nil),
	} {
		if err := m.Validate(); err == nil {
			t.Errorf("%s: valid", name)
		}
	}
	ok := &v1.Verdict{Findings: []*v1.Finding{{Threat: v1.ThreatSecret, Severity: v1.SeverityLow, Confidence: 0}}}
	if err := ok.Validate(); err != nil {
		t.Errorf("a confidence of 0 must be written: %v", err)
	}
}

// TestEnvelopes: the light envelopes read and write the same bytes as the full messages.
func TestEnvelopes(t *testing.T) {
	req := payload(300)
	head := v1.RequestHead{ClockUnixNanos: req.ClockUnixNanos, Seed: req.Seed}
	wire := req.AppendProto(nil)
	if got := v1.AppendRequest(nil, head, req.Detect); !bytes.Equal(got, wire) {
		t.Errorf("got %x\nwant %x", got, wire)
	}
	var back v1.RequestHead
	if err := back.UnmarshalProto(wire); err != nil {
		t.Fatal(err)
	}
	if back.Field != req.BodyField() || back.Seed != 7 || back.ClockUnixNanos != req.ClockUnixNanos || !bytes.Equal(back.Body, req.Detect.AppendProto(nil)) {
		t.Errorf("got %+v", back)
	}
	resp := verdict()
	if got, want := v1.AppendResponse(nil, resp.Verdict), resp.AppendProto(nil); !bytes.Equal(got, want) {
		t.Errorf("got %x\nwant %x", got, want)
	}
	var answer v1.ResponseHead
	if err := answer.UnmarshalProto(resp.AppendProto(nil)); err != nil || answer.Field != resp.BodyField() {
		t.Errorf("got %+v, %v", answer, err)
	}
	if err := answer.UnmarshalProto([]byte{0x22, 0x05}); err == nil {
		t.Error("a body that is cut off was accepted")
	}
}

func TestOneofKeepsTheLastMember(t *testing.T) {
	var both []byte
	both = v1.AppendResponse(both, &v1.Error{Kind: v1.ErrorKindLimit})
	both = v1.AppendResponse(both, &v1.Verdict{State: []byte{1}})
	var r v1.Response
	if err := r.UnmarshalProto(both); err != nil {
		t.Fatal(err)
	}
	if r.Error != nil || r.Verdict == nil || r.BodyField() != 4 {
		t.Errorf("got %+v", r)
	}
	if (*v1.Response)(nil).BodyField() != 0 || new(v1.Response).BodyField() != 0 {
		t.Error("an empty response has a body")
	}
}

func TestJSONForms(t *testing.T) {
	for text, want := range map[string]string{
		`{"memoryPages":1.0e2}`:              `{"memoryPages":100}`,
		`{"memory_pages":"7","fuel":5}`:      `{"memoryPages":7,"fuel":"5"}`,
		`{"fuel":"18446744073709551615"}`:    `{"fuel":"18446744073709551615"}`,
		` { "wallMillis" : null } `:          `{}`,
		`{"fuel":9007199254740993}`:          `{"fuel":"9007199254740993"}`,
		`{"memoryPages":4294967296}`:         "",
		`{"memoryPages":-1}`:                 "",
		`{"memoryPages":1.5}`:                "",
		`{"memoryPages":01}`:                 "",
		`{"memoryPages":+1}`:                 "",
		`{"memoryPages":" 1"}`:               "",
		`{"memoryPages":""}`:                 "",
		`{"memoryPages":1e999}`:              "",
		`{"memoryPages":1,"memory_pages":1}`: "",
		`{"memoryPages":1,}`:                 "",
		`{"memoryPages" 1}`:                  "",
		`{"memoryPages":1 "fuel":1}`:         "",
		`{memoryPages:1}`:                    "",
		"{\"memoryPages\":1}\xff":            "",
		``:                                   "",
	} {
		var l v1.Limits
		err := l.UnmarshalJSON([]byte(text))
		if want == "" && err == nil {
			t.Errorf("%s was accepted as %s", text, l.AppendJSON(nil))
		}
		if want != "" && (err != nil || string(l.AppendJSON(nil)) != want) {
			t.Errorf("%s: got %s, %v; want %s", text, l.AppendJSON(nil), err, want)
		}
	}
}

func TestJSONStrings(t *testing.T) {
	for text, want := range map[string]string{
		`"a\u00e9\ud83d\ude00\/\b\f\n\r\t\\\""`: "a\u00e9\U0001f600/\b\f\n\r\t\\\"",
		`"\ud83d"`:                              "", `"\ude00"`: "", `"\ud83d\u0041"`: "", `"\x41"`: "", `"\u12g4"`: "", `"\u12`: "",
		"\"a\nb\"": "", `"a`: "", `"a\`: "", `"\ud83d\u`: "",
	} {
		var e v1.Error
		err := e.UnmarshalJSON([]byte(`{"op":` + text + `}`))
		if want == "" && err == nil || want != "" && e.Op != want {
			t.Errorf("%s: got %q, %v", text, e.Op, err)
		}
	}
}

func TestJSONBytes(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "/+8=": "\xff\xef", "_-8": "\xff\xef", "_-8=": "\xff\xef", "QQ==": "A", "QQ": "A", "QUJD": "ABC", "QUI": "AB",
	} {
		var e v1.Error
		if err := e.UnmarshalJSON([]byte(`{"message":"` + text + `"}`)); err != nil || string(e.Message) != want {
			t.Errorf("%q: got %q, %v", text, e.Message, err)
		}
	}
	for _, text := range []string{"Q", "QQ=", "Q===", "QQ==QQ==", "Q!==", "QQ= =", "====", "QUJDQ"} {
		if err := new(v1.Error).UnmarshalJSON([]byte(`{"message":"` + text + `"}`)); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
