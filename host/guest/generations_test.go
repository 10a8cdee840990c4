package guest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
	"github.com/amygdala-host/amygdala/signatures"
)

func TestDropInTakesOver(t *testing.T) {
	w := newWorld(t, nil, nil)
	if n := w.Status().Generation; n != 1 {
		t.Fatalf("generation %d", n)
	}
	if _, err := w.ask("zebra", "evil"); err == nil {
		t.Fatal("there is a zebra already")
	}
	w.write("zebra.wasm", packed(t, zebra("1.0.0"), script{}))
	if out := w.reload(); out != "" {
		t.Fatal(out)
	}
	if !w.accuses("zebra", "evil") || w.accuses("zebra", "naughty") {
		t.Error("version 1.0.0 does not judge")
	}
	w.write("zebra.wasm", packed(t, zebra("1.1.0"), script{Word: "naughty", Confidence: 1}))
	w.reload()
	if w.accuses("zebra", "evil") || !w.accuses("zebra", "naughty") {
		t.Error("version 1.1.0 does not judge")
	}
	row := w.row("zebra", StateServing)
	if row.Version != "1.1.0" || row.Generation != 3 || row.Signed || row.Kind != "detector" || row.LastError != nil ||
		row.Source != filepath.Join(w.dir, "zebra.wasm") || row.Counters.Calls != 2 || row.Limits.Fuel == 0 || !row.Wake.Always || len(row.SHA256) != 64 {
		t.Errorf("%+v", row)
	}
	w.remove("zebra.wasm")
	w.reload()
	if set := w.Acquire(); set.Entry("zebra") != nil {
		t.Error("a removed file still serves")
	} else {
		set.Release()
	}
}

func TestNothingChangedIsNoGeneration(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	w.write("zebra.wasm", packed(t, zebra("1.0.0"), script{}))
	w.setPolicy("")
	w.reload()
	if n, loads := w.Status().Generation, w.driver.loaded(); n != 1 || loads != 1 {
		t.Errorf("generation %d, %d loads", n, loads)
	}
	w.setPolicy("bands: {default: {threat: 0.9}}")
	w.reload()
	if n, loads := w.Status().Generation, w.driver.loaded(); n != 2 || loads != 1 {
		t.Errorf("a new band: generation %d, %d loads; the plugin was to be carried over", n, loads)
	}
	w.setPolicy("  zebra: {config: {}}")
	w.reload()
	if loads := w.driver.loaded(); loads != 2 {
		t.Errorf("a new configuration: %d loads", loads)
	}
}

// Each way in which a successor can be broken leaves the old one serving and is explained.
func TestBrokenSuccessors(t *testing.T) {
	next := zebra("2.0.0")
	half := packed(t, next, script{})
	wrongABI := func() []byte {
		m, module := zebra("2.0.0"), build(script{})
		m.ABI, m.Digests = 9, digests(module, nil)
		return appendSection(module, abi.SectionManifest, m.AppendJSON(nil))
	}
	for _, c := range []struct {
		name  string
		data  []byte
		stage string
		kind  string
		want  string
	}{
		{"trap in init", packed(t, next, script{Load: "trap"}), StageLoad, "trap", "_initialize"},
		{"unknown import", packed(t, next, script{Load: "import"}), StageLoad, "refused", "env.system"},
		{"wrong ABI export", packed(t, next, script{Load: "abi"}), StageLoad, "refused", "amygdala_abi_v9"},
		{"wrong ABI in the manifest", wrongABI(), StageOpen, "refused", "ABI version 9, this host speaks version 1"},
		{"endless start", packed(t, next, script{Load: "start"}), StageLoad, "timeout", "did not end"},
		{"describe lies", packed(t, next, script{Describe: zebra("3.0.0").AppendJSON(nil)}), StageDescribe, "refused", "3.0.0"},
		{"settings refused", packed(t, next, script{Configure: "refuse"}), StageConfigure, "invalid", "no such setting"},
		{"warm-up", packed(t, next, script{Detect: "garbage"}), StageWarmUp, "protocol", ""},
		{"self-test", packed(t, next, script{}, selftest(`{"kind":"web","text":"fine","expect":"threat"}`)), StageSelftest, "refused", "selftest.jsonl:1: expected threat, found none"},
		{"half-written", half[:len(half)-20], StageOpen, "refused", "cut off or still being written"},
		{"hardly begun", half[:3], StageOpen, "refused", "still being written"},
		{"empty", nil, StageOpen, "refused", "only 0 bytes"},
		{"not a plugin", []byte("hello, world"), StageOpen, "refused", "not a WebAssembly module"},
		{"no manifest", build(script{}), StageOpen, "refused", "no manifest"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
			w.write("zebra.wasm", c.data)
			for range 2 { // the second look must not forget
				if out := w.reload(); !strings.Contains(out, c.want) {
					t.Errorf("Reload says %q, want %q", out, c.want)
				}
			}
			if !w.accuses("zebra", "evil") {
				t.Error("the old plugin does not serve")
			}
			row := w.row("zebra", StateServing)
			f := row.LastError
			if row.Version != "1.0.0" || f == nil || f.Stage != c.stage || f.Kind != c.kind || !strings.Contains(f.Message, c.want) || f.Path != filepath.Join(w.dir, "zebra.wasm") || f.Time.IsZero() {
				t.Errorf("row %+v, error %+v", row, f)
			}
			if w.Status().Generation != 1 {
				t.Error("a failure made a generation")
			}
			w.write("zebra.wasm", packed(t, zebra("2.0.1"), script{}))
			if out := w.reload(); out != "" || w.row("zebra", StateServing).Version != "2.0.1" || w.row("zebra", StateServing).LastError != nil {
				t.Errorf("the mended file does not serve: %s", out)
			}
		})
	}
}

