package guest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// Stages of bringing a plugin into service, as Failure.Stage names them.
const (
	StageOpen      = "open"
	StageVerify    = "verify"
	StageGrants    = "grants"
	StageLoad      = "load"
	StageDescribe  = "describe"
	StageConfigure = "configure"
	StageWarmUp    = "warm-up"
	StageSelftest  = "self-test"
	StageServing   = "serving"
)

// stagedError says at which stage a plugin failed.
type stagedError struct {
	stage string
	err   error
}

func (e *stagedError) Error() string { return e.stage + ": " + e.err.Error() }
func (e *stagedError) Unwrap() error { return e.err }

// setupClock is the clock of everything before the snapshot, in nanoseconds: 2000-01-01. It stands still, so that the same module
// with the same settings always gives the same snapshot.
const setupClock = 946_684_800_000_000_000

var setupOptions = CallOptions{Clock: setupClock}

// plan is one plugin about to be loaded.
type plan struct {
	pkg      *Package
	det      *policies.Detector
	limits   Limits
	identity Identity
	signed   bool
	// name is what the manifest must be called; empty: any name.
	name string
}

func planOf(pkg *Package, det *policies.Detector, caps Limits) plan {
	limits := unasked(det.Limits, caps)
	if pkg.Manifest != nil {
		limits = effective(pkg.Manifest.Limits, det.Limits, caps)
	}
	return plan{pkg: pkg, det: det, limits: limits, identity: identify(pkg, det, limits), name: pkg.Name}
}

// load brings a plugin to the point where it could serve. The caller owns the plugin's first reference.
func load(ctx context.Context, driver Driver, pl plan, onClose func(*Plugin)) (*Plugin, error) {
	p := &Plugin{plan: pl, manifest: pl.pkg.Manifest, limits: pl.limits, onClose: onClose}
	p.refs.Store(1)
	if p.manifest != nil {
		p.codec = codec(p.manifest.Encoding)
	}
	stage := StageLoad
	setup := func(c Caller) error {
		p.module = setupModule{c}
		return p.setUp(ctx, &stage)
	}
	module, err := driver.Load(ctx, pl.name, pl.pkg.Module, LoadOptions{Limits: pl.limits, Setup: setup})
	if err != nil {
		return nil, &stagedError{stage, err}
	}
	p.module = module
	if err := p.selfTest(ctx); err != nil {
		err = &stagedError{StageSelftest, err}
		return nil, errors.Join(err, module.Close())
	}
	p.resetCounters()
	return p, nil
}

// resetCounters forgets the calls that were made to get the plugin ready.
func (p *Plugin) resetCounters() {
	p.calls.Store(0)
	p.failures.Store(0)
	p.fuel.Store(0)
}

// setupModule lets the plugin's own checks run over the first instance, before there is a Module.
type setupModule struct{ Caller }

func (setupModule) Lease(context.Context) (Lease, error) {
	return nil, abi.E("lease", v1.ErrorKindUnavailable, "", errors.New("the plugin is being loaded"))
}
func (setupModule) Stats() ModuleStats { return ModuleStats{} }
func (setupModule) Close() error       { return nil }

// setUp is what happens on the first instance, before the snapshot.
func (p *Plugin) setUp(ctx context.Context, stage *string) error {
	*stage = StageDescribe
	if err := p.describe(ctx, p.plan.name); err != nil {
		return err
	}
	*stage = StageConfigure
	if err := p.configure(ctx, p.plan.det.Config); err != nil {
		return err
	}
	*stage = StageWarmUp
	return p.warmUp(ctx)
}

// describe asks the plugin who it is. A packed plugin must answer what its manifest says.
func (p *Plugin) describe(ctx context.Context, name string) error {
	packed := p.manifest
	if packed == nil {
		p.manifest = &v1.Manifest{Name: name, Ops: []v1.Op{v1.OpDescribe}}
		p.codec = codec(v1.EncodingProtobuf)
	} else if !p.Has(v1.OpDescribe) {
		p.manifest = withOps(packed)
	}
	resp, _, err := p.call(ctx, v1.OpDescribe, &v1.Request{Describe: &v1.DescribeRequest{}}, setupOptions, nil)
	p.manifest = packed
	if err != nil {
		return err
	}
	if packed != nil {
		if err := sameManifest(packed, resp.Manifest); err != nil {
			return abi.E("describe", v1.ErrorKindRefused, packed.Name, err)
		}
		return nil
	}
	return p.adopt(name, resp.Manifest)
}

