package wasm

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// exporting builds a plugin whose exports are what the test says.
func exporting(exports func(a *asm)) []byte {
	a := newAsm()
	a.memory(1)
	exports(a)
	return a.bytes()
}

func standard(a *asm, skip ...string) {
	add := func(name string, kind, index int) {
		if !slices.Contains(skip, name) {
			a.export(name, kind, index)
		}
	}
	add(abi.ExportMemory, 2, 0)
	add(abi.ExportMarker, 0, a.fn(nil, nil, 0))
	add(abi.ExportAlloc, 0, a.fn([]byte{tI32}, []byte{tI32}, 0, i32c(roomAt)))
	add(abi.ExportCall, 0, a.fn([]byte{tI32, tI32, tI32}, []byte{tI64}, 0, answer(answerAt, 1)))
}

func TestLoadRefuses(t *testing.T) {
	good := exporting(func(a *asm) { standard(a) })
	for name, c := range map[string]struct {
		wasm  []byte
		parts []string
	}{
		"no module":        {[]byte("#!/bin/sh\n"), []string{"not a WebAssembly module", `#!/bin/s`}},
		"nothing":          {nil, []string{"not a WebAssembly module"}},
		"half a module":    {good[:len(good)-5], nil},
		"too large":        {append(slices.Clone(good), make([]byte, maxModule)...), []string{"cap"}},
		"too much memory":  {withMemory(abi.DefaultMemoryPages + 1), []string{"1025", "1024"}},
		"too many tables":  {withTables(maxTables + 1), []string{"17 tables"}},
		"large table":      {withTable(maxTable + 1), nil},
		"slow to compile":  {slowToCompile(), []string{"compiling it would take too long"}},
		"no marker":        {exporting(func(a *asm) { standard(a, abi.ExportMarker) }), []string{abi.ExportMarker, `"memory"`, "not a plugin"}},
		"other version":    {otherVersion(), []string{"amygdala_abi_v9", abi.ExportMarker}},
		"no memory":        {exporting(func(a *asm) { standard(a, abi.ExportMemory) }), []string{`"memory"`}},
		"no alloc":         {exporting(func(a *asm) { standard(a, abi.ExportAlloc) }), []string{abi.ExportAlloc, "(i32) -> (i32)"}},
		"no call":          {exporting(func(a *asm) { standard(a, abi.ExportCall) }), []string{abi.ExportCall, "(i32, i32, i32) -> (i64)"}},
		"wrong call type":  {wrongCall(), []string{abi.ExportCall, "(i64) -> (i32)", "(i32, i32, i32) -> (i64)"}},
		"call is a global": {callGlobal(), []string{abi.ExportCall, "global"}},
		"wrong start type": {wrongInitialize(), []string{abi.ExportInitialize, "(i32) -> ()", "() -> ()"}},
		"other import":     {importing("env", "host_secret", nil, nil), []string{"env.host_secret", abi.ImportModule}},
		"sockets":          {importing(abi.ImportModule, "sock_accept", []byte{tI32, tI32, tI32}, []byte{tI32}), []string{"sock_accept"}},
		"wrong stub type":  {importing(abi.ImportModule, "proc_exit", []byte{tI64}, nil), []string{"proc_exit", "(i64) -> ()", "(i32) -> ()"}},
		"the fuel import":  {importing(meter.DefaultModule, meter.DefaultName, []byte{tI64}, []byte{tI64}), nil},
		"type mismatch":    {exporting(func(a *asm) { standard(a); a.fn(nil, []byte{tI32}, 0, i64c(1)) }), []string{"not valid"}},
		"global made valid by metering": {exporting(func(a *asm) {
			standard(a)
			a.global(tI64, i64c(0))
			a.fn(nil, nil, 0, i64c(1<<40), opGlobalSet, 1)
		}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := openEngine(t, Options{})
			_, err := e.Load(t.Context(), "acme", c.wasm, guest.LoadOptions{})
			wantError(t, err, v1.ErrorKindRefused, append(c.parts, "acme")...)
			t.Log(err)
		})
	}
}

