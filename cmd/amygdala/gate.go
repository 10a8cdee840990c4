package main

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync/atomic"
	"time"
)

// What the scans in flight may use, all together. Beyond that a request is turned away at once: a service that runs out of memory judges
// nobody.
const (
	// gateBytes bounds the bodies held, 16 of the largest. A request that waits is also charged gateShare for its goroutine and connection.
	gateBytes = 16 * maxLine
	gateShare = 64 << 10
	// gateWait is the longest wait for a turn.
	gateWait = 20 * time.Second
)

// errBusy is told to a client that may try again soon.
var errBusy = errors.New("the service is busy: too much is waiting to be judged; try again in a moment")

// gate lets as many scans run at a time as there are cores (they do nothing but compute) and bounds the memory of those that wait. The wait for a turn does not count against an inspection's
// deadline, so load makes answers late and not "hold".
type gate struct {
	held  atomic.Int64
	most  int64
	turns chan struct{}
}

func newGate() *gate {
	return &gate{most: gateBytes, turns: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
}

// take reserves n bytes, or fails with errBusy.
func (g *gate) take(n int64) error {
	if g.held.Add(n) > g.most {
		g.held.Add(-n)
		return errBusy
	}
	return nil
}

// read reads all of r and reserves its bytes as they come, so that a slow or lying client holds no more than it sent. free gives everything
// back; it must be called also after an error.
func (g *gate) read(r io.Reader) (data []byte, free func(), err error) {
	c := &charged{r: r, gate: g}
	if err := c.add(gateShare); err != nil {
		return nil, c.free, err
	}
	data, err = io.ReadAll(c)
	return data, c.free, err
}

// charged reserves what it reads.
type charged struct {
	r    io.Reader
	gate *gate
	held int64
}

func (c *charged) add(n int64) error {
	err := c.gate.take(n)
	if err == nil {
		c.held += n
	}
	return err
}

func (c *charged) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if busy := c.add(int64(n)); busy != nil {
		return 0, busy
	}
	return n, err
}

func (c *charged) free() { c.gate.held.Add(-c.held) }

// turn waits for one of the places. leave must be called once if err is nil. Errors are errBusy and that of ctx.
func (g *gate) turn(ctx context.Context) (leave func(), err error) {
	wait := time.NewTimer(gateWait)
	defer wait.Stop()
	select {
	case g.turns <- struct{}{}:
		return func() { <-g.turns }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-wait.C:
		return nil, errBusy
	}
}
