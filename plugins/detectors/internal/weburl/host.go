package weburl

import (
	"net/netip"
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/netaddr"
)

// maxHost bounds what is read as a host, in bytes as written. DNS allows 253, percent-encoding triples it.
const maxHost = 1024

// HostKind says what a host turned out to be.
type HostKind uint8

// The kinds of host.
const (
	// HostNone is an empty or unreadable host.
	HostNone HostKind = iota
	// HostName is a DNS name.
	HostName
	// HostIP is an address; Addr holds it.
	HostIP
)

// Host is a host after decoding and mapping.
type Host struct {
	Kind HostKind
	// Name is the mapped lower-case name without a trailing dot. For an address, as it was spelled after mapping.
	Name string
	// Addr is the address by the URL standard, Alt the one of software that ignores leading zeros (zero if the same).
	Addr, Alt netip.Addr
	// Odd is set when the spelling is one that people do not use: numeric, octal, percent-encoded, full width, a trailing dot.
	Odd bool
	// Overflow is set when the address exists only modulo 256 or 2^32.
	Overflow bool
}

// ParseHost reads a host as written in a URL. Percent-encoding is undone twice, look-alike characters are mapped as IDNA does, and
// what follows a character that may not stand in a host is cut off, as lenient resolvers do.
func ParseHost(raw string) Host {
	if raw == "" || len(raw) > maxHost {
		return Host{}
	}
	if raw[0] == '[' {
		return parseBracketed(raw)
	}
	if plainHost(raw) {
		return fromName(raw, false)
	}
	name := Unescape(Unescape(raw))
	odd := name != raw
	mapped := mapHost(name)
	odd = odd || mapped != strings.ToLower(name)
	if i := strings.IndexFunc(mapped, forbidden); i >= 0 {
		mapped, odd = mapped[:i], true
	}
	return fromName(mapped, odd)
}

func parseBracketed(raw string) Host {
	inner := strings.TrimSuffix(raw[1:], "]")
	text := mapHost(Unescape(inner))
	a, ok := netaddr.ParseV6(text)
	if !ok {
		return Host{}
	}
	return Host{Kind: HostIP, Name: text, Addr: a, Odd: netaddr.Classify(a) != netaddr.Public && embeds(a)}
}

func embeds(a netip.Addr) bool {
	_, ok := netaddr.Embedded(a)
	return ok
}

// fromName tells names from addresses: a host whose last label is a number is an address or nothing.
func fromName(name string, odd bool) Host {
	if netaddr.EndsInNumber(name) {
		v, ok := netaddr.ParseV4(name)
		if !ok {
			return Host{}
		}
		return Host{Kind: HostIP, Name: name, Addr: v.Addr, Alt: v.Decimal, Odd: odd || v.Odd, Overflow: v.Overflow}
	}
	trimmed := strings.TrimSuffix(name, ".")
	if trimmed == "" || trimmed[0] == '.' || strings.Contains(trimmed, "..") {
		return Host{}
	}
	return Host{Kind: HostName, Name: trimmed, Odd: odd || trimmed != name}
}

// plainHost reports a host of small letters, digits, hyphens and dots, which needs no mapping.
func plainHost(s string) bool {
	for i := range len(s) {
		if c := s[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.') {
			return false
		}
	}
	return true
}

// forbidden reports the code points that the URL standard refuses in a host.
func forbidden(r rune) bool {
	return r <= ' ' || r == 0x7f || strings.ContainsRune(`#/:<>?@[\]^|%"'`+"`", r)
}

// mapHost lower-cases and maps a host name as IDNA processing does for the characters that matter here: those that become ASCII.
// Other letters stay as they are.
func mapHost(s string) string {
	if isLowerASCII(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range s {
		if r < 0x80 {
			b.WriteByte(lower(byte(r)))
			continue
		}
		appendMapped(&b, r)
	}
	return b.String()
}

func isLowerASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 || s[i] >= 'A' && s[i] <= 'Z' {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}
