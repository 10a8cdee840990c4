package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// script is what a fake module does. It travels in a custom section of an otherwise empty WebAssembly module, so that packages are
// real files.
type script struct {
	// Describe is the manifest it answers, in JSON.
	Describe json.RawMessage
	// Load makes Driver.Load fail: "import", "abi", "start" (never ends), "trap".
	Load string `json:",omitempty"`
	// Configure: "" accepts, "refuse" answers an error, "warn" accepts with a warning, "strict" accepts only settings {"ok":true}.
	Configure string `json:",omitempty"`
	// Word is what it accuses, with Confidence.
	Word       string `json:",omitempty"`
	Confidence float32
	// Detect makes every DETECT misbehave; DetectOn only those whose text holds the word.
	Detect   string `json:",omitempty"`
	DetectOn string `json:",omitempty"`
	// Fuel is what each call costs, beside one unit per byte.
	Fuel uint64 `json:",omitempty"`
	// JSON makes it speak JSON.
	JSON bool `json:",omitempty"`
	// Pad tells apart modules that do the same.
	Pad string `json:",omitempty"`
}

const scriptSection = "fake"

// build makes the bare module of a script.
func build(s script) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return appendSection(bytes.Clone(wasmHeader), scriptSection, b)
}

// zebra is the manifest most tests use.
func zebra(version string) *v1.Manifest {
	return &v1.Manifest{
		Name: "zebra", Version: version, Kind: v1.PluginKindDetector, ABI: abi.Version, Encoding: v1.EncodingProtobuf,
		Ops:     []v1.Op{v1.OpDescribe, v1.OpConfigure, v1.OpDetect},
		Threats: []v1.Threat{v1.ThreatPromptInjection, v1.ThreatSecret},
		Wake:    &v1.Wake{Always: true},
	}
}

// packed makes a plugin file whose module describes itself as m and otherwise follows s.
func packed(t testing.TB, m *v1.Manifest, s script, assets ...*v1.Asset) []byte {
	t.Helper()
	if s.Describe == nil {
		s.Describe = bare(m).AppendJSON(nil)
	}
	if s.Word == "" {
		s.Word, s.Confidence = "evil", 0.9
	}
	out, err := Pack(build(s), m, assets)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// fakeDriver runs scripts and keeps the books.
type fakeDriver struct {
	loads, closes, calls atomic.Int64
	misuse               atomic.Pointer[string]
	// gate, if set, is received from before each DETECT.
	gate chan struct{}

	mu    sync.Mutex
	names []string // loaded, in order
}

func (d *fakeDriver) Load(ctx context.Context, name string, module []byte, opt LoadOptions) (Module, error) {
	d.mu.Lock()
	d.names = append(d.names, name)
	d.mu.Unlock()
	s, err := readScript(module)
	if err != nil {
		return nil, err
	}
	switch s.Load {
	case "import":
		return nil, abi.E("load", v1.ErrorKindRefused, name, errors.New(`it imports "env.system", which no plugin may`))
	case "abi":
		return nil, abi.E("load", v1.ErrorKindRefused, name, errors.New("it exports amygdala_abi_v9, this host speaks amygdala_abi_v1"))
	case "trap":
		return nil, abi.E("load", v1.ErrorKindTrap, name, errors.New("trap in _initialize"))
	case "start":
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Millisecond): // stands for opt.Limits.Wall
		}
		return nil, abi.E("load", v1.ErrorKindTimeout, name, errors.New("_initialize did not end"))
	}
	m := &fakeModule{driver: d, script: s, limits: opt.Limits}
	if opt.Setup != nil {
		if err := opt.Setup(m); err != nil {
			return nil, fmt.Errorf("setting up: %w", err)
		}
	}
	d.loads.Add(1)
	return m, nil
}

func readScript(module []byte) (s script, err error) {
	i := bytes.Index(module, []byte(scriptSection))
	if i < 0 {
		return s, abi.E("load", v1.ErrorKindRefused, "", errors.New("not a fake module"))
	}
	err = json.NewDecoder(bytes.NewReader(module[i+len(scriptSection):])).Decode(&s)
	return s, err
}

func (d *fakeDriver) loaded() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.names)
}

func (d *fakeDriver) wrong(what string) { d.misuse.Store(&what) }

// check fails the test if modules leaked or were misused. Call it after Close.
func (d *fakeDriver) check(t testing.TB) {
	t.Helper()
	if what := d.misuse.Load(); what != nil {
		t.Error(*what)
	}
	if l, c := d.loads.Load(), d.closes.Load(); l != c {
		t.Errorf("%d modules loaded, %d closed", l, c)
	}
}

type fakeModule struct {
	driver *fakeDriver
	script script
	limits Limits
	active sync.WaitGroup
	closed atomic.Bool
}

func (m *fakeModule) Lease(context.Context) (Lease, error) { return nil, errors.New("no leases") }
func (m *fakeModule) Stats() ModuleStats                   { return ModuleStats{ResetMethod: "fake"} }

func (m *fakeModule) Close() error {
	if m.closed.Swap(true) {
		m.driver.wrong("a module was closed twice")
	}
	m.active.Wait()
	m.driver.closes.Add(1)
	return nil
}