// adopt takes the manifest that an unpacked built-in module gave of itself.
func (p *Plugin) adopt(name string, m *v1.Manifest) error {
	if err := checkManifest(m); err != nil {
		return err
	}
	switch {
	case name != "" && m.Name != name:
		return abi.E("describe", v1.ErrorKindRefused, name, fmt.Errorf("the plugin calls itself %s", m.Name))
	case len(m.Grants)+len(m.Digests)+len(m.Signature) > 0:
		return abi.E("describe", v1.ErrorKindRefused, name, errors.New("DESCRIBE answers grants, digests or a signature, which only a packer may add"))
	}
	own := &v1.Manifest{} // the answer's bytes belong to a call that is over
	if err := own.UnmarshalProto(m.AppendProto(nil)); err != nil {
		return protocol(err)
	}
	p.manifest, p.limits = own, p.limits.narrowed(askedLimits(own.Limits))
	return nil
}

// askedLimits are the limits a manifest asks for.
func askedLimits(l *v1.Limits) Limits {
	if l == nil {
		return Limits{}
	}
	return Limits{MemoryPages: l.MemoryPages, Fuel: l.Fuel, Wall: time.Duration(l.WallMillis) * time.Millisecond,
		Input: int(l.InputBytes), Output: int(l.OutputBytes), Log: int(l.LogBytes)}
}

// withOps is m with the ops that need not be listed.
func withOps(m *v1.Manifest) *v1.Manifest {
	w := *m
	w.Ops = append([]v1.Op{v1.OpDescribe, v1.OpConfigure}, m.Ops...)
	return &w
}

// configure hands over settings and assets, once.
func (p *Plugin) configure(ctx context.Context, config []byte) error {
	manifest := p.manifest
	p.manifest = withOps(manifest)
	resp, _, err := p.call(ctx, v1.OpConfigure, &v1.Request{Configure: &v1.ConfigureRequest{Config: config, Assets: p.plan.pkg.guestAssets()}}, setupOptions, nil)
	p.manifest = manifest
	if err != nil {
		return err
	}
	if len(resp.Configured.Warnings) > abi.MaxWarnings {
		return abi.E("configure", v1.ErrorKindProtocol, p.Name(), fmt.Errorf("%d warnings, at most %d are allowed", len(resp.Configured.Warnings), abi.MaxWarnings))
	}
	for _, w := range resp.Configured.Warnings {
		p.warnings = append(p.warnings, string(bytes.ToValidUTF8([]byte(w[:min(len(w), abi.MaxWarning)]), nil)))
	}
	return nil
}

// warmUp lets a detector judge a small and a middling text, so that the snapshot holds a heap that has grown once and tables that are
// made. The guest may answer with an error of its own (a schema detector knows no such topic); anything else that fails is a refusal.
func (p *Plugin) warmUp(ctx context.Context) error {
	if p.manifest.Kind != v1.PluginKindDetector {
		return nil
	}
	const line = "The quick brown fox jumps over the lazy dog; pack my box with five dozen liquor jugs.\n"
	for _, n := range []int{1, 48} {
		_, _, err := p.Detect(ctx, textRequest(v1.PayloadKindDoc, bytes.Repeat([]byte(line), n)), setupOptions)
		if guest := (*guestError)(nil); err != nil && !errors.As(err, &guest) {
			return err
		}
	}
	return nil
}

// textRequest is the question about a plain text.
func textRequest(kind v1.PayloadKind, text []byte) *v1.DetectRequest {
	return &v1.DetectRequest{Kind: kind, Size: uint64(len(text)),
		Views: []*v1.View{{Name: "text", Text: text, Size: uint32(len(text)), Parent: -1, OriginEnd: uint32(len(text))}}}
}

// Describe loads a module just to ask for its manifest, as a packer does. Both encodings are tried. Errors are those of Driver.Load and
// Plugin.Call.
func Describe(ctx context.Context, driver Driver, name string, module []byte) (*v1.Manifest, error) {
	var errs []error
	for _, enc := range []v1.Encoding{v1.EncodingProtobuf, v1.EncodingJSON} {
		p := &Plugin{manifest: &v1.Manifest{Name: name, Ops: []v1.Op{v1.OpDescribe}}, codec: codec(enc)}
		var m *v1.Manifest
		mod, err := driver.Load(ctx, name, module, LoadOptions{Setup: func(c Caller) error {
			p.module = setupModule{c}
			resp, _, err := p.call(ctx, v1.OpDescribe, &v1.Request{Describe: &v1.DescribeRequest{}}, setupOptions, nil)
			if err == nil {
				m = resp.Manifest
			}
			return err
		}})
		if err != nil {
			errs = append(errs, fmt.Errorf("asked in %v: %w", enc, err))
			continue
		}
		if err := mod.Close(); err != nil {
			return nil, abi.E("describe", v1.ErrorKindUnspecified, name, err)
		}
		return m, checkManifest(m)
	}
	return nil, abi.E("describe", v1.ErrorKindUnspecified, name, errors.Join(errs...))
}
