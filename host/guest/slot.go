package guest

import (
	"context"
	"fmt"
	"slices"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// slot is the place of one plugin name across generations. Guarded by Generations.mu; during a rebuild one goroutine owns each slot.
type slot struct {
	name string
	// serving is the plugin in the current Set; nil if there is none. The slot holds a reference.
	serving *Plugin
	// shadow is a successor on trial. The slot holds a reference to its plugin.
	shadow *shadow
	// previous is what served before serving: where a blown fuse goes back to.
	previous *plan
	// pending is a package that asks for more than it may have.
	pending *Package
	// refused is the identity that failed to load last; it is not tried again until it changes.
	refused Identity
	// lastFused is the identity whose fuse blew last.
	lastFused Identity
	lastError *Failure
	// off says why nothing serves; empty if something does, or if nothing ever did.
	off string
	// outOfService is set while a plugin that once served is out because of its fuse: it is missed even if it is not required. missed is
	// what woke it.
	outOfService bool
	missed       *v1.Wake
	// gone is set when the slot has no reason to exist any more.
	gone bool
}

// settle brings one slot in line with what the sources offer. Whatever fails leaves the slot's plugin serving.
func (g *Generations) settle(ctx context.Context, s *slot, c candidate, det *policies.Detector) {
	s.pending = nil
	if !s.outOfService {
		s.off = ""
	}
	g.blown(ctx, s, c, det)
	switch {
	case !det.Enabled:
		s.retire("the policy says enabled: false")
		s.gone = c.override == nil && c.builtin == nil && c.problem == nil
		return
	case c.problem != nil:
		g.note(s, c.problem)
	case c.override == nil && c.builtin == nil:
		s.retire("")
		s.gone = true
		return
	case c.override != nil:
		g.try(ctx, s, c.override, det)
	default:
		g.try(ctx, s, c.builtin, det)
	}
	g.withdraw(s, det)
	if s.serving == nil && !s.outOfService && c.builtin != nil && (c.override != nil || c.problem != nil) {
		g.fallBack(ctx, s, c.builtin, det)
	}
}

// fallBack lets the built-in plugin serve where the one that should override it cannot: better that than none. What is wrong with the
// override stays on record.
func (g *Generations) fallBack(ctx context.Context, s *slot, builtin *Package, det *policies.Detector) {
	pending, refused, lastError := s.pending, s.refused, s.lastError
	g.try(ctx, s, builtin, det)
	s.pending, s.refused = pending, refused
	if lastError != nil {
		s.lastError = lastError
	}
}

// try takes one package towards serving.
func (g *Generations) try(ctx context.Context, s *slot, pkg *Package, det *policies.Detector) {
	pl := planOf(pkg, det, g.opt.Caps)
	if f := g.fuseOf(pl.identity); f != nil {
		s.lastError = f
		return
	}
	switch {
	case s.serving != nil && s.serving.plan.identity == pl.identity:
		s.dropShadow()
		s.lastError, s.refused = nil, Identity{}
		return
	case s.shadow != nil && s.shadow.plugin.plan.identity == pl.identity:
		s.shadow.setting.Store(&det.Shadow)
		if g.isPromoted(pl.identity) || det.Shadow.Calls == 0 {
			g.opt.Log.Info("shadow takes over", "plugin", s.name, "calls", s.shadow.calls.Load(), "stricter", s.shadow.stricter.Load(), "laxer", s.shadow.laxer.Load())
			s.takeOver()
		}
		return
	case s.refused == pl.identity:
		return
	case pkg.Manifest != nil && !within(pkg.Manifest.Grants, det.Grants, g.approvedFor(s.name)):
		s.pending = pkg
		g.opt.Log.Warn("plugin waits for approval: it asks for more than the policy grants", "plugin", s.name, "source", sourceOf(pkg))
		return
	}
	p, err := g.load(ctx, pl)
	if err != nil {
		g.refuse(s, pl, err)
		return
	}
	g.admit(s, p, det)
}

// load verifies and loads one package, within the bounds for loading.
func (g *Generations) load(ctx context.Context, pl plan) (*Plugin, error) {
	signed, err := g.opt.Verify(pl.pkg)
	if err != nil {
		return nil, &stagedError{StageVerify, err}
	}
	pl.signed = signed
	g.loads <- struct{}{}
	defer func() { <-g.loads }()
	ctx, cancel := context.WithTimeout(ctx, g.opt.LoadTimeout)
	defer cancel()
	p, err := load(ctx, g.opt.Driver, pl, g.closePlugin)
	if err != nil {
		return nil, err
	}
	p.onBlow = g.onBlow
	g.alive.opened()
	return p, nil
}

// closePlugin closes a module whose last reference is gone, off the path of whoever held it.
func (g *Generations) closePlugin(p *Plugin) {
	go func() { g.alive.closed(p.module.Close()) }()
}

// admit lets a loaded plugin serve, or stand in the shadow of the one that does.
func (g *Generations) admit(s *slot, p *Plugin, det *policies.Detector) {
	s.dropShadow()
	s.lastError, s.refused = nil, Identity{}
	for _, w := range p.warnings {
		g.opt.Log.Warn("plugin's remark on its configuration", "plugin", s.name, "remark", w)
	}
	if det.Shadow.Calls > 0 && s.serving != nil && p.manifest.Kind == v1.PluginKindDetector {
		id := p.plan.identity
		s.shadow = &shadow{plugin: p, slots: make(chan struct{}, shadowSlots), ctx: g.ctx, onDone: func() { g.promote(id); g.Kick() }}
		s.shadow.setting.Store(&det.Shadow)
		g.opt.Log.Info("plugin runs in the shadow of its predecessor", "plugin", s.name, "version", p.manifest.Version, "calls", det.Shadow.Calls)
		return
	}
	s.serve(p)
}

// refuse notes that a package could not be taken into service.
func (g *Generations) refuse(s *slot, pl plan, err error) {
	if !passing(err) {
		s.refused = pl.identity
	}
	g.note(s, failure(StageLoad, err, pl.pkg))
}

// passing tells failures that may be gone by the next attempt.
func passing(err error) bool {
	switch abi.KindOf(err) {
	case v1.ErrorKindTimeout, v1.ErrorKindCanceled, v1.ErrorKindUnavailable, v1.ErrorKindIO:
		return true
	}
	return false
}

// note records and logs a failure, unless it is already known.
func (g *Generations) note(s *slot, f *Failure) {
	if old := s.lastError; old != nil && old.Message == f.Message && old.Path == f.Path && old.SHA256 == f.SHA256 {
		return
	}
	s.lastError = f
	keeps := "nothing"
	if s.serving != nil {
		keeps = s.serving.manifest.Version
	}
	g.opt.Log.Error("plugin refused", "plugin", s.name, "stage", f.Stage, "kind", f.Kind, "source", f.Path, "error", f.Message, "serving", keeps)
}

// blown goes back to the previous identity if the fuse of the serving plugin blew, and drops a shadow whose fuse blew.
func (g *Generations) blown(ctx context.Context, s *slot, c candidate, det *policies.Detector) {
	if s.shadow != nil && g.fuseOf(s.shadow.plugin.plan.identity) != nil {
		s.dropShadow()
	}
	if s.serving == nil {
		return
	}
	f := g.fuseOf(s.serving.plan.identity)
	if f == nil {
		return
	}
	s.lastError, s.lastFused = f, s.serving.plan.identity
	for _, pl := range g.fallbacks(s, c, det) {
		p, err := g.load(ctx, pl)
		if err != nil {
			g.opt.Log.Error("rolling back failed", "plugin", s.name, "source", sourceOf(pl.pkg), "error", failure(StageLoad, err, nil).Message)
			continue
		}
		g.opt.Log.Warn("plugin rolled back: its fuse blew", "plugin", s.name, "from", s.serving.manifest.Version, "to", p.manifest.Version)
		s.serve(p)
		s.previous = nil
		return
	}
	g.opt.Log.Error("plugin out of service: its fuse blew and there is nothing to go back to", "plugin", s.name, "version", s.serving.manifest.Version)
	s.outOfService, s.missed = true, s.serving.manifest.Wake
	s.replace(nil)
	s.off = "its calls failed again and again; replace its file or change its settings"
}

// fallbacks lists what a plugin whose fuse blew may go back to.
func (g *Generations) fallbacks(s *slot, c candidate, det *policies.Detector) []plan {
	var out []plan
	if s.previous != nil && g.fuseOf(s.previous.identity) == nil {
		out = append(out, *s.previous)
	}
	if c.builtin != nil {
		if pl := planOf(c.builtin, det, g.opt.Caps); g.fuseOf(pl.identity) == nil {
			out = append(out, pl)
		}
	}
	return out
}

// withdraw takes a plugin out of service that holds grants it may no longer have.
func (g *Generations) withdraw(s *slot, det *policies.Detector) {
	if s.serving == nil || within(s.serving.manifest.Grants, det.Grants, g.approvedFor(s.name)) {
		return
	}
	g.opt.Log.Error("plugin out of service: its grants were withdrawn", "plugin", s.name)
	s.retire("its grants were withdrawn; put them back into the policy or approve them")
}

// within reports whether everything asked is allowed.
func within(asks []*v1.Grant, allowed ...[]*v1.Grant) bool {
	for _, a := range asks {
		ok := false
		for _, list := range allowed {
			ok = ok || slices.ContainsFunc(list, func(g *v1.Grant) bool { return g.Type == a.Type && g.Value == a.Value })
		}
		if !ok {
			return false
		}
	}
	return true
}

// serve makes p the slot's plugin; its predecessor is remembered.
func (s *slot) serve(p *Plugin) {
	if s.serving != nil {
		pl := s.serving.plan
		s.previous = &pl
	}
	s.off, s.outOfService, s.missed = "", false, nil
	s.replace(p)
}

// replace swaps the reference the slot holds.
func (s *slot) replace(p *Plugin) {
	if s.serving != nil {
		s.serving.release()
	}
	s.serving = p
}

// takeOver lets the shadow serve.
func (s *slot) takeOver() {
	p := s.shadow.plugin
	s.shadow = nil
	s.lastError = nil
	s.serve(p)
}

func (s *slot) dropShadow() {
	if s.shadow != nil {
		s.shadow.plugin.release()
		s.shadow = nil
	}
}

// retire stops serving for a reason that is not a failure.
func (s *slot) retire(why string) {
	s.clear()
	s.off, s.lastError, s.refused = why, nil, Identity{}
}

// clear gives all references back.
func (s *slot) clear() {
	s.dropShadow()
	s.replace(nil)
	s.previous, s.outOfService, s.missed = nil, false, nil
}

// onBlow is called by a plugin whose fuse blew, in the middle of somebody's call: it only leaves a note. The guest's own words stay out
// of it, since they may hold payload text.
func (g *Generations) onBlow(p *Plugin, err error) {
	setting := p.fuse.setting.Load()
	text := fmt.Errorf("%d of its last %d calls failed, the last one with kind %v", setting.Failures, setting.Window, abi.KindOf(err))
	f := failure(StageServing, abi.E("call", abi.KindOf(err), p.Name(), text), p.plan.pkg)
	g.faults.Lock()
	g.fused[p.plan.identity] = f
	g.faults.Unlock()
	g.opt.Log.Error("fuse blew", "plugin", p.Name(), "version", p.manifest.Version, "failures", setting.Failures, "window", setting.Window, "kind", f.Kind)
	g.Kick()
}

func (g *Generations) fuseOf(id Identity) *Failure {
	g.faults.Lock()
	defer g.faults.Unlock()
	return g.fused[id]
}

func (g *Generations) promote(id Identity) {
	g.faults.Lock()
	defer g.faults.Unlock()
	g.promoted[id] = true
}

func (g *Generations) isPromoted(id Identity) bool {
	g.faults.Lock()
	defer g.faults.Unlock()
	return g.promoted[id]
}

func (g *Generations) approvedFor(name string) []*v1.Grant {
	g.faults.Lock()
	defer g.faults.Unlock()
	return g.approved[name]
}

// why explains that nothing serves under a name, in words that may be shown to whoever sent a payload. s may be nil.
func (s *slot) why() string {
	switch {
	case s == nil:
		return "the policy requires it, but no plugin has this name; put its file into a plugin directory, or say required: false"
	case s.off != "":
		return s.off
	case s.pending != nil:
		return "it asks for grants that the policy does not give; approve them, or add them to the policy"
	case s.lastError != nil:
		return fmt.Sprintf("it was refused at stage %s (%s); the plugin status says why", s.lastError.Stage, s.lastError.Kind)
	}
	return "it is not loaded"
}
