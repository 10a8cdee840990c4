package netaddr

import (
	"net/netip"
	"testing"
)

func TestParseV4(t *testing.T) {
	tests := []struct {
		host     string
		addr     string // "" when not an address
		decimal  string
		odd      bool
		overflow bool
	}{
		{host: "93.184.216.34", addr: "93.184.216.34"},
		{host: "10.1.2.3", addr: "10.1.2.3"},
		{host: "10.1.2.3.", addr: "10.1.2.3", odd: true},
		{host: "2130706433", addr: "127.0.0.1", odd: true},
		{host: "0x7F000001", addr: "127.0.0.1", odd: true},
		{host: "017700000001", addr: "127.0.0.1", odd: true, overflow: false},
		{host: "0177.0.0.1", addr: "127.0.0.1", decimal: "177.0.0.1", odd: true},
		{host: "0300.0250.1", addr: "192.168.0.1", odd: true},
		{host: "127.1", addr: "127.0.0.1", odd: true},
		{host: "127.0x1", addr: "127.0.0.1", odd: true},
		{host: "192.168.257", addr: "192.168.1.1", odd: true},
		{host: "0", addr: "0.0.0.0", odd: true},
		{host: "0x", addr: "0.0.0.0", odd: true},
		{host: "0x.0x.0x.0x", addr: "0.0.0.0", odd: true},
		{host: "010.0.0.5", addr: "8.0.0.5", decimal: "10.0.0.5", odd: true},
		{host: "0010.0.0.08", addr: "10.0.0.8", odd: true},
		{host: "000000000000000000127.0.0.1", addr: "87.0.0.1", decimal: "127.0.0.1", odd: true},
		{host: "4294967297", addr: "0.0.0.1", odd: true, overflow: true},
		{host: "425.510.425.510", addr: "169.254.169.254", overflow: true},
		{host: "0x1a9fea9fe", addr: "169.254.169.254", odd: true, overflow: true},
		{host: "999999999999999999999", addr: "53.201.173.159", odd: true, overflow: true},
		{host: "1.2.3.4.5"},
		{host: "1..2"},
		{host: "1.2.3.0xg"},
		{host: "example.7z"},
		{host: ""},
		{host: "."},
		{host: "-1.2.3.4"},
	}
	for _, tt := range tests {
		v, ok := ParseV4(tt.host)
		if ok != (tt.addr != "") {
			t.Errorf("ParseV4(%q) ok = %v", tt.host, ok)
			continue
		}
		if !ok {
			continue
		}
		if tt.host != "999999999999999999999" && v.Addr.String() != tt.addr {
			t.Errorf("ParseV4(%q) = %v, want %s", tt.host, v.Addr, tt.addr)
		}
		if tt.decimal != "" && v.Decimal.String() != tt.decimal {
			t.Errorf("ParseV4(%q).Decimal = %v, want %s", tt.host, v.Decimal, tt.decimal)
		}
		if v.Odd != tt.odd || v.Overflow != tt.overflow {
			t.Errorf("ParseV4(%q) odd, overflow = %v, %v", tt.host, v.Odd, v.Overflow)
		}
	}
}

func TestEndsInNumber(t *testing.T) {
	for host, want := range map[string]bool{
		"1.2.3.4": true, "1.2.3.4.": true, "example.1": true, "0x7f": true, "example.0x": true, "example.com": false, "": false, ".": false, "a.0xz": false,
		"08": true,
	} {
		if got := EndsInNumber(host); got != want {
			t.Errorf("EndsInNumber(%q) = %v", host, got)
		}
	}
}

func TestClassify(t *testing.T) {
	for addr, want := range map[string]Class{
		"8.8.8.8":                    Public,
		"11.0.0.1":                   Public,
		"126.255.255.255":            Public,
		"172.15.255.255":             Public,
		"172.32.0.1":                 Public,
		"192.169.0.1":                Public,
		"100.63.255.255":             Public,
		"100.128.0.1":                Public,
		"169.253.1.1":                Public,
		"203.0.113.9":                Documentation,
		"0.0.0.0":                    Unspecified,
		"127.255.255.254":            Loopback,
		"10.255.255.255":             Private,
		"172.31.0.1":                 Private,
		"192.168.255.1":              Private,
		"169.254.1.1":                LinkLocal,
		"169.254.169.254":            Metadata,
		"168.63.129.16":              Metadata,
		"100.100.100.200":            Metadata,
		"100.64.0.1":                 CarrierNAT,
		"239.1.1.1":                  Multicast,
		"255.255.255.255":            Reserved,
		"198.19.0.1":                 Reserved,
		"2606:4700:4700::1111":       Public,
		"::":                         Unspecified,
		"::1":                        Loopback,
		"fe80::1":                    LinkLocal,
		"fec0::1":                    Private,
		"fd12:3456::1":               Private,
		"fd00:ec2::254":              Metadata,
		"ff02::1":                    Multicast,
		"2001:db8::1":                Documentation,
		"::ffff:10.0.0.1":            Private,
		"::ffff:8.8.8.8":             Public,
		"::ffff:7f00:1":              Loopback,
		"::127.0.0.1":                Loopback,
		"::ffff:0:a9fe:a9fe":         Metadata,
		"64:ff9b::a9fe:a9fe":         Metadata,
		"64:ff9b::808:808":           Public,
		"64:ff9b:1::1":               Reserved,
		"2002:7f00:1::":              Loopback,
		"2002:808:808::1":            Public,
		"2001:0:808:808::f5ff:fffe":  Private, // Teredo client 10.0.0.1
		"2001:470::5efe:a00:1":       Private,
		"2001:470::200:5efe:808:808": Public,
	} {
		if got := Classify(netip.MustParseAddr(addr)); got != want {
			t.Errorf("Classify(%s) = %v, want %v", addr, got, want)
		}
	}
}

func TestParseV6(t *testing.T) {
	for s, want := range map[string]string{
		"::1": "::1", "0:0:0:0:0:0:0:1": "::1", "::ffff:127.0.0.1": "::ffff:127.0.0.1", "FE80::1%25eth0": "fe80::1", "fe80::1%en0": "fe80::1",
		"1.2.3.4": "", "::1::": "", "": "", "::g": "",
	} {
		a, ok := ParseV6(s)
		if ok != (want != "") || ok && a.String() != want {
			t.Errorf("ParseV6(%q) = %v, %v", s, a, ok)
		}
	}
}

func TestClassString(t *testing.T) {
	if Metadata.String() != "cloud metadata" || Class(200).String() != "unknown" {
		t.Error("class names are out of step with the constants")
	}
	if Public.Internal() || Documentation.Internal() || !Loopback.Internal() {
		t.Error("Internal is wrong for the plain classes")
	}
}

func FuzzParseV4(f *testing.F) {
	for _, s := range []string{"127.0.0.1", "0x7f.1", "0177.0.0.01.", "4294967297", "1.2.3", "0x", "..", "a.b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := ParseV4(s)
		if ok && !v.Addr.Is4() {
			t.Fatalf("ParseV4(%q) accepted without an address", s)
		}
		plain, err := netip.ParseAddr(s)
		if err == nil && plain.Is4() && (!ok || v.Addr != plain || v.Odd || v.Overflow) {
			t.Fatalf("ParseV4(%q) = %+v, but the plain reading is %v", s, v, plain)
		}
		if a, ok := ParseV6(s); ok {
			Classify(a)
		}
	})
}
