package policies

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Ranges that no policy may leave: beyond them a number is a slip of the pen.
const (
	maxPayload  = 1 << 30
	maxDeadline = time.Hour
	maxPages    = 65536
)

// edge is one side of a band as it was written, with its place.
type edge struct {
	value float64
	at    string
}

// target is what a band applies to; zero means any.
type target struct {
	kind   v1.PayloadKind
	threat v1.Threat
}

// draft collects the layers of a policy; a later layer overwrites what it names.
type draft struct {
	ambiguous, threat map[target]edge
	failure           map[v1.PayloadKind]FailureMode
	limits            Limits
	fuse              Fuse
	signatures        map[string]SignatureMode
	detectors         map[string]*detectorDraft
}

// detectorDraft is a Detector under construction. Its limits are zero where the general ones apply.
type detectorDraft struct {
	Detector
	config any
}

func newDraft() *draft {
	return &draft{ambiguous: map[target]edge{}, threat: map[target]edge{}, failure: map[v1.PayloadKind]FailureMode{}, signatures: map[string]SignatureMode{}, detectors: map[string]*detectorDraft{}}
}

// apply lays one file over the draft.
func (d *draft) apply(name string, data []byte) error {
	r := &reader{file: name}
	root, err := r.document(data)
	if err != nil {
		return err
	}
	version := 0
	r.object(root, "", map[string]field{
		"version":    r.integer(&version, 0, math.MaxInt32),
		"bands":      func(n *yaml.Node, path string) { d.readBands(r, n, path) },
		"failure":    func(n *yaml.Node, path string) { d.readFailure(r, n, path) },
		"limits":     func(n *yaml.Node, path string) { d.readLimits(r, n, path) },
		"fuse":       func(n *yaml.Node, path string) { d.readFuse(r, n, path) },
		"signatures": func(n *yaml.Node, path string) { d.readSignatures(r, n, path) },
		"detectors":  func(n *yaml.Node, path string) { d.readDetectors(r, n, path) },
	})
	if version != Version && len(r.errs) < maxErrors {
		r.fail(root, "version", "got %d, want %d; start the file with `version: %d`", version, Version, Version)
	}
	return r.result()
}

func (d *draft) readBands(r *reader, n *yaml.Node, path string) {
	r.object(n, path, map[string]field{
		"default": func(n *yaml.Node, path string) { d.readBand(r, n, path, target{}) },
		"threats": func(n *yaml.Node, path string) {
			r.each(n, path, func(k, v *yaml.Node, path string) {
				if t, ok := r.threat(k, path); ok {
					d.readBand(r, v, path, target{threat: t})
				}
			})
		},
		"kinds": func(n *yaml.Node, path string) {
			r.each(n, path, func(k, v *yaml.Node, path string) {
				if kind, ok := r.kind(k, path); ok {
					d.readKindBands(r, v, path, kind)
				}
			})
		},
	})
}

func (d *draft) readKindBands(r *reader, n *yaml.Node, path string, kind v1.PayloadKind) {
	r.each(n, path, func(k, v *yaml.Node, path string) {
		if k.Value == "default" {
			d.readBand(r, v, path, target{kind: kind})
		} else if t, ok := r.threat(k, path); ok {
			d.readBand(r, v, path, target{kind, t})
		}
	})
}

func (d *draft) readBand(r *reader, n *yaml.Node, path string, to target) {
	r.object(n, path, map[string]field{
		"ambiguous": r.fraction(func(v float64, at string) { d.ambiguous[to] = edge{v, at} }),
		"threat":    r.fraction(func(v float64, at string) { d.threat[to] = edge{v, at} }),
	})
}

func (d *draft) readFailure(r *reader, n *yaml.Node, path string) {
	r.each(n, path, func(k, v *yaml.Node, path string) {
		kind := v1.PayloadKindUnspecified
		if k.Value != "default" {
			var ok bool
			if kind, ok = r.kind(k, path); !ok {
				return
			}
		}
		switch s, ok := r.scalar(v, path); {
		case !ok:
		case s == "hold":
			d.failure[kind] = FailureHold
		case s == "flag":
			d.failure[kind] = FailureFlag
		default:
			r.fail(v, path, "%q is not a failure mode; use hold (keep back) or flag (let pass as ambiguous)", s)
		}
	})
}