func TestRefusedIdentityIsNotTriedAgain(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{Load: "trap"})}, nil)
	w.reload()
	if n := w.driver.loaded(); n != 1 {
		t.Errorf("%d attempts", n)
	}
	w.row("zebra", StateFailed)
	if err := w.Retry(t.Context(), "zebra"); err == nil || w.driver.loaded() != 2 {
		t.Errorf("Retry: %v, %d attempts", err, w.driver.loaded())
	}
	wantError(t, w.Retry(t.Context(), "nobody"), v1.ErrorKindNotFound, "nobody")
	w.write("zebra.wasm", packed(t, zebra("1.0.0"), script{Load: "start"}))
	before := w.driver.loaded()
	w.reload()
	w.reload()
	if n := w.driver.loaded(); n != before+2 {
		t.Errorf("a time-out may be the machine's fault, and is tried again: %d attempts", n-before)
	}
}

func TestBuiltins(t *testing.T) {
	bare := script{Describe: zebra("1.0.0").AppendJSON(nil), Word: "evil", Confidence: 1}
	w := newWorld(t, nil, func(o *Options) {
		o.Builtins = []Builtin{{Name: "zebra", Wasm: build(bare)}}
	})
	if !w.accuses("zebra", "evil") {
		t.Error("a bare built-in module does not serve")
	}
	row := w.row("zebra", StateServing)
	if row.Source != "builtin" || row.OverridesBuiltin || row.Version != "1.0.0" {
		t.Errorf("%+v", row)
	}
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{Load: "trap"}))
	if out := w.reload(); !strings.Contains(out, "trap") || w.row("zebra", StateServing).Source != "builtin" {
		t.Errorf("a broken override: %s", out)
	}
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{}))
	w.reload()
	if row = w.row("zebra", StateServing); row.Version != "2.0.0" || !row.OverridesBuiltin {
		t.Errorf("override: %+v", row)
	}
	w.remove("zebra.wasm")
	w.reload()
	if row = w.row("zebra", StateServing); row.Source != "builtin" {
		t.Errorf("without the override: %+v", row)
	}
}

func TestBrokenOverrideAtStartLeavesTheBuiltin(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("2.0.0"), script{Load: "trap"})}, func(o *Options) {
		o.Builtins = []Builtin{{Name: "zebra", Wasm: packed(t, zebra("1.0.0"), script{})}}
	})
	for range 2 {
		row := w.row("zebra", StateServing)
		if row.Source != "builtin" || row.LastError == nil || !strings.Contains(row.LastError.Message, "trap") {
			t.Errorf("%+v", row)
		}
		w.reload()
	}
	if n := w.driver.loaded(); n != 2 {
		t.Errorf("%d loads: one of each was enough", n)
	}
}

