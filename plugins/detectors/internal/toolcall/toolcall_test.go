package toolcall

import (
	"strings"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

func fields(kind v1.PayloadKind, text string) []Field {
	return Fields(&v1.DetectRequest{Kind: kind, Views: []*v1.View{{Name: "text", Text: []byte(text), Parent: -1}}})
}

// field returns the field with this text.
func field(t *testing.T, list []Field, text string) Field {
	t.Helper()
	for _, f := range list {
		if f.Text == text {
			return f
		}
	}
	t.Fatalf("no field %q in %+v", text, list)
	return Field{}
}

func TestFields(t *testing.T) {
	src := `[{"name":"read_file","arguments":{"path":"/a"}},{"function":{"name":"fetch","arguments":"{\"url\":\"http:\\/\\/x\",\"deep\":{\"body\":\"b\"}}"}},{"tool":"bash","input":{"command":"ls","quiet":true,"n":3}}]`
	list := fields(v1.PayloadKindToolCall, src)
	path, url, body, cmd := field(t, list, "/a"), field(t, list, "http://x"), field(t, list, "b"), field(t, list, "ls")
	if path.Tool != "read_file" || path.Key != "path" || src[path.Whole.Start:path.Whole.End] != "/a" || !path.Plain {
		t.Errorf("path = %+v", path)
	}
	if url.Tool != "fetch" || url.Role != Target || url.Plain || url.Call == path.Call {
		t.Errorf("url = %+v", url)
	}
	if body.Tool != "fetch" || body.Key != "body" || cmd.Role != Command || cmd.Tool != "bash" {
		t.Errorf("body = %+v, cmd = %+v", body, cmd)
	}
	if on := field(t, list, "true"); !on.Literal || on.Key != "quiet" {
		t.Errorf("quiet = %+v", on)
	}
}

func TestDocumentsStayDocuments(t *testing.T) {
	list := fields(v1.PayloadKindToolCall, `{"name":"write_file","arguments":{"path":"a.json","content":"{\"url\":\"http://x\"}"}}`)
	if whole := field(t, list, `{"url":"http://x"}`); !whole.Opened || whole.Role != Content {
		t.Errorf("whole = %+v", whole)
	}
	if url := field(t, list, "http://x"); url.Role != Content {
		t.Errorf("url = %+v", url)
	}
}

func TestArgv(t *testing.T) {
	list := fields(v1.PayloadKindToolCall, `{"name":"exec","arguments":{"command":"curl","args":["-d","a b","it's"]}}`)
	if f := field(t, list, `curl -d 'a b' 'it'\''s'`); f.Role != Command {
		t.Errorf("argv = %+v", f)
	}
}

func TestPlainText(t *testing.T) {
	if list := fields(v1.PayloadKindToolCall, "curl x"); len(list) != 1 || list[0].Role != Command || !list[0].Plain {
		t.Errorf("fields = %+v", list)
	}
	if list := fields(v1.PayloadKindURL, "http://x"); len(list) != 1 || list[0].Role != Target {
		t.Errorf("fields = %+v", list)
	}
	if list := fields(v1.PayloadKindToolCall, `{"broken`); len(list) != 1 || list[0].Text != `{"broken` {
		t.Errorf("fields = %+v", list)
	}
}

func TestViews(t *testing.T) {
	req := &v1.DetectRequest{Kind: v1.PayloadKindToolCall, Views: []*v1.View{{Name: "text", Text: []byte("a")}, {Name: "base64", Text: []byte("b")},
		{Name: "html>rot13", Text: []byte("c")}, {Name: "json", Text: []byte("d")}, nil, {Name: "fold"}}}
	if list := Fields(req); len(list) != 2 || !list[1].Decoded || list[1].Whole.View != 1 {
		t.Errorf("fields = %+v", list)
	}
}

func TestHas(t *testing.T) {
	for tool, want := range map[string]bool{"send_email": true, "sendEmail": true, "mcp__x__post-message": true, "compute": false, "input": false,
		"sendmail": true, "SENDMAIL": true, "put": true, "output": false, "": false, "admin": false} {
		if got := Has(tool, SendWords); got != want {
			t.Errorf("Has(%q) = %v", tool, got)
		}
	}
	Has(strings.Repeat("aB", 10000), SendWords)
}

func TestRoleOf(t *testing.T) {
	tests := []struct {
		tool, key string
		want      Role
	}{{"x", "base_url", Target}, {"x", "imageUrl", Target}, {"x", "Command", Command}, {"x", "file_text", Content}, {"run_python", "input", Command},
		{"chat", "input", Other}, {"x", "timeout", Other}}
	for _, tt := range tests {
		if got := RoleOf(tt.tool, tt.key); got != tt.want {
			t.Errorf("RoleOf(%q, %q) = %d", tt.tool, tt.key, got)
		}
	}
}

func TestLimits(t *testing.T) {
	if n := len(fields(v1.PayloadKindToolCall, `["`+strings.Repeat(`a","`, 10_000)+`b"]`)); n > maxFields {
		t.Errorf("%d fields", n)
	}
}

func FuzzFields(f *testing.F) {
	for _, s := range []string{`{"a":"{\"b\":\"[\\\"c\\\"]\"}"}`, `["a",["b"]]`, "x", `{"args":["a","b"]}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, x := range fields(v1.PayloadKindToolCall, s) {
			if x.Whole.Start > x.Whole.End || x.Whole.End > len(s) || x.Plain && s[x.Whole.Start:x.Whole.End] != x.Text {
				t.Fatalf("field %+v of %q", x, s)
			}
		}
	})
}
