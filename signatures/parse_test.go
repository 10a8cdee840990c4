package signatures

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

const fullPack = `pack: full
version: 2.10.3
license: Apache-2.0
description: every key there is
threat: jailbreak
signatures:
  - id: everything
    version: 7
    threat: ssrf
    severity: critical
    confidence: 0.25
    maturity: shadow
    kinds: [url, tool_call]
    tags: ["lang:en", x]
    case: exact
    spaces: exact
    word: true
    literals:
      - [localhost]
      - - http
        - https
    pattern: 'a b'
    patterns: ['c', "d"]
    window: 44
    exclude: ['e']
    references: ["https://example.com"]
    positive: [p]
    negative: [n, m]
`

func TestParseReadsEveryKey(t *testing.T) {
	p, err := Parse("full.yaml", []byte(fullPack))
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "full" || p.Version != "2.10.3" || p.License != "Apache-2.0" || p.Description == "" || p.Threat != v1.ThreatJailbreak || p.File != "full.yaml" {
		t.Errorf("pack: %+v", p)
	}
	s := *p.Signatures[0]
	s.lines = nil
	got := fmt.Sprintf("%+v", s)
	want := fmt.Sprintf("%+v", Signature{ID: "everything", Version: 7, Pack: "full", Threat: v1.ThreatSSRF, Severity: v1.SeverityCritical, Confidence: 0.25,
		Maturity: Shadow, Kinds: []v1.PayloadKind{v1.PayloadKindURL, v1.PayloadKindToolCall}, Tags: []string{"lang:en", "x"},
		References: []string{"https://example.com"}, Literals: [][]string{{"localhost"}, {"http", "https"}}, Patterns: []string{"a b", "c", "d"},
		Excludes: []string{"e"}, Window: 44, Exact: true, ExactSpaces: true, Word: true, Positive: []string{"p"}, Negative: []string{"n", "m"},
		File: "full.yaml", Line: 7})
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, f := range signatureFields {
		if !strings.Contains(fullPack, "    "+f.key+":") && f.key != "id" {
			t.Errorf("the test does not try key %q", f.key)
		}
	}
}

func TestDefaultsOfTheFormat(t *testing.T) {
	p, err := Parse("sample.yaml", []byte(samplePack))
	if err != nil {
		t.Fatal(err)
	}
	s := p.Signatures[0]
	if s.Threat != v1.ThreatPromptInjection || s.Maturity != Enforce || s.Exact || s.ExactSpaces || s.Word || !s.Applies(v1.PayloadKindCode) {
		t.Errorf("%+v", s)
	}
	p, err = Parse("sample.yaml", []byte(strings.Replace(samplePack, "    window: 160\n", "", 1)))
	if err != nil || p.Signatures[0].Window != DefaultWindow {
		t.Errorf("%v, %v", p, err)
	}
}

