// Package sdk is the guest side of amygdala for Go: what a plugin author imports, and nothing else.
//
// A plugin is an ordinary main package that registers one thing in init and leaves main empty:
//
//	func init() {
//		sdk.Register(sdk.Detector{
//			Manifest: &v1.Manifest{Name: "zebra", Version: "0.1.0", Wake: &v1.Wake{Always: true}, Threats: ...},
//			Detect:   func(p *sdk.Payload) (*v1.Verdict, error) { ... },
//		})
//	}
//
//	func main() {}
//
// Built for wasip1 it exports the four functions of the ABI; built natively it is a program with an empty main whose logic is reached
// through Dispatch, so unit tests and debuggers work as on any Go code.
//
// # What a plugin can rely on
//
// The host calls DESCRIBE and CONFIGURE once and takes a snapshot of memory. Every later call starts from that snapshot: a plugin may
// prepare tables in init or Configure and keep them in package variables, and nothing it writes during a call is seen by the next one.
// There is no file, network, environment or clock beyond the request's own; see Now and Seed.
package sdk

import (
	"errors"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// A Registration is one of the plugin kinds: Detector today; providers and strategies use Plugin until they get their own type.
type Registration interface {
	plugin() Plugin
}

// Plugin is the general form of a registration: a manifest and one handler for all ops. Detector is the comfortable one.
type Plugin struct {
	// Manifest describes the plugin. ABI and Encoding may be left zero: Register fills in what this package speaks.
	Manifest *v1.Manifest
	// Configure receives the operator's settings once, before the snapshot. nil accepts an empty configuration only.
	Configure func(*v1.ConfigureRequest) (warnings []string, err error)
	// Handle answers every op but DESCRIBE and CONFIGURE. req.Body is the request's body in protobuf, req.Field says which member it is;
	// both alias memory that the next call reuses. The error becomes the answer; use abi.E to choose its kind.
	Handle func(op v1.Op, req *v1.RequestHead) (v1.ResponseBody, error)
	// Warm is run after Configure and before the snapshot, so that what a first call would have to prepare is already there. It must
	// not fail. nil: nothing to warm.
	Warm func()
}

func (p Plugin) plugin() Plugin { return p }

var registered *Plugin

// Register makes p this module's plugin. Call it once, from init; a second call or an incomplete manifest panics, which the host
// reports as a refused module.
func Register(r Registration) {
	p := r.plugin()
	if registered != nil {
		panic("sdk: Register was called twice; a module holds one plugin")
	}
	if p.Manifest == nil || p.Manifest.Name == "" || p.Manifest.Version == "" {
		panic("sdk: Register needs a Manifest with Name and Version")
	}
	m := *p.Manifest
	m.ABI, m.Encoding = abi.Version, v1.EncodingProtobuf
	p.Manifest = &m
	registered = &p
}

// Registered returns the manifest given to Register, for tests. It is nil before Register.
func Registered() *v1.Manifest {
	if registered == nil {
		return nil
	}
	return registered.Manifest
}

var (
	now  int64
	seed uint64
)

// Now is the request's clock in nanoseconds since the Unix epoch. It does not move during a call.
func Now() int64 { return now }

// Seed is the request's random seed, the only source of randomness a plugin has.
func Seed() uint64 { return seed }

// Dispatch answers one call: the bytes of a v1.Request in, the bytes of a v1.Response out. It never panics on bad input. The answer
// aliases memory that the next Dispatch reuses.
func Dispatch(op v1.Op, request []byte) []byte {
	var req v1.RequestHead
	if err := req.UnmarshalProto(request); err != nil {
		return encode(nil, abi.E("decode", v1.ErrorKindInvalid, op.String(), err))
	}
	now, seed = req.ClockUnixNanos, req.Seed
	return encode(answer(op, &req))
}

func answer(op v1.Op, req *v1.RequestHead) (v1.ResponseBody, error) {
	if registered == nil {
		return nil, abi.E("dispatch", v1.ErrorKindInternal, "", errors.New("no plugin: call sdk.Register from an init function"))
	}
	switch op {
	case v1.OpDescribe:
		return registered.Manifest, nil
	case v1.OpConfigure:
		return configure(req)
	}
	if registered.Handle == nil {
		return nil, Unsupported(op)
	}
	return registered.Handle(op, req)
}

func configure(req *v1.RequestHead) (v1.ResponseBody, error) {
	var body v1.ConfigureRequest
	if err := Body(v1.OpConfigure, req, &body); err != nil {
		return nil, err
	}
	resp := &v1.ConfigureResponse{}
	switch {
	case registered.Configure != nil:
		w, err := registered.Configure(&body)
		if err != nil {
			return nil, abi.E("configure", v1.ErrorKindUnspecified, registered.Manifest.Name, asInvalid(err))
		}
		resp.Warnings = w
	case len(body.Config) > 0 && string(body.Config) != "{}": // both mean: no settings
		return nil, abi.E("configure", v1.ErrorKindInvalid, registered.Manifest.Name,
			errors.New("this plugin takes no configuration; remove its config from the policy"))
	}
	warm()
	return resp, nil
}

// asInvalid gives an error without a kind the one that fits a refused configuration.
func asInvalid(err error) error {
	if e := (*abi.Error)(nil); errors.As(err, &e) {
		return err
	}
	return abi.E("", v1.ErrorKindInvalid, "", err)
}

// A body is a message that a request can carry.
type body interface {
	v1.RequestBody
	UnmarshalProto(b []byte) error
}

// Body decodes a request's body into m. It fails when the request carries another body than op needs.
func Body(op v1.Op, req *v1.RequestHead, m body) error {
	if !req.Holds(m) {
		return abi.E(op.String(), v1.ErrorKindInvalid, "body", errors.New("the request's body does not match its op"))
	}
	if err := m.UnmarshalProto(req.Body); err != nil {
		return abi.E(op.String(), v1.ErrorKindInvalid, "body", err)
	}
	return nil
}

// Unsupported is the answer to an op the plugin does not implement.
func Unsupported(op v1.Op) error {
	return abi.E("dispatch", v1.ErrorKindUnsupported, op.String(), errors.New("this plugin does not implement the op"))
}

// out is the answer's memory, kept between calls so that a warmed plugin does not grow its heap.
var out []byte

func encode(resp v1.ResponseBody, err error) []byte {
	if err == nil && resp == nil {
		err = abi.E("dispatch", v1.ErrorKindInternal, "", errors.New("the handler returned neither an answer nor an error"))
	}
	if err != nil {
		resp = abi.ToWire(err)
	}
	out = v1.AppendResponse(out[:0], resp)
	return out
}
