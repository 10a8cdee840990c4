package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// cases run in this order. An id is never reused; a case that changes what it asks gets a new one.
var cases = []testCase{
	{id: "load.package", level: LevelLoads, title: "the file is a packed plugin with a readable manifest", run: loadPackage},
	{id: "load.module", level: LevelLoads, title: "the module is valid, exports the ABI and imports nothing else", run: loadModule},
	{id: "load.start", level: LevelLoads, title: "it starts within its limits", run: loadStart},
	{id: "load.describe", level: LevelLoads, title: "DESCRIBE equals the packed manifest", run: loadDescribe},
	{id: "load.configure", level: LevelLoads, title: "it accepts an empty configuration", run: loadConfigure},

	{id: "contract.detect", level: LevelContract, title: "ordinary payloads get a verdict that keeps the contract", needs: isDetector, run: contractDetect},
	{id: "contract.unknown-op", level: LevelContract, title: "an op it does not know is answered with unsupported", run: contractUnknownOp},
	{id: "contract.undeclared-ops", level: LevelContract, title: "ops it does not declare are answered with unsupported", run: contractUndeclaredOps},
	{id: "contract.wrong-body", level: LevelContract, title: "a body that does not match its op is answered, not trapped on", run: contractWrongBody},
	{id: "contract.unknown-field", level: LevelContract, title: "fields of a later version are ignored", needs: isDetector, run: contractUnknownField},
	{id: "contract.bad-config", level: LevelContract, title: "a configuration that is not JSON is answered, not trapped on", run: contractBadConfig},
	{id: "contract.unreadable", level: LevelContract, title: "a request it cannot read is answered with invalid", needs: isDetector, optional: true, run: contractUnreadable},
	{id: "contract.selftest", level: LevelContract, title: "its own examples come out as it says", needs: hasSelftest, run: contractSelftest},

	{id: "hostile.damaged", level: LevelHostile, title: "damaged requests are answered, not trapped on", run: hostileDamaged},
	{id: "hostile.odd-requests", level: LevelHostile, title: "indices and sizes that lie are survived", needs: isDetector, run: hostileOdd},
	{id: "hostile.texts", level: LevelHostile, title: "texts made to hurt are survived within the limits", needs: isDetector, run: hostileTextCase},
	{id: "determinism.repeat", level: LevelHostile, title: "the same payload gets the same answer at the same cost", needs: isDetector, run: determinismRepeat},
	{id: "determinism.clock", level: LevelHostile, title: "the answer does not depend on the clock", needs: isDetector, run: determinismClock},
	{id: "determinism.seed", level: LevelHostile, title: "the answer does not depend on the random seed", needs: isDetector, run: determinismSeed},
	{id: "determinism.state", level: LevelHostile, title: "without a reset, earlier calls do not change an answer", needs: isDetector, run: determinismState},
	{id: "isolation.reset", level: LevelHostile, title: "everything it can change is undone by the reset", run: isolationReset},

	{id: "budget.fuel", level: LevelBudget, title: "its cost grows with the payload, not faster", needs: isDetector, run: budgetFuel},
	{id: "budget.memory", level: LevelBudget, title: "it stays within its memory limit", needs: isDetector, run: budgetMemory},
	{id: "budget.heap", level: LevelBudget, title: "without a reset, memory stays bounded over many calls", needs: isDetector, run: budgetHeap},
	{id: "budget.log", level: LevelBudget, title: "it stays within its log limit", needs: isDetector, run: budgetLog},
	{id: "budget.large", level: LevelBudget, title: "a payload of 1 MiB is judged within its limits", needs: isDetector, run: budgetLarge},
}

func isDetector(s *subject) string {
	if s.pkg.Manifest.Kind == v1.PluginKindDetector {
		return ""
	}
	return "for detectors only"
}

func hasSelftest(s *subject) string {
	for _, a := range s.pkg.Assets {
		if a.Name == guest.SelftestAsset {
			return ""
		}
	}
	return "the package carries no " + guest.SelftestAsset
}

func loadPackage(_ context.Context, s *subject) error {
	pkg, err := guest.Open(s.report.File, s.wasm)
	if err != nil {
		return err
	}
	s.pkg = pkg
	s.report.Name, s.report.Version, s.report.Kind = pkg.Manifest.Name, pkg.Manifest.Version, pkg.Manifest.Kind.String()
	return nil
}

