package host_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/sdk/conformance/hostile"
)

// bare is a policy without the shipped detectors, so that these tests need no toolchain.
const bare = `version: 1
limits: { deadline: 30s } # the race detector on a busy machine is slow
detectors:
  injection: { enabled: false }
  structure: { enabled: false }
  privilege: { enabled: false }
  schema: { enabled: false }
`

func openBare(t *testing.T, dir string) *host.Host {
	t.Helper()
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte(bare), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(t.Context(), host.Options{PolicyFile: policy, PluginDirs: []string{dir}, Builtins: []guest.Builtin{}, Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestReloadUnderLoad swaps between two plugins, and now and then a broken one, a hundred times under eight callers. Every call is answered
// by exactly one generation, no call fails, and nothing is left behind.
func TestReloadUnderLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.wasm")
	write := func(wasm []byte) {
		if err := os.WriteFile(file+".part", wasm, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".part", file); err != nil {
			t.Fatal(err)
		}
	}
	write(hostile.Model())
	goroutines := runtime.NumGoroutine()
	h := openBare(t, dir)
	ctx, stop := context.WithCancel(t.Context())
	var calls, wrong atomic.Int64
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for ctx.Err() == nil {
				d, err := h.Inspect(t.Context(), host.Payload{Data: []byte("hello"), Kind: v1.PayloadKindWeb})
				if err != nil || d.Verdict != host.Clear && d.Verdict != host.Threat {
					wrong.Add(1)
					t.Errorf("%+v %v", d, err)
					return
				}
				calls.Add(1)
			}
		})
	}
	reloads := 100
	if testing.Short() {
		reloads = 20
	}
	for i := range reloads {
		switch {
		case i%10 == 5:
			write(hostile.Model()[:300])
		case i%2 == 0:
			write(hostile.Accuser())
		default:
			write(hostile.Model())
		}
		_ = h.Reload(t.Context()) // a broken file is an error here, and the old plugin serves on
	}
	stop()
	wg.Wait()
	if calls.Load() == 0 || wrong.Load() > 0 {
		t.Errorf("%d calls, %d wrong", calls.Load(), wrong.Load())
	}
	if got := h.Generation(); got < uint64(reloads/2) {
		t.Errorf("only %d generations came of %d reloads", got, reloads)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	settle(t, goroutines)
}

// settle waits for goroutines to end.
func settle(t *testing.T, want int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if n := runtime.NumGoroutine(); n <= want {
			return
		} else if time.Now().After(end) {
			t.Fatalf("%d goroutines left, %d before", n, want)
		}
	}
}

// TestSameFuel: the same payload costs the same, whoever asks and whenever.
func TestSameFuel(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.wasm"), hostile.Accuser(), 0o600); err != nil {
		t.Fatal(err)
	}
	h := openBare(t, dir)
	defer h.Close()
	fuel := uint64(0)
	for range 20 {
		d, err := h.Inspect(t.Context(), host.Payload{Data: []byte("hello"), Kind: v1.PayloadKindWeb})
		if err != nil {
			t.Fatal(err)
		}
		if d.Fuel == 0 || fuel != 0 && d.Fuel != fuel {
			t.Fatalf("fuel %d, then %d", fuel, d.Fuel)
		}
		fuel = d.Fuel
	}
}

// TestClosedHost answers with an error, not a verdict.
func TestClosedHost(t *testing.T) {
	h := openBare(t, t.TempDir())
	if err := h.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Inspect(t.Context(), host.Payload{Data: []byte("x")}); err == nil {
		t.Error("a closed host judged")
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// TestCanceledCaller gets an error rather than a verdict nobody made.
func TestCanceledCaller(t *testing.T) {
	h := openBare(t, t.TempDir())
	defer h.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := h.Inspect(ctx, host.Payload{Data: []byte("x")}); err == nil {
		t.Errorf("%+v", d)
	}
}
