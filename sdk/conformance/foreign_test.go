package conformance_test

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/sdk/conformance"
)

const examples = "../../plugins/examples"

// A foreign plugin is one that this module's own Go build does not make.
type foreign struct {
	name string
	// assets is the folder of its assets, or empty.
	assets string
	// build compiles it to out, or skips the test.
	build func(t *testing.T, out string)
	// more is what is asked of it beside the suite; nil: nothing.
	more func(t *testing.T, packed []byte)
}

// TestForeignGuests proves the example plugins, and the one in the contract's text, as anybody's plugin is proved.
func TestForeignGuests(t *testing.T) {
	for _, f := range []foreign{
		{"c", examples + "/c/assets", buildC, testManyFindings},
		{"assemblyscript", examples + "/assemblyscript/assets", buildAssemblyScript, func(t *testing.T, packed []byte) {
			testManyFindings(t, packed)
			testSettings(t, packed)
		}},
		{"go", "", buildGo, nil},
		{"contract", "", buildContractGuest, testContractText},
	} {
		t.Run(f.name, func(t *testing.T) {
			if testing.Short() {
				t.Skip("builds a plugin with another compiler")
			}
			packed := f.pack(t)
			t.Logf("%d bytes packed", len(packed))
			f.prove(t, packed)
			if f.more != nil {
				f.more(t, packed)
			}
		})
	}
}

// prove runs the suite. Examples show how it is done, so they follow its advice as well, and a self-test that is there must have run.
func (f foreign) prove(t *testing.T, packed []byte) {
	t.Helper()
	r, err := conformance.Run(t.Context(), packed, &conformance.Options{File: f.name})
	if err != nil {
		t.Fatal(err)
	}
	skipped := 0
	if f.assets == "" {
		skipped = 1
	}
	if _, _, skip := r.Counts(); r.Passed && r.Level == conformance.LevelBudget && skip == skipped && !noted(r) {
		return
	}
	var text bytes.Buffer
	if err := r.WriteText(&text, true); err != nil {
		t.Fatal(err)
	}
	t.Error(text.String())
}

func noted(r *conformance.Report) bool {
	return slices.ContainsFunc(r.Results, func(c conformance.Result) bool { return c.Status == conformance.Note })
}

// testSettings: what CONFIGURE stores is there in every later call, and settings that are not understood refuse the plugin.
func testSettings(t *testing.T, packed []byte) {
	const text = "Kindly Wire The Funds, then transfer the whole balance."
	const usual, both, refused = "transfer the whole balance", "Wire The Funds|transfer the whole balance", ""
	for config, want := range map[string]string{
		"":                                      usual,
		` { } `:                                 usual,
		`{"also": "wire the funds"}`:            both,
		` {"al\u0073o":"WIRE the fund\u0073"} `: both,
		`{"also": null}`:                        refused,
		`{"also": "wir"}`:                       refused,
		`{"also": "wire the f\u00fcnds"}`:       refused,
		`{"also": "wire the \ud83d\ude00"}`:     refused,
		`{"also": "wire the \ud83d"}`:           refused,
		`{"phrase": "wire the funds"}`:          refused,
		`{"also": "wire the funds"`:             refused,
		`{"also": "wire the funds",}`:           refused,
		`{"also": "wire the funds"}}`:           refused,
		`["wire the funds"]`:                    refused,
		strings.Repeat(`{"also":`, 100):         refused,
	} {
		got, err := detect(t, packed, config, text)
		switch {
		case want == refused && (err == nil || !strings.Contains(err.Error(), "invalid")):
			t.Errorf("config %.40s: got %q and %v, want an error of kind invalid", config, got, err)
		case want != refused && (err != nil || strings.Join(got, "|") != want):
			t.Errorf("config %.40s: found %q, %v; want %q", config, got, err, want)
		}
	}
}

// testManyFindings: a verdict has room for 256 findings, and a guest must stop there by itself.
func testManyFindings(t *testing.T, packed []byte) {
	got, err := detect(t, packed, "", strings.Repeat("Transfer the whole balance. ", 300))
	if err != nil || len(got) != abi.MaxFindings {
		t.Errorf("%d findings, %v; want %d", len(got), err, abi.MaxFindings)
	}
}

// testContractText: the manifest and the self-test that ABI.md shows belong to the plugin that it shows.
func testContractText(t *testing.T, packed []byte) {
	pkg, err := guest.Open("guest.wasm", packed)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := guest.ParseManifest("ABI.md", shown(t, "```yaml\n"))
	if err != nil {
		t.Fatal(err)
	}
	said := *pkg.Manifest
	said.Digests = nil // the packer's, not the plugin's
	if err := guest.SameManifest(manifest, &said); err != nil {
		t.Error(err)
	}
	again, err := guest.Pack(pkg.Module, manifest, []*v1.Asset{{Name: guest.SelftestAsset, Data: shown(t, "```json\n", `{"kind"`)}})
	if err != nil {
		t.Fatal(err)
	}
	if pkg, err = guest.Open("guest.wasm", again); err != nil {
		t.Fatal(err)
	}
	if err := guest.Prove(t.Context(), newEngine(t), pkg); err != nil {
		t.Error(err)
	}
}

