package weburl

import (
	"encoding/hex"
	"net/netip"
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/netaddr"
)

// Target says where a fetch goes.
type Target struct {
	// Score is how sure it is that the fetch goes inside, 0 to 1; 0 means outside as far as the text tells.
	Score float32
	// Metadata is set for a service that hands out cloud credentials.
	Metadata bool
	// Odd is set when the host was spelled in a way that people do not use.
	Odd bool
	// Name is set when the verdict rests on a name, not an address.
	Name bool
	// Single is set for a host of one label, which only a local resolver can answer.
	Single bool
	// Why is a short phrase for a person; it never holds text of the URL.
	Why string
}

// Inside reports whether the fetch leaves the open internet.
func (t Target) Inside() bool { return t.Score > 0 }

// better picks the more certain of two readings.
func (t Target) better(o Target) Target {
	if o.Score > t.Score {
		return o
	}
	return t
}

// Scores of the kinds of evidence. An address is proof; a name needs a resolver that agrees.
const (
	scoreMetadata = 0.98
	scoreOdd      = 0.95
	scoreAddress  = 0.9
	scoreName     = 0.88
	scoreSingle   = 0.8
	scoreRare     = 0.8  // carrier NAT, multicast, overflow: some networks and resolvers only
	scoreReserved = 0.8  // unrouted ranges
	scoreLenient  = 0.85 // only clients that stray from the standard read it so; nobody writes such a URL by accident
)

// Target judges the host alone.
func (h Host) Target() Target {
	switch h.Kind {
	case HostIP:
		return h.addrTarget()
	case HostName:
		if public(h.Name) {
			return Target{}
		}
		return h.nameTarget()
	}
	return Target{}
}

// public reports a name that none of the lists below can say anything about, which most names are.
func public(name string) bool {
	return strings.IndexByte(name, '.') > 0 && listed.Of(name) == ""
}

func (h Host) addrTarget() Target {
	c := netaddr.Classify(h.Addr)
	t := classTarget(c, h.Odd)
	if h.Overflow {
		t = overflowTarget(c)
	}
	if h.Alt.IsValid() {
		if a := classTarget(netaddr.Classify(h.Alt), true); a.Score >= scoreAddress {
			a.Score = scoreLenient
			t = t.better(a)
		}
	}
	return t
}

// overflowTarget accepts only the addresses that an attacker would aim for: nearly any number overflows to something.
func overflowTarget(c netaddr.Class) Target {
	switch c {
	case netaddr.Loopback, netaddr.Private, netaddr.LinkLocal, netaddr.Metadata, netaddr.Unspecified:
		return Target{Score: scoreRare, Metadata: c == netaddr.Metadata, Odd: true, Why: c.String() + " address, spelled by overflow"}
	}
	return Target{}
}

func classTarget(c netaddr.Class, odd bool) Target {
	t := Target{Odd: odd, Why: c.String() + " address"}
	switch c {
	case netaddr.Public, netaddr.Documentation:
		return Target{}
	case netaddr.Metadata:
		t.Score, t.Metadata = scoreMetadata, true
	case netaddr.CarrierNAT, netaddr.Multicast:
		t.Score = scoreRare
	case netaddr.Reserved:
		t.Score = scoreReserved
	default:
		t.Score = scoreAddress
		if odd {
			t.Score = scoreOdd
		}
	}
	if odd {
		t.Why += " in a disguised spelling"
	}
	return t
}

// metadataNames are names under which clouds serve instance credentials. Source: the vendors' documentation.
var metadataNames = DomainSet{
	"metadata.google.internal": true, "metadata.goog": true, "metadata": true, "instance-data": true, "instance-data.ec2.internal": true,
	"metadata.tencentyun.com": true, "metadata.platformequinix.com": true, "metadata.packet.net": true, "api.metadata.cloud.ibm.com": true,
	"metadata.azure.internal": true, "rancher-metadata": true, "metadata.internal": true,
}

// insideSuffixes end names that no public resolver answers: RFC 6761, 6762 and 8375, ICANN's "internal" and the delegations it ruled
// out, and the private zones of Kubernetes, Consul and Docker.
var insideSuffixes = Domains(
	"localhost", "local", "internal", "intranet", "lan", "corp", "home", "home.arpa", "private", "localdomain", "svc", "cluster.local",
	"consul", "workgroup", "default", "localhost4", "localhost6", "docker", "kube")

// loopbackDomains are public names whose every subdomain resolves to the local machine.
var loopbackDomains = Domains(
	"localtest.me", "lvh.me", "vcap.me", "lacolhost.com", "lcl.host", "localho.st", "fuf.me", "local.gd", "localhost.direct", "localdev.me",
	"traefik.me", "127-0-0-1.org.uk", "bugbounty.dod.network", "spoofed.burpcollaborator.net", "ulh.us")

// echoDomains are public name services that answer with the address written in the name.
var echoDomains = Domains(
	"nip.io", "sslip.io", "xip.io", "xip.name", "traefik.me", "backname.io", "rbndr.us", "1u.ms", "plex.direct", "local-ip.co", "local-ip.sh",
	"ipv6-literal.net", "localhost.direct", "ipq.co")

