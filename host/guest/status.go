package guest

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// State is where a plugin is in its life.
type State string

// The states of a plugin. One name may have several rows: a successor in shadow, or one that waits, beside the one that serves.
const (
	// StateServing: it is asked about payloads.
	StateServing State = "serving"
	// StateShadow: it runs beside the one that serves, and its answers change nothing.
	StateShadow State = "shadow"
	// StatePending: it asks for more than it may have, and waits for a person.
	StatePending State = "pending"
	// StateDisabled: the policy or its fuse took it out.
	StateDisabled State = "disabled"
	// StateFailed: it could not be loaded, and nothing serves under its name.
	StateFailed State = "failed"
)

// Status tells what serves and what does not, and why. It holds no payload text.
type Status struct {
	// Generation is the number of the Set that serves, Since when it began.
	Generation uint64       `json:"generation"`
	Since      time.Time    `json:"since"`
	Policy     PartStatus   `json:"policy"`
	Signatures PartStatus   `json:"signatures"`
	Plugins    []PluginStat `json:"plugins"`
	// Missing names plugins whose absence makes payloads fail closed.
	Missing []string `json:"missing"`
}

// PartStatus is the state of the policy or the signatures.
type PartStatus struct {
	// Digest is of what serves.
	Digest string `json:"digest"`
	// LastError says why a newer version was not taken over; nil if there is none.
	LastError *Failure `json:"last_error,omitempty"`
}

// PluginStat is one row of Status.
type PluginStat struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Summary string `json:"summary,omitempty"`
	State   State  `json:"state"`
	// Why says why it is disabled.
	Why string `json:"why,omitempty"`
	// Generation is the first one it served in.
	Generation uint64 `json:"generation,omitempty"`
	SHA256     string `json:"sha256,omitempty"`
	// Source is "builtin" or the file's path. OverridesBuiltin is true for a file that took the place of a built-in plugin.
	Source           string `json:"source,omitempty"`
	OverridesBuiltin bool   `json:"overrides_builtin,omitempty"`
	// Signed is true if the package carries a signature that was verified.
	Signed   bool `json:"signed"`
	Required bool `json:"required"`
	// Identity changes with the file, its configuration, its grants and its limits.
	Identity string       `json:"identity,omitempty"`
	Limits   *LimitStatus `json:"limits,omitempty"`
	Wake     *WakeStatus  `json:"wake,omitempty"`
	Grants   []string     `json:"grants,omitempty"`
	Counters *Counters    `json:"counters,omitempty"`
	// Warnings are the plugin's own remarks on its configuration.
	Warnings []string `json:"warnings,omitempty"`
	// LastError says why a successor was not taken into service, or why this plugin is not in service.
	LastError *Failure      `json:"last_error,omitempty"`
	Shadow    *ShadowStatus `json:"shadow,omitempty"`
	Engine    *EngineStatus `json:"engine,omitempty"`
}

// LimitStatus is what one call may use.
type LimitStatus struct {
	MemoryPages uint32 `json:"memory_pages"`
	Fuel        uint64 `json:"fuel"`
	WallMillis  int64  `json:"wall_millis"`
	InputBytes  int    `json:"input_bytes"`
	OutputBytes int    `json:"output_bytes"`
	LogBytes    int    `json:"log_bytes"`
}

// WakeStatus is when a detector is called, the policy's additions included.
type WakeStatus struct {
	Always   bool     `json:"always,omitempty"`
	Kinds    []string `json:"kinds,omitempty"`
	Threats  []string `json:"threats,omitempty"`
	Views    []string `json:"views,omitempty"`
	Topics   []string `json:"topics,omitempty"`
	SizeOver uint64   `json:"size_over,omitempty"`
}

// Counters count since the plugin was loaded.
type Counters struct {
	Calls    uint64 `json:"calls"`
	Failures uint64 `json:"failures"`
	Fuel     uint64 `json:"fuel"`
}

// EngineStatus is ModuleStats for the API.
type EngineStatus struct {
	Instances   int    `json:"instances"`
	Fresh       uint64 `json:"fresh"`
	Reset       uint64 `json:"reset"`
	Poisoned    uint64 `json:"poisoned"`
	ResetMethod string `json:"reset_method"`
	MemoryBytes int    `json:"memory_bytes"`
}

// view is what Status needs, copied after each rebuild: a status must not wait for a compilation.
type view struct {
	slots     []slot
	orphans   []orphan
	policyErr *Failure
	matchErr  *Failure
	builtin   map[string]*Package
}

// show publishes a view. g.mu is held.
func (g *Generations) show(orphans []orphan) {
	v := &view{orphans: orphans, policyErr: g.policy.err, matchErr: g.match.err, builtin: g.builtins}
	for _, s := range g.slots {
		v.slots = append(v.slots, *s)
	}
	slices.SortFunc(v.slots, func(a, b slot) int { return strings.Compare(a.name, b.name) })
	if old := g.shown.Swap(v); old == nil || !slices.EqualFunc(old.orphans, orphans, sameOrphan) {
		for _, o := range orphans {
			g.opt.Log.Error("plugin refused", "plugin", o.name, "stage", o.failure.Stage, "kind", o.failure.Kind, "source", o.failure.Path, "error", o.failure.Message)
		}
	}
}

