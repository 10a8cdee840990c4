package view_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/view"
)

func TestCleanTextCostsNothing(t *testing.T) {
	for _, text := range []string{"", "x", "Hello, world.", prose, string(fill(prose, 4<<10)), string(fill(prose, 64<<10))} {
		data := []byte(text)
		for range 3 {
			view.Of(data, v1.PayloadKindDoc, view.Limits{}).Release() // fill the pool
		}
		allocs := testing.AllocsPerRun(50, func() {
			s := view.Of(data, v1.PayloadKindDoc, view.Limits{})
			if len(s.Views) != 1 || len(data) > 0 && &s.Views[0].Text[0] != &data[0] || s.Truncated || s.Undecodable || s.NonASCII {
				t.Fatalf("%.40q: %s", data, names(s))
			}
			s.Release()
		})
		if allocs != 0 && !raceEnabled {
			t.Errorf("%d bytes: %v allocations", len(data), allocs)
		}
	}
}

// What looks like a disguise and is none: no view, or only one that tells the same as the text.
func TestLookAlikes(t *testing.T) {
	png := make([]byte, 3000)
	rand.New(rand.NewSource(3)).Read(png)
	for _, row := range []struct{ name, text, allowed string }{
		{"hashes", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 and 9c1185a5c5e9fc54612808977ee8f548b2258d31", ""},
		{"uuid", "id 7f0c3a52-9b4e-4a0d-8c7e-0d6b1f3a2c59, trace 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", ""},
		{"integrity", `"integrity": "sha512-7ylylesZQ/PV29jhEDl3Ufjo6ZX7gCqJr5F7PKrqc93v7fzSymt1BpwEU8nAUXs8qzzvqhbjhK5QZg6Mt/HkBg=="`, ""},
		{"image", "![logo](data:image/png;base64," + b64(string(png)) + ")", ""},
		{"certificate", "-----BEGIN CERTIFICATE-----\n" + wrapped(64, "\n")(b64(string(png[:900]))) + "\n-----END CERTIFICATE-----\n", ""},
		{"part numbers", "Order 10x M3X8-A2, 4x BC547B, 2x LM317T, 1x 74HC595 and an ESP32-S3 N16R8 for rack B2 row 14.", ""},
		{"versions", "go1.26.8, v0.14.0, node18-alpine3.19, x86_64-linux-gnu, utf8mb4, sha256, base64, h264, mp3, ipv6", ""},
		{"minified", `!function(e,t){"object"==typeof exports?module.exports=t():e.lib=t()}(this,function(){var n=0,r={};return r.a=function(e){return e?n++:n--},r});`, ""},
		{"table", "| a | b | c | d |\n|---|---|---|---|\n| 1 | 2 | 3 | 4 |\n| 12 | 45 | 78 | 99 |\n", ""},
		{"numbers", "12 45 78 99 34 56 23 87 65 43 21 90 11 33 55 77 88 66", ""},
		{"paths", `C:\Users\nora\new\table.txt and \\server\share\data`, "escape"},
		{"pattern", `^\d{3}-\w+\s*\.(txt|md)$`, ""},
		{"comparison", "if a < b && c > d { x = y & z }", ""},
		{"percent", "100% of 50 % at 3%, or 20%off", ""},
		{"initials", "J. R. R. Tolkien, A. A. Milne, plan B, vitamin C, x, y and z", ""},
		{"alphabet", "The options are A B C D E F G H and I J K L.", ""},
		{"hexdump", "0000000 7f45 4c46 0201 0100 0000 0000 0000 0000 0003 003e 0001 0000", ""},
		{"Russian", "Мы используем API с ключом и пишем код на Go. А это просто текст о погоде, он обычный.", ""},
		{"Greek", "Αυτό είναι ένα απλό κείμενο για τον καιρό, με λίγα API μέσα.", ""},
		{"Serbian", "Ово је обичан текст о времену и о граду.", ""},
		{"Chinese", "这是一段关于天气的普通文字，里面有一些标点。", ""},
		{"Japanese", "これは普通のテキストです。ﾊﾝｶｸはありません。", "fold"},
		{"Persian", "می\u200cخواهم نامه\u200cای بنویسم", ""},
		{"Hindi", "क्\u200dष और ज्ञ, नमस्ते दुनिया", ""},
		{"Arabic", "\u200fمرحبا بالعالم\u200f", ""},
		{"Hebrew", "שָׁלוֹם עוֹלָם", ""},
		{"Thai", "สวัสดีชาวโลก", ""},
		{"Vietnamese", "Trời hôm nay đẹp, chúng tôi đi ra bờ sông và ăn cơm ở một nhà nhỏ.", "plain"},
		{"French", "Le garçon a été très étonné de voir la forêt gelée près du château.", "plain"},
		{"emoji", "👩‍👩‍👧‍👦 ❤️ 👍🏽 🏳️‍🌈 1️⃣ ©️ ✨ done", ""},
		{"flags", "🇩🇪 🇫🇷 🇮🇹 🇳🇴🇸🇪 \U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F", ""},
		{"byte order mark", "\ufeffplain text", ""},
		{"mail", "Dear Anna,\r\n\r\nthe meeting is at 10=30 or x=5.\r\n\r\nBest\r\n", ""},
		{"kanji variant", "葛\U000E0100城市", ""},
		{"compounds", "Die Eingabeaufforderung und die Arbeitslosenversicherungsgesellschaft sind lange Wörter.", ""},
	} {
		s := view.Of([]byte(row.text), 0, view.Limits{})
		for _, v := range s.Views[1:] {
			if row.allowed == "" || v.Name != row.allowed {
				t.Errorf("%s: view %s %.100q", row.name, v.Name, v.Text)
			}
		}
		if s.Truncated || s.Undecodable {
			t.Errorf("%s: truncated %v, undecodable %v", row.name, s.Truncated, s.Undecodable)
		}
		s.Release()
	}
}

func TestFlags(t *testing.T) {
	for _, row := range []struct {
		text, name      string
		hidden, encoded bool
	}{
		{"<!-- x y -->a", "html.comment", true, false},
		{"<!-- " + b64("meet us at the gate") + " -->a", "base64", true, true},
		{b64("<!-- meet us at the gate --> the rest"), "base64>html.comment", true, true},
		{b64("meet us at the gate"), "base64", false, true},
		{"&#109;&#101;&#101;&#116; us", "html", false, true},
		{"meet &amp; greet", "html", false, false},
		{"a\U000e0064\U000e006f", "tags", true, false},
		{`{"a": "b\nc"}`, "json", false, false},
		{`{"a": "\u006d\u0065\u0065\u0074"}`, "json", false, true},
	} {
		s := view.Of([]byte(row.text), 0, view.Limits{})
		if v := find(s, row.name); v == nil || v.Hidden != row.hidden || v.Encoded != row.encoded {
			t.Errorf("%q: %s is %+v", row.text, row.name, v)
		}
		s.Release()
	}
}

func TestDecoded(t *testing.T) {
	s := view.Of([]byte("copied text, then %6Deet us"), 0, view.Limits{})
	defer s.Release()
	v := find(s, "url")
	for _, row := range []struct {
		part string
		want bool
	}{{"copied text", false}, {"meet", true}, {"eet us", false}, {"then meet", true}} {
		at := strings.Index(string(v.Text), row.part)
		if got := v.Decoded(at, at+len(row.part)); got != row.want {
			t.Errorf("Decoded(%q) = %v in %q", row.part, got, v.Text)
		}
	}
	if !v.Has("url") || v.Has("base64") || v.Has("ur") {
		t.Errorf("Has is wrong for %s", v.Name)
	}
}

func TestUndecodable(t *testing.T) {
	noise := make([]byte, 4096)
	rand.New(rand.NewSource(4)).Read(noise)
	for _, row := range []struct {
		name string
		data []byte
		want bool
	}{
		{"noise", noise, true},
		{"an image's head", []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x10\x00\x00\x00\x10\x08\x06\x00\x00\x00\x1f\xf3\xffa"), true},
		{"windows-1251", []byte("\xcf\xf0\xe8\xe2\xe5\xf2, \xec\xe8\xf0"), true},
		{"latin-1", []byte("Das W\xf6rterbuch steht auf dem gro\xdfen Regal im Flur"), false},
		{"UTF-16", []byte("m\x00e\x00e\x00t\x00 \x00u\x00s\x00"), false},
		{"UTF-32", []byte("m\x00\x00\x00e\x00\x00\x00e\x00\x00\x00t\x00\x00\x00"), false},
		{"one bad byte", append([]byte(prose), 0xff), false},
		{"empty", nil, false},
	} {
		s := view.Of(row.data, 0, view.Limits{})
		if s.Undecodable != row.want {
			t.Errorf("%s: undecodable is %v, views %s", row.name, s.Undecodable, names(s))
		}
		s.Release()
	}
}

func TestLimits(t *testing.T) {
	deep := "meet us at the gate at nine"
	for range 9 {
		deep = b64(deep)
	}
	for _, row := range []struct {
		name string
		text string
		lim  view.Limits
		cut  bool
	}{
		{"default depth", deep, view.Limits{}, true},
		{"more depth", deep, view.Limits{Depth: 20, Bytes: 1 << 20}, false},
		{"views", "<!-- a b --><b>c</b> %41", view.Limits{Views: 2}, true},
		{"bytes", "<p>" + prose, view.Limits{Bytes: 10}, true},
		{"enough", "<p>" + prose, view.Limits{Bytes: 1000}, false},
	} {
		s := view.Of([]byte(row.text), 0, row.lim)
		if s.Truncated != row.cut {
			t.Errorf("%s: truncated is %v, views %s", row.name, s.Truncated, names(s))
		}
		s.Release()
	}
}

// Many goroutines share the pool; each must see its own payload only.
func TestHammer(t *testing.T) {
	texts := [][]byte{[]byte(prose), fill(page, 3000), fill(readme, 3000), []byte(b64(prose)), hostile(2 << 10)["everything"]}
	var want []string
	for _, text := range texts {
		s := view.Of(text, 0, view.Limits{})
		want = append(want, dump(s))
		s.Release()
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 50 {
				k := (g + i) % len(texts)
				s := view.Of(texts[k], 0, view.Limits{})
				if got := dump(s); got != want[k] {
					t.Errorf("text %d reads differently: %.200s", k, got)
				}
				s.Release()
			}
		})
	}
	wg.Wait()
}

