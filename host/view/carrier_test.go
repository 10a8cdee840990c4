package view_test

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/amygdala-host/amygdala/host/view"
)

// sentences to hide. What they say does not matter to this package.
var (
	plain = []string{
		"Meet us at the north gate after nine and bring the second key with you",
		"Bitte schreiben Sie uns morgen noch einmal und vergessen Sie die Anlage nicht",
		"Cuando termine el trabajo, mande una copia de todo a la oficina del puerto",
	}
	worldly = append([]string{"Встречаемся у северных ворот, принесите второй ключ", "请在九点以后到北门等我们，并带上第二把钥匙",
		"お名前と二つ目の鍵を北門まで持ってきてください"}, plain...)
)

func everyByte(format, sep string) func(string) string {
	return func(s string) string {
		var out []string
		for _, c := range []byte(s) {
			out = append(out, fmt.Sprintf(format, c))
		}
		return strings.Join(out, sep)
	}
}

func everyRune(format, sep string) func(string) string {
	return func(s string) string {
		var out []string
		for _, c := range s {
			out = append(out, fmt.Sprintf(format, c))
		}
		return strings.Join(out, sep)
	}
}

func wrapped(width int, sep string) func(string) string {
	return func(s string) string {
		out := ""
		for len(s) > width {
			out, s = out+s[:width]+sep, s[width:]
		}
		return out + s
	}
}

func backwards(s string) string {
	r := []rune(s)
	for i, k := 0, len(r)-1; i < k; i, k = i+1, k-1 {
		r[i], r[k] = r[k], r[i]
	}
	return string(r)
}

func eachWord(f func(string) string) func(string) string {
	return func(s string) string {
		w := strings.Fields(s)
		for i := range w {
			w[i] = f(w[i])
		}
		return strings.Join(w, " ")
	}
}

// substitute replaces ASCII letters: f gets 0 to 25 and says which rune stands for it.
func substitute(f func(k rune, upper bool) rune) func(string) string {
	return func(s string) string {
		return strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z':
				return f(r-'a', false)
			case r >= 'A' && r <= 'Z':
				return f(r-'A', true)
			}
			return r
		}, s)
	}
}

func caesar(key rune) func(string) string {
	return substitute(func(k rune, upper bool) rune {
		if upper {
			return 'A' + (k+key)%26
		}
		return 'a' + (k+key)%26
	})
}

func wide(s string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = append(out, byte(u), byte(u>>8))
	}
	return string(out)
}

