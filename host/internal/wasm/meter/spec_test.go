package meter_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// wazeroDir is where the wazero module's files are: it carries the official test suites, compiled.
var wazeroDir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tetratelabs/wazero").Output()
	return strings.TrimSpace(string(out)), err
})

// specDir finds the directory of the suites, or skips the test.
func specDir(t testing.TB) string {
	t.Helper()
	dir, err := wazeroDir()
	if err != nil {
		t.Skipf("the specification's tests are in wazero's module, which `go list` does not find: %v", err)
	}
	dir = filepath.Join(dir, "internal", "integration_test", "spectest")
	if _, err := os.Stat(filepath.Join(dir, "v2", "testdata")); err != nil {
		t.Skipf("this copy of wazero comes without the specification's tests: %v", err)
	}
	return dir
}

// suites are the folders of tests, with the features that their modules may use. Metered modules need functions with several results,
// so version 1 gets them too; what is invalid only for want of them is counted as accepted.
var suites = []struct {
	name     string
	features api.CoreFeatures
}{
	{"v1", api.CoreFeaturesV1 | api.CoreFeatureMultiValue},
	{"v2", api.CoreFeaturesV2},
	{"extended-const", api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst},
	{"tail-call", api.CoreFeaturesV2 | experimental.CoreFeaturesTailCall},
	{"threads", api.CoreFeaturesV2 | experimental.CoreFeaturesThreads},
	{
		"exception-handling",
		api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling | experimental.CoreFeaturesTailCall |
			experimental.CoreFeaturesTypedFunctionReferences,
	},
	{
		"typed-function-references",
		api.CoreFeaturesV2 | experimental.CoreFeaturesTypedFunctionReferences | experimental.CoreFeaturesTailCall,
	},
}

// allFeatures are those of all suites.
var allFeatures = func() (all api.CoreFeatures) {
	for _, s := range suites {
		all |= s.features
	}
	return all
}()

// specOptions lets the threads suite use its waits.
var specOptions = meter.Options{AllowWait: true}

type (
	specFile struct {
		Commands []specCommand `json:"commands"`
	}
	specCommand struct {
		Type       string     `json:"type"`
		Line       int        `json:"line"`
		Name       string     `json:"name"`
		Filename   string     `json:"filename"`
		As         string     `json:"as"`
		ModuleType string     `json:"module_type"`
		Text       string     `json:"text"`
		Action     specAction `json:"action"`
	}
	specAction struct {
		Type   string      `json:"type"`
		Field  string      `json:"field"`
		Module string      `json:"module"`
		Args   []specValue `json:"args"`
	}
	specValue struct {
		Type     string          `json:"type"`
		LaneType string          `json:"lane_type"`
		Value    json.RawMessage `json:"value"`
	}
)

// bits encodes an argument the way wazero's API takes it.
func (v specValue) bits(t testing.TB) []uint64 {
	t.Helper()
	if v.Type == "v128" {
		return v.lanes(t)
	}
	var s string
	if err := json.Unmarshal(v.Value, &s); err != nil || s == "null" {
		return []uint64{0}
	}
	n := parseBits(t, s)
	switch {
	case v.Type == "externref":
		n++ // zero is wazero's null
	case strings.HasSuffix(v.Type, "32"):
		n = uint64(uint32(n))
	}
	return []uint64{n}
}

// lanes encodes a v128 as two words.
func (v specValue) lanes(t testing.TB) []uint64 {
	t.Helper()
	var lanes []string
	if err := json.Unmarshal(v.Value, &lanes); err != nil {
		t.Fatal(err)
	}
	width := 128 / len(lanes)
	out := make([]uint64, 2)
	for i, s := range lanes {
		mask := ^uint64(0) >> (64 - width)
		out[i*width/64] |= (parseBits(t, s) & mask) << (i * width % 64)
	}
	return out
}

func parseBits(t testing.TB, s string) uint64 {
	t.Helper()
	if n, err := strconv.ParseUint(s, 10, 64); err == nil {
		return n
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.Fatalf("argument %q: %v", s, err)
	}
	return uint64(n)
}

// A world runs the modules of one test file, metered or plain.
type world struct {
	rt      wazero.Runtime
	metered bool
	last    api.Module
	named   map[string]api.Module
	refuels int
}