// load starts the module with a setup that only configures it.
func (s *subject) load(ctx context.Context, keepState bool) (guest.Module, error) {
	setup := func(c guest.Caller) error {
		resp, _, err := s.ask(ctx, c, v1.OpConfigure, &v1.Request{Configure: &v1.ConfigureRequest{Assets: s.assets()}})
		if err != nil {
			return err
		}
		return abi.FromWire(resp.Error)
	}
	return s.opt.Driver.Load(ctx, s.report.File, s.pkg.Module, guest.LoadOptions{Limits: s.limits(), Setup: setup, KeepState: keepState})
}

func (s *subject) assets() []*v1.Asset {
	var out []*v1.Asset
	for _, a := range s.pkg.Assets {
		if a.Name != guest.SelftestAsset {
			out = append(out, a)
		}
	}
	return out
}

// loadModule tells a module that is refused from one that is accepted and then fails to start.
func loadModule(ctx context.Context, s *subject) error {
	m, err := s.opt.Driver.Load(ctx, s.report.File, s.pkg.Module, guest.LoadOptions{Limits: s.limits()})
	if err != nil {
		if abi.KindOf(err) == v1.ErrorKindRefused {
			return err
		}
		return nil // load.start says it
	}
	s.module = m
	return nil
}

func loadStart(ctx context.Context, s *subject) error {
	if s.module != nil {
		return nil
	}
	_, err := s.opt.Driver.Load(ctx, s.report.File, s.pkg.Module, guest.LoadOptions{Limits: s.limits()})
	return err
}

func loadDescribe(ctx context.Context, s *subject) error {
	for range 2 {
		resp, _, err := s.ask(ctx, s.module, v1.OpDescribe, &v1.Request{Describe: &v1.DescribeRequest{}})
		if err != nil {
			return err
		}
		if resp.Manifest == nil {
			return errors.New("DESCRIBE was answered with something else than a manifest")
		}
		if err := guest.SameManifest(s.pkg.Manifest, resp.Manifest); err != nil {
			return err
		}
	}
	return nil
}

// loadConfigure also replaces the bare module by a configured one, which everything after it uses.
func loadConfigure(ctx context.Context, s *subject) error {
	m, err := s.load(ctx, false)
	if err != nil {
		return err
	}
	if err := s.module.Close(); err != nil {
		return err
	}
	s.module = m
	s.keeps, err = s.load(ctx, true)
	return err
}

func contractDetect(ctx context.Context, s *subject) error {
	return s.each(ctx, ordinary())
}

