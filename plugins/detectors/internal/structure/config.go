package structure

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/tree"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// Config is the operator's settings.
type Config struct {
	// AllowHosts are inside destinations that requests may go to: "localhost:11434", "10.1.0.0/16", "*.corp.example". Cloud
	// metadata is never allowed.
	AllowHosts []string
	// OwnDomains are the operator's own: data sent to them or their subdomains does not leave.
	OwnDomains []string
	// MaxOutboundBytes is the size from which a text sent outside is called unusually large; 0 means 64 KiB.
	MaxOutboundBytes int
}

const defaultOutbound = 64 << 10

func (c Config) withDefaults() Config {
	if c.MaxOutboundBytes <= 0 {
		c.MaxOutboundBytes = defaultOutbound
	}
	return c
}

// ParseConfig reads the settings: {"allow_hosts": [...], "own_domains": [...], "max_outbound_bytes": N}. Empty means the defaults. An
// unknown key is an error.
func ParseConfig(data []byte) (Config, error) {
	var c Config
	if len(strings.TrimSpace(string(data))) == 0 {
		return c, nil
	}
	t, err := tree.JSON(string(data), tree.Limits{})
	if err != nil {
		return c, fmt.Errorf("the settings are not JSON: %w", err)
	}
	if t.Nodes[0].Kind != tree.Object {
		return c, fmt.Errorf("the settings are a JSON %s; they must be an object", t.Nodes[0].Kind)
	}
	for i := t.Nodes[0].First; i != tree.None; i = t.Nodes[i].Next {
		if err := c.set(t, i); err != nil {
			return c, err
		}
	}
	for _, list := range [][]string{c.AllowHosts, c.OwnDomains} {
		for i := range list {
			list[i] = strings.ToLower(list[i])
		}
	}
	return c, nil
}

func (c *Config) set(t *tree.Tree, i int) (err error) {
	switch n := t.Nodes[i]; n.Key {
	case "allow_hosts":
		c.AllowHosts, err = t.Texts(i)
		for _, h := range c.AllowHosts {
			if strings.Contains(h, "/") {
				if _, perr := netip.ParsePrefix(h); perr != nil {
					return fmt.Errorf("allow_hosts: %q is neither a host nor an address range such as 10.1.0.0/16", h)
				}
			}
		}
	case "own_domains":
		c.OwnDomains, err = t.Texts(i)
	case "max_outbound_bytes":
		c.MaxOutboundBytes, err = strconv.Atoi(n.Text)
		if err != nil || n.Kind != tree.Number || c.MaxOutboundBytes < 1 {
			return fmt.Errorf("max_outbound_bytes must be a whole number from 1")
		}
	default:
		return fmt.Errorf("unknown setting %q; known are allow_hosts, own_domains and max_outbound_bytes", n.Key)
	}
	return err
}

// allowed reports whether the operator lets requests go to the URL's host.
func (c *Config) allowed(u *weburl.URL) bool {
	h := weburl.ParseHost(u.Host)
	for _, rule := range c.AllowHosts {
		if h.Kind == weburl.HostIP {
			if p, err := netip.ParsePrefix(rule); err == nil && p.Contains(h.Addr.Unmap()) {
				return true
			}
		}
		host, port, hasPort := strings.Cut(rule, ":")
		if hasPort && strings.Contains(port, ":") { // an IPv6 address without a port
			host, hasPort = rule, false
		}
		if hasPort && port != u.Port {
			continue
		}
		if matchesHost(h, host) {
			return true
		}
	}
	return false
}

func matchesHost(h weburl.Host, rule string) bool {
	if suffix, ok := strings.CutPrefix(rule, "*."); ok {
		return h.Kind == weburl.HostName && h.Name != suffix && under(h.Name, suffix)
	}
	if a, err := netip.ParseAddr(strings.Trim(rule, "[]")); err == nil {
		return h.Kind == weburl.HostIP && h.Addr.Unmap() == a.Unmap()
	}
	return h.Kind == weburl.HostName && h.Name == rule
}

// own reports whether a host is the operator's.
func (c Config) own(host string) bool {
	for _, d := range c.OwnDomains {
		if under(host, d) {
			return true
		}
	}
	return false
}