func TestBuiltinsMustBeWhatTheySay(t *testing.T) {
	for _, list := range [][]Builtin{
		{{Name: "lion", Wasm: packed(t, zebra("1.0.0"), script{})}},
		{{Name: "zebra", Wasm: packed(t, zebra("1.0.0"), script{})}, {Name: "zebra", Wasm: packed(t, zebra("1.0.0"), script{})}},
	} {
		_, err := Start(t.Context(), Options{Driver: &fakeDriver{}, Builtins: list})
		wantError(t, err, v1.ErrorKindConflict, "builtin")
	}
	_, err := Start(t.Context(), Options{Driver: &fakeDriver{}, Builtins: []Builtin{{Name: "zebra", Wasm: []byte("text")}}})
	wantError(t, err, v1.ErrorKindRefused, "builtin zebra")
	_, err = Start(t.Context(), Options{})
	wantError(t, err, v1.ErrorKindInternal, "Driver")
	w := newWorld(t, nil, func(o *Options) {
		o.Builtins = []Builtin{{Name: "lion", Wasm: build(script{Describe: zebra("1.0.0").AppendJSON(nil)})}}
	})
	if f := w.row("lion", StateFailed).LastError; f == nil || !strings.Contains(f.Message, "calls itself zebra") {
		t.Errorf("%+v", f)
	}
}

func TestTwoFilesOneName(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	w.write("other.wasm", packed(t, zebra("2.0.0"), script{}))
	out := w.reload()
	if !strings.Contains(out, "zebra.wasm") || !strings.Contains(out, "other.wasm") {
		t.Errorf("the error does not name both: %s", out)
	}
	row := w.row("zebra", StateServing)
	if row.Version != "1.0.0" || row.LastError.Kind != "conflict" {
		t.Errorf("%+v", row)
	}
	w.remove("zebra.wasm")
	w.reload()
	if row = w.row("zebra", StateServing); row.Version != "2.0.0" || row.LastError != nil {
		t.Errorf("%+v", row)
	}
}

func TestOddDirectories(t *testing.T) {
	w := newWorld(t, map[string][]byte{
		"zebra.wasm": packed(t, zebra("1.0.0"), script{}), "broken.wasm": []byte("?"), ".hidden.wasm": []byte("?"), "notes.txt": []byte("?"),
	}, nil)
	if err := os.Mkdir(filepath.Join(w.dir, "folder.wasm"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.reload()
	if st := w.Status(); len(st.Plugins) != 2 {
		t.Errorf("%+v", st.Plugins)
	}
	if f := w.row("broken", StateFailed).LastError; f.Path != filepath.Join(w.dir, "broken.wasm") {
		t.Errorf("%+v", f)
	}
	moved := w.dir + ".moved"
	if err := os.Rename(w.dir, moved); err != nil {
		t.Fatal(err)
	}
	if out := w.reload(); !strings.Contains(out, w.dir) {
		t.Errorf("a lost directory: %s", out)
	}
	if !w.accuses("zebra", "evil") || w.row("zebra", StateServing).LastError == nil {
		t.Error("a lost directory must not take its plugins out of service")
	}
	if err := os.Rename(moved, w.dir); err != nil {
		t.Fatal(err)
	}
	w.remove("broken.wasm")
	if out := w.reload(); out != "" || w.row("zebra", StateServing).LastError != nil {
		t.Errorf("it is back: %s", out)
	}
}

func TestRequiredAndMissing(t *testing.T) {
	w := newWorld(t, nil, nil)
	if m := w.Status().Missing; len(m) != 0 {
		t.Fatalf("missing %v", m)
	}
	w.setPolicy("  zebra: {required: true}")
	w.reload()
	set := w.Acquire()
	defer set.Release()
	e := set.Entry("zebra")
	if e == nil || !e.Required || !e.Wakes(&Facts{}) || e.Excerpts() {
		t.Fatalf("%+v", e)
	}
	_, err := w.ask("zebra", "x")
	wantError(t, err, v1.ErrorKindUnavailable, "no plugin has this name")
	_, _, err = e.Judge(t.Context(), &v1.JudgeRequest{}, CallOptions{})
	wantError(t, err, v1.ErrorKindUnavailable, "judge zebra")
	if st := w.Status(); len(st.Missing) != 1 || w.row("zebra", StateFailed).Why == "" {
		t.Errorf("%+v", st)
	}
	w.setPolicy("  zebra: {required: true, enabled: false}")
	w.reload()
	if m := w.Status().Missing; len(m) != 0 {
		t.Errorf("a plugin that is not wanted is not missed: %v", m)
	}
}

func TestDisabledByPolicy(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	w.setPolicy("  zebra: {enabled: false}")
	w.reload()
	if row := w.row("zebra", StateDisabled); !strings.Contains(row.Why, "enabled: false") {
		t.Errorf("%+v", row)
	}
	await(t, "the module is closed", func() bool { return w.driver.closes.Load() == 1 })
	w.setPolicy("")
	w.reload()
	if !w.accuses("zebra", "evil") {
		t.Error("enabled again, and does not serve")
	}
}

// The reason for a missing plugin follows what happens to it.
func TestWhyItIsMissing(t *testing.T) {
	m := zebra("1.0.0")
	m.Grants = []*v1.Grant{{Type: "host", Value: "a"}}
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{Load: "trap"})}, nil)
	why := func() string {
		w.reload()
		set := w.Acquire()
		defer set.Release()
		return set.Entry("zebra").Why
	}
	w.setPolicy("  zebra: {required: true}")
	if got := why(); !strings.Contains(got, "refused at stage load (trap)") {
		t.Error(got)
	}
	w.write("zebra.wasm", packed(t, m, script{}))
	if got := why(); !strings.Contains(got, "approve them") {
		t.Error(got)
	}
	w.setPolicy("  zebra: {enabled: false}")
	w.reload()
	w.setPolicy("  zebra: {required: true}")
	w.write("zebra.wasm", packed(t, zebra("1.0.0"), script{Load: "import"}))
	if got := why(); !strings.Contains(got, "refused at stage load (refused)") {
		t.Error(got)
	}
}

