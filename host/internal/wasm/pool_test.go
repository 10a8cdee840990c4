package wasm

import (
	"context"
	"sync"
	"testing"
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// spinner answers at once, except that a request starting with "s" never ends.
func spinner() []byte {
	a := newAsm()
	return a.plugin(0, get(1), load8(0), i32c('s'), opI32Eq, opIf, void, opLoop, void, opBr, 0, opEnd, opEnd, answer(answerAt, 1))
}

func TestCallsBeyondThePoolWaitForTheirContext(t *testing.T) {
	e := openEngine(t, Options{Instances: 1})
	m := load(t, e, spinner(), guest.LoadOptions{Limits: guest.Limits{Wall: time.Minute, Fuel: 1 << 62}})
	busy, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := m.Call(busy, request("s"))
		done <- err
	}()
	eventually(t, "the only slot is taken", func() bool { return len(m.slots) == 1 })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := m.Call(ctx, request("x"))
	wantError(t, err, v1.ErrorKindTimeout, "waiting for one of 1 instances")
	stop()
	wantError(t, <-done, v1.ErrorKindCanceled, "the caller gave up")
	ask(t, m, "x")
}

func TestContextDeadlineStopsTheGuest(t *testing.T) {
	e := openEngine(t, Options{})
	m := load(t, e, spinner(), guest.LoadOptions{Limits: guest.Limits{Fuel: 1 << 62}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := m.Call(ctx, request("s"))
	wantError(t, err, v1.ErrorKindTimeout)
	<-ctx.Done()
	_, err = m.Call(ctx, request("x"))
	wantError(t, err, v1.ErrorKindTimeout)
}

func TestLeaseKeepsStateUntilReleased(t *testing.T) {
	e := openEngine(t, Options{Instances: 1})
	m := load(t, e, counter(), guest.LoadOptions{})
	l, err := m.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for want := byte(1); want < 4; want++ {
		if got := ask(t, l, "x").Body[0]; got != want {
			t.Errorf("call %d of the lease counted %d", want, got)
		}
		if got := ask(t, m, "x").Body[0]; got != 1 {
			t.Errorf("a call beside the lease counted %d", got)
		}
	}
	l.Release()
	l.Release()
	fail(t, l, request("x"), v1.ErrorKindUnavailable, "released")
	for range 2 {
		if got := ask(t, m, "x").Body[0]; got != 1 {
			t.Errorf("after the lease a call counted %d", got)
		}
	}
	pristine(t, m)
}

func TestLeaseIsPoisonedByAnError(t *testing.T) {
	e := openEngine(t, Options{})
	m := load(t, e, misbehaving(roomAt), guest.LoadOptions{})
	l, err := m.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fail(t, l, request("t"), v1.ErrorKindTrap)
	fail(t, l, request("-"), v1.ErrorKindUnavailable, "earlier error")
	l.Release()
	if s := m.Stats(); s.Poisoned != 1 {
		t.Errorf("%+v, want one poisoned instance", s)
	}
}

func TestLeaseHasOneOwner(t *testing.T) {
	e := openEngine(t, Options{Instances: 2})
	m := load(t, e, spinner(), guest.LoadOptions{Limits: guest.Limits{Wall: time.Minute, Fuel: 1 << 62}})
	l, err := m.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := l.Call(ctx, request("s"))
		done <- err
	}()
	eventually(t, "the lease is in a call", func() bool { return len(m.slots) == 1 })
	fail(t, l, request("x"), v1.ErrorKindConflict, "one owner")
	stop()
	wantError(t, <-done, v1.ErrorKindCanceled)
	l.Release()
}

func TestLeasesAreBounded(t *testing.T) {
	e := openEngine(t, Options{Leases: 2})
	m := load(t, e, counter(), guest.LoadOptions{})
	for range 2 {
		l, err := m.Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer l.Release()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err := m.Lease(ctx)
	wantError(t, err, v1.ErrorKindTimeout, "2")
}

func TestCloseWaitsForLeases(t *testing.T) {
	e := openEngine(t, Options{})
	m := load(t, e, counter(), guest.LoadOptions{})
	l, err := m.Lease(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var closers sync.WaitGroup
	for range 3 {
		closers.Go(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	eventually(t, "the module is closing", func() bool { m.mu.Lock(); defer m.mu.Unlock(); return m.closing })
	_, err = m.Call(t.Context(), request("x"))
	wantError(t, err, v1.ErrorKindUnavailable, "closed")
	_, err = m.Lease(t.Context())
	wantError(t, err, v1.ErrorKindUnavailable, "closed")
	if got := ask(t, l, "x").Body[0]; got != 1 {
		t.Errorf("the lease counted %d while the module was closing", got)
	}
	l.Release()
	closers.Wait()
	if n := m.Stats().Instances; n != 0 {
		t.Errorf("%d instances after Close", n)
	}
}

func TestMemoryCap(t *testing.T) {
	a := newAsm()
	a.memory(2)
	grow := a.plugin(0, i32c(answerAt), get(1), load8(0), opMemoryGrow, 0, opI32Store, 2, 0,
		get(1), load8(1), opIf, void, opUnreachable, opEnd, answer(answerAt, 4))
	e := openEngine(t, Options{})
	m := load(t, e, grow, guest.LoadOptions{Limits: guest.Limits{MemoryPages: 10}})
	for body, want := range map[string]string{"\x08\x00": "\x02\x00\x00\x00", "\x09\x00": "\xff\xff\xff\xff"} {
		if got := ask(t, m, body).Body; string(got) != want {
			t.Errorf("grow by %d answered %x, want %x", body[0], got, want)
		}
	}
	fail(t, m, request("\x09\x01"), v1.ErrorKindLimit, "11 pages", "cap is 10")
	c := request("\x03\x01")
	c.Limits.MemoryPages = 4
	fail(t, m, c, v1.ErrorKindLimit, "5 pages", "cap is 4")
	c.Body = []byte("\x02\x00")
	if _, err := m.Call(t.Context(), c); err != nil {
		t.Error(err)
	}
	pristine(t, m)
	if m.regrown.Load() != 0 {
		t.Error("memory that a call added was not taken back")
	}
}

func TestMemoryBudget(t *testing.T) {
	e := openEngine(t, Options{MemoryBytes: 10 * pageBytes, Leases: 10})
	m := load(t, e, writer(), guest.LoadOptions{})
	fail(t, m, guest.Call{Op: 16, Body: pairs(growAt, 8)}, v1.ErrorKindUnavailable, "memory budget")
	eventually(t, "the refused instance is gone", func() bool { return m.Stats().Instances == 0 })
	var leases []guest.Lease
	for range 3 {
		l, err := m.Lease(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leases = append(leases, l)
	}
	_, err := m.Lease(t.Context())
	wantError(t, err, v1.ErrorKindUnavailable, "memory budget")
	for _, l := range leases {
		l.Release()
	}
	// Idle instances of one module make room for another's.
	other := load(t, e, withMemory(9), guest.LoadOptions{})
	ask(t, other, "x")
	if n := m.Stats().Instances; n > 0 {
		t.Errorf("%d idle instances stand in the way of another module", n)
	}
}

func TestClosedEngineLoadsNothing(t *testing.T) {
	e := openEngine(t, Options{})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	_, err := e.Load(t.Context(), "acme", counter(), guest.LoadOptions{})
	wantError(t, err, v1.ErrorKindUnavailable, "closed")
}