// newWorld makes a runtime with the spectest module, and for a metered one with a host that refuels for ever, in small slices so
// that every kind of check runs.
func newWorld(t testing.TB, features api.CoreFeatures, spectest []byte, metered bool) *world {
	t.Helper()
	ctx := t.Context()
	cfg := wazero.NewRuntimeConfigCompiler().WithCoreFeatures(features).WithDebugInfoEnabled(false)
	w := &world{rt: wazero.NewRuntimeWithConfig(ctx, cfg), metered: metered, named: map[string]api.Module{}}
	t.Cleanup(func() { w.rt.Close(context.Background()) })
	if spectest != nil {
		if _, err := w.rt.InstantiateWithConfig(ctx, spectest, wazero.NewModuleConfig()); err != nil {
			t.Fatal(err)
		}
	}
	if metered {
		fuelHost(t, w.rt, func(int64) int64 { w.refuels++; return 1000 })
	}
	return w
}

// fuelHost provides the import that metered modules refuel from.
func fuelHost(t testing.TB, rt wazero.Runtime, refuel func(left int64) int64) {
	t.Helper()
	i64 := []api.ValueType{api.ValueTypeI64}
	f := api.GoFunc(func(_ context.Context, stack []uint64) { stack[0] = uint64(refuel(int64(stack[0]))) })
	_, err := rt.NewHostModuleBuilder(meter.DefaultModule).
		NewFunctionBuilder().WithGoFunction(f, i64, i64).Export(meter.DefaultName).Instantiate(context.Background())
	if err != nil {
		t.Fatal(err)
	}
}

// errMeter marks a module that Rewrite refused, errCompile one that wazero refused to compile.
var (
	errMeter   = errors.New("refused by meter")
	errCompile = errors.New("refused by wazero")
)

// instantiate loads a module.
func (w *world) instantiate(ctx context.Context, bin []byte, as string) (api.Module, error) {
	if w.metered {
		res, err := meter.Rewrite(bin, specOptions)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errMeter, err)
		}
		bin = res.Wasm
	}
	compiled, err := w.rt.CompileModule(ctx, bin)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errCompile, err)
	}
	return w.rt.InstantiateModule(ctx, compiled, wazero.NewModuleConfig().WithName(as))
}

// act invokes a function or reads a global, and describes the outcome.
func (w *world) act(t testing.TB, a specAction) (string, error) {
	t.Helper()
	mod := w.last
	if a.Module != "" {
		mod = w.named[a.Module]
	}
	if mod == nil {
		t.Fatalf("no module %q to act on", a.Module)
	}
	if a.Type == "get" {
		g := mod.ExportedGlobal(a.Field)
		return fmt.Sprint(describe([]uint64{g.Get()}, []api.ValueType{g.Type()})), nil
	}
	f := mod.ExportedFunction(a.Field)
	if f == nil {
		t.Fatalf("no function %q", a.Field)
	}
	var args []uint64
	for _, v := range a.Args {
		args = append(args, v.bits(t)...)
	}
	results, err := f.Call(t.Context(), args...)
	return fmt.Sprint(describe(results, f.Definition().ResultTypes())), trap(err)
}

// describe makes results comparable between two worlds: references are addresses, so only whether they are null counts.
func describe(results []uint64, types []api.ValueType) []string {
	const v128 = 0x7b
	var out []string
	for _, typ := range types {
		n := 1
		if typ == v128 {
			n = 2
		}
		if len(results) < n {
			break
		}
		switch typ {
		case api.ValueTypeI32, api.ValueTypeI64, api.ValueTypeF32, api.ValueTypeF64, v128, api.ValueTypeExternref:
			out = append(out, fmt.Sprintf("%x", results[:n]))
		default:
			out = append(out, fmt.Sprintf("ref null=%t", results[0] == 0))
		}
		results = results[n:]
	}
	return out
}

