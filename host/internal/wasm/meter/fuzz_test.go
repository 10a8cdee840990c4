package meter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// fuzzBudget is how much fuel a random module may use in one call. Only what ends within it is run without a meter.
const fuzzBudget = 60_000

// fuzzOptions keep random modules from taking the memory of the machine that tests them.
var fuzzOptions = meter.Options{MaxMemoryPages: 64, MaxTableElements: 100_000}

// fuzzRuntime is a runtime that outlives the cases of a fuzz run. The compiled code of each case is released.
func fuzzRuntime(t testing.TB, cfg wazero.RuntimeConfig, h *host) wazero.Runtime {
	t.Helper()
	ctx := context.Background()
	cfg = cfg.WithCoreFeatures(allFeatures).WithMemoryLimitPages(64).WithDebugInfoEnabled(false)
	rt := wazero.NewRuntimeWithConfig(ctx, cfg)
	if spectest, err := os.ReadFile(filepath.Join(specPath(), "testdata", "spectest.wasm")); err == nil {
		if _, err := rt.InstantiateWithConfig(ctx, spectest, wazero.NewModuleConfig()); err != nil {
			t.Fatal(err)
		}
	}
	if h != nil {
		fuelHost(t, rt, h.refuel)
	}
	return rt
}

func specPath() string {
	dir, _ := wazeroDir()
	return filepath.Join(dir, "internal", "integration_test", "spectest")
}

// A pair compares modules with and without metering.
type pair struct {
	plain, metered wazero.Runtime
	account        *host
}

// newPair makes a pair; plain is how modules run without metering. Metered, they are compiled.
func newPair(t testing.TB, plain wazero.RuntimeConfig) *pair {
	h := &host{slice: 500, budget: fuzzBudget}
	return &pair{
		plain:   fuzzRuntime(t, plain, nil),
		metered: fuzzRuntime(t, wazero.NewRuntimeConfigCompiler(), h),
		account: h,
	}
}

// compiledPair and interpretedPair are shared by the cases of a process. Generated modules are compared with the interpreter, because
// wazero's compiler has a mistake of its own that metering works around, see values.go. The compiler is the better judge of
// modules at the edge of validity, where the interpreter takes traps in another order.
var (
	compiledPair = sync.OnceValue(func() *pair {
		return newPair(new(testing.B), wazero.NewRuntimeConfigCompiler())
	})
	interpretedPair = sync.OnceValue(func() *pair {
		return newPair(new(testing.B), wazero.NewRuntimeConfigInterpreter())
	})
)

// outcome says how far a comparison got, so that a test can tell that it compared something.
type outcome int

const (
	refused outcome = iota
	invalid
	unlinked
	exhausted
	compared
)

// compare demands that a module that Rewrite accepts is valid if and only if it is valid metered, and then does the same.
func (p *pair) compare(t testing.TB, bin []byte) outcome {
	t.Helper()
	res, err := meter.Rewrite(bin, fuzzOptions)
	if err != nil {
		var e *meter.Error
		if !errors.As(err, &e) {
			t.Fatalf("%T: %v", err, err)
		}
		return refused
	}
	ctx := context.Background()
	plain, err := p.plain.CompileModule(ctx, bin)
	metered, err2 := p.metered.CompileModule(ctx, res.Wasm)
	if (err == nil) != (err2 == nil) {
		t.Fatalf("plain: %v\nmetered: %v", err, err2)
	}
	if err != nil {
		return invalid
	}
	defer plain.Close(ctx)
	defer metered.Close(ctx)
	return p.run(t, plain, metered)
}

// run instantiates both and calls every function that takes numbers.
func (p *pair) run(t testing.TB, plain, metered wazero.CompiledModule) outcome {
	t.Helper()
	ctx := context.Background()
	p.account.granted, p.account.counter = 0, nil
	cfg := wazero.NewModuleConfig().WithName("").WithStartFunctions()
	b, err2 := p.metered.InstantiateModule(ctx, metered, cfg)
	if err2 != nil && strings.Contains(err2.Error(), errFuel.Error()) {
		return exhausted
	}
	a, err := p.plain.InstantiateModule(ctx, plain, cfg)
	// Of several missing imports wazero names any one, so only traps are compared word by word.
	traps := err != nil && strings.Contains(err.Error(), "wasm error")
	if (err == nil) != (err2 == nil) || traps && trap(err).Error() != trap(err2).Error() {
		t.Fatalf("instantiation, plain: %v\nmetered: %v", err, err2)
	}
	if err != nil {
		return unlinked
	}
	defer a.Close(ctx)
	defer b.Close(ctx)
	exports := plain.ExportedFunctions()
	for _, name := range slices.Sorted(maps.Keys(exports)) {
		for round := range 2 {
			if !p.sameCall(t, a, b, name, exports[name], round) {
				return exhausted
			}
		}
	}
	return compared
}

// sameCall calls one function in both; false means that the metered one ran out of fuel, and with it the comparison.
func (p *pair) sameCall(t testing.TB, a, b api.Module, name string, def api.FunctionDefinition, round int) bool {
	t.Helper()
	var args []uint64
	for i, typ := range def.ParamTypes() {
		switch typ {
		case api.ValueTypeI32, api.ValueTypeI64, api.ValueTypeF32, api.ValueTypeF64:
			args = append(args, uint64(round*(7*i+65_530)))
		case api.ValueTypeExternref:
			args = append(args, 0)
		default:
			return true
		}
	}
	p.account.granted = 0
	got, err2 := b.ExportedFunction(name).Call(context.Background(), args...)
	if err2 != nil && strings.Contains(err2.Error(), errFuel.Error()) {
		return false
	}
	want, err := a.ExportedFunction(name).Call(context.Background(), args...)
	if err != nil && strings.Contains(err.Error(), "stack overflow") {
		return false // the interpreter's stack is smaller
	}
	if fmt.Sprint(trap(err)) != fmt.Sprint(trap(err2)) {
		t.Fatalf("%s %d, plain: %v\nmetered: %v", name, args, err, err2)
	}
	if err == nil && !sameValues(want, got, def.ResultTypes()) {
		t.Fatalf("%s %d, plain: %x, metered: %x", name, args, want, got)
	}
	sameState(t, a, b)
	return true
}

