package v1_test

import (
	"bytes"
	"strings"
	"testing"
	"unsafe"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// payload is a DETECT request as the host sends it: size bytes of text, one decoded view, a few hits.
func payload(size int) *v1.Request {
	text := []byte(strings.Repeat("Some words of an ordinary page. ", size/32+1)[:size])
	return &v1.Request{ClockUnixNanos: 1_750_000_000_000_000_000, Seed: 7, Detect: &v1.DetectRequest{
		Kind: v1.PayloadKindWeb, Source: []byte("https://example.com/page"), Size: uint64(size),
		Views: []*v1.View{
			{Name: "text", Text: text, Size: uint32(size), Parent: -1, OriginEnd: uint32(size)},
			{Name: "html.comment", Text: text[:100], Size: 100, Hidden: true, OriginStart: 5, OriginEnd: 105},
		},
		Hits: []*v1.Hit{
			{Signature: "override-previous-en", Threat: v1.ThreatPromptInjection, Severity: v1.SeverityHigh, Confidence: 0.9, Start: 5, End: 37, Tags: []string{"lang:en", "role:override"}},
			{Signature: "role-play-en", Threat: v1.ThreatJailbreak, Severity: v1.SeverityMedium, Confidence: 0.5, View: 1, Start: 5, End: 20},
		},
	}}
}

func verdict() *v1.Response {
	return &v1.Response{Verdict: &v1.Verdict{Findings: []*v1.Finding{
		{Threat: v1.ThreatPromptInjection, Severity: v1.SeverityHigh, Confidence: 0.95, View: 1, Start: 5, End: 37, Signature: "override-previous-en", Reason: "told to ignore its instructions in a comment"},
	}}}
}

// TestDecodeAliases: bytes are not copied, and a decoded field cannot be appended into its neighbour.
func TestDecodeAliases(t *testing.T) {
	wire := payload(4096).AppendProto(nil)
	var r v1.Request
	if err := r.UnmarshalProto(wire); err != nil {
		t.Fatal(err)
	}
	text := r.Detect.Views[0].Text
	at := bytes.Index(wire, text)
	if unsafe.SliceData(text) != &wire[at] {
		t.Error("View.Text was copied")
	}
	if cap(text) != len(text) {
		t.Errorf("View.Text has room for %d bytes beyond its end", cap(text)-len(text))
	}
	source := string(r.Detect.Views[0].Name)
	clear(wire)
	if r.Detect.Views[0].Name != source {
		t.Error("a string changed with the input")
	}
}

// TestAllocations pins what a call costs the garbage collector: the messages and their identifiers, never the text.
func TestAllocations(t *testing.T) {
	for _, size := range []int{256, 4 << 10, 1 << 20} {
		wire := payload(size).AppendProto(nil)
		var r v1.Request
		// DetectRequest, lists of views and hits (2 each), their 6 strings and the list of tags.
		if n := testing.AllocsPerRun(100, func() { _ = r.UnmarshalProto(wire) }); n > 14 {
			t.Errorf("%d bytes: decoding a request allocates %v times", size, n)
		}
		buf := make([]byte, 0, len(wire))
		p := payload(size)
		if n := testing.AllocsPerRun(100, func() { buf = p.AppendProto(buf[:0]) }); n != 0 {
			t.Errorf("%d bytes: encoding into a large enough buffer allocates %v times", size, n)
		}
	}
	answer := verdict().AppendProto(nil)
	if n := testing.AllocsPerRun(100, func() { _ = v1.CheckStrictResponse(answer) }); n != 0 {
		t.Errorf("the strict check of a good answer allocates %v times", n)
	}
}

// TestHostileLengths: what a message claims to hold does not decide what is allocated for it.
func TestHostileLengths(t *testing.T) {
	huge := []byte{0x2a, 0xff, 0xff, 0xff, 0xff, 0x07, 'x'} // DetectRequest.views, 2 GiB long
	var d v1.DetectRequest
	if n := testing.AllocsPerRun(10, func() { _ = d.UnmarshalProto(huge) }); n > 4 {
		t.Errorf("%v allocations for a length that lies", n)
	}
	if err := d.UnmarshalProto(huge); err == nil {
		t.Error("accepted")
	}
}

func BenchmarkDetectRequest4K(b *testing.B) {
	p := payload(4 << 10)
	wire := p.AppendProto(nil)
	buf := make([]byte, 0, len(wire))
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			buf = p.AppendProto(buf[:0])
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		var r v1.Request
		for b.Loop() {
			if err := r.UnmarshalProto(wire); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode-json", func(b *testing.B) {
		b.ReportAllocs()
		var text []byte
		for b.Loop() {
			text = p.AppendJSON(text[:0])
		}
	})
	b.Run("decode-json", func(b *testing.B) {
		b.ReportAllocs()
		text := p.AppendJSON(nil)
		var r v1.Request
		for b.Loop() {
			if err := r.UnmarshalJSON(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkVerdict(b *testing.B) {
	wire := verdict().AppendProto(nil)
	b.Run("strict", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := v1.CheckStrictResponse(wire); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		var r v1.Response
		for b.Loop() {
			if err := r.UnmarshalProto(wire); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkRoundTrip is one DETECT without the crossing: request out and in, answer out, checked and in.
func BenchmarkRoundTrip(b *testing.B) {
	p, v := payload(4<<10), verdict()
	var out, in []byte
	var req v1.Request
	var resp v1.Response
	b.ReportAllocs()
	for b.Loop() {
		out = p.AppendProto(out[:0])
		if err := req.UnmarshalProto(out); err != nil {
			b.Fatal(err)
		}
		in = v.AppendProto(in[:0])
		if err := v1.CheckStrictResponse(in); err != nil {
			b.Fatal(err)
		}
		if err := resp.UnmarshalProto(in); err != nil {
			b.Fatal(err)
		}
	}
}
