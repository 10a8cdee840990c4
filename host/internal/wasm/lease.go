package wasm

import (
	"context"
	"errors"
	"sync"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// A lease keeps one instance out of the pool. The lock only turns a misuse by two goroutines into an error.
type lease struct {
	mod *module
	mu  sync.Mutex
	in  *instance
}

var _ guest.Lease = (*lease)(nil)

// Lease implements guest.Module. Leases do not count against the calls running at a time, except while they make one.
func (m *module) Lease(ctx context.Context) (guest.Lease, error) {
	if err := m.enter("lease"); err != nil {
		return nil, err
	}
	if err := wait(ctx, m.leased, "lease", m.name); err != nil {
		m.leave()
		return nil, err
	}
	in, err := m.get(ctx)
	if err != nil {
		<-m.leased
		m.leave()
		return nil, err
	}
	return &lease{mod: m, in: in}, nil
}

// Call implements guest.Lease.
func (l *lease) Call(ctx context.Context, c guest.Call) (guest.Answer, error) {
	op := c.Op.String()
	if !l.mu.TryLock() {
		return guest.Answer{}, abi.E(op, v1.ErrorKindConflict, l.mod.name, errors.New("a lease has one owner, and it is in a call"))
	}
	defer l.mu.Unlock()
	if l.in == nil {
		return guest.Answer{}, abi.E(op, v1.ErrorKindUnavailable, l.mod.name, errors.New("the lease was released"))
	}
	if err := l.mod.admit(op, c); err != nil {
		return guest.Answer{}, err
	}
	if err := wait(ctx, l.mod.slots, op, l.mod.name); err != nil {
		return guest.Answer{}, err
	}
	defer func() { <-l.mod.slots }()
	return l.in.invoke(ctx, c)
}

// Release implements guest.Lease; it may be called twice, and waits for a call that runs.
func (l *lease) Release() {
	l.mu.Lock()
	in := l.in
	l.in = nil
	l.mu.Unlock()
	if in == nil {
		return
	}
	l.mod.put(in)
	<-l.mod.leased
	l.mod.leave()
}