func (m *fakeModule) Call(ctx context.Context, c Call) (Answer, error) {
	m.active.Add(1)
	defer m.active.Done()
	if m.closed.Load() {
		m.driver.wrong("a module was called after Close")
	}
	m.driver.calls.Add(1)
	ans := Answer{Fuel: m.script.Fuel + uint64(len(c.Body)), Wall: time.Microsecond, Log: []byte("printed")}
	var req v1.Request
	var err error
	if m.script.JSON {
		err = req.UnmarshalJSON(c.Body)
	} else {
		err = req.UnmarshalProto(c.Body)
	}
	if err != nil {
		return ans, abi.E("call", v1.ErrorKindTrap, "", err)
	}
	ans.Body, err = m.answer(ctx, c.Op, &req)
	return ans, err
}

func (m *fakeModule) answer(ctx context.Context, op v1.Op, req *v1.Request) ([]byte, error) {
	switch op {
	case v1.OpDescribe:
		manifest := &v1.Manifest{}
		if err := manifest.UnmarshalJSON(m.script.Describe); err != nil {
			return nil, err
		}
		return m.encode(&v1.Response{Manifest: manifest}), nil
	case v1.OpConfigure:
		return m.configure(req.Configure), nil
	case v1.OpJudge:
		return m.encode(&v1.Response{Verdict: &v1.Verdict{Findings: []*v1.Finding{{Threat: v1.ThreatSecret, Severity: v1.SeverityLow, Confidence: 1}}}}), nil
	case v1.OpDetect:
		return m.detect(ctx, req)
	}
	return nil, errors.New("unknown op")
}

func (m *fakeModule) encode(r *v1.Response) []byte {
	if m.script.JSON {
		return r.AppendJSON(nil)
	}
	return r.AppendProto(nil)
}

func (m *fakeModule) fail(kind v1.ErrorKind, text string) []byte {
	return m.encode(&v1.Response{Error: &v1.Error{Kind: kind, Op: "guest-op", Message: []byte(text)}})
}

func (m *fakeModule) configure(req *v1.ConfigureRequest) []byte {
	for _, a := range req.Assets {
		if a.Name == SelftestAsset {
			return m.fail(v1.ErrorKindInternal, "the guest saw the self-test")
		}
	}
	resp := &v1.ConfigureResponse{}
	switch {
	case m.script.Configure == "refuse", m.script.Configure == "strict" && string(req.Config) != `{"ok":true}`:
		return m.fail(v1.ErrorKindInvalid, "no such setting: "+string(req.Config))
	case m.script.Configure == "warn":
		resp.Warnings = []string{"this setting is old"}
	}
	return m.encode(&v1.Response{Configured: resp})
}

func (m *fakeModule) detect(ctx context.Context, req *v1.Request) ([]byte, error) {
	text := ""
	for _, v := range req.Detect.Views {
		text += string(v.Text)
	}
	if m.driver.gate != nil && req.ClockUnixNanos != setupClock {
		<-m.driver.gate
	}
	if m.script.Detect != "" && (m.script.DetectOn == "" || strings.Contains(text, m.script.DetectOn)) {
		return m.misbehave(ctx, req.Detect)
	}
	v := &v1.Verdict{}
	if at := strings.Index(text, m.script.Word); at >= 0 {
		v.Findings = append(v.Findings, &v1.Finding{Threat: v1.ThreatPromptInjection, Severity: v1.SeverityHigh, Confidence: m.script.Confidence,
			Start: uint32(at), End: uint32(at + len(m.script.Word)), Reason: "it says so"})
	}
	return m.encode(&v1.Response{Verdict: v}), nil
}

// misbehave answers with one of the things a hostile or broken guest does.
func (m *fakeModule) misbehave(ctx context.Context, req *v1.DetectRequest) ([]byte, error) {
	f := &v1.Finding{Threat: v1.ThreatPromptInjection, Severity: v1.SeverityHigh, Confidence: 0.5}
	v := &v1.Verdict{Findings: []*v1.Finding{f}}
	switch m.script.Detect {
	case "trap":
		return nil, abi.E("call", v1.ErrorKindTrap, "", errors.New("unreachable"))
	case "panic":
		panic("the engine is broken")
	case "plain error":
		return nil, errors.New("no kind")
	case "wait":
		<-ctx.Done()
		return nil, abi.E("call", v1.ErrorKindTimeout, "", ctx.Err())
	case "unavailable":
		return nil, abi.E("call", v1.ErrorKindUnavailable, "", errors.New("no instance"))
	case "empty":
		return nil, nil
	case "garbage":
		return []byte{0xff, 0xff}, nil
	case "trailing":
		return append(m.encode(&v1.Response{Verdict: v}), 0xff), nil
	case "other body":
		return m.encode(&v1.Response{Configured: &v1.ConfigureResponse{}}), nil
	case "error":
		return m.fail(v1.ErrorKindInvalid, "I cannot judge this"), nil
	case "host's kind":
		return m.fail(v1.ErrorKindUnavailable, "not my fault"), nil
	case "no question allowed":
		v.Question = &v1.Question{Prompt: []byte("?"), MaxAnswerBytes: 10}
	default:
		spoil(m.script.Detect, v, f, req)
	}
	return m.encode(&v1.Response{Verdict: v}), nil
}

