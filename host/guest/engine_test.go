package guest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/host/internal/wasm"
)

// realGuest is testdata/zebra, built once: a detector as an author writes it.
var realGuest = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "zebra")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "zebra.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", out, "./testdata/zebra")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	if text, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, text)
	}
	return os.ReadFile(out)
})

// realPackage packs the real guest with a self-test row; another row makes another package of the same module.
func realPackage(t *testing.T, engine *wasm.Engine, row string) []byte {
	t.Helper()
	module, err := realGuest()
	if err != nil {
		t.Fatal(err)
	}
	m, err := guest.Describe(t.Context(), engine, "zebra", module)
	if err != nil {
		t.Fatal(err)
	}
	data, err := guest.Pack(module, m, []*v1.Asset{{Name: guest.SelftestAsset, Data: []byte(row)}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func put(t *testing.T, file string, data []byte) {
	t.Helper()
	if err := os.WriteFile(file+".tmp", data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".tmp", file); err != nil {
		t.Fatal(err)
	}
}

// The real engine and a real Go guest: reloads under parallel callers, a broken successor, a guest that panics, and nothing left behind.
func TestReloadOnTheRealEngine(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a guest with the Go toolchain; run without -short")
	}
	engine, err := wasm.New(&wasm.Options{CacheDir: filepath.Join(t.TempDir(), "code")})
	if err != nil {
		t.Fatal(err)
	}
	var versions [][]byte
	for i := range 4 {
		versions = append(versions, realPackage(t, engine, fmt.Sprintf(`{"kind":"web","text":"pure evil %d","expect":"threat","threat":"prompt_injection"}`, i)))
	}
	broken := realPackage(t, engine, `{"kind":"web","text":"harmless","expect":"threat"}`)
	before := runtime.NumGoroutine()
	dir := t.TempDir()
	file := filepath.Join(dir, "zebra.wasm")
	put(t, file, versions[0])
	g, err := guest.Start(t.Context(), guest.Options{Driver: engine, Dirs: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() { callUntil(t, g, stop) })
	}
	for i := range 8 {
		put(t, file, versions[(i+1)%len(versions)])
		if err := g.Reload(t.Context()); err != nil {
			t.Error(err)
		}
	}
	put(t, file, broken)
	if err := g.Reload(t.Context()); err == nil {
		t.Error("a failed self-test went unnoticed")
	}
	close(stop)
	callers.Wait()
	st := g.Status()
	if row := st.Plugins[len(st.Plugins)-1]; st.Generation != 9 || row.Name != "zebra" || row.LastError == nil || row.LastError.Stage != guest.StageSelftest {
		t.Errorf("%+v", row)
	}
	set := g.Acquire()
	if _, _, err := judge(set, "divide by nothing"); err == nil {
		t.Error("a panic in the guest is no failure")
	}
	set.Release()
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	if err := engine.Close(); err != nil {
		t.Error(err)
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if i > 10_000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
		time.Sleep(time.Millisecond)
	}
}

func judge(set *guest.Set, text string) (*v1.Verdict, guest.Cost, error) {
	req := &v1.DetectRequest{Kind: v1.PayloadKindWeb, Size: uint64(len(text)), Views: []*v1.View{{Name: "text", Text: []byte(text), Size: uint32(len(text)), Parent: -1}}}
	return set.Entry("zebra").Detect(context.Background(), req, guest.CallOptions{Clock: 1, Seed: 2})
}

// callUntil asks until stop is closed. Every call must succeed, for the same fuel.
func callUntil(t *testing.T, g *guest.Generations, stop chan struct{}) {
	fuel := uint64(0)
	for {
		select {
		case <-stop:
			return
		default:
		}
		set := g.Acquire()
		v, cost, err := judge(set, "some evil text")
		set.Release()
		if err != nil || len(v.Findings) != 1 {
			t.Errorf("%v %v", v, err)
			return
		}
		if fuel != 0 && cost.Fuel != fuel {
			t.Errorf("fuel %d, then %d", fuel, cost.Fuel)
		}
		fuel = cost.Fuel
	}
}