func TestWakeOfThePolicyAdds(t *testing.T) {
	m := zebra("1.0.0")
	m.Wake = &v1.Wake{Threats: []v1.Threat{v1.ThreatSSRF}}
	m.Excerpts = true
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, m, script{})}, nil)
	woken := func() bool {
		set := w.Acquire()
		defer set.Release()
		e := set.Entry("zebra")
		return e.Wakes(&Facts{Kind: v1.PayloadKindEmail}) && e.Excerpts()
	}
	if woken() {
		t.Error("woken by nothing")
	}
	w.setPolicy("  zebra: {wake: {kinds: [email]}}")
	w.reload()
	if !woken() || w.driver.loaded() != 1 {
		t.Errorf("the policy's wake rule does not act, or cost a load (%d)", w.driver.loaded())
	}
	if wk := w.row("zebra", StateServing).Wake; wk.Kinds[0] != "email" || wk.Threats[0] != "ssrf" {
		t.Errorf("%+v", wk)
	}
}

func TestBrokenPolicyKeepsTheOld(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	why := "line 3: nonsense"
	w.broken.Store(&why)
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{}))
	if out := w.reload(); !strings.Contains(out, why) {
		t.Errorf("Reload: %s", out)
	}
	st := w.Status()
	if st.Policy.LastError == nil || !strings.Contains(st.Policy.LastError.Message, why) || st.Policy.Digest == "" {
		t.Errorf("%+v", st.Policy)
	}
	if w.row("zebra", StateServing).Version != "2.0.0" {
		t.Error("a broken policy holds up a good plugin")
	}
	w.broken.Store(nil)
	if out := w.reload(); out != "" || w.Status().Policy.LastError != nil {
		t.Errorf("mended: %s", out)
	}
	_, err := Start(t.Context(), Options{Driver: &fakeDriver{}, Policy: func() (*policies.Policy, error) { return nil, errors.New(why) }})
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("nothing can start without a policy: %v", err)
	}
}

const pack = `pack: %s
version: 1.0.0
license: Apache-2.0
description: test
threat: prompt_injection
signatures:
  - id: %s
    version: 1
    severity: high
    confidence: 0.9
    maturity: enforce
    literals: [[zebracrossing]]
    positive: ["zebracrossing"]
    negative: ["other"]
`

func TestSignaturesReload(t *testing.T) {
	text, broken := fmt.Sprintf(pack, "a", "a-one"), false
	var mu sync.Mutex
	read := func() (*signatures.Matcher, error) {
		mu.Lock()
		defer mu.Unlock()
		if broken {
			return nil, abi.E("parse", v1.ErrorKindInvalid, "a.yaml", errors.New("a.yaml:7: unknown key"))
		}
		p, err := signatures.Parse("a.yaml", []byte(text))
		if err != nil {
			return nil, err
		}
		return signatures.Compile([]*signatures.Pack{p})
	}
	set := func(s string, b bool) {
		mu.Lock()
		defer mu.Unlock()
		text, broken = s, b
	}
	w := newWorld(t, nil, func(o *Options) { o.Signatures = read })
	first := w.Status().Signatures.Digest
	w.reload()
	if w.Status().Generation != 1 {
		t.Error("the same signatures made a generation")
	}
	set(fmt.Sprintf(pack, "a", "a-two"), false)
	w.reload()
	if st := w.Status(); st.Generation != 2 || st.Signatures.Digest == first {
		t.Errorf("%+v", st)
	}
	set("", true)
	if out := w.reload(); !strings.Contains(out, "a.yaml:7") {
		t.Errorf("Reload: %s", out)
	}
	if st := w.Status(); st.Generation != 2 || st.Signatures.LastError == nil {
		t.Errorf("%+v", st)
	}
	_, err := Start(t.Context(), Options{Driver: &fakeDriver{}, Signatures: read})
	wantError(t, err, v1.ErrorKindInvalid, "a.yaml:7")
}

