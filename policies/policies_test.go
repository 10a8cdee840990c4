package policies

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

func parse(t *testing.T, yaml string) *Policy {
	t.Helper()
	p, err := Parse("op.yaml", []byte("version: 1\n"+yaml))
	if err != nil {
		t.Fatalf("%s\n%v", yaml, err)
	}
	return p
}

func TestDefaultIsComplete(t *testing.T) {
	p := Default()
	l := p.Limits
	for name, v := range map[string]int{
		"payload": l.PayloadBytes, "deadline": int(l.Deadline), "depth": l.Views.Depth, "count": l.Views.Count, "growth": l.Views.Growth,
		"work": l.MatchWork, "hits": l.Hits, "memory": int(l.Plugin.MemoryPages), "fuel": int(l.Plugin.Fuel), "wall": int(l.Plugin.Wall),
		"input": l.Plugin.Input, "output": l.Plugin.Output, "log": l.Plugin.Log, "failures": p.Fuse.Failures, "window": p.Fuse.Window,
	} {
		if v <= 0 {
			t.Errorf("the default says nothing of %s", name)
		}
	}
	if l.PayloadBytes != 4<<20 || l.Deadline != time.Second {
		t.Errorf("limits %+v", l)
	}
	for _, k := range append(v1.PayloadKindValues(), 0, 99, -1) {
		if p.Failure(k) != FailureHold {
			t.Errorf("the default does not fail closed for %v", k)
		}
		for _, threat := range append(v1.ThreatValues(), 0, 99, -1) {
			want := Band{0.5, 0.8}
			if threat == v1.ThreatPromptInjection || threat == v1.ThreatJailbreak {
				want.Threat = 0.65 // evidence for injected instructions is rarely complete
			}
			if got := p.Band(k, threat); got != want {
				t.Errorf("band of %v, %v: %+v", k, threat, got)
			}
		}
	}
	if d := p.Detector("nobody"); !d.Enabled || d.Required || d.Config != nil || d.Wake != nil || d.Limits != l.Plugin || d.Name != "" {
		t.Errorf("a plugin that is not listed: %+v", d)
	}
	if got := fmt.Sprint(p.Detectors()); got != "[injection privilege schema structure]" {
		t.Errorf("detectors %s", got)
	}
}

// The default documents itself: every key that a policy may have appears in it, if only in a comment.
func TestDefaultNamesEveryKey(t *testing.T) {
	text := string(DefaultYAML())
	for _, kind := range v1.PayloadKindValues() {
		if !strings.Contains(text, kind.String()) {
			t.Errorf("kind %v is not mentioned", kind)
		}
	}
	for _, threat := range v1.ThreatValues() {
		if !strings.Contains(text, threat.String()) {
			t.Errorf("threat %v is not mentioned", threat)
		}
	}
	known := regexp.MustCompile(`known here: ([a-z_]+(?:, [a-z_]+)*)`)
	for _, at := range []string{"%s", "bands: {%s}", "bands: {default: {%s}}", "limits: {%s}", "limits: {views: {%s}}", "limits: {signatures: {%s}}",
		"limits: {plugin: {%s}}", "fuse: {%s}", "detectors: {x: {%s}}", "detectors: {x: {shadow: {%s}}}", "detectors: {x: {wake: {%s}}}",
		"detectors: {x: {grants: [{%s}]}}"} {
		_, err := Parse("op.yaml", []byte("version: 1\n"+fmt.Sprintf(at, "nonsense: 1")))
		m := known.FindStringSubmatch(fmt.Sprint(err))
		if m == nil {
			t.Fatalf("%s: %v", at, err)
		}
		for key := range strings.SplitSeq(m[1], ", ") {
			if !regexp.MustCompile(`\b` + key + `:`).MatchString(text) {
				t.Errorf("key %s (of %s) is not in the default", key, at)
			}
		}
	}
}