func b64(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func quoteJSON(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func zeroWidthBits(s string) string {
	out := ""
	for _, c := range []byte(s) {
		for k := 7; k >= 0; k-- {
			out += []string{"\u200b", "\u200c"}[c>>k&1]
		}
	}
	return "visible" + out
}

func selectors(s string) string {
	out := "visible"
	for _, c := range []byte(s) {
		if c < 16 {
			out += string(rune(0xFE00) + rune(c))
		} else {
			out += string(rune(0xE0100) + rune(c) - 16)
		}
	}
	return out
}

func then(f ...func(string) string) func(string) string {
	return func(s string) string {
		for _, g := range f {
			s = g(s)
		}
		return s
	}
}

func around(before, after string) func(string) string {
	return func(s string) string { return before + s + after }
}

// carriers hide a sentence; a view of that name must show it again.
var carriers = []struct {
	name  string
	hide  func(string) string
	shown string // name of the view
	in    []string
}{
	{"base64", b64, "base64", worldly},
	{"base64 url", func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }, "base64", worldly},
	{"base64 in lines", then(b64, wrapped(40, "\r\n")), "base64", worldly},
	{"base64 in short lines", then(b64, wrapped(10, "\n")), "base64", plain},
	{"base64 in groups", then(b64, wrapped(4, " ")), "base64", plain},
	{"base64 glued to a word", then(b64, around("decode", "")), "base64", plain},
	{"base64 in an attribute", then(b64, around(`<img src="data:text/plain;base64,`, `">`)), "base64", worldly},
	{"base64 backwards", then(b64, around("", "=="), backwards), "reversed>base64", plain},
	{"base64 of UTF-16", then(wide, b64), "base64", plain},
	{"base64 twice", then(b64, b64), "base64>base64", worldly},
	{"base64 of hex", then(everyByte("%02x", ""), b64), "base64>hex", worldly},
	{"base64 after binary", then(around("\x00\x01\xfe\xff\x10\x80", ""), b64), "base64", plain},
	{"base64 in a JSON string in lines", then(b64, wrapped(40, "\n"), quoteJSON), "json>base64", worldly},
	{"base64 in a comment in a JSON string", then(b64, around("<!-- a\n", " -->"), quoteJSON), "base64", worldly},
	{"base64 added up", func(s string) string { b := b64(s); return `run("` + b[:22] + `" + "` + b[22:] + `")` }, "joined>base64", worldly},
	{"base64 with look-alikes", func(s string) string { return "\u200b" + strings.ReplaceAll(b64(s), "a", "а") }, "fold>base64", plain},
	{"base32", func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }, "base32", worldly},
	{"hex", func(s string) string { return hex.EncodeToString([]byte(s)) }, "hex", worldly},
	{"hex with a prefix", func(s string) string { return "0x" + strings.ToUpper(hex.EncodeToString([]byte(s))) }, "hex", worldly},
	{"hex pairs", everyByte("%02x", " "), "hex", worldly},
	{"hex pairs with colons", everyByte("%02X", ":"), "hex", worldly},
	{"hex list", everyByte("0x%02x", ", "), "hex", worldly},
	{"binary", everyByte("%08b", " "), "binary", worldly},
	{"binary in one", everyByte("%08b", ""), "binary", worldly},
	{"decimal", everyByte("%d", " "), "charcodes", plain},
	{"code points", everyRune("%d", ", "), "charcodes", worldly},
	{"fromCharCode", then(everyRune("%d", ","), around("String.fromCharCode(", ")")), "charcodes", worldly},
	{"chr", then(everyByte("%d", ")+chr("), around("chr(", ")")), "charcodes", plain},
	{"octal", everyByte("%03o", " "), "charcodes", plain},
	{"U+", everyRune("U+%04X", " "), "charcodes", plain},
	{"escape x", everyByte(`\x%02x`, ""), "escape", plain},
	{"escape u", everyRune(`\u%04x`, ""), "escape", worldly},
	{"escape octal", everyByte(`\%03o`, ""), "escape", plain},
	{"percent", everyByte("%%%02X", ""), "url", worldly},
	{"query", url.QueryEscape, "url", worldly[:3]},
	{"percent twice", then(everyByte("%%%02x", ""), url.QueryEscape), "url>url", worldly},
	{"quoted-printable", everyByte("=%02X", ""), "qp", worldly},
	{"decimal references", everyRune("&#%d;", ""), "html", worldly},
	{"hex references", everyRune("&#x%X;", ""), "html", worldly},
	{"references in a comment", then(everyRune("&#%d;", ""), around("<!--", "-->")), "html.comment", worldly},
	{"tags within words", func(s string) string { return strings.ReplaceAll(s, "e", "<b></b>e") + "<br>" }, "html", plain},
	{"comment", around("<p>a</p><!-- ", " -->"), "html.comment", worldly},
	{"hidden element", around(`<p>a</p><div style="color:#fff;background:#ffffff">`, "</div>"), "html.hidden", worldly},
	{"off the screen", around(`<span style='position:absolute; left:-9999px'>`, "</span>"), "html.hidden", worldly},
	{"nested hidden", around(`<div hidden><div>x</div>`, "</div>seen"), "html.hidden", worldly},
	{"template", around(`<template><p>`, "</p></template>"), "html.hidden", worldly},
	{"alt text", around(`<img alt="`, `">`), "html.attr", plain},
	{"meta", around(`<meta name="x" content='`, `'/>`), "html.attr", plain},
	{"title", around(`<title>`, `</title>`), "html.attr", worldly},
	{"markdown comment", around("a\n\n[//]: # \"", "\"\n\nb"), "md.comment", worldly},
	{"link title", around("see [here](https://example.org '", "') now"), "md.hidden", worldly},
	{"image text", around("![", "](x.png)"), "md.hidden", worldly},
	{"footnote", around("a[^1]\n\n[^1]: ", "\n"), "md.hidden", worldly},
	{"JSON string", then(around("\"", "\"\n"), quoteJSON), "json", worldly},
	{"JSON string twice", then(around("\"", "\"\n"), quoteJSON, around("", "\n"), quoteJSON), "json>json", worldly},
	{"concealed", around("ok \x1b[8m", "\x1b[28m done"), "ansi.hidden", worldly},
	{"erased", around("", "\x1b[2K\rdone"), "ansi.hidden", worldly},
	{"terminal title", around("\x1b]0;", "\x07ok"), "ansi.hidden", worldly},
	{"escape sequences within", func(s string) string { return strings.ReplaceAll(s, "e", "e\x1b[1m") }, "ansi", plain},
	{"tag characters", func(s string) string {
		return "ok" + strings.Map(func(r rune) rune { return 0xE0000 + r }, s)
	}, "tags", plain},
	{"interleaved tag characters", func(s string) string {
		return strings.Map(func(r rune) rune { return 0xE0000 + r }, s[:1]) + "a" + strings.Map(func(r rune) rune { return 0xE0000 + r }, s[1:])
	}, "tags", plain},
	{"variation selectors", selectors, "variation", worldly},
	{"zero-width bits", zeroWidthBits, "zerowidth", plain},
	{"zero width", func(s string) string { return strings.ReplaceAll(s, "e", "\u200be\u2060") }, "fold", plain},
	{"soft hyphens", func(s string) string { return strings.ReplaceAll(s, "n", "n\u00ad") }, "fold", plain},
	{"full width", substitute(func(k rune, _ bool) rune { return 'ａ' + k }), "fold", []string{"meet us at the north gate"}},
	{"mathematical", substitute(func(k rune, upper bool) rune {
		if upper {
			return 0x1D5D4 + k
		}
		return 0x1D5EE + k
	}), "fold", plain},
	{"circled", substitute(func(k rune, upper bool) rune {
		if upper {
			return 'Ⓐ' + k
		}
		return 'ⓐ' + k
	}), "fold", plain},
	{"squared", substitute(func(k rune, _ bool) rune { return 0x1F170 + k }), "fold", []string{"MEET US AT THE NORTH GATE"}},
	{"Cyrillic twins", strings.NewReplacer("a", "а", "e", "е", "o", "о", "c", "с", "p", "р").Replace, "fold", plain},
	{"Greek twins", strings.NewReplacer("o", "ο", "v", "ν", "i", "ι").Replace, "fold", plain},
	{"Armenian twins", strings.NewReplacer("n", "ո", "o", "օ", "u", "ս", "h", "հ").Replace, "fold", plain},
	{"small capitals", strings.NewReplacer("a", "ᴀ", "e", "ᴇ", "n", "ɴ", "o", "ᴏ", "r", "ʀ", "t", "ᴛ").Replace, "fold", plain},
	{"struck through", func(s string) string { return strings.Join(strings.Split(s, ""), "\u0336") }, "fold", plain},
	{"no-break spaces", func(s string) string { return strings.ReplaceAll(s, " ", "\u00a0") }, "fold", plain},
	{"accents", strings.NewReplacer("a", "ä", "e", "ê", "i", "ì", "o", "ø", "u", "ů", "n", "ñ").Replace, "plain", plain[:1]},
	{"rot13", then(caesar(13), around("ROT13: ", "")), "rot13", plain},
	{"caesar", caesar(4), "caesar", plain},
	{"atbash", substitute(func(k rune, upper bool) rune {
		if upper {
			return 'Z' - k
		}
		return 'z' - k
	}), "caesar", plain},
	{"backwards", then(backwards, around("Read from the end: ", "")), "reversed", plain},
	{"words backwards", eachWord(backwards), "reversed", plain},
	{"Russian backwards", then(around("", ". Спасибо Анне, и до встречи."), backwards), "reversed", worldly[:1]},
	{"right to left override", then(backwards, around("\u202e", "\u202c")), "reversed", worldly},
	{"leet", strings.NewReplacer("a", "4", "e", "3", "i", "1", "o", "0", "s", "5", "t", "7").Replace, "leet", plain[:1]},
	{"light leet", strings.NewReplacer("e", "3", "o", "0").Replace, "leet", plain[:1]},
	{"spaced", func(s string) string { return strings.Join(strings.Split(s, ""), " ") }, "spaced", []string{"Meet us at the north gate", "Встречаемся у ворот"}},
	{"dotted", eachWord(func(s string) string { return strings.Join(strings.Split(s, ""), ".") }), "spaced", []string{"Meet us at the north gate"}},
	{"glued", func(s string) string { return strings.ReplaceAll(s, " ", "") }, "segmented", []string{"tell them that we have been working here"}},
	{"underscored", func(s string) string { return strings.ReplaceAll(s, " ", "_") }, "segmented", []string{"tell them that we have been working here"}},
	{"with stars", func(s string) string { return strings.ReplaceAll(s, " ", "*") }, "segmented", []string{"tell them that we have been working here"}},
	{"split and added", func(s string) string { return `let a = "` + s[:9] + `", b = "` + s[9:] + `"; print(a + b)` }, "joined", plain},
	{"split in fields", func(s string) string { return `{"part1": "` + s[:9] + `", "part2": "` + s[9:] + `"}` }, "joined", plain},
	{"split in a list", func(s string) string { return `["` + s[:8] + `", "` + s[8:] + `"].join("")` }, "joined", []string{"Meet us  at the north gate"}},
	{"cut lines", wrapped(11, "\n"), "joined", plain[:1]},
	{"UTF-16", wide, "utf16", plain},
	{"UTF-16 with a mark", func(s string) string { return "\xff\xfe" + wide(s) }, "utf16", worldly},
}