func TestVerifyHook(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, func(o *Options) {
		o.Verify = func(p *Package) (bool, error) {
			if p.Version() == "2.0.0" {
				return false, abi.E("verify", v1.ErrorKindDenied, p.Name, errors.New("signed by nobody we know"))
			}
			return true, nil
		}
	})
	if !w.row("zebra", StateServing).Signed {
		t.Error("signed, and not shown")
	}
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{}))
	w.reload()
	row := w.row("zebra", StateServing)
	if row.Version != "1.0.0" || row.LastError.Stage != StageVerify || row.LastError.Kind != "denied" {
		t.Errorf("%+v", row.LastError)
	}
}

// spoilt asks for a failure n times.
func (w *world) spoil(n int) {
	w.t.Helper()
	for range n {
		if _, err := w.ask("zebra", "break now"); err == nil {
			w.t.Fatal("it did not fail")
		}
	}
}

const fuseOf3 = "fuse: {failures: 3, window: 10}\n"

func TestFuseRollsBack(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	w.setPolicy(fuseOf3)
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{Detect: "trap", DetectOn: "now"}))
	w.reload()
	w.spoil(3)
	await(t, "the roll back", func() bool { return w.row("zebra", StateServing).Version == "1.0.0" })
	row := w.row("zebra", StateServing)
	if f := row.LastError; f == nil || f.Stage != StageServing || f.Kind != "trap" || !strings.Contains(f.Message, "3 of its last 10 calls") || strings.Contains(f.Message, "unreachable") {
		t.Errorf("%+v", f)
	}
	if !w.accuses("zebra", "evil now") {
		t.Error("the old version does not judge")
	}
	loads := w.driver.loaded()
	if out := w.reload(); !strings.Contains(out, "calls failed") || w.driver.loaded() != loads {
		t.Errorf("a fused identity was loaded again: %s", out)
	}
	w.write("zebra.wasm", packed(t, zebra("2.0.1"), script{}))
	if out := w.reload(); out != "" || w.row("zebra", StateServing).Version != "2.0.1" {
		t.Errorf("the mended file does not serve: %s", out)
	}
}

func TestFuseOfTheFirstGenerationTakesItOut(t *testing.T) {
	m := zebra("1.0.0")
	m.Wake = &v1.Wake{Kinds: []v1.PayloadKind{v1.PayloadKindWeb}}
	bad := packed(t, m, script{Detect: "garbage", DetectOn: "now"})
	w := newWorld(t, map[string][]byte{"zebra.wasm": bad}, nil)
	w.setPolicy(fuseOf3)
	w.reload()
	w.spoil(3)
	await(t, "it is out", func() bool { return len(w.Status().Missing) == 1 })
	row := w.row("zebra", StateDisabled)
	if row.Why == "" || row.LastError == nil || row.LastError.Stage != StageServing {
		t.Errorf("%+v", row)
	}
	set := w.Acquire()
	e := set.Entry("zebra")
	if e.Plugin != nil || e.Required || !e.Wakes(&Facts{Kind: v1.PayloadKindWeb}) || e.Wakes(&Facts{Kind: v1.PayloadKindDoc}) {
		t.Errorf("payloads that would have woken it must fail closed, others pass: %+v", e)
	}
	set.Release()
	_, err := w.ask("zebra", "harmless")
	wantError(t, err, v1.ErrorKindUnavailable, "failed again and again")
	w.reload()
	if len(w.Status().Missing) != 1 {
		t.Error("a reload forgot the fuse")
	}
	if err := w.Retry(t.Context(), "zebra"); err != nil || !w.accuses("zebra", "evil") {
		t.Errorf("Retry: %v", err)
	}
}

