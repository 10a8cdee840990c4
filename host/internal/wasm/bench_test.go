package wasm

import (
	"context"
	"strings"
	"testing"
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// BenchmarkCall is reset and call of a Go guest that decodes a payload.
func BenchmarkCall(b *testing.B) {
	for _, method := range methods(b) {
		e := openEngine(b, Options{Reset: method})
		m := load(b, e, goGuest(b), guest.LoadOptions{Setup: warm})
		for _, size := range []int{256, 4 << 10, 64 << 10, 1 << 20} {
			b.Run(method+"/"+itoa(uint32(size)), func(b *testing.B) {
				b.ReportAllocs()
				benchCalls(b, m, decodable(size))
			})
		}
	}
}

func benchCalls(b *testing.B, c guest.Caller, body []byte) {
	ctx := context.Background()
	for b.Loop() {
		if _, err := c.Call(ctx, guest.Call{Op: v1.OpDetect, Body: body, Clock: 1e18}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkLease is a call without a reset.
func BenchmarkLease(b *testing.B) {
	m := load(b, openEngine(b, Options{}), goGuest(b), guest.LoadOptions{Setup: warm})
	l, err := m.Lease(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer l.Release()
	benchCalls(b, l, []byte("e"))
}

// BenchmarkFresh is an instance made from the snapshot, and what wazero alone needs for one that has come as far.
func BenchmarkFresh(b *testing.B) {
	m := load(b, openEngine(b, Options{}), goGuest(b), guest.LoadOptions{Setup: warm})
	b.Run("snapshot", func(b *testing.B) {
		for b.Loop() {
			in, err := m.make(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			m.destroy(in)
		}
	})
	b.Run("wazero", func(b *testing.B) {
		bare, err := OpenBare(b.Context(), goGuest(b), Unmetered)
		if err != nil {
			b.Fatal(err)
		}
		defer bare.Close()
		for b.Loop() {
			in, err := bare.Instance(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if _, err := in.Call(b.Context(), v1.OpDetect, decodable(4<<10)); err != nil {
				b.Fatal(err)
			}
			_ = in.Close()
		}
	})
}

// BenchmarkMeter compares what metering costs with what wazero's own way to stop a guest costs.
func BenchmarkMeter(b *testing.B) {
	text := strings.Repeat("The quick brown fox jumps over the lazy dog and ignores it. ", 1000)
	for _, work := range []string{"b", "m"} {
		for name, mode := range map[string]BareMode{"unmetered": Unmetered, "metered": Metered, "close-on-done": CloseOnDone} {
			b.Run(map[string]string{"b": "byteloop/", "m": "regexp/"}[work]+name, func(b *testing.B) {
				ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
				defer cancel()
				in, done := bareInstance(ctx, b, mode)
				defer done()
				for b.Loop() {
					if _, err := in.Call(ctx, v1.OpDetect, []byte(work+text)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func bareInstance(ctx context.Context, b *testing.B, mode BareMode) (*BareInstance, func()) {
	b.Helper()
	bare, err := OpenBare(ctx, goGuest(b), mode)
	if err != nil {
		b.Fatal(err)
	}
	in, err := bare.Instance(ctx)
	if err != nil {
		b.Fatal(err)
	}
	return in, func() { _, _ = in.Close(), bare.Close() }
}

// BenchmarkLoad is a load with the code already in the cache.
func BenchmarkLoad(b *testing.B) {
	e := openEngine(b, Options{})
	for b.Loop() {
		if err := load(b, e, goGuest(b), guest.LoadOptions{Setup: warm}).Close(); err != nil {
			b.Fatal(err)
		}
	}
}
