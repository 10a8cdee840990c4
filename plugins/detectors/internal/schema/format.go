package schema

import (
	"net/netip"
	"sort"
	"strings"
	"time"
)

// formats are asserted, not only noted: an operator who declares one means it.
var formats = map[string]func(string) bool{
	"date-time": func(s string) bool {
		_, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
		return err == nil
	},
	"date": func(s string) bool { _, err := time.Parse("2006-01-02", s); return err == nil },
	"time": func(s string) bool {
		_, err := time.Parse("15:04:05.999999999Z07:00", strings.ToUpper(s))
		return err == nil
	},
	"ipv4": func(s string) bool { a, err := netip.ParseAddr(s); return err == nil && a.Is4() },
	"ipv6": func(s string) bool {
		a, err := netip.ParseAddr(s)
		return err == nil && a.Is6() && a.Zone() == ""
	},
	"uuid":     uuid,
	"email":    email,
	"hostname": hostname,
	"uri":      uri,
}

func formatNames() []string {
	var out []string
	for name := range formats {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

func uuid(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		hex := s[i] >= '0' && s[i] <= '9' || s[i]|0x20 >= 'a' && s[i]|0x20 <= 'f'
		if dash && s[i] != '-' || !dash && !hex {
			return false
		}
	}
	return true
}

func email(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && local != "" && len(local) <= 64 && !strings.ContainsAny(local, " \t\r\n@<>") && hostname(domain)
}

func hostname(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for _, label := range strings.Split(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for i := range len(label) {
			if c := label[i]; !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-') {
				return false
			}
		}
	}
	return true
}

// uri accepts scheme ":" and characters of RFC 3986.
func uri(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || scheme == "" || rest == "" || !(scheme[0]|0x20 >= 'a' && scheme[0]|0x20 <= 'z') {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c >= 0x7f || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	return true
}