func TestFuseGoesBackToTheBuiltin(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("2.0.0"), script{Detect: "trap", DetectOn: "now"})}, func(o *Options) {
		o.Builtins = []Builtin{{Name: "zebra", Wasm: packed(t, zebra("1.0.0"), script{})}}
	})
	w.setPolicy(fuseOf3)
	w.reload()
	w.spoil(3)
	await(t, "the built-in one serves", func() bool { return w.row("zebra", StateServing).Source == "builtin" })
}

func TestFuseGoesBackToOldSettings(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{Detect: "trap", DetectOn: "now"})}, nil)
	before := w.row("zebra", StateServing).Identity
	w.setPolicy("  zebra: {config: {a: 1}}\n" + fuseOf3)
	w.reload()
	if w.row("zebra", StateServing).Identity == before {
		t.Fatal("new settings, the same identity")
	}
	w.spoil(3)
	await(t, "the old settings", func() bool { return w.row("zebra", StateServing).Identity == before })
}

func TestShadow(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	w.setPolicy("  zebra: {shadow: {calls: 4}}")
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{Word: "naughty", Confidence: 0.6}))
	w.reload()
	row := w.row("zebra", StateShadow)
	if row.Version != "2.0.0" || row.Shadow.Target != 4 || row.Shadow.Manual || w.row("zebra", StateServing).Version != "1.0.0" {
		t.Fatalf("%+v", row)
	}
	compared := func(n uint64) {
		await(t, "the comparison", func() bool { return w.row("zebra", StateShadow).Shadow.Calls == n })
	}
	if !w.accuses("zebra", "evil") { // laxer
		t.Error("the old version does not judge")
	}
	compared(1)
	if w.accuses("zebra", "naughty") { // stricter
		t.Error("the shadow's answer counts")
	}
	compared(2)
	w.accuses("zebra", "harmless") // same
	compared(3)
	if s := w.row("zebra", StateShadow).Shadow; s.Same != 1 || s.Stricter != 1 || s.Laxer != 1 || s.Failed != 0 {
		t.Errorf("%+v", s)
	}
	loads := w.driver.loaded()
	w.reload()
	w.accuses("zebra", "harmless")
	await(t, "it takes over", func() bool { return w.row("zebra", StateServing).Version == "2.0.0" })
	if w.driver.loaded() != loads {
		t.Error("taking over cost a load")
	}
	if !w.accuses("zebra", "naughty") {
		t.Error("the new version does not judge")
	}
}

func TestShadowByHand(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	w.setPolicy("  zebra: {shadow: {calls: 1, promote: manual}}")
	wantError(t, w.Promote(t.Context(), "zebra"), v1.ErrorKindNotFound, "no successor")
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{}))
	w.reload()
	w.accuses("zebra", "x")
	await(t, "the comparison", func() bool { return w.row("zebra", StateShadow).Shadow.Calls == 1 })
	w.reload()
	if w.row("zebra", StateServing).Version != "1.0.0" {
		t.Fatal("it took over by itself")
	}
	w.write("zebra.wasm", packed(t, zebra("3.0.0"), script{}))
	w.reload()
	if w.row("zebra", StateShadow).Version != "3.0.0" {
		t.Error("a newer file does not take the shadow's place")
	}
	if err := w.Promote(t.Context(), "zebra"); err != nil || w.row("zebra", StateServing).Version != "3.0.0" {
		t.Errorf("Promote: %v", err)
	}
	w.write("zebra.wasm", packed(t, zebra("4.0.0"), script{}))
	w.reload()
	w.setPolicy("")
	w.reload()
	if w.row("zebra", StateServing).Version != "4.0.0" {
		t.Error("shadow was switched off, and the successor waits for ever")
	}
}

func TestShadowThatFailsStaysInTheShadow(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	w.setPolicy("  zebra: {shadow: {calls: 2}}\n" + fuseOf3)
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{Detect: "trap", DetectOn: "now"}))
	w.reload()
	for i := range uint64(2) {
		w.accuses("zebra", "break now")
		await(t, "the comparison", func() bool { return w.row("zebra", StateShadow).Shadow.Calls == i+1 })
	}
	w.reload()
	if s := w.row("zebra", StateShadow).Shadow; s.Failed != 2 || w.row("zebra", StateServing).Version != "1.0.0" {
		t.Errorf("%+v", s)
	}
	w.accuses("zebra", "break now")
	await(t, "its fuse ends the trial", func() bool {
		f := w.row("zebra", StateServing).LastError
		return f != nil && f.Stage == StageServing
	})
	for _, p := range w.Status().Plugins {
		if p.State == StateShadow {
			t.Errorf("still there: %+v", p)
		}
	}
}

