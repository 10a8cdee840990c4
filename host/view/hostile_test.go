package view_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math/rand"
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/host/view"
)

// hostile returns texts of about n bytes, each written to cost some decoder as much as possible.
func hostile(n int) map[string][]byte {
	r := rand.New(rand.NewSource(1))
	random := func(alphabet string) []byte {
		out := make([]byte, n)
		for i := range out {
			out[i] = alphabet[r.Intn(len(alphabet))]
		}
		return out
	}
	noise := make([]byte, n)
	r.Read(noise)
	const b64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	nested := []byte(prose)
	for len(nested) < n*3/4 {
		nested = []byte(base64.StdEncoding.EncodeToString(nested))
	}
	quoted := `"x\n"`
	for len(quoted) < n/2 {
		quoted = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(quoted) + `"`
	}
	m := map[string][]byte{
		"random letters": random("abcdefghijklmnopqrstuvwxyz"), "random words": random("etaoin shrdlu  "), "random base64": random(b64),
		"short base64": random(b64 + "      "), "random hex": random("0123456789abcdef"), "hex pairs": random("0123456789abcdef  "),
		"digits": random("0123456789 ,"), "morse": random(".- /"), "bits": random("01 "), "leet": random("1337 l33t 4bcd3 0 5"),
		"punctuation": random("<>&%\\\"'`=[](){}#/-+*;: \n"), "markup": random("<a b=\"'>/&#;!- "), "noise": noise,
		"nested base64": nested, "nested json": []byte(quoted), "random ascii": random(" !\"#$%&'()*+,-./0123456789:;<=>?@ABCabc[\\]^_`{|}~"),
	}
	for name, unit := range map[string]string{
		"lt": "<", "open tags": "<a ", "open quotes": "<a b=\"", "comments": "<!--", "amp": "&", "refs": "&#105;", "styles": "<style", "hidden": "<p hidden>x",
		"brackets": "[", "links": "[](a \"", "definitions": "[a]: b (\n", "backslashes": "\\", "escaped quotes": "\"\\", "unicode escapes": "\\u0069",
		"percents": "%", "percent": "%25", "pluses": "a+", "equals": "=", "soft breaks": "=41=\n", "escapes": "\x1b[", "colors": "\x1b[8ma\x1b[0m", "returns": "a\r", "quotes": "' \"` ", "literals": "'a' + ", "arrays": "['a','b',",
		"zero width": "\u200b\u200c", "tags": "\U000e0041", "selectors": "\ufe01a", "marks": "a\u0301\u0302", "confusables": "аa ", "fullwidth": "ａ", "ligature": "\ufdfa",
		"accents": "ïgnörè ", "cjk": "忽略", "spaced": "i g n o r e ", "spaced wide": "i  g n   o ", "hyphens": "in-\nstruction", "lines": "abcd\n", "mirror": "eht dna gni ", "mirror high": "й .еА ",
		"rot13": "gur dhvpx oebja sbk ", "glued": "theandofto", "snake": "ignore_all_", "dots": "a.b.c.", "invalid": "\xff", "nul": "a\x00", "mixed": "<b>%69&#105;\\x69a</b> ",
		"base64 pieces": "aWdub3Jl ", "hex list": "69, ", "everything": "aWdub3JlIGFsbA== %69 &#105; \\x69 <!-- a --> [//]: # (b)\n i g n o r e 1gn0r3 eht \u200b ",
	} {
		m[name] = bytes.Repeat([]byte(unit), n/len(unit)+1)
	}
	m["blob lines"] = nil
	for len(m["blob lines"]) < n {
		m["blob lines"] = append(append(m["blob lines"], random(b64)[:80]...), " text\n"...)
	}
	m["wrapped blob"] = random(b64)
	for i := 76; i < n; i += 77 {
		m["wrapped blob"][i] = '\n'
	}
	m["hex of html"] = []byte(hex.EncodeToString(bytes.Repeat([]byte("<b>&#105;</b>"), n/26+1)))
	return m
}

// Hostile text may cost a fixed multiple of its length, counted in bytes scanned and produced, and never more views than the limits say.
func TestHostile(t *testing.T) {
	const n = 32 << 10
	lim := view.Limits{Depth: 6, Views: 64, Bytes: 4*n + 16<<10}
	for name, data := range hostile(n) {
		t.Run(name, func(t *testing.T) {
			s := view.Of(data[:min(len(data), n)], 0, lim)
			defer s.Release()
			check(t, s, data, lim)
			if most := 160 * n; s.Work > most {
				t.Errorf("work of %d on %d bytes, more than %d", s.Work, n, most)
			}
		})
	}
}

// Four times the text is about four times the work: no decoder's work grows with the square of the length.
func TestHostileLinear(t *testing.T) {
	small, large := hostile(8<<10), hostile(32<<10)
	for name := range small {
		a, b := view.Of(small[name], 0, view.Limits{}), view.Of(large[name], 0, view.Limits{})
		if b.Work > 6*a.Work+64<<10 {
			t.Errorf("%s: work of %d on %d bytes, of %d on %d", name, a.Work, len(small[name]), b.Work, len(large[name]))
		}
		a.Release()
		b.Release()
	}
}

// A thousand blobs that turn out to be nothing must not crowd out the one that is something, wherever it stands.
func TestDecoys(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	blob := func() string {
		b := make([]byte, 60)
		r.Read(b)
		return base64.StdEncoding.EncodeToString(b)
	}
	for _, decoy := range []func() string{blob, func() string { return base64.StdEncoding.EncodeToString([]byte(prose[:60])) },
		func() string { return "<!-- nothing -->" }, func() string { return "%41%42" }, func() string { return "&#65;" }, func() string { return "[//]: # (no)\n" }} {
		for _, at := range []int{0, 500, 1000} {
			var text strings.Builder
			for i := range 1000 {
				if i == at {
					text.WriteString(base64.StdEncoding.EncodeToString([]byte("the secret sentence is here")) + "\n<!-- the hidden sentence -->\n")
				}
				text.WriteString(decoy() + " text\n")
			}
			s := view.Of([]byte(text.String()), 0, view.Limits{})
			if at < 1000 && (!shows(s, "the secret sentence is here") || !shows(s, "the hidden sentence")) {
				t.Errorf("%q at %d: sentence not found; views: %s", decoy(), at, names(s))
			}
			if s.Truncated {
				t.Errorf("%q at %d: truncated", decoy(), at)
			}
			s.Release()
		}
	}
}

// shows reports whether a view other than the text holds a sentence.
func shows(s *view.Set, sentence string) bool {
	for _, v := range s.Views[1:] {
		if bytes.Contains(v.Text, []byte(sentence)) {
			return true
		}
	}
	return false
}

func BenchmarkHostile(b *testing.B) {
	const n = 64 << 10
	for name, data := range hostile(n) {
		data = data[:min(len(data), n)]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				view.Of(data, 0, view.Limits{}).Release()
			}
		})
	}
}