func TestBandPrecedence(t *testing.T) {
	p := parse(t, `
bands:
  default: {threat: 0.9}
  threats:
    secret: {ambiguous: 0.3, threat: 0.6}
  kinds:
    web:
      default: {ambiguous: 0.4, threat: 0.7}
      prompt_injection: {threat: 0.65}
      secret: {threat: 0.95}
`)
	for _, c := range []struct {
		kind   v1.PayloadKind
		threat v1.Threat
		want   Band
	}{
		{v1.PayloadKindDoc, v1.ThreatSSRF, Band{0.5, 0.9}},
		{v1.PayloadKindDoc, v1.ThreatSecret, Band{0.3, 0.6}},
		{v1.PayloadKindWeb, v1.ThreatSSRF, Band{0.4, 0.7}},
		{v1.PayloadKindWeb, v1.ThreatPromptInjection, Band{0.4, 0.65}},
		{v1.PayloadKindWeb, v1.ThreatSecret, Band{0.3, 0.95}},
		{v1.PayloadKindWeb, 0, Band{0.4, 0.7}},
		{0, v1.ThreatSecret, Band{0.3, 0.6}},
		{99, 99, Band{0.5, 0.9}},
	} {
		if got := p.Band(c.kind, c.threat); got != c.want {
			t.Errorf("%v, %v: got %+v, want %+v", c.kind, c.threat, got, c.want)
		}
	}
}

func TestFailureModes(t *testing.T) {
	p := parse(t, "failure: {code: flag}")
	if p.Failure(v1.PayloadKindCode) != FailureFlag || p.Failure(v1.PayloadKindWeb) != FailureHold {
		t.Error("only code was to be flagged")
	}
	p = parse(t, "failure: {default: flag, web: hold}")
	if p.Failure(v1.PayloadKindCode) != FailureFlag || p.Failure(v1.PayloadKindWeb) != FailureHold || p.Failure(99) != FailureHold {
		t.Error("the default does not apply, or applies too far")
	}
}

func TestDetectorSettings(t *testing.T) {
	p := parse(t, `
limits: {plugin: {fuel: 100M}}
detectors:
  injection: {shadow: {calls: 1k, promote: manual}}
  zebra:
    required: true
    enabled: false
    wake: {always: true, kinds: [web, doc], threats: [ssrf], views: [base64], topics: ["a/#"], size_over: 1MiB}
    limits: {memory: 128MiB, fuel: 3G, wall: 2s, input: 1KiB, output: 2 KiB, log: 512}
    grants:
      - {type: host, value: "b:443"}
      - {value: "a:443", type: host}
    config: {z: 1, a: [true, null, "<&>", 0x10, 1.50, 2026-01-01, 18446744073709551615], nested: {b: {}}}
`)
	inj := p.Detector("injection")
	if !inj.Required || inj.Shadow != (Shadow{1000, true}) || inj.Limits.Fuel != 100_000_000 || inj.Limits.MemoryPages != 1024 {
		t.Errorf("injection keeps what was not said: %+v", inj)
	}
	z := p.Detector("zebra")
	want := PluginLimits{2048, 3_000_000_000, 2 * time.Second, 1024, 2048, 512}
	if z.Enabled || !z.Required || z.Limits != want || z.Name != "zebra" {
		t.Errorf("zebra: %+v", z)
	}
	if w := z.Wake; !w.Always || len(w.Kinds) != 2 || w.Threats[0] != v1.ThreatSSRF || w.Views[0] != "base64" || w.Topics[0] != "a/#" || w.SizeOver != 1<<20 {
		t.Errorf("wake: %+v", w)
	}
	if len(z.Grants) != 2 || z.Grants[0].Value != "a:443" {
		t.Errorf("grants are not sorted: %+v", z.Grants)
	}
	if got := string(z.Config); got != `{"a":[true,null,"<&>",16,1.5,"2026-01-01",18446744073709551615],"nested":{"b":{}},"z":1}` {
		t.Errorf("config: %s", got)
	}
}