func dump(s *view.Set) string {
	var b bytes.Buffer
	for i := range s.Views {
		b.WriteString(s.Views[i].Name)
		b.Write(s.Views[i].Text)
	}
	return b.String()
}

type row struct{ ID, Text, Kind, Subset string }

// rows reads one of the development sets, or skips the test if there are none.
func rows(t *testing.T, name string) (out []row) {
	t.Helper()
	dir := os.Getenv("AMYGDALA_DATA")
	if dir == "" {
		t.Skip("AMYGDALA_DATA is not set: there are no development sets to read")
	}
	f, err := os.Open(filepath.Join(dir, "eval", name+".jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewReader(z); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var r row
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			out = append(out, r)
		}
		if err != nil {
			return out
		}
	}
}

func kindOf(name string) v1.PayloadKind {
	k, _ := v1.ParsePayloadKind(name)
	return k
}

// Ordinary documents yield few views, and nothing in them hits a cap.
func TestOrdinaryDocuments(t *testing.T) {
	for _, set := range []string{"dev_benign_docs", "dev_user_prompts", "dev_security_docs_hardneg", "dev_frr_benign"} {
		text, held, encoded := 0, 0, 0
		list := rows(t, set)
		for _, r := range list {
			s := view.Of([]byte(r.Text), kindOf(r.Kind), view.Limits{})
			text += len(r.Text)
			for _, v := range s.Views[1:] {
				held += len(v.Text)
				if v.Encoded && !v.Has("url") {
					encoded++
				}
			}
			if s.Truncated || s.Undecodable {
				t.Errorf("%s: truncated %v, undecodable %v: %s", r.ID, s.Truncated, s.Undecodable, names(s))
			}
			s.Release()
		}
		t.Logf("%s: %d rows, %d bytes; views hold %d more; %d encoded views that are no URLs", set, len(list), text, held, encoded)
		if held > text/2 || encoded > len(list)/10 {
			t.Errorf("%s: views hold %d bytes beside %d of text, %d of them encoded", set, held, text, encoded)
		}
	}
}

