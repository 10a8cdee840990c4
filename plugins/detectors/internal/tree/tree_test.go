package tree

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestJSON(t *testing.T) {
	src := `{"name":"fetch","args":{"url":"http:\/\/x\u002fy","n":[1,-2.5e3,true,null]},"name":"twice"}`
	tr, err := JSON(src, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	url := tr.Child(tr.Child(0, "args"), "url")
	n := tr.Nodes[url]
	if n.Text != "http://x/y" || n.Plain || src[n.Start:n.End] != `http:\/\/x\u002fy` || tr.Path(url) != "/args/url" {
		t.Errorf("url = %+v, path %s", n, tr.Path(url))
	}
	name := tr.Nodes[tr.Child(0, "name")]
	if name.Text != "fetch" || !name.Plain || src[name.Start:name.End] != "fetch" || name.Repeated {
		t.Errorf("name = %+v", name)
	}
	if last := tr.Nodes[len(tr.Nodes)-1]; !last.Repeated {
		t.Error("a repeated key is not marked")
	}
	list := tr.Child(tr.Child(0, "args"), "n")
	if tr.Nodes[list].Len != 4 || tr.Path(tr.Nodes[list].First+1) != "/args/n/1" || tr.Nodes[tr.Nodes[list].First+1].Text != "-2.5e3" {
		t.Errorf("list = %+v", tr.Nodes[list])
	}
}

func TestJSONRefuses(t *testing.T) {
	for _, src := range []string{
		"", " ", "{", "[", `{"a"}`, `{"a":}`, `{"a":1,}`, "[1,]", "[1 2]", "01", "-", "1.", "1e", "tru", `"`, `"\x"`, `"\u12"`, `"\ud800"`,
		`"\ud800\u0041"`, "\"\x01\"", "\"\xff\"", "{} {}", "'a'", "{1:2}", "NaN",
	} {
		if _, err := JSON(src, Limits{}); err == nil {
			t.Errorf("JSON(%q) is accepted", src)
		}
	}
}

func TestLimits(t *testing.T) {
	var se *SyntaxError
	if _, err := JSON(strings.Repeat("[", 200)+strings.Repeat("]", 200), Limits{}); !errors.As(err, &se) || !se.Limit {
		t.Errorf("deep JSON: %v", err)
	}
	if _, err := JSON("[1,2,3]", Limits{Nodes: 3}); !errors.As(err, &se) || !se.Limit {
		t.Errorf("many values: %v", err)
	}
	if _, err := MessagePack(strings.Repeat("\x91", 200)+"\xc0", Limits{}); !errors.As(err, &se) || !se.Limit {
		t.Errorf("deep MessagePack: %v", err)
	}
	if _, err := MessagePack("\xdf\xff\xff\xff\xff", Limits{}); !errors.As(err, &se) || se.Limit {
		t.Errorf("a map that claims 2^32 members: %v", err)
	}
}

func TestMessagePack(t *testing.T) {
	src := "\x84\xa1a\x01\xd9\x01b\xcb\x40\x09\x21\xfb\x54\x44\x2d\x18\xa1c\x93\xc0\xc3\xff\xa1d\xc4\x02\x00\xff"
	tr, err := MessagePack(src, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	get := func(k string) Node { return tr.Nodes[tr.Child(0, k)] }
	if get("a").Text != "1" || get("b").Text != "3.141592653589793" || get("c").Len != 3 || get("d").Kind != Bytes || get("d").Text != "\x00\xff" {
		t.Errorf("nodes = %+v", tr.Nodes)
	}
	if neg := tr.Nodes[len(tr.Nodes)-2]; neg.Text != "-1" {
		t.Errorf("negative fixint = %+v", neg)
	}
}

func TestMessagePackNumbers(t *testing.T) {
	for src, want := range map[string]string{
		"\xcc\xff": "255", "\xcd\x01\x00": "256", "\xce\xff\xff\xff\xff": "4294967295", "\xcf\xff\xff\xff\xff\xff\xff\xff\xff": "18446744073709551615",
		"\xd0\x80": "-128", "\xd1\x80\x00": "-32768", "\xd2\xff\xff\xff\xfe": "-2", "\xd3\x80\x00\x00\x00\x00\x00\x00\x00": "-9223372036854775808",
		"\xca\x3f\x80\x00\x00": "1", "\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00": "NaN",
	} {
		tr, err := MessagePack(src, Limits{})
		if err != nil || tr.Nodes[0].Text != want {
			t.Errorf("MessagePack(%x) = %v, %v; want %s", src, tr, err, want)
		}
	}
}

func TestMessagePackRefuses(t *testing.T) {
	for _, src := range []string{"", "\xc1", "\xa2a", "\x81\x01\x01", "\xa1\xff", "\x01\x02", "\xc4", "\xd9", "\xc7\x01", "\x92\x01", "\xcb\x00",
		"\x81\xa1\xff\x01"} {
		if _, err := MessagePack(src, Limits{}); err == nil {
			t.Errorf("MessagePack(%x) is accepted", src)
		}
	}
	if tr, err := MessagePack("\xd4\x05x", Limits{}); err != nil || tr.Nodes[0].Kind != Extension || tr.Nodes[0].Text != "x" {
		t.Errorf("fixext: %v, %v", tr, err)
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"a":[1,"b\n\ud83d\ude00",null]}`, "[[[]]]", `"\u0000"`, "-0.0e-1", "{", "\"\xff\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tr, err := JSON(s, Limits{})
		var se *SyntaxError
		if errors.As(err, &se) && se.Limit {
			return
		}
		if (err == nil) && !json.Valid([]byte(s)) {
			t.Fatalf("JSON(%q) accepts what the standard library refuses", s)
		}
		if err != nil {
			return
		}
		for i, n := range tr.Nodes {
			if n.Start > n.End || n.End > len(s) || n.Plain && n.Text != s[n.Start:n.End] {
				t.Fatalf("node %+v of %q", n, s)
			}
			tr.Path(i)
		}
	})
}

func FuzzMessagePack(f *testing.F) {
	for _, s := range []string{"\x81\xa1a\x01", "\xdd\x00\x00\x00\x01\xc0", "\xc9\x00\x00\x00\x01\x05x", "\xdf\xff\xff\xff\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tr, err := MessagePack(s, Limits{Nodes: 1000})
		if err != nil {
			return
		}
		for _, n := range tr.Nodes {
			if n.Start > n.End || n.End > len(s) {
				t.Fatalf("node %+v of %x", n, s)
			}
		}
	})
}
