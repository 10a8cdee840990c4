package guest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

var (
	pluginName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`)
	// A semantic version without "v": https://semver.org, section 2, 9 and 10.
	semver = regexp.MustCompile(`^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$`)
)

// checkManifest refuses a manifest that the host could not work with. The error is kind refused.
func checkManifest(m *v1.Manifest) error {
	if err := manifestProblem(m); err != nil {
		return abi.E("check manifest", v1.ErrorKindRefused, m.Name, err)
	}
	return nil
}

func manifestProblem(m *v1.Manifest) error {
	if m.ABI != abi.Version {
		return fmt.Errorf("the plugin is written for ABI version %d, this host speaks version %d; build it with an sdk of version %d", m.ABI, abi.Version, abi.Version)
	}
	if err := m.Validate(); err != nil {
		return err
	}
	switch {
	case !pluginName.MatchString(m.Name):
		return fmt.Errorf("name %q: use 1 to %d lower-case letters, digits and -, starting with a letter", m.Name, abi.MaxName)
	case !semver.MatchString(m.Version) || len(m.Version) > abi.MaxIdentifier:
		return fmt.Errorf("version %q is not a semantic version such as 1.2.0", m.Version)
	case max(len(m.Summary), len(m.License), len(m.Homepage)) > abi.MaxSummary:
		return fmt.Errorf("summary, license and homepage have at most %d bytes", abi.MaxSummary)
	case m.Kind == v1.PluginKindDetector && len(m.Threats) == 0:
		return errors.New("a detector must name the threats it may report")
	case m.Kind != v1.PluginKindDetector && (m.Wake != nil || len(m.Threats) > 0 || m.Excerpts):
		return fmt.Errorf("wake, threats and excerpts are for detectors, not for a %v", m.Kind)
	}
	return checkOps(m)
}

// checkOps holds the list of ops against what the kind of plugin must have and may have. DESCRIBE and CONFIGURE are asked of every
// plugin, listed or not.
func checkOps(m *v1.Manifest) error {
	for i, op := range m.Ops {
		spec, ok := abi.SpecOf(op)
		switch {
		case slices.Contains(m.Ops[:i], op):
			return fmt.Errorf("op %v is listed twice", op)
		case !ok || spec.Plugin != v1.PluginKindUnspecified && spec.Plugin != m.Kind:
			return fmt.Errorf("op %v does not belong to a %v", op, m.Kind)
		}
	}
	for _, spec := range abi.Ops() {
		if spec.Required && spec.Plugin == m.Kind && !slices.Contains(m.Ops, spec.Op) {
			return fmt.Errorf("a %v must have the op %v", m.Kind, spec.Op)
		}
	}
	return nil
}

// bare is the part of a manifest that DESCRIBE answers: what the packer and the operator add is left out.
func bare(m *v1.Manifest) *v1.Manifest {
	b := *m
	b.Digests, b.Signature, b.Grants = nil, nil, nil
	return &b
}

// sameManifest compares what DESCRIBE answered with the packed manifest and names the first field that differs.
func sameManifest(packed, described *v1.Manifest) error {
	want, got := bare(packed), bare(described)
	if bytes.Equal(want.AppendProto(nil), got.AppendProto(nil)) && len(described.Digests)+len(described.Signature)+len(described.Grants) == 0 {
		return nil
	}
	w, g := fields(want), fields(described)
	for _, name := range slices.Sorted(maps.Keys(union(w, g))) {
		if !bytes.Equal(w[name], g[name]) {
			return fmt.Errorf("DESCRIBE lies: the manifest says %s = %s, the plugin says %s; pack it again", name, shown(w[name]), shown(g[name]))
		}
	}
	return errors.New("DESCRIBE differs from the manifest; pack the plugin again")
}

func fields(m *v1.Manifest) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal(m.AppendJSON(nil), &out); err != nil {
		panic("guest: " + err.Error()) // our own encoder wrote it
	}
	return out
}

func union(a, b map[string]json.RawMessage) map[string]json.RawMessage {
	u := maps.Clone(a)
	maps.Copy(u, b)
	return u
}

func shown(v json.RawMessage) string {
	const most = 120
	switch {
	case len(v) == 0:
		return "nothing"
	case len(v) > most:
		return strings.ToValidUTF8(string(v[:most]), "") + "..."
	}
	return string(v)
}
