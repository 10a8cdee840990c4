package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/plugins"
	"github.com/amygdala-host/amygdala/sdk/conformance/hostile"
)

// engine measures calls, metering and runaways.
func (b *bench) engine(ctx context.Context) error {
	guests, err := plugins.Find(ctx, plugins.Options{Progress: func(l string) { fmt.Fprintln(b.err, l) }}, plugins.Bench)
	if err != nil {
		return err
	}
	module := guests[0].Wasm
	for _, step := range []func(context.Context, []byte) error{b.runaways, b.resets, b.metering} {
		if err := step(ctx, module); err != nil {
			return err
		}
	}
	return nil
}

// request is one call of the bench guest; rounds is how often it goes over the text.
func benchRequest(kind v1.PayloadKind, text []byte, rounds int) []byte {
	d := &v1.DetectRequest{Kind: kind, Source: []byte(strconv.Itoa(rounds)), Size: uint64(len(text)),
		Views: []*v1.View{{Name: "text", Text: text, Size: uint32(len(text)), Parent: -1}}}
	return v1.AppendRequest(nil, v1.RequestHead{ClockUnixNanos: 1, Seed: 1}, d)
}

// configured is the setup of the bench guest.
func configured(c guest.Caller) error {
	_, err := c.Call(context.Background(), guest.Call{Op: v1.OpConfigure, Body: v1.AppendRequest(nil, v1.RequestHead{}, &v1.ConfigureRequest{})})
	return err
}

func (b *bench) resets(ctx context.Context, module []byte) error {
	engine, err := host.NewEngine("")
	if err != nil {
		return err
	}
	defer engine.Close()
	m, err := engine.Load(ctx, "bench", module, guest.LoadOptions{Setup: configured})
	if err != nil {
		return err
	}
	bodies := make([][]byte, 64)
	for i := range bodies {
		bodies[i] = benchRequest(v1.PayloadKindDoc, benignText(4<<10, uint64(i)), 1)
	}
	calls, err := timed(3000, func(i int) error {
		_, err := m.Call(ctx, guest.Call{Op: v1.OpDetect, Body: bodies[i%len(bodies)]})
		return err
	})
	if err != nil {
		return err
	}
	fresh, err := b.fresh(ctx, module, bodies)
	if err != nil {
		return err
	}
	b.add(figure{Name: "engine.reset_call_us", Value: us(median(calls)), Unit: "us", N: len(calls), Ratio: against(median(calls), median(fresh)),
		Baseline: fmt.Sprintf("a fresh wazero instance and the same call: %.0f us; reset by %s", us(median(fresh)), engine.ResetMethod())})
	b.add(figure{Name: "engine.fresh_instance_ratio", Value: float64(median(fresh)) / float64(median(calls)), Unit: "x", N: len(fresh),
		Baseline: "fresh wazero instance with its first call, against call and reset"})
	return nil
}

// fresh is isolation as one gets it without snapshots: an instance a call.
func (b *bench) fresh(ctx context.Context, module []byte, bodies [][]byte) ([]time.Duration, error) {
	bare, err := host.OpenBare(ctx, module, host.BareUnmetered)
	if err != nil {
		return nil, err
	}
	defer bare.Close()
	return timed(40, func(i int) error {
		in, err := bare.Instance(ctx)
		if err != nil {
			return err
		}
		_, err = in.Call(ctx, v1.OpDetect, bodies[i%len(bodies)])
		return errors.Join(err, in.Close())
	})
}

// metering compares three ways of running the same code, round by round, so that a slow moment hits all of them.
func (b *bench) metering(ctx context.Context, module []byte) error {
	modes := []host.BareMode{host.BareUnmetered, host.BareMetered, host.BareCloseOnDone}
	cancellable, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, load := range []struct {
		name string
		body []byte
	}{{"loop", benchRequest(v1.PayloadKindCode, benignText(64<<10, 1), 40)}, {"regexp", benchRequest(v1.PayloadKindWeb, benignText(32<<10, 2), 1)}} {
		times := map[host.BareMode][]time.Duration{}
		calls := map[host.BareMode]func() error{}
		for _, mode := range modes {
			bare, err := host.OpenBare(ctx, module, mode)
			if err != nil {
				return err
			}
			defer bare.Close()
			in, err := bare.Instance(ctx)
			if err != nil {
				return err
			}
			defer in.Close()
			calls[mode] = func() error { _, err := in.Call(cancellable, v1.OpDetect, load.body); return err }
		}
		const n = 15
		for range n {
			for _, mode := range modes {
				t, err := timed(1, func(int) error { return calls[mode]() })
				if err != nil {
					return err
				}
				times[mode] = append(times[mode], t...)
			}
		}
		b.addMetering(load.name, times, n)
	}
	return nil
}

