package guest

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// fuse notices a plugin that fails again and again: so many failures within so many calls. It blows once.
type fuse struct {
	setting atomic.Pointer[policies.Fuse]
	mu      sync.Mutex
	// strikes holds the call numbers of the latest failures, oldest first.
	strikes []uint64
	blown   bool
}

// strike notes that call number n failed, and reports whether that blew the fuse.
func (f *fuse) strike(n uint64) bool {
	setting := f.setting.Load()
	if setting == nil || setting.Failures <= 0 {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.blown {
		return false
	}
	f.strikes = append(f.strikes, n)
	if extra := len(f.strikes) - setting.Failures; extra > 0 {
		f.strikes = append(f.strikes[:0], f.strikes[extra:]...)
	}
	f.blown = len(f.strikes) == setting.Failures && n-min(f.strikes[0], n) < uint64(setting.Window)
	return f.blown
}

func (p *Plugin) strike(err error) {
	if p.fuse.strike(p.calls.Load()) && p.onBlow != nil {
		p.onBlow(p, err)
	}
}

// A call that its caller cut short counts against the plugin only if the plugin had used more fuel than this: a busy machine makes
// calls slow, but only the plugin makes them expensive.
const (
	dearPerByte = 1_000
	dearSlack   = 8 << 10 // bytes that every question counts for, beside its own
)

// blameworthy tells failures of the plugin from those of its surroundings. Only the former count for the fuse.
func (p *Plugin) blameworthy(ctx context.Context, err error, fuel uint64, question int) bool {
	switch abi.KindOf(err) {
	case v1.ErrorKindCanceled, v1.ErrorKindTimeout:
		return ctx.Err() == nil || fuel > dearPerByte*uint64(question+dearSlack)
	case v1.ErrorKindUnavailable:
		return false
	}
	return true
}