// sameValues compares results; any NaN equals any other, and references only by being null.
func sameValues(a, b []uint64, types []api.ValueType) bool {
	if len(a) != len(b) || len(a) != len(types) {
		return len(a) == len(b) // vectors take two words: the memory tells
	}
	for i, typ := range types {
		switch {
		case typ == api.ValueTypeF32 && isNaN32(a[i]) && isNaN32(b[i]):
		case typ == api.ValueTypeF64 && isNaN64(a[i]) && isNaN64(b[i]):
		case typ != api.ValueTypeI32 && typ != api.ValueTypeI64 && typ != api.ValueTypeF32 && typ != api.ValueTypeF64:
			if (a[i] == 0) != (b[i] == 0) {
				return false
			}
		case a[i] != b[i]:
			return false
		}
	}
	return true
}

func isNaN32(v uint64) bool { return math.IsNaN(float64(math.Float32frombits(uint32(v)))) }
func isNaN64(v uint64) bool { return math.IsNaN(math.Float64frombits(v)) }

// sameState compares memories and exported globals.
func sameState(t testing.TB, a, b api.Module) {
	t.Helper()
	for name := range a.ExportedMemoryDefinitions() {
		x, _ := a.ExportedMemory(name).Read(0, a.ExportedMemory(name).Size())
		y, _ := b.ExportedMemory(name).Read(0, b.ExportedMemory(name).Size())
		if !bytes.Equal(x, y) {
			t.Fatal("the memories differ")
		}
	}
	for _, name := range []string{"g0", "g1", "g2"} {
		if g := a.ExportedGlobal(name); g != nil {
			if !sameValues([]uint64{g.Get()}, []uint64{b.ExportedGlobal(name).Get()}, []api.ValueType{g.Type()}) {
				t.Fatalf("global %s: plain %v, metered %v", name, g, b.ExportedGlobal(name))
			}
		}
	}
}

// TestGenerated compares generated modules. A failure prints the seed; FuzzGenerated takes the same bytes.
func TestGenerated(t *testing.T) {
	n := 500
	if testing.Short() {
		n = 100
	}
	p, count := interpretedPair(), map[outcome]int{}
	for seed := range n {
		data := entropy(uint64(seed), 700)
		func() {
			defer func() {
				if t.Failed() {
					t.Logf("seed %d", seed)
				}
			}()
			count[p.compare(t, generate(data))]++
		}()
	}
	t.Logf("%d modules: %d compared to the end, %d until the fuel ended", n, count[compared], count[exhausted])
	if count[refused]+count[invalid]+count[unlinked] > 0 || count[compared] < n/4 {
		t.Errorf("the generator wrote modules that are not valid, or too few that end: %v", count)
	}
}

func entropy(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// TestMutated changes bytes of the specification's modules and compares what is left.
func TestMutated(t *testing.T) {
	corpus := specModules(t)
	n := 20_000
	if testing.Short() {
		n = 2000
	}
	p, count := compiledPair(), map[outcome]int{}
	r := rand.New(rand.NewPCG(2, 3))
	for range n {
		bin := mutate(r, corpus[r.IntN(len(corpus))])
		count[p.compare(t, bin)]++
	}
	t.Logf("%d modules: %d refused, %d invalid in both forms, %d not linked, %d compared, %d until the fuel ended",
		n, count[refused], count[invalid], count[unlinked], count[compared], count[exhausted])
}

// mutate changes one to three bytes.
func mutate(r *rand.Rand, bin []byte) []byte {
	bin = bytes.Clone(bin)
	for range 1 + r.IntN(3) {
		i := 8 + r.IntN(len(bin)-8)
		switch r.IntN(3) {
		case 0:
			bin[i] = byte(r.Uint32())
		case 1:
			bin[i]++
		default:
			bin[i] ^= 1 << r.IntN(8)
		}
	}
	return bin
}

// specModules are the small modules of all suites.
func specModules(t testing.TB) [][]byte {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(specDir(t), "*", "testdata", "*.wasm"))
	var list [][]byte
	for _, f := range files {
		if bin, err := os.ReadFile(f); err == nil && len(bin) > 16 && len(bin) < 4000 {
			list = append(list, bin)
		}
	}
	return list
}

// FuzzRewrite gives Rewrite anything. It must not panic, and what it accepts must be equivalent.
func FuzzRewrite(f *testing.F) {
	for _, c := range refusals {
		f.Add(c.bin)
	}
	for _, bin := range runaways {
		f.Add(bin)
	}
	f.Add(tightLoop())
	f.Fuzz(func(t *testing.T, bin []byte) {
		if len(bin) < 1<<16 {
			compiledPair().compare(t, bin)
		}
	})
}

// FuzzGenerated lets the fuzzer decide what a valid module does.
func FuzzGenerated(f *testing.F) {
	for seed := range uint64(5) {
		f.Add(entropy(seed, 300))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) < 4000 {
			if got := interpretedPair().compare(t, generate(data)); got < exhausted {
				t.Fatalf("the generator wrote a module that is refused or invalid: %v", got)
			}
		}
	})
}