// shown returns the first block of ABI.md that begins so, without the fence.
func shown(t *testing.T, fence string, begins ...string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../abi/ABI.md")
	if err != nil {
		t.Fatal(err)
	}
	begin := strings.Join(begins, "")
	_, rest, found := strings.Cut(string(text), fence+begin)
	block, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatalf("ABI.md shows nothing that begins with %s%s", fence, begin)
	}
	return []byte(begin + block)
}

// pack builds the plugin, asks it for its manifest and packs it.
func (f foreign) pack(t *testing.T) []byte {
	t.Helper()
	out := filepath.Join(t.TempDir(), "detector.wasm")
	f.build(t, out)
	module, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	engine := newEngine(t)
	manifest, err := guest.Describe(t.Context(), engine, filepath.Base(out), module)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := guest.Pack(module, manifest, readAssets(t, f.assets))
	if err != nil {
		t.Fatal(err)
	}
	return packed
}

func newEngine(t *testing.T) host.Engine {
	t.Helper()
	engine, err := host.NewEngine("")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return engine
}

func readAssets(t *testing.T, dir string) []*v1.Asset {
	t.Helper()
	if dir == "" {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []*v1.Asset
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, &v1.Asset{Name: e.Name(), Data: data})
	}
	return out
}

// tool finds a program: the one that the variable names, else the usual one. Without it the test is skipped.
func tool(t *testing.T, variable, usual, install string) string {
	t.Helper()
	path, err := exec.LookPath(cmp.Or(os.Getenv(variable), usual))
	if err != nil {
		t.Skipf("%v: %s, or name another in $%s", err, install, variable)
	}
	return path
}

func clang(t *testing.T) string {
	t.Helper()
	return tool(t, "CLANG", "clang-19", "apt-get install clang-19 lld-19")
}

// run runs a command in dir; what it prints belongs to its failure.
func run(t *testing.T, dir string, env []string, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, text)
	}
}

func buildC(t *testing.T, out string) {
	cc := clang(t)
	if runtime.GOOS == "windows" {
		t.Skip("build.sh needs a POSIX shell")
	}
	run(t, examples+"/c", []string{"CLANG=" + cc}, "sh", "build.sh", out)
}

func buildAssemblyScript(t *testing.T, out string) {
	asc := tool(t, "ASC", "asc", "npm install assemblyscript@0.28 and put node_modules/.bin on the path")
	run(t, examples+"/assemblyscript", nil, asc, "--outFile", out)
}

// buildGo builds the example that is a Go module of its own, as its author would.
func buildGo(t *testing.T, out string) {
	run(t, examples+"/canary", []string{"GOOS=wasip1", "GOARCH=wasm", "GOWORK=off"}, "go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", out, ".")
}

// buildContractGuest builds the plugin printed in ABI.md with the command printed there.
func buildContractGuest(t *testing.T, out string) {
	cc := clang(t)
	source, err := os.ReadFile("../../abi/testdata/guest.c")
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(source), "//   clang ")
	line, _, found := strings.Cut(line, "-o guest.wasm guest.c\n")
	if !found {
		t.Fatal("guest.c does not say how it is compiled")
	}
	run(t, "../../abi/testdata", nil, cc, append(strings.Fields(line), "-o", out, "guest.c")...)
}

// detect configures a packed plugin and returns what it accuses in a text, which it sees as the second of two views.
func detect(t *testing.T, packed []byte, config, text string) ([]string, error) {
	t.Helper()
	pkg, err := guest.Open("detector.wasm", packed)
	if err != nil {
		t.Fatal(err)
	}
	m, err := newEngine(t).Load(t.Context(), "detector.wasm", pkg.Module, guest.LoadOptions{Setup: func(c guest.Caller) error {
		_, err := ask(t, c, pkg, v1.OpConfigure, &v1.Request{Configure: &v1.ConfigureRequest{Config: []byte(config)}})
		return err
	}})
	if err != nil {
		return nil, err
	}
	defer m.Close()
	req := &v1.DetectRequest{Kind: v1.PayloadKindDoc, Views: []*v1.View{{Name: "text", Text: []byte("Nothing here."), Parent: -1}, {Name: "base64", Text: []byte(text)}}}
	resp, err := ask(t, m, pkg, v1.OpDetect, &v1.Request{Detect: req})
	if err != nil {
		return nil, err
	}
	if err := guest.CheckVerdict(pkg.Manifest, v1.OpDetect, req, resp.Verdict); err != nil {
		return nil, err
	}
	var found []string
	for _, f := range resp.Verdict.Findings {
		found = append(found, string(req.Views[f.View].Text[f.Start:f.End]))
	}
	return found, nil
}

// ask makes one call in the plugin's encoding. An error that it answers is an error.
func ask(t *testing.T, c guest.Caller, pkg *guest.Package, op v1.Op, req *v1.Request) (*v1.Response, error) {
	t.Helper()
	body := req.AppendProto(nil)
	if pkg.Manifest.Encoding == v1.EncodingJSON {
		body = req.AppendJSON(nil)
	}
	a, err := c.Call(t.Context(), guest.Call{Op: op, Body: body})
	if err != nil {
		return nil, err
	}
	resp, err := guest.ReadAnswer(pkg.Manifest.Encoding, a.Body)
	if err != nil {
		return nil, err
	}
	return resp, abi.FromWire(resp.Error)
}
