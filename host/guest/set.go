package guest

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
	"github.com/amygdala-host/amygdala/signatures"
)

// Set is one generation: policy, signatures and plugins that belong together. It never changes. Get one from Generations.Acquire, use
// it for one whole inspection, and Release it.
type Set struct {
	// Number counts generations from 1.
	Number uint64
	// Since is when it began to serve.
	Since   time.Time
	Policy  *policies.Policy
	Matcher *signatures.Matcher
	// Entries are the plugins, sorted by name: those that serve, and those that are missed.
	Entries []*Entry

	refs atomic.Int64
}

// Release gives the set back. Call it exactly once for each Acquire; the set must not be used afterwards.
func (s *Set) Release() {
	n := s.refs.Add(-1)
	if n < 0 {
		panic("guest: a Set was released more often than it was acquired")
	}
	if n == 0 {
		for _, e := range s.Entries {
			e.release()
		}
	}
}

// retain takes a reference unless the set is on its way out.
func (s *Set) retain() bool {
	for {
		n := s.refs.Load()
		if n == 0 {
			return false
		}
		if s.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Entry finds a plugin by name; nil if the set neither has nor misses it.
func (s *Set) Entry(name string) *Entry {
	for _, e := range s.Entries {
		if e.Name == name {
			return e
		}
	}
	return nil
}

// Missing names the plugins that this generation should have and has not: each payload that would have woken one of them fails closed.
func (s *Set) Missing() []string {
	var names []string
	for _, e := range s.Entries {
		if e.Plugin == nil {
			names = append(names, e.Name)
		}
	}
	return names
}

// Entry is one plugin of a Set.
type Entry struct {
	Name string
	// Plugin is nil for one that is missing: required by the policy but not loaded, or taken out of service because it kept failing.
	// Its calls then fail with kind unavailable, so that a caller need not treat it in a special way.
	Plugin *Plugin
	// Required is what the policy says.
	Required bool
	// Why says why Plugin is nil, and how to mend it.
	Why string

	wake   wake
	shadow *shadow
}

// Kind is the plugin's kind; a missing plugin counts as a detector.
func (e *Entry) Kind() v1.PluginKind {
	if e.Plugin == nil {
		return v1.PluginKindDetector
	}
	return e.Plugin.manifest.Kind
}

// Wakes reports whether a payload must be shown to this detector. It does not allocate.
func (e *Entry) Wakes(f *Facts) bool { return e.Kind() == v1.PluginKindDetector && e.wake.on(f) }

// Expects reports whether this detector asks for the payload byte for byte and was woken for payloads on this topic: what arrives there is
// declared to it, whatever it looks like.
func (e *Entry) Expects(topic string) bool {
	return e.Plugin != nil && e.Plugin.manifest.Original && e.Kind() == v1.PluginKindDetector && e.wake.onTopic(topic)
}

// Excerpts reports whether the detector wants windows around the hits instead of whole views.
func (e *Entry) Excerpts() bool { return e.Plugin != nil && e.Plugin.manifest.Excerpts }

// Detect asks the plugin, and lets its shadow answer the same question on the side. Errors are those of Plugin.Detect, and unavailable for
// a missing plugin.
func (e *Entry) Detect(ctx context.Context, req *v1.DetectRequest, opt CallOptions) (*v1.Verdict, Cost, error) {
	if e.Plugin == nil {
		return nil, Cost{}, e.missing(v1.OpDetect)
	}
	v, cost, err := e.Plugin.Detect(ctx, req, opt)
	if e.shadow != nil && abi.KindOf(err) != v1.ErrorKindCanceled {
		e.shadow.observe(req, opt, v, err)
	}
	return v, cost, err
}

// Judge is Plugin.Judge. Shadows are not asked: their question may have been another one.
func (e *Entry) Judge(ctx context.Context, req *v1.JudgeRequest, opt CallOptions) (*v1.Verdict, Cost, error) {
	if e.Plugin == nil {
		return nil, Cost{}, e.missing(v1.OpJudge)
	}
	return e.Plugin.Judge(ctx, req, opt)
}

func (e *Entry) missing(op v1.Op) error {
	return abi.E(op.String(), v1.ErrorKindUnavailable, e.Name, errors.New(e.Why))
}

func (e *Entry) release() {
	if e.Plugin != nil {
		e.Plugin.release()
	}
}