func (d *draft) readSignatures(r *reader, n *yaml.Node, path string) {
	r.each(n, path, func(k, v *yaml.Node, path string) {
		s, ok := r.scalar(v, path)
		if !ok {
			return
		}
		mode, known := signatureModes[s]
		if !known {
			r.fail(v, path, "%q is not a mode of a signature; use off, shadow or enforce", s)
			return
		}
		d.signatures[k.Value] = mode
	})
}

func (d *draft) readFuse(r *reader, n *yaml.Node, path string) {
	r.object(n, path, map[string]field{
		"failures": r.integer(&d.fuse.Failures, 1, 1000),
		"window":   r.integer(&d.fuse.Window, 1, 1_000_000),
	})
}

func (d *draft) readLimits(r *reader, n *yaml.Node, path string) {
	l := &d.limits
	r.object(n, path, map[string]field{
		"payload":          r.size(&l.PayloadBytes, 1, maxPayload),
		"deadline":         r.duration(&l.Deadline, time.Millisecond, maxDeadline),
		"deadline_per_mib": r.duration(&l.DeadlinePerMiB, 0, maxDeadline),
		"views": func(n *yaml.Node, path string) {
			r.object(n, path, map[string]field{
				"depth":  r.integer(&l.Views.Depth, 0, 16),
				"count":  r.integer(&l.Views.Count, 1, 4096),
				"growth": r.integer(&l.Views.Growth, 0, 64),
			})
		},
		"signatures": func(n *yaml.Node, path string) {
			r.object(n, path, map[string]field{
				"work": r.integer(&l.MatchWork, 0, 10_000),
				"hits": r.integer(&l.Hits, 1, 100_000),
			})
		},
		"plugin": func(n *yaml.Node, path string) { r.pluginLimits(n, path, &l.Plugin) },
	})
}

func (r *reader) pluginLimits(n *yaml.Node, path string, l *PluginLimits) {
	memory := int(l.MemoryPages) * abi.PageSize
	r.object(n, path, map[string]field{
		"memory": r.size(&memory, abi.PageSize, maxPages*abi.PageSize),
		"fuel":   r.count(1, math.MaxInt64, func(v uint64) { l.Fuel = v }),
		"wall":   r.duration(&l.Wall, time.Millisecond, maxDeadline),
		"input":  r.size(&l.Input, 1, maxPayload),
		"output": r.size(&l.Output, 1, maxPayload),
		"log":    r.size(&l.Log, 1, 1<<20),
	})
	if memory%abi.PageSize != 0 {
		r.fail(n, join(path, "memory"), "memory comes in pages of 64KiB; write a multiple of it")
	}
	l.MemoryPages = uint32(memory / abi.PageSize)
}

func (r *reader) kind(k *yaml.Node, path string) (v1.PayloadKind, bool) {
	kind, ok := v1.ParsePayloadKind(k.Value)
	if !ok {
		r.fail(k, path, "unknown kind of payload; known: %s", names(v1.PayloadKindValues()))
	}
	return kind, ok
}

func (r *reader) threat(k *yaml.Node, path string) (v1.Threat, bool) {
	t, ok := v1.ParseThreat(k.Value)
	if !ok {
		r.fail(k, path, "unknown threat; known: %s", names(v1.ThreatValues()))
	}
	return t, ok
}

func names[E fmt.Stringer](values []E) string {
	var s string
	for i, v := range values {
		if i > 0 {
			s += ", "
		}
		s += v.String()
	}
	return s
}