func TestConfigMerges(t *testing.T) {
	base := map[string]any{"a": map[string]any{"x": true, "y": "old"}, "b": []any{"1"}, "c": "s"}
	over := map[string]any{"a": map[string]any{"y": "new"}, "b": []any{}, "d": nil}
	if got := string(canonicalJSON(merge(base, over))); got != `{"a":{"x":true,"y":"new"},"b":[],"c":"s","d":null}` {
		t.Error(got)
	}
	if got := string(canonicalJSON(base)); got != `{"a":{"x":true,"y":"old"},"b":["1"],"c":"s"}` {
		t.Errorf("merging changed the base: %s", got)
	}
}

func TestUnits(t *testing.T) {
	for in, want := range map[string]int64{"0": 0, "512": 512, "512B": 512, "64KiB": 65536, "64 KiB": 65536, "4MiB": 4 << 20, "1GiB": 1 << 30} {
		if got, err := parseSize(in); err != nil || got != want {
			t.Errorf("size %q: %d, %v", in, got, err)
		}
		if got, err := parseSize(formatSize(want)); err != nil || got != want {
			t.Errorf("size %d does not survive being written: %d, %v", want, got, err)
		}
	}
	for _, in := range []string{"", "KiB", "4KB", "4M", "4.5MiB", "-1", "4 MiB x", "99999999999GiB", "1e3"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("size %q: %d", in, got)
		}
	}
	for in, want := range map[string]uint64{"7": 7, "1_000": 1000, "50k": 50_000, "2M": 2_000_000, "3G": 3_000_000_000} {
		if got, err := parseCount(in); err != nil || got != want {
			t.Errorf("count %q: %d, %v", in, got, err)
		}
	}
	for _, in := range []string{"", "k", "1.5M", "-1", "1K", "99999999999999G"} {
		if got, err := parseCount(in); err == nil {
			t.Errorf("count %q: %d", in, got)
		}
	}
}

