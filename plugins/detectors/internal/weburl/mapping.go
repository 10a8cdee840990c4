package weburl

import (
	"strconv"
	"strings"
)

// block maps a run of code points onto a run of ASCII: first+i becomes to[i % len(to)].
type block struct {
	first, last rune
	to          string
}

const (
	digits  = "0123456789"
	letters = "abcdefghijklmnopqrstuvwxyz"
)

// blocks are the compatibility characters of Unicode that IDNA (UTS 46) maps onto ASCII letters and digits, in code point order.
//
// Source: the compatibility decompositions of the Unicode character database.
var blocks = []block{
	{0xaa, 0xaa, "a"}, {0xb2, 0xb3, "23"}, {0xb9, 0xb9, "1"}, {0xba, 0xba, "o"}, {0x17f, 0x17f, "s"},
	{0x2070, 0x2071, "0i"}, {0x2074, 0x2079, "456789"}, {0x207f, 0x207f, "n"}, {0x2080, 0x2089, digits},
	{0x2090, 0x2092, "aeo"}, {0x2093, 0x2093, "x"}, {0x2095, 0x209c, "hklmnpst"},
	{0x2102, 0x2102, "c"}, {0x210a, 0x210e, "ghhhh"}, {0x2110, 0x2113, "iill"}, {0x2115, 0x2115, "n"},
	{0x2119, 0x211d, "pqrrr"}, {0x2124, 0x2124, "z"}, {0x2128, 0x2128, "z"}, {0x212a, 0x212a, "k"}, {0x212c, 0x212d, "bc"},
	{0x212f, 0x2131, "eef"}, {0x2133, 0x2134, "mo"}, {0x2139, 0x2139, "i"}, {0x2145, 0x2149, "ddeij"},
	{0x2160, 0x2160, "i"}, {0x2164, 0x2164, "v"}, {0x2169, 0x2169, "x"}, {0x216c, 0x216f, "lcdm"},
	{0x2170, 0x2170, "i"}, {0x2174, 0x2174, "v"}, {0x2179, 0x2179, "x"}, {0x217c, 0x217f, "lcdm"},
	{0x2460, 0x2468, digits[1:]}, {0x24b6, 0x24cf, letters}, {0x24d0, 0x24e9, letters}, {0x24ea, 0x24ea, "0"},
	{0xff10, 0xff19, digits}, {0xff21, 0xff3a, letters}, {0xff41, 0xff5a, letters},
	{0x1d400, 0x1d6a3, letters}, {0x1d7ce, 0x1d7ff, digits}, {0x1f130, 0x1f149, letters}, {0x1fbf0, 0x1fbf9, digits},
}

// appendMapped writes what IDNA makes of one non-ASCII character.
func appendMapped(b *strings.Builder, r rune) {
	switch {
	case ignored(r):
		return
	case r == 0x3002 || r == 0xff0e || r == 0xff61 || r == 0x2024: // full stops
		b.WriteByte('.')
	case r >= 0x2469 && r <= 0x2473: // circled ten to twenty
		b.WriteString(strconv.Itoa(int(r-0x2469) + 10))
	case r >= 0x2488 && r <= 0x249b: // one to twenty, each with a full stop
		b.WriteString(strconv.Itoa(int(r-0x2488)+1) + ".")
	case r >= 0xff01 && r <= 0xff0f || r >= 0xff1a && r <= 0xff20 || r >= 0xff3b && r <= 0xff40 || r >= 0xff5b && r <= 0xff5e:
		b.WriteByte(byte(r - 0xff01 + '!'))
	default:
		b.WriteString(fold(r))
	}
}

func fold(r rune) string {
	for _, k := range blocks {
		if r < k.first {
			break
		}
		if r <= k.last {
			i := int(r-k.first) % len(k.to)
			return k.to[i : i+1]
		}
	}
	return string(r)
}

// ignored reports characters that vanish: soft hyphen, zero-width characters, variation selectors.
func ignored(r rune) bool {
	return r == 0xad || r == 0x34f || r >= 0x180b && r <= 0x180f || r >= 0x200b && r <= 0x200d || r == 0x2060 || r == 0x2064 || r == 0xfeff ||
		r >= 0xfe00 && r <= 0xfe0f || r >= 0xe0100 && r <= 0xe01ef
}
