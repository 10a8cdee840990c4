package guest

import (
	"maps"
	"slices"
	"strings"

	"github.com/amygdala-host/amygdala/policies"
)

// entries lists what the next Set holds: plugins that serve, and those that are missed.
func (g *Generations) entries(policy *policies.Policy) []*Entry {
	names := slices.Collect(maps.Keys(g.slots))
	for _, name := range policy.Detectors() {
		if g.slots[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var out []*Entry
	for _, name := range names {
		if e := entryOf(name, g.slots[name], policy.Detector(name)); e != nil {
			out = append(out, e)
		}
	}
	return out
}

// entryOf is nil for a plugin that neither serves nor is missed. s may be nil.
func entryOf(name string, s *slot, det *policies.Detector) *Entry {
	required := det.Required && det.Enabled
	if s != nil && s.serving != nil {
		return &Entry{Name: name, Plugin: s.serving, Required: required, shadow: s.shadow, wake: wakeOf(s.serving.manifest.Wake, det.Wake)}
	}
	e := &Entry{Name: name, Required: required, Why: s.why()}
	switch {
	case required:
		e.wake.always = true
	case s != nil && s.outOfService:
		e.wake = wakeOf(s.missed, det.Wake)
	default:
		return nil
	}
	return e
}

// adoptedBy ties an entry to its set before the set can be seen.
func (e *Entry) adoptedBy(set *Set) {
	if e.Plugin == nil {
		return
	}
	if !e.Plugin.retain() {
		panic("guest: a plugin was closed while its slot held it")
	}
	e.Plugin.since.CompareAndSwap(0, set.Number)
	e.Plugin.fuse.setting.Store(&set.Policy.Fuse)
	if e.shadow != nil {
		e.shadow.policy.Store(set.Policy)
		e.shadow.plugin.fuse.setting.Store(&set.Policy.Fuse)
	}
}

// same reports whether a new set would change nothing.
func (s *Set) same(next *Set) bool {
	return s.Policy.Digest() == next.Policy.Digest() && s.Matcher.Digest() == next.Matcher.Digest() &&
		slices.EqualFunc(s.Entries, next.Entries, func(a, b *Entry) bool {
			return a.Name == b.Name && a.Plugin == b.Plugin && a.shadow == b.shadow && a.Required == b.Required && a.Why == b.Why
		})
}

// describe lists the plugins that serve, for the log.
func (s *Set) describe() string {
	var names []string
	for _, e := range s.Entries {
		if e.Plugin != nil {
			names = append(names, e.Name+"@"+e.Plugin.manifest.Version)
		}
	}
	return strings.Join(names, " ")
}