// Each mistake is refused with file, line, the setting and how to mend it.
func TestMistakes(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"", "op.yaml: the file is empty; it must at least say `version: 1`"},
		{"# only a comment\n", "the file is empty"},
		{"limits: {}\n", "op.yaml:1: version: got 0, want 1"},
		{"version: 2\n", "version: got 2, want 1"},
		{"version: 1\nversion: 1\n", "op.yaml:2: version: the key is given twice, first in line 1"},
		{"version: 1\nbans: {}\n", "op.yaml:2: bans: unknown key; known here: bands, detectors, failure, fuse, limits, signatures, version"},
		{"version: 1\nbands:\n  kinds:\n    webb: {}\n", "op.yaml:4: bands.kinds.webb: unknown kind of payload; known: user_prompt,"},
		{"version: 1\nbands:\n  threats:\n    sssrf: {}\n", "op.yaml:4: bands.threats.sssrf: unknown threat"},
		{"version: 1\nbands: {kinds: {web: {sssrf: {}}}}\n", "unknown threat"},
		{"version: 1\nbands: {default: {threat: 1.5}}\n", `"1.5" is not a number from 0 to 1`},
		{"version: 1\nbands: {default: {threat: .nan}}\n", "not a number from 0 to 1"},
		{"version: 1\nbands: {default: {threat: [1]}}\n", "expected a single value, found a list"},
		{"version: 1\nbands: {default: {threat: }}\n", "expected a single value, found nothing"},
		{"version: 1\nbands:\n  kinds:\n    web:\n      default: {threat: 0.4}\n", "bands for kind web: ambiguous 0.5 (default.yaml:"},
		{"version: 1\nfailure: {web: pass}\n", `failure.web: "pass" is not a failure mode; use hold`},
		{"version: 1\nfailure: {wbe: hold}\n", "unknown kind"},
		{"version: 1\nlimits: {payload: 4MB}\n", `"4MB" is not a size; write a whole number with B, KiB`},
		{"version: 1\nlimits: {payload: 9GiB}\n", "out of range; use 1B to 1GiB"},
		{"version: 1\nlimits: {deadline: 50}\n", `"50" is not a time; write a number with a unit`},
		{"version: 1\nlimits: {deadline: 2h}\n", "out of range"},
		{"version: 1\nlimits: {views: {count: many}}\n", `"many" is not a count`},
		{"version: 1\nlimits: {views: {count: 0}}\n", "out of range; use 1 to 4096"},
		{"version: 1\nlimits: {plugin: {memory: 100KiB}}\n", "pages of 64KiB"},
		{"version: 1\nlimits: 7\n", `expected settings (key: value), found "7"`},
		{"version: 1\nfuse: {failures: 50, window: 10}\n", "50 failures never fit into a window of 10 calls"},
		{"version: 1\ndetectors: {Bad_Name: {}}\n", "not a plugin's name"},
		{"version: 1\ndetectors: {x: {enabled: yes}}\n", `expected true or false, found "yes"`},
		{"version: 1\ndetectors: {x: {shadow: {promote: never}}}\n", "use auto or manual"},
		{"version: 1\ndetectors: {x: {wake: {kinds: web}}}\n", "expected a list such as [a, b]"},
		{"version: 1\ndetectors: {x: {wake: {views: ['']}}}\n", "expected a name of 1 to 256 bytes"},
		{"version: 1\ndetectors: {x: {grants: [{type: host}]}}\n", "a grant needs a type and a value"},
		{"version: 1\ndetectors: {x: {config: {a: .inf}}}\n", `".inf" has no form in JSON`},
		{"version: 1\na: &x 1\nb: *x\n", "anchors and aliases"},
		{"version: 1\nb: !!binary aGk=\n", "the tag !!binary is not supported"},
		{"version: 1\n<<: {a: 1}\n", "a key must be a plain name"},
		{"version: 1\n? [a]\n: 1\n", "a key must be a plain name"},
		{"version: 1\n---\nversion: 1\n", "second document"},
		{"version: 1\n\tlimits: 1\n", "op.yaml"},
		{"just text", "expected settings"},
		{"version: 1\ndetectors: {x: {config: " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}}\n", "nested too deeply"},
		{"version: 1\n#" + strings.Repeat("x", maxFile), "at most 1048576 are read"},
	} {
		_, err := Parse("op.yaml", []byte(c.yaml))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q:\n got %v\nwant %s", c.yaml, err, c.want)
			continue
		}
		if k := abi.KindOf(err); k != v1.ErrorKindInvalid && k != v1.ErrorKindLimit {
			t.Errorf("%.60q: kind %v", c.yaml, k)
		}
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	_, err := Parse("op.yaml", []byte("version: 1\nlimits: {payload: x}\nfailure: {web: x}\nfoo: 1\n"))
	for _, want := range []string{"op.yaml:2", "op.yaml:3", "op.yaml:4"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is missing in %v", want, err)
		}
	}
	_, err = Parse("op.yaml", []byte("version: 1\n"+strings.Repeat("x: 1\n", 100)))
	if n := strings.Count(fmt.Sprint(err), "op.yaml:"); n > maxErrors+1 {
		t.Errorf("%d mistakes at once", n)
	}
}

func TestCommentedOutSettingsChangeNothing(t *testing.T) {
	p := parse(t, "limits:\n  # payload: 1KiB\nbands:\n  kinds:\ndetectors:\n  injection:\n")
	if p.Digest() != Default().Digest() {
		t.Error("nothing was said, and yet something changed")
	}
}

func TestDigestIsAboutMeaning(t *testing.T) {
	a := parse(t, "limits: {payload: 1MiB, deadline: 1s}\n")
	b := parse(t, "limits:\n  deadline: 1000ms # a comment\n  payload: 1024KiB\n")
	c := parse(t, "limits: {payload: 1MiB, deadline: 2s}\n")
	d := parse(t, "limits: {payload: 1MiB, deadline: 1s}\ndetectors: {x: {config: {a: 1}}}\n")
	if a.Digest() != b.Digest() || a.DigestString() != b.DigestString() {
		t.Error("the same decisions have two digests")
	}
	if a.Digest() == c.Digest() || a.Digest() == d.Digest() || c.Digest() == d.Digest() {
		t.Error("different decisions share a digest")
	}
	if !json.Valid(a.canonical()) || !bytes.Contains(d.canonical(), []byte(`"config":{"a":1}`)) {
		t.Errorf("the JSON view: %s", d.canonical())
	}
}

