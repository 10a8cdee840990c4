package guest

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

func TestPackAndOpen(t *testing.T) {
	module := build(script{})
	assets := []*v1.Asset{{Name: "table.bin", Data: []byte{1, 2, 3}}, {Name: SelftestAsset, Data: []byte("{}")}}
	m := zebra("1.2.3")
	m.Grants = []*v1.Grant{{Type: "host", Value: "a:443"}}
	m.Signature = []byte("of something else")
	data, err := Pack(module, m, assets)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Open("zebra.wasm", data)
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "zebra" || p.Version() != "1.2.3" || p.Path != "zebra.wasm" || p.SHA256 != sha256.Sum256(data) {
		t.Errorf("%+v", p)
	}
	if !bytes.Equal(p.Module, module) {
		t.Error("the module is not what was packed")
	}
	p.Assets = append(p.Assets, &v1.Asset{Name: "a"})
	if g := p.guestAssets(); g[0].Name != "a" || g[1].Name != "table.bin" {
		t.Errorf("the guest's assets are not in order: %+v", g)
	}
	p.Assets = p.Assets[:2]
	if len(p.Assets) != 2 || !bytes.Equal(p.Assets[0].Data, assets[0].Data) || len(p.guestAssets()) != 1 {
		t.Errorf("assets %+v", p.Assets)
	}
	if len(p.Manifest.Digests) != 3 || len(p.Manifest.Grants) != 1 || p.Manifest.Signature != nil {
		t.Errorf("manifest %+v", p.Manifest)
	}
	again, err := Pack(data, m, assets)
	if err != nil || !bytes.Equal(again, data) {
		t.Errorf("packing a packed plugin again changes it: %v", err)
	}
	if len(m.Digests) != 0 {
		t.Error("Pack changed the caller's manifest")
	}
}