// policy checks what only the complete draft can tell and freezes it.
func (d *draft) policy(name string) (*Policy, error) {
	p := &Policy{Limits: d.limits, Fuse: d.fuse, signatures: d.signatures, detectors: map[string]*Detector{}}
	var err error
	if p.bands, err = d.resolveBands(); err != nil {
		return nil, abi.E("parse policy", v1.ErrorKindInvalid, name, err)
	}
	if p.Fuse.Failures > p.Fuse.Window {
		return nil, abi.E("parse policy", v1.ErrorKindInvalid, name,
			fmt.Errorf("fuse: %d failures never fit into a window of %d calls; make the window larger", p.Fuse.Failures, p.Fuse.Window))
	}
	p.failure = d.resolveFailure()
	p.unlisted = &Detector{Enabled: true, Limits: d.limits.Plugin}
	for name, draft := range d.detectors {
		p.detectors[name] = draft.freeze(name, d.limits.Plugin)
	}
	p.names = slices.Sorted(maps.Keys(p.detectors))
	p.digest = sha256.Sum256(p.canonical())
	return p, nil
}

// resolveBands lays out every band. The most specific setting wins, for each edge by itself: kind and threat, then the threat, then
// the kind's default, then the default.
func (d *draft) resolveBands() ([][]Band, error) {
	var errs []error
	bands := make([][]Band, len(v1.PayloadKindValues())+1)
	for k := range bands {
		bands[k] = make([]Band, len(v1.ThreatValues())+1)
		for t := range bands[k] {
			to := target{v1.PayloadKind(k), v1.Threat(t)}
			low, high := resolve(d.ambiguous, to), resolve(d.threat, to)
			if low.value > high.value {
				errs = append(errs, crossed(to, low, high))
			}
			bands[k][t] = Band{low.value, high.value}
		}
	}
	return bands, errors.Join(errs[:min(len(errs), maxErrors)]...)
}

func resolve(edges map[target]edge, to target) edge {
	for _, t := range []target{to, {0, to.threat}, {to.kind, 0}} {
		if e, ok := edges[t]; ok {
			return e
		}
	}
	return edges[target{}]
}

func crossed(to target, low, high edge) error {
	what := "bands"
	if to.kind != 0 {
		what += " for kind " + to.kind.String()
	}
	if to.threat != 0 {
		what += " for " + to.threat.String()
	}
	return fmt.Errorf("%s: ambiguous %s (%s) lies above threat %s (%s); lower the one or raise the other",
		what, formatFloat(low.value), low.at, formatFloat(high.value), high.at)
}

func formatFloat(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func (d *draft) resolveFailure() []FailureMode {
	modes := make([]FailureMode, len(v1.PayloadKindValues())+1)
	for k := range modes {
		mode, ok := d.failure[v1.PayloadKind(k)]
		if !ok {
			mode = d.failure[v1.PayloadKindUnspecified]
		}
		modes[k] = mode
	}
	return modes
}

// canonical renders everything the policy decides, the same for the same decisions.
func (p *Policy) canonical() []byte {
	out, err := json.Marshal(p)
	if err != nil {
		panic("policies: " + err.Error()) // only plain data is marshalled
	}
	return out
}

// MarshalJSON shows the complete policy with every default filled in. Times are in nanoseconds.
func (p *Policy) MarshalJSON() ([]byte, error) {
	type listed struct {
		*Detector
		Config json.RawMessage `json:"config,omitempty"`
	}
	view := struct {
		Version    int                        `json:"version"`
		Bands      map[string]map[string]Band `json:"bands"`
		Failure    map[string]FailureMode     `json:"failure"`
		Limits     Limits                     `json:"limits"`
		Fuse       Fuse                       `json:"fuse"`
		Signatures map[string]SignatureMode   `json:"signatures"`
		Detectors  []listed                   `json:"detectors"`
	}{Version, map[string]map[string]Band{}, map[string]FailureMode{}, p.Limits, p.Fuse, p.signatures, []listed{}}
	for k, row := range p.bands {
		kind := orDefault(v1.PayloadKind(k))
		view.Failure[kind] = p.failure[k]
		view.Bands[kind] = map[string]Band{}
		for t, band := range row {
			view.Bands[kind][orDefault(v1.Threat(t))] = band
		}
	}
	for _, name := range p.names {
		d := p.detectors[name]
		view.Detectors = append(view.Detectors, listed{d, d.Config})
	}
	return json.Marshal(view)
}

// orDefault names an enum value, and the zero value "default".
func orDefault[E interface {
	~int32
	fmt.Stringer
}](v E) string {
	if v == 0 {
		return "default"
	}
	return v.String()
}
