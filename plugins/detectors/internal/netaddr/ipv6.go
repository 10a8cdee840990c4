package netaddr

import (
	"net/netip"
	"strings"
)

// maxV6 is the longest IPv6 spelling looked at, zone included.
const maxV6 = 128

// ParseV6 reads the inside of a bracketed host. A zone ("%eth0", "%25eth0") is dropped: it names a way out, not another place.
func ParseV6(s string) (netip.Addr, bool) {
	if len(s) > maxV6 {
		return netip.Addr{}, false
	}
	if i := strings.IndexByte(s, '%'); i >= 0 {
		s = s[:i]
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Is4() {
		return netip.Addr{}, false
	}
	return a, true
}