func TestModuleWithPackingInTheMiddle(t *testing.T) {
	data := packed(t, zebra("1.0.0"), script{})
	data = appendSection(data, "name", []byte("later section"))
	p, err := Open("x", data)
	if err == nil {
		t.Fatalf("the digest must not fit a module that grew: %+v", p)
	}
	own, err := sections(data)
	if err != nil || len(own) != 1 {
		t.Fatal(own, err)
	}
	want := appendSection(build(readBack(t, data)), "name", []byte("later section"))
	if got := without(data, own); !bytes.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func readBack(t *testing.T, data []byte) script {
	s, err := readScript(data)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestOpenRefuses(t *testing.T) {
	good := packed(t, zebra("1.0.0"), script{}, &v1.Asset{Name: "a", Data: []byte("data")})
	manifest := func(change func(*v1.Manifest)) []byte {
		m := zebra("1.0.0")
		module := build(script{})
		m.Digests = digests(module, nil)
		change(m)
		return appendSection(module, abi.SectionManifest, m.AppendJSON(nil))
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "only 0 bytes"},
		{"cut in the header", good[:5], "only 5 bytes; is it still being written"},
		{"text", []byte("#!/bin/sh\necho hello"), "not a WebAssembly module"},
		{"component", append(bytes.Clone(componentHeader), 0), "component"},
		{"cut", good[:len(good)-10], "cut off or still being written"},
		{"size without end", append(bytes.Clone(wasmHeader), 0, 0xff, 0xff, 0xff, 0xff, 0xff), "no readable size"},
		{"no manifest", build(script{}), "amygdala plugin pack"},
		{"assets only", appendSection(build(script{}), abi.SectionAssetPrefix+"a", nil), "assets but no manifest"},
		{"unknown section", appendSection(bytes.Clone(good), "amygdala.future", nil), `unknown section "amygdala.future"`},
		{"two manifests", appendSection(bytes.Clone(good), abi.SectionManifest, []byte("{}")), "two sections"},
		{"manifest not JSON", appendSection(build(script{}), abi.SectionManifest, []byte("{")), "manifest: "},
		{"manifest with unknown key", appendSection(build(script{}), abi.SectionManifest, []byte(`{"colour":1}`)), "colour"},
		{"manifest too large", appendSection(build(script{}), abi.SectionManifest, make([]byte, abi.MaxManifest+1)), "at most"},
		{"asset added", appendSection(bytes.Clone(good), abi.SectionAssetPrefix+"b", nil), "no digest for asset/b"},
		{"asset twice", appendSection(bytes.Clone(good), abi.SectionAssetPrefix+"a", nil), "twice"},
		{"asset with a path", appendSection(bytes.Clone(good), abi.SectionAssetPrefix+"../a", nil), "not an asset's name"},
		{"asset changed", bytes.Replace(good, []byte("data"), []byte("dada"), 1), "asset/a was changed after packing"},
		{"module changed", bytes.Replace(good, []byte("evil"), []byte("good"), 1), "module was changed after packing"},
		{"digest too many", manifest(func(m *v1.Manifest) { m.Digests = append(m.Digests, &v1.Digest{Subject: "asset/x", SHA256: []byte{1}}) }), "asset/x, which is not in the file"},
		{"digest twice", manifest(func(m *v1.Manifest) { m.Digests = append(m.Digests, m.Digests[0]) }), "two digests for module"},
		{"no digests", manifest(func(m *v1.Manifest) { m.Digests = nil }), "no digest for module"},
		{"wrong ABI", manifest(func(m *v1.Manifest) { m.ABI = 2 }), "ABI version 2, this host speaks version 1"},
		{"bad name", manifest(func(m *v1.Manifest) { m.Name = "Zebra" }), `name "Zebra"`},
		{"bad version", manifest(func(m *v1.Manifest) { m.Version = "v1" }), "semantic version"},
		{"long summary", manifest(func(m *v1.Manifest) { m.Summary = strings.Repeat("x", abi.MaxSummary+1) }), "at most 256 bytes"},
		{"no kind", manifest(func(m *v1.Manifest) { m.Kind = 0 }), "kind"},
		{"unknown encoding", manifest(func(m *v1.Manifest) { m.Encoding = 9 }), "encoding"},
		{"no detect", manifest(func(m *v1.Manifest) { m.Ops = []v1.Op{v1.OpDescribe} }), "a detector must have the op detect"},
		{"foreign op", manifest(func(m *v1.Manifest) { m.Ops = append(m.Ops, v1.OpStep) }), "op step does not belong to a detector"},
		{"op twice", manifest(func(m *v1.Manifest) { m.Ops = append(m.Ops, v1.OpDetect) }), "op detect is listed twice"},
		{"no threats", manifest(func(m *v1.Manifest) { m.Threats = nil }), "threats it may report"},
		{"strategy that wakes", manifest(func(m *v1.Manifest) { m.Kind, m.Ops = v1.PluginKindStrategy, []v1.Op{v1.OpStep} }), "for detectors"},
	} {
		_, err := Open(c.name, c.data)
		wantError(t, err, v1.ErrorKindRefused, c.want)
		if err != nil && !strings.Contains(err.Error(), c.name) {
			t.Errorf("%v does not name its subject %s", err, c.name)
		}
	}
	_, err := Open("huge", make([]byte, MaxPackage+1))
	wantError(t, err, v1.ErrorKindLimit, "at most")
}

func TestPackRefuses(t *testing.T) {
	bad := zebra("one")
	if _, err := Pack(build(script{}), bad, nil); abi.KindOf(err) != v1.ErrorKindRefused {
		t.Errorf("manifest: %v", err)
	}
	if _, err := Pack([]byte("text"), zebra("1.0.0"), nil); abi.KindOf(err) != v1.ErrorKindRefused {
		t.Errorf("module: %v", err)
	}
	many := slices.Repeat([]*v1.Asset{{Name: "a"}}, abi.MaxAssets+1)
	for _, assets := range [][]*v1.Asset{{{Name: ""}}, {{Name: "a/b"}}, many} {
		if _, err := Pack(build(script{}), zebra("1.0.0"), assets); abi.KindOf(err) != v1.ErrorKindInvalid {
			t.Errorf("assets: %v", err)
		}
	}
}

const sidecarYAML = `
name: zebra
version: 0.1.0
kind: detector
abi: 1
encoding: json
ops: [describe, configure, detect]
summary: finds zebras
threats: [prompt_injection]
wake: {kinds: [web], views: [html.comment], size_over: 10, always: false}
limits: {memory_pages: 40, fuel: 7}
grants: [{type: host, value: "a:1"}]
`

func TestSidecar(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "zebra.wasm")
	put := func(name string, data []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("zebra.wasm", build(script{}))
	_, err := OpenFile(file)
	wantError(t, err, v1.ErrorKindRefused, "no manifest")
	put("zebra.yaml", []byte(sidecarYAML))
	p, err := OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m := p.Manifest
	if !p.Sidecar || p.Name != "zebra" || m.Encoding != v1.EncodingJSON || m.Wake.Kinds[0] != v1.PayloadKindWeb || m.Wake.SizeOver != 10 ||
		m.Limits.MemoryPages != 40 || m.Limits.Fuel != 7 || m.Grants[0].Value != "a:1" || m.Summary != "finds zebras" {
		t.Errorf("%+v", m)
	}
	put("zebra.wasm", packed(t, zebra("1.0.0"), script{}))
	_, err = OpenFile(file)
	wantError(t, err, v1.ErrorKindRefused, "remove one")
	put("zebra.yaml", []byte("name: ["))
	_, err = OpenFile(file)
	wantError(t, err, v1.ErrorKindRefused, "remove one")
	_, err = OpenFile(filepath.Join(dir, "none.wasm"))
	wantError(t, err, v1.ErrorKindIO, "none.wasm")
}

func TestParseManifestRefuses(t *testing.T) {
	for _, c := range []struct{ yaml, want string }{
		{"", "empty"},
		{"name: [", "m.yaml"},
		{"name: a\n---\nname: b\n", "more than one document"},
		{"[]", "m.yaml:1: : expected settings"},
		{"nane: zebra", "m.yaml:1: nane: unknown key; known here: name, version, kind, abi"},
		{"name: zebra\nname: zebra", "m.yaml:2: name: the key is given twice"},
		{"kind: sensor", `kind: "sensor" is not a value of it`},
		{"abi: one", `abi: "one"`},
		{"abi: 99999999999", "abi:"},
		{"ops: detect", "expected a list"},
		{"wake: {always: yes}", "not true or false"},
		{"wake: [a]", "expected settings"},
		{"name: {a: b}", "expected a single value"},
		{"name: ", "expected a single value"},
		{"name: &a zebra", "anchors"},
		{"digests: [{subject: module, sha256: abc}]", "written by the packer"},
		{sidecarYAML + "homepage: " + strings.Repeat("x", 300), "at most 256"},
		{"summary: " + strings.Repeat("x", abi.MaxManifest), "at most"},
	} {
		_, err := ParseManifest("m.yaml", []byte(c.yaml))
		wantError(t, err, v1.ErrorKindRefused, c.want)
	}
}

func TestSnakeCase(t *testing.T) {
	for in, want := range map[string]string{"MemoryPages": "memory_pages", "ABI": "abi", "SHA256": "sha256", "BaseURL": "base_url", "URLBase": "url_base", "Ops": "ops"} {
		if got := snakeCase(in); got != want {
			t.Errorf("%s: %s", in, got)
		}
	}
}

func TestDescribeMustEqualTheManifest(t *testing.T) {
	m := zebra("1.0.0")
	m.Grants, m.Digests = []*v1.Grant{{Type: "a", Value: "b"}}, []*v1.Digest{{Subject: "module"}}
	if err := sameManifest(m, zebra("1.0.0")); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*v1.Manifest){
		`version = "1.0.0", the plugin says "1.0.1"`: func(m *v1.Manifest) { m.Version = "1.0.1" },
		"threats = ":       func(m *v1.Manifest) { m.Threats = append(m.Threats, v1.ThreatSSRF) },
		"limits = nothing": func(m *v1.Manifest) { m.Limits = &v1.Limits{Fuel: 1} },
		"digests":          func(m *v1.Manifest) { m.Digests = []*v1.Digest{{Subject: "x"}} },
	} {
		lie := zebra("1.0.0")
		change(lie)
		if err := sameManifest(m, lie); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(packed(f, zebra("1.0.0"), script{}, &v1.Asset{Name: "a", Data: []byte("data")}))
	f.Add(build(script{}))
	f.Add(append(bytes.Clone(wasmHeader), 0, 0x80, 0))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Open("f.wasm", data)
		if err != nil {
			if k := abi.KindOf(err); k != v1.ErrorKindRefused {
				t.Fatalf("kind %v: %v", k, err)
			}
			return
		}
		again, err := Pack(data, p.Manifest, p.Assets)
		if err != nil {
			t.Fatalf("what was opened cannot be packed: %v", err)
		}
		q, err := Open("f.wasm", again)
		if err != nil || !bytes.Equal(p.Module, q.Module) || len(p.Assets) != len(q.Assets) {
			t.Fatalf("packing changed the package: %v", err)
		}
	})
}

func FuzzParseManifest(f *testing.F) {
	f.Add([]byte(sidecarYAML))
	f.Add([]byte("name: &a [*a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseManifest("m.yaml", data)
		if err != nil {
			if k := abi.KindOf(err); k != v1.ErrorKindRefused {
				t.Fatalf("kind %v: %v", k, err)
			}
			return
		}
		if err := checkManifest(m); err != nil {
			t.Fatal(err)
		}
	})
}