func withMemory(pages uint64) []byte {
	a := newAsm()
	a.memory(pages)
	standard(a)
	return a.bytes()
}

func withTables(n int) []byte {
	return exporting(func(a *asm) {
		standard(a)
		for range n {
			a.table(1, 1)
		}
	})
}

func withTable(n uint64) []byte {
	return exporting(func(a *asm) { standard(a); a.table(n, n) })
}

func slowToCompile() []byte {
	a := newAsm()
	a.memory(1)
	standard(a)
	var body []byte
	for i := range 2000 {
		body = append(body, code(get(uint64(i%5000)), opIf, void, i32c(int64(i)), set(uint64((i*7)%5000)), opEnd)...)
	}
	a.fn([]byte{tI32}, nil, 5000, body)
	return a.bytes()
}

func otherVersion() []byte {
	return exporting(func(a *asm) {
		standard(a, abi.ExportMarker)
		a.export("amygdala_abi_v9", 0, a.fn(nil, nil, 0))
	})
}

func wrongCall() []byte {
	return exporting(func(a *asm) {
		standard(a, abi.ExportCall)
		a.export(abi.ExportCall, 0, a.fn([]byte{tI64}, []byte{tI32}, 0, i32c(0)))
	})
}

func callGlobal() []byte {
	return exporting(func(a *asm) {
		standard(a, abi.ExportCall)
		a.export(abi.ExportCall, 3, a.global(tI32, i32c(0)))
	})
}

func wrongInitialize() []byte {
	return exporting(func(a *asm) {
		standard(a)
		a.export(abi.ExportInitialize, 0, a.fn([]byte{tI32}, nil, 0))
	})
}

func importing(module, name string, params, results []byte) []byte {
	a := newAsm()
	a.importFunc(module, name, params, results)
	a.memory(1)
	standard(a)
	return a.bytes()
}

// starting builds a plugin with a start section and an _initialize.
func starting(start, initialize []any) []byte {
	a := newAsm()
	a.memory(2, 4)
	standard(a)
	if start != nil {
		a.start = a.fn(nil, nil, 0, start...)
	}
	if initialize != nil {
		a.export(abi.ExportInitialize, 0, a.fn(nil, nil, 0, initialize...))
	}
	return a.bytes()
}

func TestLoadStopsWhatRunsBeforeTheFirstCall(t *testing.T) {
	endless := []any{opLoop, void, opBr, 0, opEnd}
	limits := guest.Limits{Wall: 50 * time.Millisecond}
	few := guest.Limits{Fuel: 100_000}
	for name, c := range map[string]struct {
		wasm   []byte
		limits guest.Limits
		kind   v1.ErrorKind
		part   string
	}{
		"endless start section":   {starting(endless, nil), limits, v1.ErrorKindTimeout, "instantiate"},
		"endless initialize":      {starting(nil, endless), limits, v1.ErrorKindTimeout, "initialize"},
		"costly start section":    {starting(endless, nil), few, v1.ErrorKindFuel, "instantiate"},
		"costly initialize":       {starting(nil, endless), few, v1.ErrorKindFuel, "initialize"},
		"trap in a start section": {starting([]any{opUnreachable}, nil), limits, v1.ErrorKindTrap, "unreachable"},
		"trap in initialize":      {starting(nil, []any{opUnreachable}), limits, v1.ErrorKindTrap, "unreachable"},
		"data out of bounds":      {outOfBounds(), limits, v1.ErrorKindRefused, "out of bounds"},
	} {
		t.Run(name, func(t *testing.T) {
			e := openEngine(t, Options{})
			_, err := e.Load(t.Context(), "acme", c.wasm, guest.LoadOptions{Limits: c.limits})
			wantError(t, err, c.kind, "acme", c.part)
		})
	}
}

