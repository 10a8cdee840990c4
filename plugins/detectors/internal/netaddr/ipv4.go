package netaddr

import (
	"net/netip"
	"strings"
)

// maxParts is how many dotted parts an IPv4 address may have; maxDigits bounds one part, leading zeros included.
const (
	maxParts  = 4
	maxDigits = 64
)

// V4 is one reading of a numeric host name.
type V4 struct {
	// Addr is the address by the URL standard: octal after a leading 0, hexadecimal after 0x, short forms filled up.
	Addr netip.Addr
	// Decimal is the address for software that ignores leading zeros, when that differs; else the zero Addr.
	Decimal netip.Addr
	// Odd is set when the text is not the plain four decimal numbers.
	Odd bool
	// Overflow is set when a number was too large and Addr is what remains of it modulo its room. The URL standard
	// calls such a host invalid; older resolvers take it.
	Overflow bool
}

// EndsInNumber reports whether host must be read as an IPv4 address: its last label, a trailing dot aside, is a number.
func EndsInNumber(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if last == "" || len(last) > maxDigits {
		return false
	}
	if allIn(last, isDigit) {
		return true
	}
	_, ok := number(last, base(last))
	return ok
}

// ParseV4 reads host as an IPv4 address in any spelling that resolvers accept. ok is false for anything else.
func ParseV4(host string) (v V4, ok bool) {
	host, dotted := strings.CutSuffix(host, ".")
	parts := strings.Split(host, ".")
	if host == "" || len(parts) > maxParts {
		return V4{}, false
	}
	v.Odd = dotted || len(parts) != maxParts
	var strict, decimal reading
	for i, p := range parts {
		width := 8
		if i == len(parts)-1 {
			width = 8 * (maxParts + 1 - len(parts))
		}
		b := base(p)
		v.Odd = v.Odd || b != 10
		strict.add(p, b, width)
		decimal.add(p, decimalBase(b), width)
	}
	return v.settle(strict, decimal)
}

// settle fills in the readings that hold. A number that is invalid as octal ("08") still has its decimal reading.
func (v V4) settle(strict, decimal reading) (V4, bool) {
	switch {
	case strict.ok():
		v.Addr, v.Overflow = strict.addr(), strict.over
		if decimal.ok() && !decimal.over && decimal.addr() != v.Addr {
			v.Decimal = decimal.addr()
		}
	case decimal.ok():
		v.Addr, v.Overflow = decimal.addr(), decimal.over
	default:
		return V4{}, false
	}
	return v, true
}

// reading gathers the bits of one address, most significant part first.
type reading struct {
	bits      uint32
	over, bad bool
}

func (r *reading) add(part string, base, width int) {
	n, ok := number(part, base)
	if !ok {
		r.bad = true
		return
	}
	room := uint64(1) << width
	r.over = r.over || n.big || n.value >= room
	r.bits = uint32(uint64(r.bits)<<width | n.value&(room-1))
}

func (r reading) ok() bool { return !r.bad }

func (r reading) addr() netip.Addr {
	return netip.AddrFrom4([4]byte{byte(r.bits >> 24), byte(r.bits >> 16), byte(r.bits >> 8), byte(r.bits)})
}

// base tells how the URL standard reads a number.
func base(s string) int {
	switch {
	case len(s) >= 2 && s[0] == '0' && (s[1]|0x20) == 'x':
		return 16
	case len(s) >= 2 && s[0] == '0':
		return 8
	}
	return 10
}

// decimalBase is base for software that knows no octal.
func decimalBase(b int) int {
	if b == 8 {
		return 10
	}
	return b
}

// num is a number modulo 2^32; big is set when it did not fit 33 bits.
type num struct {
	value uint64
	big   bool
}

// number parses s in base. A bare "0x" is zero, as the URL standard has it.
func number(s string, base int) (num, bool) {
	if base == 16 {
		s = s[2:]
	} else if s == "" {
		return num{}, false
	}
	if len(s) > maxDigits {
		return num{}, false
	}
	var n num
	for i := 0; i < len(s); i++ {
		d := digit(s[i])
		if d >= base {
			return num{}, false
		}
		n.value = n.value*uint64(base) + uint64(d)
		if n.value > 1<<32-1 {
			n.big = true
			n.value &= 1<<32 - 1
		}
	}
	return n, true
}

func digit(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func allIn(s string, in func(byte) bool) bool {
	for i := 0; i < len(s); i++ {
		if !in(s[i]) {
			return false
		}
	}
	return true
}
