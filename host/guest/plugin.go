package guest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// Identity is all that decides how a plugin behaves: the file, the manifest, its configuration, its grants and its limits. Two
// plugins with the same identity are the same plugin.
type Identity [sha256.Size]byte

// String is the identity in hexadecimal.
func (id Identity) String() string { return hex.EncodeToString(id[:]) }

// identify computes the identity of a package under the settings it would get.
func identify(pkg *Package, det *policies.Detector, limits Limits) Identity {
	h := sha256.New()
	part := func(b []byte) { fmt.Fprintf(h, "%d:%s;", len(b), b) }
	part(pkg.SHA256[:])
	if pkg.Manifest != nil {
		part(pkg.Manifest.AppendProto(nil))
	}
	part(det.Config)
	for _, g := range det.Grants {
		part(g.AppendProto(nil))
	}
	fmt.Fprintf(h, "%+v", limits)
	return Identity(h.Sum(nil))
}

// Plugin is one loaded plugin: a module behind the checks that make its answers trustworthy in form. Safe for concurrent use.
type Plugin struct {
	plan     plan
	manifest *v1.Manifest
	limits   Limits
	warnings []string
	module   Module
	codec    codec
	since    atomic.Uint64 // the generation it began to serve in

	calls, failures, fuel atomic.Uint64
	fuse                  fuse
	onBlow                func(*Plugin, error)

	refs    atomic.Int64
	onClose func(*Plugin)
}

// CallOptions are what the host decides about one call.
type CallOptions struct {
	// Clock, in nanoseconds since the Unix epoch, and Seed are the guest's only time and randomness.
	Clock int64
	Seed  uint64
	// Limits narrows the plugin's limits; zero fields keep them.
	Limits Limits
}

// Cost is the price of one call, also of a failed one.
type Cost struct {
	// Fuel is in units of about one Wasm instruction; the same for the same plugin, settings and question.
	Fuel uint64
	Wall time.Duration
	// Log is what the guest printed. It may hold payload text: do not log it.
	Log []byte
}

// Name is the manifest's name.
func (p *Plugin) Name() string { return p.manifest.Name }

// Manifest is what the plugin says of itself. Read-only.
func (p *Plugin) Manifest() *v1.Manifest { return p.manifest }

// Identity tells plugins apart that behave differently.
func (p *Plugin) Identity() Identity { return p.plan.identity }

// Limits are what one call may use.
func (p *Plugin) Limits() Limits { return p.limits }

// Has reports whether the manifest declares op.
func (p *Plugin) Has(op v1.Op) bool { return slices.Contains(p.manifest.Ops, op) }

// Detect asks the plugin to judge one payload. The request is not kept. A nil verdict always comes with an error.
//
// Errors are *abi.Error with the plugin as subject: unsupported (the plugin has no such op), limit (the question or the answer is too
// large), trap, fuel, timeout, canceled, protocol (the answer broke the contract), or the kind that the guest itself answered.
func (p *Plugin) Detect(ctx context.Context, req *v1.DetectRequest, opt CallOptions) (*v1.Verdict, Cost, error) {
	return p.verdict(ctx, v1.OpDetect, &v1.Request{Detect: req}, askingOf(req, false), opt)
}

// Judge brings back the model's answer to a question that Detect's verdict asked. Errors are those of Detect.
func (p *Plugin) Judge(ctx context.Context, req *v1.JudgeRequest, opt CallOptions) (*v1.Verdict, Cost, error) {
	return p.verdict(ctx, v1.OpJudge, &v1.Request{Judge: req}, askingOf(req.Payload, true), opt)
}

func (p *Plugin) verdict(ctx context.Context, op v1.Op, req *v1.Request, a asking, opt CallOptions) (*v1.Verdict, Cost, error) {
	resp, cost, err := p.call(ctx, op, req, opt, func(r *v1.Response) error { return checkVerdict(p.manifest, a, r.Verdict) })
	if err != nil {
		return nil, cost, err
	}
	return resp.Verdict, cost, nil
}

// Call makes a call of any op the manifest declares. req holds the op's body; clock, seed and revision are filled in. The answer has
// passed the strict check and answers op; what it means is for the caller to check. Errors are those of Detect.
func (p *Plugin) Call(ctx context.Context, op v1.Op, req *v1.Request, opt CallOptions) (*v1.Response, Cost, error) {
	return p.call(ctx, op, req, opt, nil)
}

// call is the one way into a running plugin: encode, cross, decode, check, count.
func (p *Plugin) call(ctx context.Context, op v1.Op, req *v1.Request, opt CallOptions, check func(*v1.Response) error) (*v1.Response, Cost, error) {
	p.calls.Add(1)
	if !p.Has(op) {
		return nil, Cost{}, p.failed(op, abi.E("", v1.ErrorKindUnsupported, "", errors.New("its manifest does not declare the op")))
	}
	buf := buffers.Get().(*[]byte)
	defer release(buf)
	*buf = p.codec.encode((*buf)[:0], stamped(req, opt))
	body := *buf
	limits := p.limits.narrowed(opt.Limits)
	if limits.Input > 0 && len(body) > limits.Input {
		return nil, Cost{}, p.failed(op, abi.E("", v1.ErrorKindLimit, "", fmt.Errorf("the question has %d bytes, the plugin takes at most %d; see limits in the policy", len(body), limits.Input)))
	}
	ans, err := p.cross(ctx, Call{Op: op, Body: body, Clock: opt.Clock, Seed: opt.Seed, Limits: limits})
	cost := Cost{Fuel: ans.Fuel, Wall: ans.Wall, Log: ans.Log}
	p.fuel.Add(ans.Fuel)
	var resp *v1.Response
	if err == nil {
		resp, err = p.codec.open(op, ans.Body)
	}
	if err == nil && check != nil {
		if err = check(resp); err != nil {
			err = protocol(err)
		}
	}
	if err != nil {
		err = p.failed(op, err)
		if p.blameworthy(ctx, err, ans.Fuel, len(body)) {
			p.strike(err)
		}
		return nil, cost, err
	}
	return resp, cost, nil
}

// stamped is req with what every question carries. req itself is left alone: it may be shared between plugins.
func stamped(req *v1.Request, opt CallOptions) *v1.Request {
	r := *req
	r.ClockUnixNanos, r.Seed, r.Revision = opt.Clock, opt.Seed, abi.Revision
	return &r
}

// cross enters the sandbox. A panic below is a failed call and not the end of the host.
func (p *Plugin) cross(ctx context.Context, c Call) (ans Answer, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = abi.E("call", v1.ErrorKindInternal, "", fmt.Errorf("the engine panicked: %v", r))
		}
	}()
	return p.module.Call(ctx, c)
}

// failed counts a failed call and gives its error the op and the plugin's name.
func (p *Plugin) failed(op v1.Op, err error) error {
	p.failures.Add(1)
	return abi.E(op.String(), v1.ErrorKindUnspecified, p.manifest.Name, err)
}

// retain takes a reference. It fails once the plugin has been let go of.
func (p *Plugin) retain() bool {
	for {
		n := p.refs.Load()
		if n == 0 {
			return false
		}
		if p.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// release gives a reference back; the last one closes the module.
func (p *Plugin) release() {
	if p.refs.Add(-1) == 0 {
		p.onClose(p)
	}
}
