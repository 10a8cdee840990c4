package policies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// maxShadow bounds shadow.calls: more would never end.
const maxShadow = 1_000_000_000

func (d *draft) readDetectors(r *reader, n *yaml.Node, path string) {
	r.each(n, path, func(k, v *yaml.Node, path string) {
		if !validName(k.Value) {
			r.fail(k, path, "not a plugin's name: 1 to %d lower-case letters, digits and -, starting with a letter", abi.MaxName)
			return
		}
		det := d.detectors[k.Value]
		if det == nil {
			det = &detectorDraft{Detector: Detector{Enabled: true}}
			d.detectors[k.Value] = det
		}
		det.read(r, v, path)
	})
}

func validName(s string) bool {
	for i, c := range []byte(s) {
		letter, other := c >= 'a' && c <= 'z', c >= '0' && c <= '9' || c == '-'
		if !letter && (i == 0 || !other) {
			return false
		}
	}
	return s != "" && len(s) <= abi.MaxName
}

func (det *detectorDraft) read(r *reader, n *yaml.Node, path string) {
	r.object(n, path, map[string]field{
		"enabled":  r.boolean(&det.Enabled),
		"required": r.boolean(&det.Required),
		"shadow": func(n *yaml.Node, path string) {
			r.object(n, path, map[string]field{
				"calls":   r.integer(&det.Shadow.Calls, 0, maxShadow),
				"promote": r.promotion(&det.Shadow.Manual),
			})
		},
		"wake":   func(n *yaml.Node, path string) { det.readWake(r, n, path) },
		"limits": func(n *yaml.Node, path string) { r.pluginLimits(n, path, &det.Limits) },
		"grants": func(n *yaml.Node, path string) { det.readGrants(r, n, path) },
		"config": func(n *yaml.Node, path string) { det.config = merge(det.config, r.tree(n, path)) },
	})
}

func (r *reader) promotion(manual *bool) field {
	return func(n *yaml.Node, path string) {
		switch s, ok := r.scalar(n, path); {
		case !ok:
		case s == "auto":
			*manual = false
		case s == "manual":
			*manual = true
		default:
			r.fail(n, path, "%q is not a way to promote; use auto or manual", s)
		}
	}
}

func (det *detectorDraft) readWake(r *reader, n *yaml.Node, path string) {
	if det.Wake == nil {
		det.Wake = &v1.Wake{}
	}
	w := det.Wake
	size := int(w.SizeOver)
	r.object(n, path, map[string]field{
		"always": r.boolean(&w.Always),
		"kinds": func(n *yaml.Node, path string) {
			w.Kinds = nil
			r.list(n, path, func(n *yaml.Node, path string) {
				if kind, ok := r.kind(n, path); ok {
					w.Kinds = append(w.Kinds, kind)
				}
			})
		},
		"threats": func(n *yaml.Node, path string) {
			w.Threats = nil
			r.list(n, path, func(n *yaml.Node, path string) {
				if t, ok := r.threat(n, path); ok {
					w.Threats = append(w.Threats, t)
				}
			})
		},
		"views":     r.identifiers(&w.Views),
		"topics":    r.identifiers(&w.Topics),
		"size_over": r.size(&size, 0, maxPayload),
	})
	w.SizeOver = uint64(size)
}

// identifiers reads a list of short names.
func (r *reader) identifiers(dst *[]string) field {
	return func(n *yaml.Node, path string) {
		*dst = nil
		r.list(n, path, func(n *yaml.Node, path string) {
			if s, ok := r.identifier(n, path); ok {
				*dst = append(*dst, s)
			}
		})
	}
}

func (r *reader) identifier(n *yaml.Node, path string) (string, bool) {
	s, ok := r.scalar(n, path)
	if ok && (s == "" || len(s) > abi.MaxIdentifier) {
		r.fail(n, path, "expected a name of 1 to %d bytes", abi.MaxIdentifier)
		return "", false
	}
	return s, ok
}

func (det *detectorDraft) readGrants(r *reader, n *yaml.Node, path string) {
	det.Grants = nil
	r.list(n, path, func(n *yaml.Node, path string) {
		g := &v1.Grant{}
		text := func(dst *string) field {
			return func(n *yaml.Node, path string) { *dst, _ = r.identifier(n, path) }
		}
		before := len(r.errs)
		r.object(n, path, map[string]field{"type": text(&g.Type), "value": text(&g.Value)})
		if len(r.errs) == before && (g.Type == "" || g.Value == "") {
			r.fail(n, path, "a grant needs a type and a value, such as {type: host, value: \"api.example.com:443\"}")
			return
		}
		det.Grants = append(det.Grants, g)
	})
}

// freeze completes a detector with the general limits.
func (det *detectorDraft) freeze(name string, general PluginLimits) *Detector {
	out := det.Detector
	out.Name = name
	out.Limits = PluginLimits{
		MemoryPages: or(out.Limits.MemoryPages, general.MemoryPages),
		Fuel:        or(out.Limits.Fuel, general.Fuel),
		Wall:        or(out.Limits.Wall, general.Wall),
		Input:       or(out.Limits.Input, general.Input),
		Output:      or(out.Limits.Output, general.Output),
		Log:         or(out.Limits.Log, general.Log),
	}
	slices.SortFunc(out.Grants, func(a, b *v1.Grant) int {
		if c := strings.Compare(a.Type, b.Type); c != 0 {
			return c
		}
		return strings.Compare(a.Value, b.Value)
	})
	if det.config != nil {
		out.Config = canonicalJSON(det.config)
	}
	return &out
}

func or[T comparable](v, other T) T {
	var zero T
	if v == zero {
		return other
	}
	return v
}

// tree turns free settings into plain values: map[string]any, []any, string, bool, json.Number or nil. A top level of nothing is nil,
// which means "no configuration".
func (r *reader) tree(n *yaml.Node, path string) any {
	switch n.Kind {
	case yaml.MappingNode:
		m := make(map[string]any, len(n.Content)/2)
		r.each(n, path, func(k, v *yaml.Node, path string) { m[k.Value] = r.tree(v, path) })
		return m
	case yaml.SequenceNode:
		l := make([]any, 0, len(n.Content))
		r.list(n, path, func(n *yaml.Node, path string) { l = append(l, r.tree(n, path)) })
		return l
	}
	return r.leaf(n, path)
}

func (r *reader) leaf(n *yaml.Node, path string) any {
	switch n.Tag {
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err == nil {
			return b
		}
	case "!!int":
		var i int64
		var u uint64
		if n.Decode(&i) == nil {
			return json.Number(strconv.FormatInt(i, 10))
		}
		if n.Decode(&u) == nil {
			return json.Number(strconv.FormatUint(u, 10))
		}
	case "!!float":
		var f float64
		if err := n.Decode(&f); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
		}
	case "!!str", "!!timestamp":
		return strings.ToValidUTF8(n.Value, "\ufffd")
	}
	r.fail(n, path, "%q has no form in JSON, in which a plugin gets its settings; put it in quotes", n.Value)
	return nil
}

// merge lays over on base: settings are merged key by key, anything else is replaced.
func merge(base, over any) any {
	b, ok := base.(map[string]any)
	o, also := over.(map[string]any)
	if !ok || !also {
		return over
	}
	out := maps.Clone(b)
	for k, v := range o {
		if old, ok := out[k]; ok {
			v = merge(old, v)
		}
		out[k] = v
	}
	return out
}

// canonicalJSON renders plain values without white space and with sorted keys.
func canonicalJSON(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("policies: %v", err)) // tree makes nothing that JSON cannot hold
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
