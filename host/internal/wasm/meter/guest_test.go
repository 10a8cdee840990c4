package meter_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// goGuest builds testdata/guest with the given linker flags.
func goGuest(ldflags string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "meter")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "guest.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags="+ldflags, "-o", out, "./testdata/guest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, msg)
	}
	return os.ReadFile(out)
}

// Go modules as the SDK builds them, with everything that the linker can add, and with nothing that it can leave out.
var (
	namedGuest    = sync.OnceValues(func() ([]byte, error) { return goGuest("-w") })
	dwarfGuest    = sync.OnceValues(func() ([]byte, error) { return goGuest("") })
	strippedGuest = sync.OnceValues(func() ([]byte, error) { return goGuest("-s -w") })
)

func build(t testing.TB, guest func() ([]byte, error)) []byte {
	t.Helper()
	bin, err := guest()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

func rewrite(t testing.TB, bin []byte, opt meter.Options) *meter.Result {
	t.Helper()
	res, err := meter.Rewrite(bin, opt)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// errFuel is how the host of the tests stops a guest.
var errFuel = errors.New("out of fuel")

// A host runs one module, metered or not, and keeps its accounts.
type host struct {
	api.Module
	rt      wazero.Runtime
	counter api.MutableGlobal
	// slice is what a refuelling adds, budget what it may add in all; granted is what it added. debt is the deepest that the counter
	// was below zero.
	slice, budget, granted, debt int64
	refuels                      int
}

// refuel is the import of a metered module.
func (h *host) refuel(left int64) int64 {
	h.refuels++
	h.debt = min(h.debt, left)
	if h.granted-left >= h.budget {
		panic(errFuel)
	}
	h.granted += h.slice - left
	return h.slice
}

// used is the fuel that the guest has used.
func (h *host) used() int64 {
	if h.counter == nil {
		return 0
	}
	return h.granted - int64(h.counter.Get())
}

// runtimeConfig is how the tests run modules.
func runtimeConfig() wazero.RuntimeConfig {
	return wazero.NewRuntimeConfigCompiler().WithCoreFeatures(allFeatures)
}

// start instantiates a module whose fuel does not run out until budget is used.
func start(t testing.TB, bin []byte, cfg wazero.RuntimeConfig, slice, budget int64) *host {
	t.Helper()
	ctx := t.Context()
	h := &host{rt: wazero.NewRuntimeWithConfig(ctx, cfg), slice: slice, budget: budget}
	t.Cleanup(func() { h.rt.Close(context.Background()) })
	wasi_snapshot_preview1.MustInstantiate(ctx, h.rt)
	fuelHost(t, h.rt, h.refuel)
	mod, err := h.rt.InstantiateWithConfig(ctx, bin, wazero.NewModuleConfig().WithStartFunctions("_initialize"))
	if err != nil {
		t.Fatal(err)
	}
	h.Module = mod
	h.counter, _ = mod.ExportedGlobal(meter.FuelExport).(api.MutableGlobal)
	return h
}

// plenty is a budget that no test uses up.
const plenty = int64(1) << 60

// call calls a function of one result at most.
func (h *host) call(t testing.TB, name string, args ...uint64) (uint64, error) {
	t.Helper()
	f := h.ExportedFunction(name)
	if f == nil {
		t.Fatalf("no export %q", name)
	}
	results, err := f.Call(t.Context(), args...)
	if len(results) == 0 {
		return 0, err
	}
	return results[0], err
}

// TestGoGuest runs a real Go module plain and metered.
func TestGoGuest(t *testing.T) {
	bin := build(t, namedGuest)
	plain := start(t, bin, runtimeConfig(), 0, 0)
	metered := start(t, rewrite(t, bin, meter.Options{}).Wasm, runtimeConfig(), 20_000, plenty)
	for _, c := range []struct {
		name string
		arg  uint64
	}{{"sum", 20}, {"calls", 20}, {"match", 2}, {"copies", 300}} {
		want, err := plain.call(t, c.name, c.arg)
		got, err2 := metered.call(t, c.name, c.arg)
		if err != nil || err2 != nil || want != got {
			t.Errorf("%s: plain %d, %v; metered %d, %v", c.name, want, err, got, err2)
		}
	}
	if metered.refuels < 100 {
		t.Errorf("only %d refuellings", metered.refuels)
	}
}

// TestTraceNames finds the guest's own function in the trace of a trap, for each way to link it.
func TestTraceNames(t *testing.T) {
	for _, c := range []struct {
		name  string
		guest func() ([]byte, error)
		want  string
	}{{"names", namedGuest, `main\.boom`}, {"dwarf", dwarfGuest, `main\.boom`}, {"stripped", strippedGuest, `\$\d+`}} {
		t.Run(c.name, func(t *testing.T) {
			bin := build(t, c.guest)
			plain := start(t, bin, runtimeConfig().WithDebugInfoEnabled(false), 0, 0)
			metered := start(t, rewrite(t, bin, meter.Options{}).Wasm, runtimeConfig(), 20_000, plenty)
			_, err := plain.call(t, "crash")
			_, err2 := metered.call(t, "crash")
			if err == nil || err2 == nil {
				t.Fatalf("no trap: %v, %v", err, err2)
			}
			if !regexp.MustCompile(c.want).MatchString(err2.Error()) {
				t.Errorf("no %s in\n%v", c.want, err2)
			}
			if a, b := frames(err), frames(err2); a != b {
				t.Errorf("plain trace\n%s\nmetered trace\n%s", a, b)
			}
		})
	}
}

// frames cuts the names of functions out of a trace.
func frames(err error) string {
	return strings.Join(regexp.MustCompile(`(?m)^\t\S.*$`).FindAllString(err.Error(), -1), "\n")
}

// TestCustomSections keeps the custom sections for the caller and out of the metered module.
func TestCustomSections(t *testing.T) {
	bin := cat(tightLoop(), sec(0, cat(str("amygdala.asset/x"), []byte("hello"))), sec(0, cat(str(".debug_info"), []byte("moved"))))
	res := rewrite(t, bin, meter.Options{})
	if len(res.Custom) != 2 || res.Custom[0].Name != "amygdala.asset/x" || string(res.Custom[0].Data) != "hello" {
		t.Errorf("got %q", res.Custom)
	}
	again, err := meter.Rewrite(res.Wasm, meter.Options{Module: "another"})
	if err == nil {
		t.Errorf("a metered module is metered again: it has %v", again.Exports)
	}
	if strings.Contains(string(res.Wasm), ".debug_info") || strings.Contains(string(res.Wasm), "hello") {
		t.Error("the metered module still has custom sections")
	}
}

// TestDeterministic rewrites twice.
func TestDeterministic(t *testing.T) {
	bin := build(t, namedGuest)
	first, second := rewrite(t, bin, meter.Options{}), rewrite(t, bin, meter.Options{})
	if !bytes.Equal(first.Wasm, second.Wasm) {
		t.Error("two rewrites of the same module differ")
	}
}