// trap reduces an error to its first line, without function indices: the stack trace under it counts those of the metered module.
func trap(err error) error {
	if err == nil {
		return nil
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(functionIndex.ReplaceAllString(first, "function[]"))
}

var functionIndex = regexp.MustCompile(`function\[\d+\]`)

// A tally counts commands by type and outcome.
type tally map[string]int

func (c tally) print(t testing.TB, title string) {
	t.Helper()
	keys := make([]string, 0, len(c))
	for k := range c {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, k := range keys {
		fmt.Fprintf(&b, "\n  %-58s %6d", k, c[k])
	}
	t.Logf("%s%s", title, b.String())
}

// TestSpec runs the official test suites twice, as they are and metered, and demands the same outcome of every command. An
// invalid module must be refused without help from the original's validation: by Rewrite, or by wazero when it is given the metered
// module.
func TestSpec(t *testing.T) {
	dir := specDir(t)
	spectest, err := os.ReadFile(filepath.Join(dir, "testdata", "spectest.wasm"))
	if err != nil {
		t.Skipf("the host module of the specification's tests is missing: %v", err)
	}
	for _, s := range suites {
		t.Run(s.name, func(t *testing.T) {
			files, _ := filepath.Glob(filepath.Join(dir, s.name, "testdata", "*.json"))
			if len(files) == 0 {
				t.Skipf("this copy of wazero has no tests for %s", s.name)
			}
			count := tally{}
			for _, file := range files {
				t.Run(strings.TrimSuffix(filepath.Base(file), ".json"), func(t *testing.T) {
					runSpecFile(t, file, s.features, spectest, count)
				})
			}
			count.print(t, fmt.Sprintf("%s, %d files:", s.name, len(files)))
		})
	}
}

// runSpecFile runs one file in both worlds.
func runSpecFile(t *testing.T, path string, features api.CoreFeatures, spectest []byte, count tally) {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file specFile
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	run := &specRun{
		T: t, dir: filepath.Dir(path), count: count,
		plain: newWorld(t, features, spectest, false), metered: newWorld(t, features, spectest, true),
	}
	for i := range file.Commands {
		as := ""
		if i+1 < len(file.Commands) && file.Commands[i+1].Type == "register" {
			as = file.Commands[i+1].As
		}
		run.command(&file.Commands[i], as)
	}
	count["refuels"] += run.metered.refuels
}

// A specRun is one file under test.
type specRun struct {
	*testing.T
	dir            string
	plain, metered *world
	count          tally
}

// command runs one command in both worlds. as is the name under which a module is to be registered.
func (r *specRun) command(c *specCommand, as string) {
	r.Helper()
	switch c.Type {
	case "register": // done with the module in front of it
	case "module":
		r.module(c, as)
	case "assert_return", "action", "assert_trap", "assert_exhaustion", "assert_exception":
		r.action(c)
	case "assert_invalid", "assert_malformed":
		if c.ModuleType != "text" {
			r.refused(c)
		}
	case "assert_unlinkable", "assert_uninstantiable":
		if c.ModuleType != "text" {
			r.unlinkable(c)
		}
	default:
		r.Errorf("line %d: unknown command %q", c.Line, c.Type)
	}
}

// module instantiates a module that must work.
func (r *specRun) module(c *specCommand, as string) {
	r.Helper()
	bin := r.read(c)
	for _, w := range []*world{r.plain, r.metered} {
		mod, err := w.instantiate(r.Context(), bin, as)
		if err != nil {
			r.Fatalf("line %d: module %s, metered=%t: %v", c.Line, c.Filename, w.metered, err)
		}
		w.last = mod
		if c.Name != "" {
			w.named[c.Name] = mod
		}
	}
	r.count["module: instantiated"]++
}

// action compares what an action does.
func (r *specRun) action(c *specCommand) {
	r.Helper()
	got, err := r.plain.act(r, c.Action)
	got2, err2 := r.metered.act(r, c.Action)
	if got != got2 || fmt.Sprint(err) != fmt.Sprint(err2) {
		r.Errorf("line %d: %s %q: plain %s, %v; metered %s, %v", c.Line, c.Type, c.Action.Field, got, err, got2, err2)
	}
	wantErr := c.Type != "assert_return" && c.Type != "action"
	if (err != nil) != wantErr {
		r.Errorf("line %d: %s %q: wazero itself says %v", c.Line, c.Type, c.Action.Field, err)
	}
	r.count[c.Type+": same"]++
}

// refused compares who refuses an invalid module.
func (r *specRun) refused(c *specCommand) {
	r.Helper()
	bin := r.read(c)
	_, plain := r.plain.instantiate(r.Context(), bin, "")
	_, metered := r.metered.instantiate(r.Context(), bin, "")
	switch {
	case errors.Is(metered, errMeter):
		r.count[c.Type+": refused by meter"]++
	case errors.Is(metered, errCompile):
		r.count[c.Type+": refused by wazero on the metered module"]++
	case errors.Is(plain, errCompile):
		r.Errorf("line %d: %s (%s) %s: wazero says %v, but takes the metered module", c.Line, c.Type, c.Text, c.Filename, plain)
	default:
		r.count[c.Type+": accepted by wazero, plain and metered"]++
	}
}

// unlinkable compares how instantiation fails.
func (r *specRun) unlinkable(c *specCommand) {
	r.Helper()
	bin := r.read(c)
	_, plain := r.plain.instantiate(r.Context(), bin, "")
	_, metered := r.metered.instantiate(r.Context(), bin, "")
	if fmt.Sprint(trap(plain)) != fmt.Sprint(trap(metered)) {
		r.Errorf("line %d: %s (%s): plain %v; metered %v", c.Line, c.Type, c.Text, plain, metered)
	}
	r.count[c.Type+": same"]++
}

func (r *specRun) read(c *specCommand) []byte {
	r.Helper()
	bin, err := os.ReadFile(filepath.Join(r.dir, c.Filename))
	if err != nil {
		r.Fatal(err)
	}
	return bin
}