func (h Host) nameTarget() Target {
	t := Target{Odd: h.Odd, Name: true}
	switch {
	case metadataNames[h.Name]:
		t.Score, t.Metadata, t.Why = scoreMetadata, true, "cloud metadata name"
	case isLocalhost(h.Name):
		t.Score, t.Why = scoreAddress, "name of the local machine"
	case insideSuffixes.Of(h.Name) != "":
		t.Score, t.Why = scoreName, "internal name"
	case singleLabel(h.Name):
		t.Score, t.Single, t.Why = scoreSingle, true, "one-label name, which only a local resolver knows"
	default:
		return h.echoTarget()
	}
	return t
}

// echoTarget judges public names that resolve to an address of the writer's choice.
func (h Host) echoTarget() Target {
	t := Target{Odd: h.Odd, Name: true, Score: scoreName}
	if a, ok := echoed(h.Name); ok {
		c := netaddr.Classify(a)
		t.Metadata, t.Why = c == netaddr.Metadata, "public name that resolves to a "+c.String()+" address"
		if !c.Internal() {
			return Target{}
		}
		return t
	}
	if loopbackDomains.Of(h.Name) != "" {
		t.Why = "public name that resolves to the local machine"
		return t
	}
	return Target{}
}

// listed holds every domain that nameTarget looks for.
var listed = func() DomainSet {
	all := Domains("localdomain")
	for _, d := range []DomainSet{insideSuffixes, loopbackDomains, echoDomains, metadataNames} {
		for name := range d {
			all[name] = true
		}
	}
	return all
}()

func isLocalhost(name string) bool {
	switch name {
	case "localhost", "ip6-localhost", "ip6-loopback", "loopback", "broadcasthost":
		return true
	}
	return strings.HasSuffix(name, ".localhost") || strings.HasPrefix(name, "localhost.localdomain")
}

// maxDomain is the most labels that a domain of a set may have.
const maxDomain = 5

// DomainSet is a set of domains of up to five labels.
type DomainSet map[string]bool

// Domains makes a set of domains.
func Domains(list ...string) DomainSet {
	d := DomainSet{}
	for _, name := range list {
		d[name] = true
	}
	return d
}

// Of returns the domain of the set that name is or lies under, or "".
func (d DomainSet) Of(name string) string {
	labels := 0
	for i := len(name); i > 0 && labels < maxDomain; labels++ {
		i = strings.LastIndexByte(name[:i], '.')
		if d[name[i+1:]] {
			return name[i+1:]
		}
	}
	return ""
}

// placeholders stand for a host in documentation.
var placeholders = map[string]bool{
	"host": true, "hostname": true, "example": true, "domain": true, "yourdomain": true, "your-domain": true, "url": true, "site": true,
	"website": true, "your-server": true, "yourserver": true, "your-host": true, "invalid": true, "fqdn": true, "uri": true,
}

// singleLabel accepts real one-label host names, not templates.
func singleLabel(name string) bool {
	if placeholders[name] {
		return false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return name != ""
}

// echoed returns the address that a name under one of the echo domains spells, the most internal one if there are several.
func echoed(name string) (netip.Addr, bool) {
	if d := echoDomains.Of(name); d != "" && len(name) > len(d) {
		return spelled(name[:len(name)-len(d)-1])
	}
	return netip.Addr{}, false
}

// maxLabels bounds how many labels of an echo name are looked at.
const maxLabels = 32

func spelled(rest string) (best netip.Addr, ok bool) {
	labels := strings.Split(rest, ".")
	if len(labels) > maxLabels {
		labels = labels[len(labels)-maxLabels:]
	}
	consider := func(a netip.Addr, valid bool) {
		if valid && (!ok || netaddr.Classify(a).Internal()) {
			best, ok = a, true
		}
	}
	for i, l := range labels {
		if i+4 <= len(labels) {
			consider(plainV4(strings.Join(labels[i:i+4], ".")))
		}
		consider(dashed(l))
		consider(hexV4(l))
		consider(dashedV6(l))
	}
	return best, ok
}

func plainV4(s string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(s)
	return a, err == nil && a.Is4()
}

// dashed finds a-b-c-d in a label such as "app-10-0-0-5" or "make-127-0-0-1-rr".
func dashed(label string) (netip.Addr, bool) {
	parts := strings.Split(label, "-")
	for i := 0; i+4 <= len(parts); i++ {
		if a, ok := plainV4(strings.Join(parts[i:i+4], ".")); ok {
			return a, true
		}
	}
	return netip.Addr{}, false
}

// hexV4 reads a label that is, or ends with, eight hexadecimal digits.
func hexV4(label string) (netip.Addr, bool) {
	label = label[strings.LastIndexByte(label, '-')+1:]
	b, err := hex.DecodeString(label)
	if err != nil || len(b) != 4 {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(b)), true
}

// dashedV6 reads "--1" as "::1" and, as Windows writes it, "fe80--1s4" with a zone.
func dashedV6(label string) (netip.Addr, bool) {
	label, _, _ = strings.Cut(label, "s")
	if strings.Count(label, "-") < 2 {
		return netip.Addr{}, false
	}
	text := strings.ReplaceAll(label, "-", ":")
	if strings.HasPrefix(text, "0::") {
		text = text[1:]
	}
	return netaddr.ParseV6(text)
}