func TestDeadlineGrowsWithSize(t *testing.T) {
	p := parse(t, "limits: {deadline: 50ms, deadline_per_mib: 100ms}")
	for size, want := range map[int]time.Duration{-1: 50, 0: 50, 1 << 20: 150, 2 << 20: 250} {
		if got := p.Deadline(size); got != want*time.Millisecond {
			t.Errorf("%d bytes: %v", size, got)
		}
	}
}

func TestLimitsThatGrowWithThePayload(t *testing.T) {
	l := Default().Limits
	if l.Views.Bytes(-1) != viewSlack || l.Views.Bytes(1000) != viewSlack+4000 {
		t.Errorf("views: %d", l.Views.Bytes(1000))
	}
	if l.MatchBudget(-1) != matchSlack || l.MatchBudget(1000) != matchSlack+24000 {
		t.Errorf("work: %d", l.MatchBudget(1000))
	}
}

func TestLookupTakesNoAllocation(t *testing.T) {
	p := parse(t, "detectors: {x: {required: true}}")
	n := testing.AllocsPerRun(100, func() {
		_ = p.Band(v1.PayloadKindWeb, v1.ThreatSecret)
		_ = p.Failure(v1.PayloadKindWeb)
		_ = p.Deadline(4096)
		_ = p.Detector("x").Required
		_ = p.Detector("nobody").Enabled
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(DefaultYAML())
	f.Add([]byte("version: 1\nbands: {kinds: {web: {default: {threat: 0.9}}}}\n"))
	f.Add([]byte("version: 1\ndetectors: {x: {config: {a: [1, 0x7, 1e3, ~, true, 'q']}, grants: [{type: a, value: b}]}}\n"))
	f.Add([]byte("version: 1\nlimits: {plugin: {memory: 64MiB, fuel: 2G, wall: 1s}}\nfuse: {failures: 1, window: 1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Parse("f.yaml", data)
		if err != nil {
			if k := abi.KindOf(err); k != v1.ErrorKindInvalid && k != v1.ErrorKindLimit {
				t.Fatalf("kind %v: %v", k, err)
			}
			return
		}
		for _, k := range append(v1.PayloadKindValues(), 0) {
			for _, threat := range append(v1.ThreatValues(), 0) {
				if b := p.Band(k, threat); !(0 <= b.Ambiguous && b.Ambiguous <= b.Threat && b.Threat <= 1) {
					t.Fatalf("band %+v", b)
				}
			}
		}
		for _, name := range p.Detectors() {
			d := p.Detector(name)
			if d.Limits.Fuel == 0 || d.Limits.MemoryPages == 0 || d.Limits.Wall <= 0 || d.Limits.Input <= 0 || d.Limits.Output <= 0 || d.Limits.Log <= 0 {
				t.Fatalf("%s has a limit of zero: %+v", name, d.Limits)
			}
			if d.Config != nil && !json.Valid(d.Config) {
				t.Fatalf("config %q", d.Config)
			}
		}
		again, err := Parse("f.yaml", data)
		if err != nil || again.Digest() != p.Digest() {
			t.Fatalf("parsing twice differs: %v", err)
		}
	})
}

func TestSignatureModes(t *testing.T) {
	p, err := Parse("p.yaml", []byte("version: 1\nsignatures: { a: off, b: shadow, c: enforce }\n"))
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]SignatureMode{"a": SignatureOff, "b": SignatureShadow, "c": SignatureEnforce, "d": SignatureAsIs} {
		if got := p.Signature(id); got != want {
			t.Errorf("%s: %v, want %v", id, got, want)
		}
	}
	if p.Digest() == Default().Digest() {
		t.Error("modes of signatures do not change the digest")
	}
	if _, err := Parse("p.yaml", []byte("version: 1\nsignatures:\n  a: maybe\n")); err == nil || !strings.Contains(err.Error(), "p.yaml:3") {
		t.Errorf("an unknown mode gave %v", err)
	}
}
