package wasm

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// hostile is misbehaving with an endless loop under "s".
var hostileOps = []string{"-", "-", "-", "-", "4", "p", "0", "x", "t", "f"}

func TestHammer(t *testing.T) {
	before := holdings()
	for _, method := range methods(t) {
		t.Run(method, func(t *testing.T) { hammer(t, method) })
	}
	eventually(t, "everything is given back", func() bool {
		runtime.GC() // native code is unmapped by finalizers
		now := holdings()
		return now.fds <= before.fds && now.guests == 0 && now.goroutines <= before.goroutines
	})
	t.Logf("before %+v, after %+v", before, holdings())
}

// hammer lets 8 goroutines call, lease, cancel and fail at random while the module is replaced under them.
func hammer(t *testing.T, method string) {
	e := openEngine(t, Options{Reset: method, Instances: 4})
	opt := guest.LoadOptions{Limits: guest.Limits{Wall: time.Second, Input: 64}}
	modules := make([]guest.Module, 3)
	for i := range modules {
		modules[i] = load(t, e, misbehaving(roomAt), opt)
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 9))
			for range 150 {
				strike(t, modules[rnd.IntN(len(modules))], rnd)
			}
		})
	}
	wg.Go(func() { _ = modules[0].Close() }) // callers of it get an error from here on
	wg.Wait()
	var fresh, poisoned uint64
	for _, m := range modules[1:] {
		s := m.Stats()
		fresh, poisoned = fresh+s.Fresh, poisoned+s.Poisoned
	}
	t.Logf("%d fresh, %d poisoned", fresh, poisoned)
}

// strike makes one random call and checks that its outcome is the one asked for.
func strike(t *testing.T, m guest.Module, rnd *rand.Rand) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if rnd.IntN(20) == 0 {
		cancel()
	}
	op := hostileOps[rnd.IntN(len(hostileOps))]
	var caller guest.Caller = m
	if rnd.IntN(4) == 0 {
		l, err := m.Lease(ctx)
		if err != nil {
			return // closed or cancelled
		}
		defer l.Release()
		caller = l
	}
	a, err := caller.Call(ctx, request(op))
	switch kind := abi.KindOf(err); {
	case err == nil && (op == "-" || op == "f"):
		if string(a.Body) != "ok" {
			t.Errorf("%q answered %q", op, a.Body)
		}
	case err == nil:
		t.Errorf("%q succeeded", op)
	case kind == v1.ErrorKindInternal, kind == v1.ErrorKindUnspecified, op == "-" && kind != v1.ErrorKindCanceled && kind != v1.ErrorKindUnavailable:
		t.Errorf("%q: %v", op, err)
	}
}

// held is what a leak would show in.
type held struct{ fds, guests, goroutines int }

// holdings counts descriptors, mappings of guest snapshots, and goroutines. Where there is no /proc the first two are 0.
func holdings() held {
	h := held{goroutines: runtime.NumGoroutine()}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		h.fds = len(entries)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		h.guests = strings.Count(string(maps), "guest-snapshot")
	}
	return h
}

// TestReloadsLeaveNothingBehind is a hundred generations of one module.
func TestReloadsLeaveNothingBehind(t *testing.T) {
	before := holdings()
	e := openEngine(t, Options{})
	for i := range 100 {
		m := load(t, e, withMemory(uint64(1+i%50)), guest.LoadOptions{})
		ask(t, m, "x")
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if u := e.Usage(); u != (Usage{}) {
		t.Errorf("%+v", u)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, fmt.Sprintf("back to %+v", before), func() bool {
		now := holdings()
		return now.fds <= before.fds && now.guests == 0 && now.goroutines <= before.goroutines
	})
}