// TestMistakes changes one thing of a good pack at a time, and expects a line and a way to mend it.
func TestMistakes(t *testing.T) {
	tests := []struct{ old, new, want string }{
		{"pack: full", "pack: Full", `full.yaml:1: pack: "Full" is not a name; use a-z`},
		{"pack: full", "name: full", `full.yaml:1: pack: unknown key "name"; the keys are pack, version`},
		{"pack: full\n", "", `full.yaml:1: pack: key "pack" is missing`},
		{"version: 2.10.3", "version: 2.10", `full.yaml:2: version: "2.10" is not a version; write MAJOR.MINOR.PATCH`},
		{"version: 2.10.3", "version: 02.1.0", `is not a version`},
		{"threat: jailbreak", "threat: jailbrake", `full.yaml:5: threat: "jailbrake" is unknown; use one of prompt_injection, jailbreak`},
		{"license: Apache-2.0", "license:", `full.yaml:3: license: is empty; give it a value or remove the key`},
		{"license: Apache-2.0", "pack: again", `full.yaml:3: pack: key "pack" was already set on line 1; remove one`},
		{"id: everything", "id: every thing", `full.yaml:7: signatures[0].id: "every thing" is not a name`},
		{"    version: 7", "    version: 0", `full.yaml:8: signatures[0].version: "0" is not a whole number from 1`},
		{"    version: 7", "    version: 7\n    version: 8", `full.yaml:9: signatures[0]: key "version" was already set on line 8`},
		{"severity: critical", "severity: huge", `full.yaml:10: signatures[0].severity: "huge" is unknown; use one of low, medium, high, critical`},
		{"    severity: critical\n", "", `full.yaml:7: signatures[0]: key "severity" is missing`},
		{"confidence: 0.25", "confidence: 1.5", `full.yaml:11: signatures[0].confidence: "1.5" is not a number above 0 and at most 1`},
		{"confidence: 0.25", "confidence: nan", `is not a number above 0`},
		{"confidence: 0.25", "confidence: [1]", `full.yaml:11: signatures[0].confidence: a single value is expected here, not a list`},
		{"maturity: shadow", "maturity: beta", `full.yaml:12: signatures[0].maturity: "beta" is unknown; use enforce or shadow`},
		{"kinds: [url, tool_call]", "kinds: [url, sms]", `full.yaml:13: signatures[0].kinds[1]: "sms" is unknown; use one of user_prompt, web`},
		{"kinds: [url, tool_call]", "kinds: [url, url]", `full.yaml:13: signatures[0].kinds[1]: url is listed twice`},
		{"kinds: [url, tool_call]", "kinds: url", `full.yaml:13: signatures[0].kinds: a list is expected here, not "url"`},
		{"kinds: [url, tool_call]", "kinds: []", `full.yaml:13: signatures[0].kinds: the list is empty`},
		{"word: true", "word: yes please", `full.yaml:17: signatures[0].word: "yes please" is unknown; use false or true`},
		{"- [localhost]", "- localhost", `full.yaml:19: signatures[0].literals[0]: a list is expected here, not "localhost"`},
		{"        - https\n", "        - " + strings.Repeat("x", 121) + "\n", `full.yaml:21: signatures[0].literals[1][1]: is 121 bytes long; at most 120 are allowed`},
		{"window: 44", "window: 1025", `full.yaml:24: signatures[0].window: "1025" is not a whole number from 1 to 1024`},
		{"positive: [p]", "positive: *p", `unknown anchor`},
		{"positive: [p]", "positive: &p [p]", `full.yaml:27: signatures[0].positive: YAML anchors and aliases are not allowed`},
		{"positive: [p]", "positive: !x [p]", `full.yaml:27: signatures[0].positive: YAML tag !x is not allowed`},
		{"    negative: [n, m]\n", "    negative: [n, m]\n---\npack: x\n", `only one document per file`},
		{"signatures:\n", "signatures: 3\nx:\n", `full.yaml:6: signatures: a list is expected here, not "3"`},
		{"description: every key there is", "description: [", `not valid YAML: did not find expected`},
		{"description: every key there is", "description: \xff", `full.yaml:4: the file is not UTF-8 here`},
	}
	for _, tt := range tests {
		if !strings.Contains(fullPack, tt.old) {
			t.Fatalf("%q is not in the pack", tt.old)
		}
		_, err := Parse("full.yaml", []byte(strings.Replace(fullPack, tt.old, tt.new, 1)))
		if abi.KindOf(err) != v1.ErrorKindInvalid || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q -> %q:\ngot  %v\nwant %s", tt.old, tt.new, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		"":            "empty",
		"# nothing\n": "pack",
		"[1]":         "a pack is a mapping",
		strings.Repeat("# x\n", MaxPackBytes/4+1): "larger than",
	} {
		if _, err := Parse("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "x.yaml:1:") {
			t.Errorf("%q: %v", clip(text, 20), err)
		}
	}
}

// TestAllMistakesAreTold at once, in the order of the lines, up to a limit.
func TestAllMistakesAreTold(t *testing.T) {
	bad := strings.NewReplacer("severity: critical", "severity: x", "version: 2.10.3", "version: x", "window: 44", "window: x").Replace(fullPack)
	_, err := Parse("full.yaml", []byte(bad))
	var at []int
	for _, part := range []string{"full.yaml:2:", "full.yaml:10:", "full.yaml:24:"} {
		at = append(at, strings.Index(err.Error(), part))
	}
	if at[0] < 0 || !slices.IsSorted(at) {
		t.Errorf("%v: %v", at, err)
	}
	many := "pack: x\nversion: 1.0.0\nsignatures: []\n"
	for i := range 40 {
		many += fmt.Sprintf("key%d: 1\n", i)
	}
	if _, err := Parse("x", []byte(many)); err == nil || !strings.Contains(err.Error(), "and 21 more mistakes") {
		t.Errorf("%v", err)
	}
}

func TestLoad(t *testing.T) {
	files := fstest.MapFS{
		"b.yaml":       {Data: []byte(samplePack)},
		"a.yml":        {Data: []byte(fullPack)},
		"README.md":    {Data: []byte("no pack")},
		".hidden.yaml": {Data: []byte("no pack")},
		"sub/c.yaml":   {Data: []byte("no pack")},
	}
	packs, err := Load(files)
	if err != nil || len(packs) != 2 || packs[0].Name != "full" || packs[1].Name != "sample" {
		t.Fatalf("%v, %v", packs, err)
	}
	files["c.yaml"] = &fstest.MapFile{Data: []byte("pack: [")}
	files["d.yaml"] = &fstest.MapFile{Data: []byte("packs: x")}
	_, err = Load(files)
	if err == nil || !strings.Contains(err.Error(), "c.yaml:1:") || !strings.Contains(err.Error(), "d.yaml:1:") {
		t.Errorf("%v", err)
	}
	if packs, err := Load(fstest.MapFS{}); err != nil || len(packs) > 0 {
		t.Errorf("%v, %v", packs, err)
	}
}
