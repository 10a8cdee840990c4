package wasm

import (
	"math"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// runaways are guests that never end by themselves, and how each must end.
var runaways = []struct {
	name string
	wasm func() []byte
	kind v1.ErrorKind
}{
	{"spin", func() []byte {
		return newAsm().plugin(0, opLoop, void, opBr, 0, opEnd, opUnreachable)
	}, v1.ErrorKindTimeout},
	{"call tree without a loop", func() []byte {
		a := newAsm()
		a.fn([]byte{tI32}, nil, 0, get(0), opIf, void, get(0), i32c(1), opI32Sub, callf(0), get(0), i32c(1), opI32Sub, callf(0), opEnd)
		return a.plugin(0, i32c(60), callf(0), answer(answerAt, 1))
	}, v1.ErrorKindTimeout},
	{"endless recursion", func() []byte {
		a := newAsm()
		a.fn([]byte{tI32}, []byte{tI32}, 0, get(0), i32c(1), opI32Add, callf(0), i32c(1), opI32Add)
		return a.plugin(0, i32c(0), callf(0), opDrop, answer(answerAt, 1))
	}, v1.ErrorKindTrap},
	{"endless recursion in large frames", largeFrames, v1.ErrorKindTrap},
	{"memory.fill", func() []byte {
		a := newAsm()
		a.memory(1024)
		return a.plugin(0, opLoop, void, i32c(0), i32c(7), i32c(64<<20), misc(11, 0), opBr, 0, opEnd, opUnreachable)
	}, v1.ErrorKindTimeout},
	{"allocate", func() []byte {
		a := newAsm()
		a.memory(1, 1024)
		return a.plugin(1, opLoop, void, i32c(1), opMemoryGrow, 0, i32c(-1), opI32Eq, opIf, void, i32c(0), set(3), opEnd,
			get(3), i32c(1), store32(0), get(3), i32c(pageBytes), opI32Add, opMemorySize, 0, i32c(16), 0x74, 0x70, set(3),
			opBr, 0, opEnd, opUnreachable)
	}, v1.ErrorKindTimeout},
	{"touch every page", func() []byte {
		a := newAsm()
		a.memory(1024)
		return a.plugin(1, opLoop, void, get(3), i32c(1), store32(0), get(3), i32c(4096), opI32Add, i32c(64<<20-1), 0x71, set(3),
			opBr, 0, opEnd, opUnreachable)
	}, v1.ErrorKindTimeout},
}

// largeFrames recurses through a function whose frame has 4,000 values, on a path that needs none of them.
func largeFrames() []byte {
	a := newAsm()
	body := code(get(0), i32c(-7), opI32Eq, opIf, void)
	for i := range 4000 {
		body = append(body, code(get(0), i32c(int64(i)+3), 0x6c)...)
	}
	body = append(body, code(get(0), callf(0), opDrop)...)
	for range 3999 {
		body = append(body, opI32Add)
	}
	a.fn([]byte{tI32}, []byte{tI32}, 0, body, set(0), opEnd, get(0), i32c(1), opI32Add, callf(0), get(0), opI32Add)
	return a.plugin(0, i32c(0), callf(0), opDrop, answer(answerAt, 1))
}

// TestRunawaysAreStopped prints how long each took beyond its deadline and how long the collector waited for it meanwhile. It asserts
// how they end, not when: the machine may be busy.
func TestRunawaysAreStopped(t *testing.T) {
	e := openEngine(t, Options{Limits: guest.Limits{Fuel: math.MaxInt64, Wall: 100 * time.Millisecond}})
	quiet := collecting(func() { time.Sleep(100 * time.Millisecond) })
	t.Logf("%-36s                  runtime.GC took at most %v, of which it waited %v to stop the world", "no guest", quiet.whole, quiet.stop)
	for _, r := range runaways {
		m := load(t, e, r.wasm(), guest.LoadOptions{})
		start := time.Now()
		var took time.Duration
		gc := collecting(func() {
			fail(t, m, request("x"), r.kind, "acme")
			took = time.Since(start)
		})
		t.Logf("%-36s ended at %7.2f ms; runtime.GC took at most %v, of which it waited %v to stop the world", r.name, took.Seconds()*1e3, gc.whole, gc.stop)
	}
}

// waits are the longest runtime.GC and the longest wait of it for running goroutines.
type waits struct{ whole, stop time.Duration }

// collecting loops runtime.GC while run runs.
func collecting(run func()) waits {
	var w waits
	before := stops()
	done, quit := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
			}
			start := time.Now()
			runtime.GC()
			w.whole = max(w.whole, time.Since(start).Round(10*time.Microsecond))
		}
	}()
	run()
	close(quit)
	<-done
	after := stops()
	for i, n := range after.Counts {
		if n > before.Counts[i] {
			w.stop = time.Duration(after.Buckets[i+1] * 1e9)
		}
	}
	return w
}

// stops is the runtime's histogram of how long stopping the world took.
func stops() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64Histogram()
}

// TestStackIsNotKept checks that a deep but finite recursion neither ends a call nor stays in the host's heap.
func TestStackIsNotKept(t *testing.T) {
	a := newAsm()
	a.fn([]byte{tI32}, []byte{tI32}, 0, get(0), opI32Eqz, opIf, tI32, i32c(0), opElse, get(0), i32c(1), opI32Sub, callf(0), i32c(1), opI32Add, opEnd)
	e := openEngine(t, Options{Instances: 1})
	m := load(t, e, a.plugin(0, i32c(10000), callf(0), opDrop, answer(answerAt, 1)), guest.LoadOptions{})
	ask(t, m, "x")
	if depth := m.idle[0].call.depth(); depth > keepStack {
		t.Errorf("an idle instance keeps a call stack of %d bytes", depth)
	}
}