func TestShadowDoesNotSlowDownItsPredecessor(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	w.setPolicy("  zebra: {shadow: {calls: 100}}")
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{Detect: "wait", DetectOn: "now"}))
	w.reload()
	for range 10 {
		w.accuses("zebra", "wait now")
	}
	if s := w.row("zebra", StateShadow).Shadow; s.Skipped != 10-shadowSlots {
		t.Errorf("%+v", s)
	}
	// Close must end the two that wait; the cleanup proves it.
}

func TestGrantsWaitForAPerson(t *testing.T) {
	wants := func(version string, hosts ...string) []byte {
		m := zebra(version)
		for _, h := range hosts {
			m.Grants = append(m.Grants, &v1.Grant{Type: "host", Value: h})
		}
		return packed(t, m, script{})
	}
	w := newWorld(t, map[string][]byte{"zebra.wasm": wants("1.0.0", "a")}, nil)
	w.setPolicy("  zebra: {grants: [{type: host, value: a}]}")
	w.row("zebra", StatePending)
	w.reload()
	if row := w.row("zebra", StateServing); row.Version != "1.0.0" || row.Grants[0] != "host a" {
		t.Errorf("what the policy grants needs no person: %+v", row)
	}
	w.write("zebra.wasm", wants("1.1.0"))
	w.reload()
	if w.row("zebra", StateServing).Version != "1.1.0" {
		t.Error("narrower grants wait")
	}
	w.write("zebra.wasm", wants("2.0.0", "a", "b"))
	w.reload()
	row := w.row("zebra", StatePending)
	if row.Version != "2.0.0" || len(row.Grants) != 2 || w.row("zebra", StateServing).Version != "1.1.0" {
		t.Errorf("%+v", row)
	}
	wantError(t, w.Approve(t.Context(), "nobody"), v1.ErrorKindNotFound, "nobody")
	if err := w.Approve(t.Context(), "zebra"); err != nil || w.row("zebra", StateServing).Version != "2.0.0" {
		t.Errorf("Approve: %v", err)
	}
	w.write("zebra.wasm", wants("2.1.0", "b"))
	w.reload()
	if w.row("zebra", StateServing).Version != "2.1.0" {
		t.Error("what was approved once waits again")
	}
	wantError(t, w.Approve(t.Context(), "zebra"), v1.ErrorKindNotFound, "waits for approval")
}

func TestWithdrawnGrantsTakeThePluginOut(t *testing.T) {
	m := zebra("1.0.0")
	m.Grants = []*v1.Grant{{Type: "host", Value: "a"}}
	w := newWorld(t, nil, nil)
	w.setPolicy("  zebra: {grants: [{type: host, value: a}]}")
	w.write("zebra.wasm", packed(t, m, script{}))
	w.reload()
	w.row("zebra", StateServing)
	w.setPolicy("")
	w.reload()
	if row := w.row("zebra", StateDisabled); !strings.Contains(row.Why, "withdrawn") {
		t.Errorf("%+v", row)
	}
	w.row("zebra", StatePending)
}

func TestSidecarPluginServes(t *testing.T) {
	m := zebra("0.1.0")
	m.Encoding, m.Ops, m.Threats = v1.EncodingJSON, []v1.Op{v1.OpDetect}, []v1.Threat{v1.ThreatPromptInjection}
	s := script{JSON: true, Describe: m.AppendJSON(nil), Word: "evil", Confidence: 1}
	w := newWorld(t, map[string][]byte{
		"zebra.wasm": build(s),
		"zebra.yaml": []byte("name: zebra\nversion: 0.1.0\nkind: detector\nabi: 1\nencoding: json\nops: [detect]\nthreats: [prompt_injection]\nwake: {always: true}\n"),
	}, nil)
	if !w.accuses("zebra", "evil") {
		t.Error("it does not judge")
	}
}

func TestStatusIsJSON(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{}), "broken.wasm": {1}}, nil)
	out, err := json.Marshal(w.Status())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"generation":1`, `"plugins":[`, `"state":"serving"`, `"state":"failed"`, `"last_error":{"stage":"open"`, `"signed":false`, `"missing":[]`, `"sha256":"`} {
		if !bytes.Contains(out, []byte(want)) {
			t.Errorf("%s is missing in %s", want, out)
		}
	}
}

