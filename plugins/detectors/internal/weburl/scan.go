package weburl

import "strings"

// maxScheme bounds the scheme looked for before a colon.
const maxScheme = 24

// lenient lists the schemes that need no "//" to reach a host.
var lenient = map[string]bool{"http": true, "https": true, "ftp": true, "ws": true, "wss": true, "jar": true, "view-source": true, "netdoc": true,
	"file": true, "url": true}

// Scan calls visit with the byte range of every URL in text, from left to right, until visit returns false. Trailing punctuation of
// prose is left out. The work is linear: ranges do not overlap.
func Scan(text string, visit func(start, end int) bool) {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], ':')
		if i < 0 {
			return
		}
		colon := from + i
		start := schemeStart(text, from, colon)
		if !opens(strings.ToLower(text[start:colon]), text[colon+1:]) {
			from = colon + 1
			continue
		}
		end := colon + 1 + extent(text[colon+1:])
		if end > start && !visit(start, end) {
			return
		}
		from = max(end, colon+1)
	}
}

// schemeStart walks back over the letters of a scheme.
func schemeStart(text string, from, colon int) int {
	i := colon
	for i > from && colon-i < maxScheme && isScheme(text[i-1]) {
		i--
	}
	for i < colon && text[i]|0x20 < 'a' || i < colon && text[i]|0x20 > 'z' {
		i++ // a scheme starts with a letter
	}
	return i
}

func isScheme(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.' || c == '_'
}

// opens reports whether rest, after "scheme:", starts a URL.
func opens(scheme, rest string) bool {
	if len(scheme) < 2 || rest == "" {
		return false
	}
	if strings.HasPrefix(rest, "//") {
		return true
	}
	if i := strings.LastIndexByte(scheme, '.'); i >= 0 {
		scheme = scheme[i+1:]
	}
	c := rest[0]
	return lenient[scheme] && (c == '/' || c == '\\' || c == '[' || wrappers[scheme] && strings.Contains(rest[:min(len(rest), maxScheme)], "://") || bareStart(rest))
}

// brackets are pairs that may stand in a URL when they are balanced.
var brackets = [...]string{"()", "[]", "{}"}

// bareStart reports a host right after the colon, without slashes: it must look like one, since prose has "http:yes" too.
func bareStart(rest string) bool {
	n, dots, digits := 0, 0, 0
	for n < len(rest) && n < 64 && (isScheme(rest[n]) || rest[n] == '%') {
		if rest[n] == '.' {
			dots++
		}
		if rest[n] >= '0' && rest[n] <= '9' {
			digits++
		}
		n++
	}
	return n > 0 && rest[0] != '.' && (dots > 0 && dots < n || digits == n && n >= 8 || strings.HasPrefix(strings.ToLower(rest), "localhost") || strings.HasPrefix(rest, "0x"))
}

// byteClass tells what a byte does to a URL's extent: 0 nothing, positive opens and negative closes a bracket, ends ends it.
var byteClass = func() (t [256]int8) {
	for c := range t {
		if c <= ' ' || c == 0x7f || strings.IndexByte("\"'`<>|^", byte(c)) >= 0 {
			t[c] = ends
		}
	}
	for i, b := range brackets {
		t[b[0]], t[b[1]] = int8(i*2+1), int8(-i*2-1)
	}
	return t
}()

const ends = 100

// extent returns how many bytes of s belong to a URL.
func extent(s string) int {
	depth := [len(brackets)]int{}
	end := 0
	for end < len(s) && end < MaxURL {
		class := byteClass[s[end]]
		if class == ends {
			break
		}
		if class > 0 {
			depth[class>>1]++
		} else if class < 0 {
			if depth[-class>>1]--; depth[-class>>1] < 0 {
				break
			}
		}
		end++
	}
	return len(strings.TrimRight(s[:end], `.,;:!?*_~\`))
}