func outOfBounds() []byte {
	a := newAsm()
	a.memory(1)
	standard(a)
	a.data(pageBytes-1, []byte("no room"))
	return a.bytes()
}

// TestStartSectionRunsBeforeTheSnapshot also runs it again for every fresh instance, which must end where the first one did.
func TestStartSectionRunsBeforeTheSnapshot(t *testing.T) {
	bump := []any{i32c(answerAt), i32c(answerAt), opI32Load8, 0, 0, i32c(1), opI32Add, opI32Store8, 0, 0, i32c(1), opMemoryGrow, 0, opDrop}
	e := openEngine(t, Options{Instances: 3})
	m := load(t, e, starting(bump, bump), guest.LoadOptions{})
	for range 3 {
		l, err := m.Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
		if got := ask(t, l, "x").Body; got[0] != 2 {
			t.Errorf("start and initialize ran %d times, want once each", got[0])
		}
	}
	if m.memoryBytes != 4*pageBytes {
		t.Errorf("the snapshot has %d bytes, want the 4 pages that both left", m.memoryBytes)
	}
}

func TestSetupErrorEndsLoad(t *testing.T) {
	e := openEngine(t, Options{})
	mine := errors.New("I do not like it")
	_, err := e.Load(t.Context(), "acme", counter(), guest.LoadOptions{Setup: func(guest.Caller) error { return mine }})
	if !errors.Is(err, mine) {
		t.Errorf("got %v", err)
	}
	trap := newAsm().plugin(0, opUnreachable)
	_, err = e.Load(t.Context(), "acme", trap, guest.LoadOptions{Setup: func(c guest.Caller) error {
		_, _ = c.Call(t.Context(), request("x"))
		return nil
	}})
	wantError(t, err, v1.ErrorKindTrap, "setup")
	_, err = e.Load(t.Context(), "acme", counter(), guest.LoadOptions{Setup: func(guest.Caller) error { panic("oh") }})
	wantError(t, err, v1.ErrorKindInternal, "oh")
}

func TestSetupCallerEndsWithSetup(t *testing.T) {
	var kept guest.Caller
	e := openEngine(t, Options{})
	load(t, e, counter(), guest.LoadOptions{Setup: func(c guest.Caller) error { kept = c; return nil }})
	fail(t, kept, request("x"), v1.ErrorKindUnavailable, "setup is over")
}

func TestLoadHonoursContext(t *testing.T) {
	e := openEngine(t, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := e.Load(ctx, "acme", counter(), guest.LoadOptions{})
	wantError(t, err, v1.ErrorKindCanceled)
}

func TestStubsAndContractListTheSame(t *testing.T) {
	for _, i := range abi.Imports() {
		if stubs[i.Name] == nil {
			t.Errorf("%s is in the contract and has no stub", i.Name)
		}
	}
	if len(stubs) != len(abi.Imports()) {
		t.Errorf("%d stubs, the contract lists %d", len(stubs), len(abi.Imports()))
	}
}

// FuzzLoad expects an answer, whatever the bytes are.
func FuzzLoad(f *testing.F) {
	f.Add(counter())
	f.Add(writer())
	f.Add(starting([]any{opUnreachable}, nil))
	e, err := New(&Options{Limits: guest.Limits{Wall: 20 * time.Millisecond, MemoryPages: 64}})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { e.Close() })
	f.Fuzz(func(t *testing.T, wasm []byte) {
		if len(wasm) > 4096 {
			return
		}
		m, err := e.Load(t.Context(), "fuzzed", wasm, guest.LoadOptions{})
		if err != nil {
			if abi.KindOf(err) == v1.ErrorKindInternal || strings.Contains(err.Error(), "panic") {
				t.Error(err)
			}
			return
		}
		_, _ = m.Call(t.Context(), request("x"))
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
}