func (b *bench) addMetering(name string, times map[host.BareMode][]time.Duration, n int) {
	m := map[host.BareMode]time.Duration{}
	for mode, t := range times {
		slices.Sort(t)
		m[mode] = median(t)
	}
	plain := m[host.BareUnmetered]
	b.add(figure{Name: "engine.meter_" + name + "_ratio", Value: *against(m[host.BareMetered], plain), Unit: "x", N: n,
		Baseline: fmt.Sprintf("wazero unmetered: %.2f ms", ms(plain))})
	b.add(figure{Name: "engine.close_on_done_" + name + "_ratio", Value: *against(m[host.BareCloseOnDone], plain), Unit: "x", N: n,
		Baseline: "wazero unmetered; this is WithCloseOnContextDone"})
}

// runaways gives each of four guests 100 ms and looks how late it ended, while another goroutine collects garbage and notes how long that
// had to wait.
func (b *bench) runaways(ctx context.Context, module []byte) error {
	const deadline = 100 * time.Millisecond
	engine, err := host.NewEngine("")
	if err != nil {
		return err
	}
	defer engine.Close()
	spinners := map[string][]byte{"allocating": module}
	for _, g := range hostile.All() {
		switch g.Name {
		case "spin", "loop-free-recursion", "memory-fill-loop":
			spinners[g.Name] = g.Wasm
		}
	}
	worst, inside, runs := time.Duration(0), time.Duration(0), 0
	stopping, call := time.Duration(0), time.Duration(0)
	for name, wasm := range spinners {
		m, err := engine.Load(ctx, name, wasm, guest.LoadOptions{Setup: configured, Limits: guest.Limits{Wall: 10 * time.Second, Fuel: 1 << 50}})
		if err != nil {
			return err
		}
		gc := collect()
		late := time.Duration(0)
		for range 5 {
			start := time.Now()
			a, err := m.Call(ctx, guest.Call{Op: v1.OpDetect, Body: benchRequest(v1.PayloadKindEmail, nil, 1), Limits: guest.Limits{Wall: deadline}})
			if err == nil {
				return fmt.Errorf("%s ended by itself", name)
			}
			late, inside, runs = max(late, time.Since(start)-deadline), max(inside, a.Wall-deadline), runs+1
		}
		s, c := gc()
		b.add(figure{Name: "engine.deadline_overrun_ms/" + name, Value: ms(late), Unit: "ms", N: 5})
		worst, stopping, call = max(worst, late), max(stopping, s), max(call, c)
	}
	gc := collect()
	time.Sleep(5 * deadline)
	_, alone := gc()
	b.add(figure{Name: "engine.deadline_overrun_ms", Value: ms(worst), Unit: "ms", N: runs, Baseline: "a deadline of 100 ms as the caller sees it, the worst of all"})
	b.add(figure{Name: "engine.guest_overrun_ms", Value: ms(inside), Unit: "ms", N: runs,
		Baseline: "the same from the guest's first instruction: without the new instance that the call after a stopped guest needs"})
	b.add(figure{Name: "engine.gc_stop_ms", Value: ms(stopping), Unit: "ms", N: runs,
		Baseline: "the longest that the collector waited for a guest to stop (/sched/pauses/stopping/gc:seconds)"})
	b.add(figure{Name: "engine.gc_wait_ms", Value: ms(call), Unit: "ms", N: runs, Ratio: against(call, alone),
		Baseline: fmt.Sprintf("the longest whole runtime.GC() beside a guest; without one %.2f ms", ms(alone))})
	return nil
}

// pauses is the runtime's histogram of how long the collector waited for goroutines to stop.
const pauses = "/sched/pauses/stopping/gc:seconds"

// collect runs the collector without a break until the returned function is called, which tells the longest wait for the world to stop and the
// longest whole collection since.
func collect() func() (stopping, call time.Duration) {
	done, ended := make(chan struct{}), make(chan struct{})
	before := histogram()
	longest := time.Duration(0)
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
			}
			start := time.Now()
			runtime.GC()
			longest = max(longest, time.Since(start))
		}
	}()
	return func() (time.Duration, time.Duration) {
		close(done)
		<-ended
		return highest(before, histogram()), longest
	}
}

func histogram() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: pauses}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return &metrics.Float64Histogram{}
	}
	h := s[0].Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: slices.Clone(h.Buckets)}
}

// highest is the upper edge of the highest bucket that grew.
func highest(before, after *metrics.Float64Histogram) time.Duration {
	for i := len(after.Counts) - 1; i >= 0; i-- {
		if i < len(before.Counts) && after.Counts[i] > before.Counts[i] {
			edge := after.Buckets[i+1]
			if math.IsInf(edge, 1) {
				edge = after.Buckets[i]
			}
			return time.Duration(edge * float64(time.Second))
		}
	}
	return 0
}