func squeeze(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }

func TestCarriers(t *testing.T) {
	for _, c := range carriers {
		for _, want := range c.in {
			data := []byte(c.hide(want))
			s := view.Of(data, 0, view.Limits{})
			found := false
			for i := range s.Views {
				v := &s.Views[i]
				found = found || v.Name == c.shown && strings.Contains(squeeze(string(v.Text)), squeeze(want))
			}
			if !found {
				t.Errorf("%s: %.80q does not show %q in a view %q; there are:", c.name, data, want, c.shown)
				for _, v := range s.Views[1:] {
					t.Errorf("    %s %.120q", v.Name, v.Text)
				}
			}
			if s.Truncated || s.Undecodable {
				t.Errorf("%s: truncated %v, undecodable %v", c.name, s.Truncated, s.Undecodable)
			}
			s.Release()
		}
	}
}

// A carrier must be found as well when it is buried in a long text.
func TestBuriedCarriers(t *testing.T) {
	around := fill(prose, 24<<10)
	for _, c := range carriers {
		if len(c.in) == 0 || strings.HasPrefix(c.name, "UTF-16") || strings.HasPrefix(c.name, "JSON") || strings.Contains(c.name, "JSON string") ||
			c.shown == "qp" || c.shown == "reversed" && c.name == "Russian backwards" {
			continue // these are about a whole text
		}
		want := c.in[len(c.in)-1]
		data := append(append(append([]byte{}, around[:16<<10]...), "\n\n"+c.hide(want)+"\n\n"...), around[16<<10:]...)
		s := view.Of(data, 0, view.Limits{})
		found := false
		for i := range s.Views {
			v := &s.Views[i]
			if v.Name != c.shown || len(v.Text) > 8<<10 {
				continue
			}
			found = found || strings.Contains(squeeze(string(v.Text)), squeeze(want))
		}
		if !found {
			t.Errorf("%s: buried, it does not show %q in a short view %q; there are %s", c.name, want, c.shown, names(s))
		}
		s.Release()
	}
}