func (s *subject) each(ctx context.Context, samples []sample) error {
	for _, x := range samples {
		if _, err := s.detect(ctx, s.module, x.req); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	return nil
}

func contractUnknownOp(ctx context.Context, s *subject) error {
	for _, op := range []v1.Op{0, 4711, -1} {
		resp, _, err := s.ask(ctx, s.module, op, &v1.Request{Describe: &v1.DescribeRequest{}})
		if err != nil {
			return fmt.Errorf("op %d: %w", int32(op), err)
		}
		if err := wantError(resp, v1.ErrorKindUnsupported); err != nil {
			return fmt.Errorf("op %d: %w", int32(op), err)
		}
	}
	return nil
}

func contractUndeclaredOps(ctx context.Context, s *subject) error {
	declared := s.ops()
	for _, spec := range abi.Ops() {
		if slices.Contains(declared, spec.Op) {
			continue
		}
		resp, _, err := s.ask(ctx, s.module, spec.Op, &v1.Request{})
		if err != nil {
			return fmt.Errorf("op %s: %w", spec.Op, err)
		}
		if err := wantError(resp, v1.ErrorKindUnsupported); err != nil {
			return fmt.Errorf("op %s: %w", spec.Op, err)
		}
	}
	return nil
}

// ops are those of the manifest and the two that every plugin has, listed or not.
func (s *subject) ops() []v1.Op {
	ops := slices.Clone(s.pkg.Manifest.Ops)
	for _, op := range []v1.Op{v1.OpDescribe, v1.OpConfigure} {
		if !slices.Contains(ops, op) {
			ops = append(ops, op)
		}
	}
	return ops
}

func contractWrongBody(ctx context.Context, s *subject) error {
	for _, op := range s.ops() {
		for i, b := range otherBodies() {
			if _, _, err := s.ask(ctx, s.module, op, b); err != nil {
				return fmt.Errorf("op %s with body %d: %w", op, i, err)
			}
		}
	}
	return nil
}

// otherBodies are requests without a body, and with one that belongs to another op than DETECT.
func otherBodies() []*v1.Request {
	return []*v1.Request{{}, {Describe: &v1.DescribeRequest{}}, {Configure: &v1.ConfigureRequest{}}, {Judge: &v1.JudgeRequest{Payload: &v1.DetectRequest{}}}}
}

// contractUnreadable is advice, since a guest that reads no request cannot misread one. Whoever does read must not take what is broken
// for an empty payload: "nothing found" would then be said of a text that nobody looked at.
func contractUnreadable(ctx context.Context, s *subject) error {
	whole := s.encode(&v1.Request{Detect: ordinary()[0].req, ClockUnixNanos: fixedClock, Seed: fixedSeed})
	broken := [][]byte{{}, whole[:len(whole)/2], whole[:len(whole)-7], whole[:len(whole)-1]} // all cut inside the body, which comes last
	for _, b := range otherBodies() {
		broken = append(broken, s.encode(b))
	}
	for _, body := range broken {
		a, err := s.call(ctx, s.module, v1.OpDetect, body, fixedClock, fixedSeed)
		if err != nil {
			return err
		}
		resp, err := s.decode(a.Body)
		if err != nil {
			return err
		}
		if err := wantError(resp, v1.ErrorKindInvalid); err != nil {
			return fmt.Errorf("DETECT with %d bytes that are cut off or hold no payload: %w", len(body), err)
		}
	}
	return nil
}

// contractUnknownField adds a field that version 1 does not have, in each encoding's own form.
func contractUnknownField(ctx context.Context, s *subject) error {
	req := &v1.Request{Detect: ordinary()[0].req, ClockUnixNanos: fixedClock, Seed: fixedSeed}
	body := s.encode(req)
	if s.json() {
		body = append(body[:len(body)-1], `,"fieldOfALaterVersion":{"x":[1]}}`...)
	} else {
		body = append(body, 0xfa, 0xff, 0x07, 0x03, 'n', 'e', 'w') // field 16383, length-delimited
	}
	a, err := s.call(ctx, s.module, v1.OpDetect, body, fixedClock, fixedSeed)
	if err != nil {
		return err
	}
	resp, err := s.decode(a.Body)
	if err != nil {
		return err
	}
	if resp.Error != nil {
		return fmt.Errorf("an unknown field was refused (%w); ignore what you do not know, or no later host can talk to this plugin", abi.FromWire(resp.Error))
	}
	return nil
}

func contractBadConfig(ctx context.Context, s *subject) error {
	for _, c := range []string{"{", "\xff\x00", `{"surely-no-such-setting":true}`, strings.Repeat("[", 10000)} {
		if _, _, err := s.ask(ctx, s.module, v1.OpConfigure, &v1.Request{Configure: &v1.ConfigureRequest{Config: []byte(c), Assets: s.assets()}}); err != nil {
			return fmt.Errorf("config %.20q: %w", c, err)
		}
	}
	return nil
}

// contractSelftest loads the package once more, the way the host does.
func contractSelftest(ctx context.Context, s *subject) error {
	return guest.Prove(ctx, s.opt.Driver, s.pkg)
}

func hostileDamaged(ctx context.Context, s *subject) error {
	good := s.encode(&v1.Request{Detect: ordinary()[0].req, ClockUnixNanos: fixedClock, Seed: fixedSeed})
	for i, body := range damaged(good) {
		a, err := s.call(ctx, s.module, v1.OpDetect, body, fixedClock, fixedSeed)
		if err != nil {
			return fmt.Errorf("damaged request %d of %d bytes: %w; answer an error of kind invalid", i, len(body), err)
		}
		if _, err := s.decode(a.Body); err != nil {
			return fmt.Errorf("damaged request %d of %d bytes: %w", i, len(body), err)
		}
	}
	return nil
}

// hostileOdd accepts a verdict or an error; what it does not accept is a trap or an answer that breaks the contract.
func hostileOdd(ctx context.Context, s *subject) error {
	for _, x := range oddRequests() {
		resp, _, err := s.ask(ctx, s.module, v1.OpDetect, &v1.Request{Detect: x.req})
		if err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
		if resp.Error != nil {
			continue
		}
		if resp.Verdict == nil {
			return fmt.Errorf("%s: answered with neither a verdict nor an error", x.name)
		}
		if err := guest.CheckVerdict(s.pkg.Manifest, v1.OpDetect, x.req, resp.Verdict); err != nil {
			return fmt.Errorf("%s: %w", x.name, err)
		}
	}
	return nil
}

func hostileTextCase(ctx context.Context, s *subject) error { return s.each(ctx, hostileTexts()) }