// spoil breaks one rule for verdicts.
func spoil(how string, v *v1.Verdict, f *v1.Finding, req *v1.DetectRequest) {
	size := uint32(0)
	if len(req.Views) > 0 {
		size = uint32(len(req.Views[0].Text))
	}
	switch how {
	case "other threat":
		f.Threat = v1.ThreatSSRF
	case "unknown threat":
		f.Threat = 60
	case "too sure":
		f.Confidence = 1.5
	case "less than unsure":
		f.Confidence = -0.1
	case "end beyond the view":
		f.End = size + 1
	case "start after end":
		f.Start, f.End = 2, 1
	case "no such view":
		f.View = uint32(len(req.Views))
	case "long reason":
		f.Reason = strings.Repeat("x", abi.MaxReason+1)
	case "bad reason":
		f.Reason = "\xff"
	case "long signature":
		f.Signature = strings.Repeat("x", abi.MaxIdentifier+1)
	case "large state":
		v.State = make([]byte, abi.MaxState+1)
	case "many findings":
		for range abi.MaxFindings {
			v.Findings = append(v.Findings, f)
		}
	case "greedy question":
		v.Question = &v1.Question{Prompt: []byte("?"), MaxAnswerBytes: abi.MaxAnswer + 1}
	case "long question":
		v.Question = &v1.Question{Prompt: make([]byte, abi.MaxQuestion+1), MaxAnswerBytes: 1}
	default:
		panic("unknown misbehaviour " + how)
	}
}

// world is a directory of plugins, a policy that tests may change, and the generations over them.
type world struct {
	*Generations
	t      testing.TB
	dir    string
	driver *fakeDriver
	policy atomic.Pointer[policies.Policy]
	broken atomic.Pointer[string]
}

// newWorld starts generations. The default policy's detectors are not required here.
func newWorld(t testing.TB, files map[string][]byte, change func(*Options)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), driver: &fakeDriver{}}
	w.setPolicy("")
	for name, data := range files {
		w.write(name, data)
	}
	opt := Options{Driver: w.driver, Dirs: []string{w.dir}, Policy: func() (*policies.Policy, error) {
		if why := w.broken.Load(); why != nil {
			return nil, abi.E("parse policy", v1.ErrorKindInvalid, "policy.yaml", errors.New(*why))
		}
		return w.policy.Load(), nil
	}}
	if change != nil {
		change(&opt)
	}
	g, err := Start(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	w.Generations = g
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
		w.driver.check(t)
	})
	return w
}

const notRequired = "version: 1\ndetectors:\n  injection: {required: false}\n  structure: {required: false}\n  privilege: {required: false}\n  schema: {required: false}\n"

// setPolicy lays yaml over the test's policy. Lines under detectors are indented by two.
func (w *world) setPolicy(yaml string) {
	w.t.Helper()
	p, err := policies.Parse("policy.yaml", []byte(notRequired+yaml))
	if err != nil {
		w.t.Fatal(err)
	}
	w.policy.Store(p)
}

func (w *world) write(name string, data []byte) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), data, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) remove(name string) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.dir, name)); err != nil {
		w.t.Fatal(err)
	}
}

// reload returns the errors of a reload as text.
func (w *world) reload() string {
	w.t.Helper()
	if err := w.Reload(w.t.Context()); err != nil {
		return err.Error()
	}
	return ""
}

// ask lets the plugin of this name judge a text.
func (w *world) ask(name, text string) (*v1.Verdict, error) {
	w.t.Helper()
	set := w.Acquire()
	defer set.Release()
	e := set.Entry(name)
	if e == nil {
		return nil, errors.New("no entry")
	}
	v, _, err := e.Detect(context.Background(), textRequest(v1.PayloadKindWeb, []byte(text)), CallOptions{})
	return v, err
}

// accuses reports whether the plugin finds something in the text; any error fails the test.
func (w *world) accuses(name, text string) bool {
	w.t.Helper()
	v, err := w.ask(name, text)
	if err != nil {
		w.t.Fatal(err)
	}
	return len(v.Findings) > 0
}

// row finds the row of a plugin in a state.
func (w *world) row(name string, state State) *PluginStat {
	w.t.Helper()
	st := w.Status()
	for i := range st.Plugins {
		if st.Plugins[i].Name == name && st.Plugins[i].State == state {
			return &st.Plugins[i]
		}
	}
	out, _ := json.Marshal(st.Plugins)
	w.t.Fatalf("no row of %s in state %s: %s", name, state, out)
	return nil
}

// await waits for a condition that a background goroutine brings about.
func await(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 30_000 {
		if ok() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("never happened: %s", what)
}

// wantError fails unless err has the kind and holds the text.
func wantError(t testing.TB, err error, kind v1.ErrorKind, text string) {
	t.Helper()
	if err == nil || abi.KindOf(err) != kind || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v (%v), want kind %v and %q", err, abi.KindOf(err), kind, text)
	}
}
