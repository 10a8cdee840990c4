package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// loadOne loads a package over a fresh driver and closes it with the test.
func loadOne(t testing.TB, data []byte, settings string) (*Plugin, error) {
	t.Helper()
	pkg, err := Open("zebra.wasm", data)
	if err != nil {
		t.Fatal(err)
	}
	policy, err := policies.Parse("policy.yaml", []byte("version: 1\n"+settings))
	if err != nil {
		t.Fatal(err)
	}
	d := &fakeDriver{}
	p, err := load(t.Context(), d, planOf(pkg, policy.Detector(pkg.Name), Limits{}), func(p *Plugin) {
		if err := p.module.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(func() {
		if p != nil {
			p.release()
		}
		d.check(t)
	})
	return p, err
}

func mustLoad(t testing.TB, m *v1.Manifest, s script) *Plugin {
	t.Helper()
	p, err := loadOne(t, packed(t, m, s), "")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func ask(p *Plugin, text string) (*v1.Verdict, Cost, error) {
	return p.Detect(context.Background(), textRequest(v1.PayloadKindWeb, []byte(text)), CallOptions{})
}

func TestDetectInBothEncodings(t *testing.T) {
	for _, enc := range []v1.Encoding{v1.EncodingProtobuf, v1.EncodingJSON} {
		m := zebra("1.0.0")
		m.Encoding = enc
		p := mustLoad(t, m, script{JSON: enc == v1.EncodingJSON, Fuel: 1000})
		v, cost, err := ask(p, "some evil text")
		if err != nil {
			t.Fatal(enc, err)
		}
		if f := v.Findings; len(f) != 1 || f[0].Threat != v1.ThreatPromptInjection || f[0].Start != 5 || f[0].End != 9 {
			t.Errorf("%v: %+v", enc, v.Findings)
		}
		if cost.Fuel < 1000 || cost.Wall == 0 || string(cost.Log) != "printed" {
			t.Errorf("%v: cost %+v", enc, cost)
		}
		if v, _, err := ask(p, "harmless"); err != nil || len(v.Findings) != 0 {
			t.Errorf("%v: %v %v", enc, v, err)
		}
		if p.calls.Load() != 2 || p.failures.Load() != 0 || p.fuel.Load() < 2000 {
			t.Errorf("counters %d %d %d", p.calls.Load(), p.failures.Load(), p.fuel.Load())
		}
	}
}

// Whatever a guest does wrong is a failed call with the right kind, and never a clean verdict.
func TestBadAnswersAreFailures(t *testing.T) {
	for _, c := range []struct {
		how  string
		kind v1.ErrorKind
		want string
	}{
		{"trap", v1.ErrorKindTrap, "unreachable"},
		{"panic", v1.ErrorKindInternal, "the engine is broken"},
		{"plain error", v1.ErrorKindInternal, "no kind"},
		{"empty", v1.ErrorKindProtocol, "empty"},
		{"garbage", v1.ErrorKindProtocol, ""},
		{"trailing", v1.ErrorKindProtocol, ""},
		{"other body", v1.ErrorKindProtocol, "does not answer detect"},
		{"error", v1.ErrorKindInvalid, "the plugin answered: guest-op: I cannot judge this"},
		{"host's kind", v1.ErrorKindProtocol, "kind unavailable, which only the host may give"},
		{"no question allowed", v1.ErrorKindProtocol, "does not declare the op judge"},
		{"other threat", v1.ErrorKindProtocol, "does not declare the threat ssrf"},
		{"unknown threat", v1.ErrorKindProtocol, "threat"},
		{"too sure", v1.ErrorKindProtocol, "not from 0 to 1"},
		{"less than unsure", v1.ErrorKindProtocol, "not from 0 to 1"},
		{"end beyond the view", v1.ErrorKindProtocol, "not inside view 0 of 9 bytes"},
		{"start after end", v1.ErrorKindProtocol, "[2, 1)"},
		{"no such view", v1.ErrorKindProtocol, "view 1 does not exist"},
		{"long reason", v1.ErrorKindProtocol, "at most 256 bytes"},
		{"bad reason", v1.ErrorKindProtocol, "UTF-8"},
		{"long signature", v1.ErrorKindProtocol, "at most 256"},
		{"large state", v1.ErrorKindProtocol, "at most 65536"},
		{"many findings", v1.ErrorKindProtocol, "at most 256"},
	} {
		p := mustLoad(t, zebra("1.0.0"), script{Detect: c.how, DetectOn: "now"})
		v, _, err := ask(p, "break now")
		if v != nil {
			t.Errorf("%s: a verdict", c.how)
		}
		wantError(t, err, c.kind, c.want)
		if err != nil && !strings.HasPrefix(err.Error(), "detect zebra: ") {
			t.Errorf("%s: the error does not say what failed on what: %v", c.how, err)
		}
		if p.failures.Load() != 1 || p.calls.Load() != 1 {
			t.Errorf("%s: %d calls, %d failures", c.how, p.calls.Load(), p.failures.Load())
		}
	}
}

func TestQuestionsAndJudge(t *testing.T) {
	m := zebra("1.0.0")
	m.Ops = append(m.Ops, v1.OpJudge)
	p := mustLoad(t, m, script{Detect: "no question allowed", DetectOn: "now"})
	v, _, err := ask(p, "ask now")
	if err != nil || v.Question == nil {
		t.Fatalf("a declared question: %v %v", v, err)
	}
	v, _, err = p.Judge(t.Context(), &v1.JudgeRequest{Payload: textRequest(v1.PayloadKindWeb, []byte("x")), Answer: []byte("yes")}, CallOptions{})
	if err != nil || len(v.Findings) != 1 {
		t.Fatalf("judge: %v %v", v, err)
	}
	greedy := mustLoad(t, m, script{Detect: "greedy question", DetectOn: "now"})
	_, _, err = ask(greedy, "ask now")
	wantError(t, err, v1.ErrorKindProtocol, "max_answer_bytes")
	long := mustLoad(t, m, script{Detect: "long question", DetectOn: "now"})
	_, _, err = ask(long, "ask now")
	wantError(t, err, v1.ErrorKindProtocol, "the question has")
	err = checkVerdict(m, asking{judge: true}, &v1.Verdict{Question: &v1.Question{Prompt: []byte("?"), MaxAnswerBytes: 1}})
	if err == nil || !strings.Contains(err.Error(), "in answer to JUDGE") {
		t.Errorf("a question about the answer: %v", err)
	}
	_, _, err = mustLoad(t, zebra("1.0.0"), script{}).Judge(t.Context(), &v1.JudgeRequest{}, CallOptions{})
	wantError(t, err, v1.ErrorKindUnsupported, "does not declare the op")
}

func TestVerdictOnNoViews(t *testing.T) {
	m := zebra("1.0.0")
	f := &v1.Finding{Threat: v1.ThreatSecret, Severity: v1.SeverityLow, Confidence: 1}
	if err := checkVerdict(m, asking{}, &v1.Verdict{Findings: []*v1.Finding{f}}); err != nil {
		t.Errorf("a finding on the payload as a whole: %v", err)
	}
	f.End = 1
	if err := checkVerdict(m, asking{}, &v1.Verdict{Findings: []*v1.Finding{f}}); err == nil {
		t.Error("a range in nothing")
	}
}

func TestGeneralCall(t *testing.T) {
	p := mustLoad(t, zebra("1.0.0"), script{})
	req := &v1.Request{Detect: textRequest(v1.PayloadKindWeb, []byte("evil"))}
	resp, _, err := p.Call(t.Context(), v1.OpDetect, req, CallOptions{Clock: 7, Seed: 8})
	if err != nil || len(resp.Verdict.Findings) != 1 {
		t.Fatalf("%v %v", resp, err)
	}
	if req.ClockUnixNanos != 0 || req.Seed != 0 {
		t.Error("the caller's request was changed")
	}
	_, _, err = p.Call(t.Context(), v1.OpStep, &v1.Request{}, CallOptions{})
	wantError(t, err, v1.ErrorKindUnsupported, "step zebra")
}

func TestInputLimit(t *testing.T) {
	p := mustLoad(t, zebra("1.0.0"), script{})
	big := textRequest(v1.PayloadKindWeb, bytes.Repeat([]byte("x"), 2000))
	if _, _, err := p.Detect(t.Context(), big, CallOptions{}); err != nil {
		t.Fatal(err)
	}
	_, _, err := p.Detect(t.Context(), big, CallOptions{Limits: Limits{Input: 1000}})
	wantError(t, err, v1.ErrorKindLimit, "at most 1000")
	small, err := loadOne(t, packed(t, zebra("1.0.0"), script{}), "detectors: {zebra: {limits: {input: 6KiB}}}")
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = small.Detect(t.Context(), textRequest(v1.PayloadKindWeb, bytes.Repeat([]byte("x"), 8<<10)), CallOptions{})
	wantError(t, err, v1.ErrorKindLimit, "see limits in the policy")
}

func TestEffectiveLimits(t *testing.T) {
	allows := policies.PluginLimits{MemoryPages: 100, Fuel: 1000, Wall: time.Second, Input: 100, Output: 100, Log: 100}
	asks := &v1.Limits{MemoryPages: 50, Fuel: 5000, WallMillis: 200, InputBytes: 10, LogBytes: 7}
	got := effective(asks, allows, Limits{Fuel: 900, Output: 50})
	want := Limits{MemoryPages: 50, Fuel: 900, Wall: 200 * time.Millisecond, Input: 10, Output: 50, Log: 7}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	huge := policies.PluginLimits{MemoryPages: 1 << 16, Fuel: 1 << 60, Wall: time.Hour, Input: 1 << 30, Output: 1 << 30, Log: 1 << 20}
	if got := effective(nil, huge, Limits{}); got.Fuel != abi.DefaultFuel || got.MemoryPages != abi.DefaultMemoryPages || got.Input != abi.DefaultInputBytes {
		t.Errorf("a manifest that does not say gets the defaults: %+v", got)
	}
	if got := unasked(huge, Limits{Log: 5}); got.Fuel != 1<<60 || got.Log != 5 {
		t.Errorf("%+v", got)
	}
}

func TestLoadFailuresSayTheStage(t *testing.T) {
	lie := zebra("9.9.9")
	for _, c := range []struct {
		script   script
		settings string
		stage    string
		kind     v1.ErrorKind
		want     string
	}{
		{script{Load: "import"}, "", StageLoad, v1.ErrorKindRefused, "env.system"},
		{script{Load: "abi"}, "", StageLoad, v1.ErrorKindRefused, "amygdala_abi_v9"},
		{script{Load: "start"}, "", StageLoad, v1.ErrorKindTimeout, "did not end"},
		{script{Load: "trap"}, "", StageLoad, v1.ErrorKindTrap, "_initialize"},
		{script{Describe: lie.AppendJSON(nil)}, "", StageDescribe, v1.ErrorKindRefused, `version = "1.0.0", the plugin says "9.9.9"`},
		{script{Configure: "refuse"}, "", StageConfigure, v1.ErrorKindInvalid, "no such setting"},
		{script{Configure: "strict"}, "detectors: {zebra: {config: {ok: false}}}", StageConfigure, v1.ErrorKindInvalid, `{"ok":false}`},
		{script{Detect: "trap"}, "", StageWarmUp, v1.ErrorKindTrap, "unreachable"},
		{script{Detect: "other threat", DetectOn: "fox"}, "", StageWarmUp, v1.ErrorKindProtocol, "ssrf"},
	} {
		_, err := loadOne(t, packed(t, zebra("1.0.0"), c.script), c.settings)
		wantError(t, err, c.kind, c.want)
		if f := failure("?", err, nil); f.Stage != c.stage {
			t.Errorf("%v: stage %s, want %s", err, f.Stage, c.stage)
		}
	}
}

func TestLoadAccepts(t *testing.T) {
	p, err := loadOne(t, packed(t, zebra("1.0.0"), script{Configure: "strict"}), "detectors: {zebra: {config: {ok: true}}}")
	if err != nil || p.calls.Load() != 0 {
		t.Errorf("settings it knows: %v", err)
	}
	p, err = loadOne(t, packed(t, zebra("1.0.0"), script{Configure: "warn"}), "")
	if err != nil || len(p.warnings) != 1 {
		t.Errorf("warnings are no failure: %v", err)
	}
	if _, err = loadOne(t, packed(t, zebra("1.0.0"), script{Detect: "error", DetectOn: "fox"}), ""); err != nil {
		t.Errorf("an answer with an error is no failure in the warm-up: %v", err)
	}
	unlisted := zebra("1.0.0")
	unlisted.Ops = []v1.Op{v1.OpDetect}
	if _, err = loadOne(t, packed(t, unlisted, script{}), ""); err != nil {
		t.Errorf("describe and configure need not be listed: %v", err)
	}
}

func TestIdentity(t *testing.T) {
	id := func(data []byte, settings string) Identity {
		pkg, err := Open("zebra.wasm", data)
		if err != nil {
			t.Fatal(err)
		}
		p, err := policies.Parse("p", []byte("version: 1\n"+settings))
		if err != nil {
			t.Fatal(err)
		}
		return planOf(pkg, p.Detector("zebra"), Limits{}).identity
	}
	a := packed(t, zebra("1.0.0"), script{})
	base := id(a, "")
	if id(packed(t, zebra("1.0.0"), script{}), "") != base || base.String() == "" {
		t.Error("the same file has two identities")
	}
	if id(a, "detectors: {zebra: {required: true, wake: {always: true}}}\nbands: {default: {threat: 0.9}}") != base {
		t.Error("settings that do not reach the plugin change its identity")
	}
	for name, other := range map[string]Identity{
		"file":   id(packed(t, zebra("1.0.0"), script{Pad: "x"}), ""),
		"config": id(a, "detectors: {zebra: {config: {a: 1}}}"),
		"grants": id(a, "detectors: {zebra: {grants: [{type: a, value: b}]}}"),
		"limits": id(a, "detectors: {zebra: {limits: {fuel: 5}}}"),
	} {
		if other == base {
			t.Errorf("another %s, the same identity", name)
		}
	}
}

func TestDescribe(t *testing.T) {
	for _, s := range []script{{}, {JSON: true}} {
		m := zebra("1.0.0")
		if s.JSON {
			m.Encoding = v1.EncodingJSON
		}
		s.Describe = m.AppendJSON(nil)
		d := &fakeDriver{}
		got, err := Describe(t.Context(), d, "zebra", build(s))
		if err != nil || sameManifest(m, got) != nil {
			t.Errorf("%v %v", got, err)
		}
		d.check(t)
	}
	d := &fakeDriver{}
	_, err := Describe(t.Context(), d, "zebra", build(script{Load: "trap"}))
	wantError(t, err, v1.ErrorKindTrap, "asked in protobuf")
	_, err = Describe(t.Context(), d, "zebra", build(script{Describe: json.RawMessage(`{"name":"zebra","version":"1"}`)}))
	wantError(t, err, v1.ErrorKindProtocol, "")
	d.check(t)
}

func TestFuse(t *testing.T) {
	blow := func(setting *policies.Fuse, failures ...uint64) (at int) {
		var f fuse
		f.setting.Store(setting)
		for i, n := range failures {
			if f.strike(n) {
				if at != 0 {
					t.Error("it blew twice")
				}
				at = i + 1
			}
		}
		return at
	}
	three := &policies.Fuse{Failures: 3, Window: 10}
	for _, c := range []struct {
		setting  *policies.Fuse
		failures []uint64
		want     int
	}{
		{three, []uint64{1, 2, 3, 4, 5}, 3},
		{three, []uint64{1, 5, 10}, 3},
		{three, []uint64{1, 5, 11}, 0},
		{three, []uint64{1, 5, 11, 12}, 4},
		{&policies.Fuse{Failures: 1, Window: 1}, []uint64{9}, 1},
		{nil, []uint64{1, 2, 3}, 0},
	} {
		if got := blow(c.setting, c.failures...); got != c.want {
			t.Errorf("%+v %v: blew at failure %d, want %d", c.setting, c.failures, got, c.want)
		}
	}
}

// A busy machine must not blow a fuse; a spinning plugin must, even if its caller's deadline is what ends it.
func TestBlame(t *testing.T) {
	p := &Plugin{}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	timeout := abi.E("", v1.ErrorKindTimeout, "", nil)
	for _, c := range []struct {
		name string
		ctx  context.Context
		err  error
		fuel uint64
		want bool
	}{
		{"its own deadline", t.Context(), timeout, 1, true},
		{"the caller's deadline, little done", over, timeout, 1_000_000, false},
		{"the caller's deadline, much done", over, timeout, 100_000_000, true},
		{"canceled", over, abi.E("", v1.ErrorKindCanceled, "", nil), 5, false},
		{"engine busy", t.Context(), abi.E("", v1.ErrorKindUnavailable, "", nil), 0, false},
		{"trap", over, abi.E("", v1.ErrorKindTrap, "", nil), 0, true},
		{"protocol", t.Context(), abi.E("", v1.ErrorKindProtocol, "", nil), 0, true},
		{"no kind", t.Context(), errors.New("?"), 0, true},
	} {
		if got := p.blameworthy(c.ctx, c.err, c.fuel, 4096); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestCallsAllocateLittle(t *testing.T) {
	p := mustLoad(t, zebra("1.0.0"), script{})
	req := textRequest(v1.PayloadKindWeb, bytes.Repeat([]byte("harmless "), 8000))
	var sink []byte
	buf := p.codec.encode(nil, &v1.Request{Detect: req})
	n := testing.AllocsPerRun(50, func() {
		sink = p.codec.encode(buf[:0], &v1.Request{Detect: req})
	})
	if n > 1 || len(sink) == 0 {
		t.Errorf("encoding a question into a kept buffer takes %v allocations", n)
	}
}

// Whatever bytes come back, the answer is either an error or a verdict that keeps every rule.
func FuzzAnswer(f *testing.F) {
	m := zebra("1.0.0")
	a := asking{views: []int{10, 3}}
	good := &v1.Response{Verdict: &v1.Verdict{State: []byte("s"), Findings: []*v1.Finding{
		{Threat: v1.ThreatSecret, Severity: v1.SeverityLow, Confidence: 0.5, View: 1, Start: 1, End: 3, Reason: "r"}}}}
	f.Add(good.AppendProto(nil), false)
	f.Add(good.AppendJSON(nil), true)
	f.Add((&v1.Response{Error: &v1.Error{Kind: v1.ErrorKindInvalid, Message: []byte("no")}}).AppendProto(nil), false)
	f.Fuzz(func(t *testing.T, body []byte, asJSON bool) {
		c := codec(v1.EncodingProtobuf)
		if asJSON {
			c = codec(v1.EncodingJSON)
		}
		resp, err := c.open(v1.OpDetect, body)
		if err != nil {
			if abi.KindOf(err) == v1.ErrorKindUnspecified {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		if checkVerdict(m, a, resp.Verdict) != nil {
			return
		}
		for _, x := range resp.Verdict.Findings {
			if x.Confidence < 0 || x.Confidence > 1 || int(x.View) >= len(a.views) || int(x.End) > a.views[x.View] || x.Start > x.End || !x.Severity.Known() {
				t.Fatalf("%+v", x)
			}
		}
	})
}
