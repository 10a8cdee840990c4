package weburl

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/netaddr"
)

// maxWrap bounds how many schemes may be wrapped around a URL.
const maxWrap = 4

// Reach judges where fetching raw goes, over every reading that some client takes, and splits it into u. ok is false when raw is not a URL
// with a host.
func Reach(raw string, u *URL) (t Target, ok bool) {
	raw = Clean(raw)
	for range maxWrap {
		if !u.parse(raw) {
			return Target{}, false
		}
		inner, wrapped := u.unwrap(raw)
		if !wrapped {
			break
		}
		raw = inner
	}
	if !u.Authority {
		return Target{}, false
	}
	t = u.Target()
	for _, alt := range otherHosts(raw) {
		a := ParseHost(alt).Target()
		if a.Score > 0 && !a.Single {
			a.Score, a.Odd = min(a.Score, scoreLenient), true
			a.Why += ", in one of several readings of the URL"
			t = t.better(a)
		}
	}
	return t, true
}

// Target judges the URL's host in its standard reading.
func (u *URL) Target() Target {
	if plainHost(u.Host) && public(u.Host) && !netaddr.EndsInNumber(u.Host) {
		return Target{} // most hosts
	}
	t := ParseHost(u.Host).Target()
	if t.Single && !t.Metadata && !network[u.Scheme] {
		return Target{} // a bucket, an application, an extension
	}
	return t
}

// network lists the schemes in which a one-label authority is a host. Elsewhere it may be a bucket or the name of a program.
var network = map[string]bool{
	"http": true, "https": true, "ws": true, "wss": true, "ftp": true, "ftps": true, "sftp": true, "ssh": true, "redis": true, "rediss": true,
	"postgres": true, "postgresql": true, "mysql": true, "mongodb": true, "amqp": true,
	"amqps": true, "ldap": true, "ldaps": true, "gopher": true, "dict": true, "tftp": true, "telnet": true, "smtp": true, "imap": true, "rtsp": true,
	"grpc": true, "tcp": true, "udp": true, "memcached": true, "nats": true, "smb": true,
}

// ReachHost judges text without a scheme: host, host:port or host/path. User information is allowed.
func ReachHost(s string) Target {
	if strings.HasPrefix(s, "//") || strings.HasPrefix(s, `\\`) {
		s = s[2:]
	}
	if s == "" || s[0] == '/' || s[0] == '\\' {
		return Target{}
	}
	var u URL
	t, _ := Reach("http://"+s, &u)
	return t
}

// wrappers are schemes that only wrap another URL.
var wrappers = map[string]bool{"jar": true, "view-source": true, "feed": true, "url": true, "blob": true, "filesystem": true, "pac": true}

// unwrap returns the URL inside a wrapper scheme ("jar:http://..."), or behind the prefix of a compound one ("git+http://...").
func (u *URL) unwrap(raw string) (inner string, ok bool) {
	colon := strings.IndexByte(raw, ':')
	if wrappers[u.Scheme] && !u.Authority {
		return raw[colon+1:], true
	}
	if i := strings.LastIndexByte(u.Scheme, '+'); i > 0 && u.Scheme != "http+unix" && u.Scheme != "https+unix" {
		return u.Scheme[i+1:] + raw[colon:], true
	}
	return "", false
}

// maxOther bounds the extra readings of one URL.
const maxOther = 4

// otherHosts lists the hosts that clients straying from the standard may take: what follows a backslash or an "@" even behind a "#" or
// "?", what precedes a space, and the first of two ports.
//
// Source: Orange Tsai, "A New Era of SSRF", 2017, and the differences between RFC 3986 and the WHATWG standard.
func otherHosts(raw string) []string {
	i := strings.Index(raw, "//")
	if i < 0 {
		return nil
	}
	area := strings.TrimLeft(raw[i:], "/")
	area = area[:stop(area[:min(len(area), maxHost)], stopSlash)]
	if stop(area, stopAt|stopBack|stopSpace) == len(area) {
		return nil
	}
	var out []string
	if user, _, ok := strings.Cut(area, "@"); ok { // clients that decode first end the host at an encoded delimiter
		if i := strings.IndexByte(user, '%'); i > 0 {
			out = append(out, bareHost(user[:i]))
		}
	}
	if sp := strings.IndexByte(area, ' '); sp > 0 {
		out = append(out, bareHost(area[:sp]))
	}
	tail := stop(area, stopBack|stopTail)
	for j := 0; j < len(area) && len(out) < maxOther; j++ {
		if area[j] == '\\' || area[j] == '@' && j > tail {
			out = append(out, bareHost(area[j+1:]))
		}
	}
	return out
}

// bareHost cuts a reading down to its host.
func bareHost(s string) string {
	s = strings.TrimLeft(s, `@\`)
	if !strings.HasPrefix(s, "[") {
		return s[:stop(s, stopColon|stopAt|stopBack|stopTail|stopAmp|stopSpace)]
	}
	return s[:stop(s, stopAt|stopBack|stopTail|stopAmp|stopSpace)]
}
