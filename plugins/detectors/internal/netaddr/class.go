// Package netaddr reads IP addresses the way the many programs that fetch a URL read them, and says which of them lead inside.
//
// It is pure and does no lookups: a name that resolves to a private address is invisible to it.
package netaddr

import "net/netip"

// Class says where packets for an address end up.
type Class uint8

// The classes, in no order. Only Public and Documentation count as the open internet.
const (
	// Public is everything not listed below.
	Public Class = iota
	// Documentation is the ranges reserved for examples (RFC 5737, RFC 3849, RFC 9637). Nothing answers there.
	Documentation
	// Unspecified is 0.0.0.0/8 and "::", which most systems route to the local machine.
	Unspecified
	// Loopback is 127.0.0.0/8 and ::1.
	Loopback
	// Private is RFC 1918 and the unique and site local ranges of IPv6.
	Private
	// LinkLocal is 169.254.0.0/16 and fe80::/10.
	LinkLocal
	// Metadata is an address where a cloud serves instance credentials.
	Metadata
	// CarrierNAT is the shared range 100.64.0.0/10 (RFC 6598), also used by overlay networks.
	CarrierNAT
	// Multicast reaches every listener on the link.
	Multicast
	// Reserved is ranges that are not routed: 192.0.0.0/24, 198.18.0.0/15, 240.0.0.0/4, 100::/64 and the like.
	Reserved
)

var classNames = [...]string{
	"public", "documentation", "unspecified", "loopback", "private", "link-local", "cloud metadata", "carrier NAT", "multicast", "reserved",
}

// String returns the class in words.
func (c Class) String() string {
	if int(c) < len(classNames) {
		return classNames[c]
	}
	return "unknown"
}

// Internal reports whether a request to an address of this class leaves the open internet.
func (c Class) Internal() bool { return c != Public && c != Documentation }

// metadata lists the addresses where clouds answer for instance credentials or control.
//
// Sources: the vendors' own documentation of their instance metadata services.
var metadata = map[netip.Addr]bool{
	netip.MustParseAddr("169.254.169.254"):   true, // AWS, GCP, Azure, Oracle, DigitalOcean, Hetzner, OpenStack, IBM and most others
	netip.MustParseAddr("169.254.170.2"):     true, // AWS ECS task credentials
	netip.MustParseAddr("169.254.170.23"):    true, // AWS EKS pod identity
	netip.MustParseAddr("169.254.42.42"):     true, // Scaleway
	netip.MustParseAddr("169.254.0.23"):      true, // Tencent
	netip.MustParseAddr("169.254.10.10"):     true, // Tencent, older regions
	netip.MustParseAddr("100.100.100.200"):   true, // Alibaba
	netip.MustParseAddr("192.0.0.192"):       true, // Oracle classic
	netip.MustParseAddr("168.63.129.16"):     true, // Azure WireServer: a public range, answered by the hypervisor
	netip.MustParseAddr("fd00:ec2::254"):     true, // AWS
	netip.MustParseAddr("fd00:ec2::23"):      true, // AWS EKS pod identity
	netip.MustParseAddr("fd20:ce::254"):      true, // GCP
	netip.MustParseAddr("fd00:42::42"):       true, // Scaleway
	netip.MustParseAddr("fe80::a9fe:a9fe"):   true, // OpenStack
	netip.MustParseAddr("fd00:a9fe:a9fe::1"): true, // Akamai (Linode)
}

// ranges lists the special-purpose blocks, the narrow before the wide.
//
// Source: the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its updates).
var ranges = []struct {
	prefix netip.Prefix
	class  Class
}{
	{netip.MustParsePrefix("0.0.0.0/8"), Unspecified},
	{netip.MustParsePrefix("10.0.0.0/8"), Private},
	{netip.MustParsePrefix("100.64.0.0/10"), CarrierNAT},
	{netip.MustParsePrefix("127.0.0.0/8"), Loopback},
	{netip.MustParsePrefix("169.254.0.0/16"), LinkLocal},
	{netip.MustParsePrefix("172.16.0.0/12"), Private},
	{netip.MustParsePrefix("192.0.2.0/24"), Documentation},
	{netip.MustParsePrefix("192.0.0.0/24"), Reserved},
	{netip.MustParsePrefix("192.168.0.0/16"), Private},
	{netip.MustParsePrefix("198.18.0.0/15"), Reserved},
	{netip.MustParsePrefix("198.51.100.0/24"), Documentation},
	{netip.MustParsePrefix("203.0.113.0/24"), Documentation},
	{netip.MustParsePrefix("224.0.0.0/4"), Multicast},
	{netip.MustParsePrefix("240.0.0.0/4"), Reserved},
	{netip.MustParsePrefix("::/128"), Unspecified},
	{netip.MustParsePrefix("::1/128"), Loopback},
	{netip.MustParsePrefix("64:ff9b:1::/48"), Reserved},
	{netip.MustParsePrefix("100::/64"), Reserved},
	{netip.MustParsePrefix("2001:2::/48"), Reserved},
	{netip.MustParsePrefix("2001:10::/28"), Reserved},
	{netip.MustParsePrefix("2001:db8::/32"), Documentation},
	{netip.MustParsePrefix("3fff::/20"), Documentation},
	{netip.MustParsePrefix("fc00::/7"), Private},
	{netip.MustParsePrefix("fe80::/10"), LinkLocal},
	{netip.MustParsePrefix("fec0::/10"), Private},
	{netip.MustParsePrefix("ff00::/8"), Multicast},
}

// Classify says where packets for a end up. An IPv6 address that carries an IPv4 address in one of the transition formats is also
// judged by what it carries; the more internal of the two readings wins.
func Classify(a netip.Addr) Class {
	a = a.WithZone("")
	own := lookup(a)
	if v4, ok := Embedded(a); ok {
		if inner := lookup(v4); inner.Internal() || own == Public {
			return inner
		}
	}
	return own
}

func lookup(a netip.Addr) Class {
	if metadata[a] {
		return Metadata
	}
	for _, r := range ranges {
		if r.prefix.Contains(a) {
			return r.class
		}
	}
	return Public
}

// Embedded returns the IPv4 address that an IPv6 address carries: mapped, compatible, translated (SIIT), NAT64, 6to4, Teredo or
// ISATAP. "::" and "::1" carry none.
func Embedded(a netip.Addr) (netip.Addr, bool) {
	if a.Is4() || !a.IsValid() {
		return netip.Addr{}, false
	}
	b := a.As16()
	tail := netip.AddrFrom4([4]byte(b[12:16]))
	switch {
	case zero(b[:10]) && b[10] == 0xff && b[11] == 0xff: // ::ffff:a.b.c.d
		return tail, true
	case zero(b[:8]) && b[8] == 0xff && b[9] == 0xff && zero(b[10:12]): // ::ffff:0:a.b.c.d
		return tail, true
	case zero(b[:12]) && !zero(b[12:15]): // ::a.b.c.d
		return tail, true
	case b[0] == 0 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b && zero(b[4:12]): // 64:ff9b::a.b.c.d
		return tail, true
	case b[0] == 0x20 && b[1] == 0x02: // 2002:ab:cd::
		return netip.AddrFrom4([4]byte(b[2:6])), true
	case b[0] == 0x20 && b[1] == 0x01 && zero(b[2:4]): // Teredo keeps the client's address inverted
		return netip.AddrFrom4([4]byte{^b[12], ^b[13], ^b[14], ^b[15]}), true
	case b[8]&^0x03 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe: // ISATAP
		return tail, true
	}
	return netip.Addr{}, false
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
