package structure

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxDecode bounds one encoded value, in bytes as written.
const maxDecode = 8 << 10

// decodeText returns the readable text that an encoded value hides, or "". Base64, hexadecimal (with or without separators) and base32
// are tried; bytes that do not read as text were no message.
func decodeText(v string) string {
	if len(v) > maxDecode {
		v = v[:maxDecode&^7]
	}
	v = strings.TrimRight(v, "=")
	for _, decode := range []func(string) []byte{fromHex, fromBase64, fromBase32} {
		if b := decode(v); readable(b) || document(b) {
			return string(b)
		}
	}
	return ""
}

// hexMarks stand between the digits of a dump; urlSafe brings the URL-safe alphabet of base64 to the plain one.
var (
	hexMarks = strings.NewReplacer("-", "", ":", "", ".", "", "_", "", "%", "")
	urlSafe  = strings.NewReplacer("-", "+", "_", "/", " ", "+")
)

// hexDigits returns how many bytes of v are hexadecimal digits, 0 as soon as one is neither that nor a mark between digits.
func hexDigits(v string) int {
	n := 0
	for i := range len(v) {
		switch c := v[i]; {
		case c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f':
			n++
		case strings.IndexByte("-:._%", c) < 0:
			return 0
		}
	}
	return n
}

func fromHex(v string) []byte {
	if len(v) < 14 || hexDigits(v) == 0 {
		return nil
	}
	v = hexMarks.Replace(v)
	if len(v) < 14 || !strings.ContainsAny(v, "abcdefABCDEF") && len(v) < 40 {
		return nil // digits alone are more often numbers than text
	}
	b, err := hex.DecodeString(v[:len(v)&^1])
	if err != nil {
		return nil
	}
	return b
}

func fromBase64(v string) []byte {
	if len(v) < 16 || !strings.ContainsAny(v, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") || !strings.ContainsAny(v, "abcdefghijklmnopqrstuvwxyz") {
		return nil
	}
	v = urlSafe.Replace(v)
	if len(v)%4 == 1 {
		v = v[:len(v)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(v)
	if err != nil {
		return nil
	}
	return b
}

func fromBase32(v string) []byte {
	if len(v) < 16 || v != strings.ToUpper(v) && v != strings.ToLower(v) {
		return nil
	}
	v = strings.ToUpper(v)
	for len(v) > 0 && strings.IndexByte("\x01\x03\x06", byte(len(v)%8)) >= 0 {
		v = v[:len(v)-1]
	}
	b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(v)
	if err != nil {
		return nil
	}
	return b
}

// readable reports text that a person could have written: valid UTF-8, mostly letters, digits and spaces, with vowels among Latin
// letters. Of random bytes, fewer than one in 100,000 strings of eight passes.
func readable(b []byte) bool {
	if len(b) < 7 {
		return false
	}
	letters, others, latin, vowels, total := 0, 0, 0, 0, 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && (size > 1 || len(b) > 3) {
			return false // a cut at the end is fine
		}
		b = b[size:]
		total++
		switch {
		case r < 0x80 && unicode.IsLetter(r):
			letters, latin = letters+1, latin+1
			if strings.ContainsRune("aeiouyAEIOUY", r) {
				vowels++
			}
		case unicode.IsLetter(r) || unicode.IsMark(r):
			letters++
		case unicode.IsDigit(r) || r == ' ' || r == '\n' || r == '\t' || r == '\r':
		case r < ' ' || r == 0x7f:
			return false
		default:
			others++
		}
	}
	if others*3 > total || letters*5 < total*2 && (total < 14 || letters*5 < total) {
		return false // short ones must be mostly letters: chance makes more of them
	}
	return latin < 6 || vowels*8 >= latin
}

// document reports JSON: printable, with a quoted name and a colon.
func document(b []byte) bool {
	s := string(b)
	if len(s) < 12 || s[0] != '{' && s[0] != '[' || !strings.Contains(s, `":`) {
		return false
	}
	for _, r := range s {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' && r != '\r' {
			return false
		}
	}
	return true
}

// wordCount counts the words of a text.
func wordCount(s string) int { return len(strings.Fields(s)) }

// prose reports a text of several words, as people write them; scripts without spaces count by their letters.
func prose(s string) bool {
	wide, narrow := letters(s)
	return wide >= 8 || wordCount(s) >= 4 && narrow >= 14
}

// sentence is prose of some length.
func sentence(s string) bool {
	wide, narrow := letters(s)
	return wide >= 10 || wordCount(s) >= 5 && narrow >= 14
}

// letters counts the letters of scripts without spaces, and all others.
func letters(s string) (wide, narrow int) {
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			wide++
		case unicode.IsLetter(r):
			narrow++
		}
	}
	return wide, narrow
}