// Failures are logged once, with the name, the stage and the file; and no payload is.
func TestLog(t *testing.T) {
	var buf bytes.Buffer
	var mu sync.Mutex
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(lockedWriter{&mu, &buf}, nil))
	})
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{Load: "trap"}))
	w.write("broken.wasm", []byte("?"))
	w.reload()
	w.reload()
	w.accuses("zebra", "secret payload")
	mu.Lock()
	text := buf.String()
	mu.Unlock()
	if strings.Count(text, "trap in _initialize") != 1 || strings.Count(text, "plugin=broken") != 1 || !strings.Contains(text, "stage=load") || !strings.Contains(text, "serving=1.0.0") {
		t.Errorf("log:\n%s", text)
	}
	if strings.Contains(text, "secret payload") {
		t.Error("payload text in the log")
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  *bytes.Buffer
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// A plugin is closed exactly once, and not before the last Set that holds it is released.
func TestDrain(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	old := w.Acquire()
	w.write("zebra.wasm", packed(t, zebra("2.0.0"), script{}))
	w.reload()
	if w.row("zebra", StateServing).Version != "2.0.0" || w.driver.closes.Load() != 0 {
		t.Fatal("swapped too late, or closed too early")
	}
	if _, _, err := old.Entry("zebra").Detect(t.Context(), textRequest(v1.PayloadKindWeb, []byte("evil")), CallOptions{}); err != nil {
		t.Errorf("a call on the old set: %v", err)
	}
	old.Release()
	await(t, "the old module is closed", func() bool { return w.driver.closes.Load() == 1 })
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a second Release went unnoticed")
			}
		}()
		old.Release()
	}()
}

func TestAfterClose(t *testing.T) {
	w := newWorld(t, map[string][]byte{"zebra.wasm": packed(t, zebra("1.0.0"), script{})}, nil)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Acquire() != nil {
		t.Error("a set after Close")
	}
	wantError(t, w.Reload(t.Context()), v1.ErrorKindUnavailable, "closed")
	if st := w.Status(); st.Generation != 0 || st.Plugins == nil {
		t.Errorf("%+v", st)
	}
	w.driver.check(t)
}

// 100 reloads under 8 parallel callers: no failed call, no leaked module, no goroutine left behind.
func TestHammerReload(t *testing.T) {
	before := runtime.NumGoroutine()
	versions := make([][]byte, 4)
	for i := range versions {
		versions[i] = packed(t, zebra(fmt.Sprintf("1.0.%d", i)), script{Pad: fmt.Sprint(i)})
	}
	broken := packed(t, zebra("9.0.0"), script{Load: "trap"})
	dir, d := t.TempDir(), &fakeDriver{}
	file := filepath.Join(dir, "zebra.wasm")
	put := func(data []byte) {
		if err := os.WriteFile(file+".tmp", data, 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(file+".tmp", file); err != nil {
			t.Error(err)
		}
	}
	put(versions[0])
	g, err := Start(t.Context(), Options{Driver: d, Dirs: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() { hammerCalls(t, g, stop) })
	}
	for i := range 100 {
		put(versions[i%len(versions)])
		if err := g.Reload(t.Context()); err != nil {
			t.Error(err)
		}
		if i%10 == 5 {
			put(broken)
			if err := g.Reload(t.Context()); err == nil {
				t.Error("a broken successor went unnoticed")
			}
		}
	}
	close(stop)
	callers.Wait()
	if n := g.Status().Generation; n != 100 {
		t.Errorf("generation %d after 100 reloads, of which 99 changed something", n)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	d.check(t)
	await(t, "all goroutines are gone", func() bool { return runtime.NumGoroutine() <= before })
}

// hammerCalls asks until stop is closed. Every call must succeed, on one consistent set.
func hammerCalls(t *testing.T, g *Generations, stop chan struct{}) {
	req := textRequest(v1.PayloadKindWeb, []byte("evil"))
	last := uint64(0)
	for {
		select {
		case <-stop:
			return
		default:
		}
		set := g.Acquire()
		if set.Number < last {
			t.Errorf("generation %d after %d", set.Number, last)
		}
		last = set.Number
		v, _, err := set.Entry("zebra").Detect(context.Background(), req, CallOptions{})
		if err != nil || len(v.Findings) != 1 {
			t.Errorf("generation %d: %v %v", set.Number, v, err)
		}
		set.Release()
		_ = g.Status()
	}
}
