// Package weburl reads URLs the way browsers and HTTP clients do (the WHATWG URL standard), which net/url does not, and says whether
// fetching one leads inside: to the local machine, a private network or a cloud's metadata service.
//
// Where clients are known to disagree about a URL, every reading is tried. Nothing is resolved: the answer rests on the text alone.
package weburl

import "strings"

// MaxURL is the longest text, in bytes, that is read as one URL. What is longer is cut before parsing: the host comes first.
const MaxURL = 16 << 10

// URL is the split text of one URL. Nothing is decoded.
type URL struct {
	// Scheme is in lower case, without the colon.
	Scheme string
	// User is everything before the last "@" of the authority.
	User string
	// Host is as written, brackets included.
	Host string
	// Port is what follows the host's colon.
	Port string
	// Path, Query and Fragment are without their leading "?" and "#"; Path keeps its slash.
	Path, Query, Fragment string
	// Authority says whether there was one, that is, whether Host means a host.
	Authority bool
}

// special lists the schemes that the standard parses leniently: any number of slashes, backslashes too.
var special = map[string]bool{"http": true, "https": true, "ws": true, "wss": true, "ftp": true}

// Parse splits raw into u. It reports false when raw has no scheme. A one-letter scheme is a drive letter and no URL. The result is
// filled in instead of returned: a URL is large, and copying it costs more than reading it.
func Parse(raw string, u *URL) bool { return u.parse(Clean(raw)) }

// parse splits cleaned text.
func (u *URL) parse(raw string) bool {
	scheme, rest, ok := cutScheme(raw)
	*u = URL{Scheme: scheme}
	if !ok {
		return false
	}
	slashes, ends, lenient := stopSlash, stopSlash|stopTail, special[scheme]
	if lenient || scheme == "file" {
		slashes, ends = stopSlash|stopBack, stopSlash|stopBack|stopTail
	}
	switch {
	case lenient:
		for rest != "" && stops[rest[0]]&slashes != 0 {
			rest = rest[1:]
		}
		u.Authority = true
	case len(rest) >= 2 && stops[rest[0]]&slashes != 0 && stops[rest[1]]&slashes != 0:
		rest, u.Authority = rest[2:], true
	}
	if u.Authority {
		end := stop(rest, ends)
		u.User, u.Host, u.Port = cutAuthority(rest[:end])
		rest = rest[end:]
	}
	u.Path, u.Query, u.Fragment = cutTail(rest)
	return true
}

// Clean does what the standard does before parsing: strip control characters and spaces around, tabs and line breaks within.
func Clean(raw string) string {
	if len(raw) > MaxURL {
		raw = raw[:MaxURL]
	}
	for raw != "" && raw[0] <= ' ' {
		raw = raw[1:]
	}
	for raw != "" && raw[len(raw)-1] <= ' ' {
		raw = raw[:len(raw)-1]
	}
	for i := range len(raw) {
		if c := raw[i]; c == '\t' || c == '\r' || c == '\n' {
			return breaks.Replace(raw)
		}
	}
	return raw
}

var breaks = strings.NewReplacer("\t", "", "\r", "", "\n", "")

func cutScheme(s string) (scheme, rest string, ok bool) {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ':':
			return lowerASCII(s[:i]), s[i+1:], i > 1
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.' || c == '_'):
		default:
			return "", "", false
		}
	}
	return "", "", false
}

// cutAuthority splits user@host:port. The last "@" counts; a colon inside brackets does not.
func cutAuthority(s string) (user, host, port string) {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		user, s = s[:i], s[i+1:]
	}
	from := 0
	if strings.HasPrefix(s, "[") {
		from = strings.IndexByte(s, ']') + 1
	}
	if i := strings.IndexByte(s[from:], ':'); i >= 0 {
		return user, s[:from+i], s[from+i+1:]
	}
	return user, s, ""
}

func cutTail(s string) (path, query, fragment string) {
	s, fragment, _ = strings.Cut(s, "#")
	path, query, _ = strings.Cut(s, "?")
	return path, query, fragment
}

// Bytes at which the parts of a URL end.
const (
	stopSlash uint8 = 1 << iota
	stopBack        // backslash
	stopTail        // ? and #
	stopAt
	stopSpace
	stopColon
	stopAmp
	stopPercent
)

var stops = [256]uint8{
	'/': stopSlash, '\\': stopBack, '?': stopTail, '#': stopTail, '@': stopAt, ' ': stopSpace, ':': stopColon, '&': stopAmp, '%': stopPercent,
}

// stop returns where the first of the bytes in mask stands, or len(s).
func stop(s string, mask uint8) int {
	for i := range len(s) {
		if stops[s[i]]&mask != 0 {
			return i
		}
	}
	return len(s)
}

// lowerASCII is strings.ToLower for ASCII, without work for what is in lower case.
func lowerASCII(s string) string {
	if isLowerASCII(s) {
		return s
	}
	return strings.ToLower(s)
}

// Unescape decodes %XX once and leaves malformed escapes as they are.
func Unescape(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && hexDigit(s[i+1]) < 16 && hexDigit(s[i+2]) < 16 {
			out = append(out, byte(hexDigit(s[i+1])<<4|hexDigit(s[i+2])))
			i += 2
			continue
		}
		out = append(out, s[i])
	}
	return string(out)
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 16
}