// The carriers of the evasion set are all read.
func TestEvasionCarriers(t *testing.T) {
	views := map[string]string{"ansi": "ansi.hidden", "base64": "base64", "base64_bare": "base64", "code_comment": "code.comment", "fullwidth": "fold",
		"hex": "hex", "homoglyph": "fold", "html_comment": "html.comment", "html_entities": "html", "html_hidden": "html.hidden",
		"json_escaped": "json", "leet": "leet", "md_comment": "md.comment", "payload_split": "joined", "reversed": "reversed", "rot13": "rot13",
		"spaced": "spaced", "unicode_tags": "tags", "url": "url", "zero_width": "fold"}
	missed, total := map[string]int{}, map[string]int{}
	for _, r := range rows(t, "dev_evasion") {
		carrier, _, _ := strings.Cut(r.Subset, "/")
		name := views[carrier]
		if name == "" {
			continue
		}
		s := view.Of([]byte(r.Text), kindOf(r.Kind), view.Limits{})
		total[carrier]++
		if find(s, name) == nil {
			missed[carrier]++
			t.Logf("%s: no view %s: %.100q", r.ID, name, r.Text)
		}
		s.Release()
	}
	for carrier, n := range missed {
		if n*20 > total[carrier] {
			t.Errorf("%s: %d of %d rows are not read", carrier, n, total[carrier])
		}
	}
}