func sameOrphan(a, b orphan) bool { return a.name == b.name && a.failure.Message == b.failure.Message }

// problems joins everything that could not be taken over.
func (v *view) problems() error {
	var errs []error
	add := func(what string, f *Failure) {
		if f != nil {
			errs = append(errs, fmt.Errorf("%s: %s", what, f.Message))
		}
	}
	add("policy", v.policyErr)
	add("signatures", v.matchErr)
	for _, s := range v.slots {
		add("plugin "+s.name, s.lastError)
	}
	for _, o := range v.orphans {
		add("plugin "+o.name, o.failure)
	}
	return errors.Join(errs...)
}

// Status is the present state. It does not wait for a reload that is under way.
func (g *Generations) Status() *Status {
	v, set := g.shown.Load(), g.Acquire()
	st := &Status{Plugins: []PluginStat{}, Missing: []string{}}
	st.Policy.LastError, st.Signatures.LastError = v.policyErr, v.matchErr
	if set != nil {
		defer set.Release()
		digest := set.Matcher.Digest()
		st.Generation, st.Since = set.Number, set.Since
		st.Policy.Digest, st.Signatures.Digest = set.Policy.DigestString(), hex.EncodeToString(digest[:])
		st.Missing = append(st.Missing, set.Missing()...)
		st.Plugins = v.rows(set)
	}
	return st
}

// rows lists the plugins, by name, the one that serves first.
func (v *view) rows(set *Set) []PluginStat {
	rows := []PluginStat{}
	listed := map[string]bool{}
	for i := range v.slots {
		s := &v.slots[i]
		listed[s.name] = true
		if s.serving != nil || s.off != "" || s.lastError != nil || s.pending == nil {
			rows = append(rows, v.mainRow(s, set.Entry(s.name)))
		}
		if s.shadow != nil {
			row := pluginRow(s.shadow.plugin)
			row.State, row.Shadow = StateShadow, s.shadow.status()
			rows = append(rows, row)
		}
		if s.pending != nil {
			rows = append(rows, PluginStat{Name: s.name, Version: s.pending.Version(), Kind: s.pending.Manifest.Kind.String(), State: StatePending,
				SHA256: s.pending.Digest(), Source: sourceOf(s.pending), Grants: grantNames(s.pending.Manifest.Grants),
				Why: (&slot{pending: s.pending}).why()})
		}
	}
	for _, o := range v.orphans {
		rows = append(rows, PluginStat{Name: o.name, State: StateFailed, Source: o.failure.Path, LastError: o.failure})
	}
	for _, e := range set.Entries {
		if e.Plugin == nil && !listed[e.Name] {
			rows = append(rows, PluginStat{Name: e.Name, State: StateFailed, Required: true, Why: e.Why})
		}
	}
	slices.SortStableFunc(rows, func(a, b PluginStat) int { return strings.Compare(a.Name, b.Name) })
	return rows
}

// mainRow is the row of what serves under a name, or of why nothing does. e may be nil.
func (v *view) mainRow(s *slot, e *Entry) PluginStat {
	row := PluginStat{Name: s.name, State: StateFailed}
	switch {
	case s.serving != nil:
		row = pluginRow(s.serving)
		row.State = StateServing
		row.OverridesBuiltin = s.serving.plan.pkg.Path != "" && v.builtin[s.name] != nil
	case s.off != "":
		row.State, row.Why = StateDisabled, s.off
	}
	if e != nil {
		row.Required = e.Required
		if e.Plugin != nil {
			row.Wake = e.wake.status()
		}
	}
	row.LastError = s.lastError
	if row.LastError != nil && row.Source == "" {
		row.Source = row.LastError.Path
	}
	return row
}

// pluginRow describes a loaded plugin.
func pluginRow(p *Plugin) PluginStat {
	m, l, st := p.manifest, p.limits, p.module.Stats()
	return PluginStat{
		Name: m.Name, Version: m.Version, Kind: m.Kind.String(), Summary: m.Summary, Generation: p.since.Load(),
		SHA256: p.plan.pkg.Digest(), Source: sourceOf(p.plan.pkg), Signed: p.plan.signed, Identity: p.Identity().String(),
		Limits:   &LimitStatus{l.MemoryPages, l.Fuel, l.Wall.Milliseconds(), l.Input, l.Output, l.Log},
		Grants:   grantNames(m.Grants),
		Counters: &Counters{p.calls.Load(), p.failures.Load(), p.fuel.Load()},
		Warnings: p.warnings,
		Engine:   &EngineStatus{st.Instances, st.Fresh, st.Reset, st.Poisoned, st.ResetMethod, st.MemoryBytes},
	}
}

func grantNames(grants []*v1.Grant) []string {
	var out []string
	for _, g := range grants {
		out = append(out, g.Type+" "+g.Value)
	}
	return out
}

func (w *wake) status() *WakeStatus {
	st := &WakeStatus{Always: w.always, Views: w.views, Topics: w.topics, SizeOver: w.sizeOver}
	for _, k := range v1.PayloadKindValues() {
		if w.kinds>>(uint(k)&63)&1 != 0 {
			st.Kinds = append(st.Kinds, k.String())
		}
	}
	for _, t := range v1.ThreatValues() {
		if w.threats.Has(t) {
			st.Threats = append(st.Threats, t.String())
		}
	}
	return st
}
