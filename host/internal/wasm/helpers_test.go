package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// codeDir keeps compiled guests for the whole test run.
var codeDir string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "codes")
	if err != nil {
		panic(err)
	}
	codeDir = dir
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// methods are the ways of restoring memory that work on this machine.
func methods(t testing.TB) []string {
	t.Helper()
	var list []string
	for _, m := range []string{methodTrack, methodPagemap, methodRemap, methodCopy} {
		r, err := newRestorer(m)
		if err != nil {
			t.Logf("not tested here: %v", err)
			continue
		}
		r.close()
		list = append(list, m)
	}
	return list
}

// openEngine opens an engine that must have given everything back when the test ends.
func openEngine(t testing.TB, opt Options) *Engine {
	t.Helper()
	if opt.CacheDir == "" {
		opt.CacheDir = codeDir
	}
	e, err := New(&opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if u := e.Usage(); u != (Usage{}) {
			t.Errorf("after Close the engine still holds %+v", u)
		}
	})
	return e
}

// load loads a module that must be accepted.
func load(t testing.TB, e *Engine, wasm []byte, opt guest.LoadOptions) *module {
	t.Helper()
	m, err := e.Load(t.Context(), "acme", wasm, opt)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*module)
}

// ask makes a call that must succeed.
func ask(t testing.TB, m guest.Caller, body string) guest.Answer {
	t.Helper()
	a, err := m.Call(t.Context(), request(body))
	if err != nil {
		t.Fatalf("%.20q: %v", body, err)
	}
	return a
}

// fail makes a call that must fail with the given kind and a text that holds all parts.
func fail(t testing.TB, m guest.Caller, c guest.Call, kind v1.ErrorKind, parts ...string) guest.Answer {
	t.Helper()
	a, err := m.Call(t.Context(), c)
	wantError(t, err, kind, parts...)
	return a
}

func wantError(t testing.TB, err error, kind v1.ErrorKind, parts ...string) {
	t.Helper()
	var e *abi.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want an *abi.Error of kind %v", err, kind)
	}
	if e.Kind != kind {
		t.Errorf("got kind %v, want %v: %v", e.Kind, kind, err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not mention %q", err, p)
		}
	}
}

func request(body string) guest.Call { return guest.Call{Op: v1.OpDetect, Body: []byte(body)} }

// differs compares an instance with the snapshot, byte by byte.
func differs(in *instance, s *snapshot) error {
	mem := in.wasm.Memory()
	now, _ := mem.Read(0, mem.Size())
	if len(now) != len(s.img.data) {
		return fmt.Errorf("memory has %d bytes, the snapshot %d", len(now), len(s.img.data))
	}
	if !bytes.Equal(now, s.img.data) {
		for i := range now {
			if now[i] != s.img.data[i] {
				return fmt.Errorf("byte %#x is %#x, in the snapshot %#x", i, now[i], s.img.data[i])
			}
		}
	}
	for i, g := range in.globals {
		if g.Get() != s.globals[i] {
			return fmt.Errorf("global %d is %#x, in the snapshot %#x", i, g.Get(), s.globals[i])
		}
	}
	return nil
}

// pristine checks every idle instance.
func pristine(t testing.TB, m *module) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, in := range m.idle {
		if err := differs(in, m.snap); err != nil {
			t.Fatal(err)
		}
	}
}

// eventually waits for what happens in the background.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 1000 {
		if ok() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("never happened: %s", what)
}

// warm sets the Go guest up as the SDK does.
func warm(c guest.Caller) error {
	for range 2 {
		if _, err := c.Call(context.Background(), guest.Call{Op: v1.OpConfigure, Body: []byte("W"), Clock: 1e18}); err != nil {
			return err
		}
	}
	return nil
}

// decodable is a request that makes the Go guest decode a payload of n bytes.
func decodable(n int) []byte {
	text := bytes.Repeat([]byte("The quick brown fox jumps over the lazy dog. "), n/45+1)[:n]
	r := v1.DetectRequest{Kind: v1.PayloadKindWeb, Size: uint64(n), Views: []*v1.View{{Name: "text", Text: text, Size: uint32(n), Parent: -1}}}
	return r.AppendProto([]byte{'d'})
}
