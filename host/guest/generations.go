package guest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
	"github.com/amygdala-host/amygdala/signatures"
)

// Options say what Generations are made of. Zero fields mean what they say.
type Options struct {
	// Driver runs modules. Required.
	Driver Driver
	// Builtins are plugins the host brings along. A plugin of the same name in a directory overrides one.
	Builtins []Builtin
	// Dirs are plugin directories, read anew for each generation.
	Dirs []string
	// Policy reads the policy for each generation. nil: policies.Default.
	Policy func() (*policies.Policy, error)
	// Signatures compiles the signatures for each generation; it may return the same matcher again. nil: no signatures.
	Signatures func() (*signatures.Matcher, error)
	// Verify checks a package's signature before it is loaded. signed is shown in Status; an error refuses the package. nil: nothing is
	// signed, and nothing need be.
	Verify func(*Package) (signed bool, err error)
	// Caps bound what any plugin gets, whatever the policy allows. Zero fields: no cap.
	Caps Limits
	// LoadTimeout bounds the loading of one plugin, compilation included. Default 2 minutes.
	LoadTimeout time.Duration
	// Log receives what a person should know. Never payload text. nil: nothing is logged.
	Log *slog.Logger
}

// loadsAtOnce is how many plugins are loaded in parallel. The engine compiles one at a time anyhow; this overlaps the rest.
const loadsAtOnce = 4

// Generations keeps one Set serving and makes the next one when something changes. Safe for concurrent use.
type Generations struct {
	opt      Options
	builtins map[string]*Package
	current  atomic.Pointer[Set]
	shown    atomic.Pointer[view]
	loads    chan struct{}

	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	kick    chan struct{}
	stopped chan struct{}

	mu     sync.Mutex // one rebuild at a time; guards the fields below
	closed bool
	slots  map[string]*slot
	names  map[string]string // of plugin files, by path
	policy part[*policies.Policy]
	match  part[*signatures.Matcher]

	faults   sync.Mutex // guards what running calls and people report
	fused    map[Identity]*Failure
	promoted map[Identity]bool
	approved map[string][]*v1.Grant

	alive plugins
}

// part is the policy or the matcher: the last good one, and why there is no newer one.
type part[T any] struct {
	value T
	err   *Failure
}

// Start makes the first generation. A plugin that cannot be loaded is told in Status and the log and does not keep the others from
// serving; a policy or signatures that cannot be read do. ctx bounds the start only.
func Start(ctx context.Context, opt Options) (*Generations, error) {
	if opt.Driver == nil {
		return nil, abi.E("start plugins", v1.ErrorKindInternal, "", errors.New("Options.Driver is nil"))
	}
	opt = opt.withDefaults()
	builtins, err := openBuiltins(opt.Builtins)
	if err != nil {
		return nil, err
	}
	g := &Generations{
		opt: opt, builtins: builtins, loads: make(chan struct{}, loadsAtOnce), kick: make(chan struct{}, 1), stopped: make(chan struct{}),
		slots: map[string]*slot{}, names: map[string]string{},
		fused: map[Identity]*Failure{}, promoted: map[Identity]bool{}, approved: map[string][]*v1.Grant{},
	}
	g.alive.init()
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if err := g.first(ctx); err != nil {
		g.cancel()
		return nil, err
	}
	go g.work()
	return g, nil
}

func (o Options) withDefaults() Options {
	if o.Policy == nil {
		o.Policy = func() (*policies.Policy, error) { return policies.Default(), nil }
	}
	if o.Signatures == nil {
		o.Signatures = func() (*signatures.Matcher, error) { return signatures.Compile(nil) }
	}
	if o.Verify == nil {
		o.Verify = func(*Package) (bool, error) { return false, nil }
	}
	if o.LoadTimeout <= 0 {
		o.LoadTimeout = 2 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// first reads policy and signatures, without which nothing can serve, and makes the first generation. Signatures are compiled while plugins
// load: each takes a good part of the time a start may take.
func (g *Generations) first(ctx context.Context) error {
	var err error
	if g.policy.value, err = g.opt.Policy(); err != nil {
		return err
	}
	compiled := make(chan error, 1)
	go func() {
		m, err := g.opt.Signatures()
		g.match.value = m // read after the channel has told
		compiled <- err
	}()
	g.mu.Lock()
	defer g.mu.Unlock()
	orphans := g.settleAll(ctx)
	if err := <-compiled; err != nil {
		for _, s := range g.slots {
			s.clear()
		}
		return errors.Join(err, g.alive.wait())
	}
	g.publish(g.policy.value)
	g.show(orphans)
	return nil
}

// work makes new generations when somebody kicked.
func (g *Generations) work() {
	defer close(g.stopped)
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-g.kick:
			// What went wrong is in the log and the status.
			_ = g.Reload(g.ctx)
		}
	}
}

// Kick asks for a reload soon, without waiting: what a file watcher calls. Kicks that come during a reload are merged into one more.
func (g *Generations) Kick() {
	select {
	case g.kick <- struct{}{}:
	default:
	}
}

// Acquire returns the Set that serves now. Release it. It is nil after Close.
func (g *Generations) Acquire() *Set {
	for {
		s := g.current.Load()
		if s == nil || s.retain() {
			return s
		}
	}
}

// Reload looks at everything again and, if something changed, swaps in a new generation before it returns. The error joins what could
// not be taken over; the old parts then keep serving.
func (g *Generations) Reload(ctx context.Context) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return abi.E("reload", v1.ErrorKindUnavailable, "", errors.New("the host is closed"))
	}
	refresh(g, "policy", &g.policy, g.opt.Policy)
	refresh(g, "signatures", &g.match, g.opt.Signatures)
	g.rebuild(ctx)
	return g.shown.Load().problems()
}

// refresh reads the policy or the signatures; a failure keeps the last good ones.
func refresh[T any](g *Generations, name string, p *part[T], read func() (T, error)) {
	value, err := read()
	if err == nil {
		p.value, p.err = value, nil
		return
	}
	f := failure(StageOpen, err, nil)
	if p.err == nil || p.err.Message != f.Message {
		g.opt.Log.Error("keeping the old "+name, "kind", f.Kind, "error", f.Message)
	}
	p.err = f
}

// rebuild settles every slot and publishes the result. g.mu is held.
func (g *Generations) rebuild(ctx context.Context) {
	orphans := g.settleAll(ctx)
	g.publish(g.policy.value)
	g.show(orphans)
}

// settleAll brings every slot in line with what the sources hold now, and returns the files that belong to none. g.mu is held.
func (g *Generations) settleAll(ctx context.Context) []orphan {
	policy := g.policy.value
	found := look(g.builtins, g.opt.Dirs, g.names)
	for name := range found.byName {
		if g.slots[name] == nil {
			g.slots[name] = &slot{name: name}
		}
	}
	var wg sync.WaitGroup
	for name, s := range g.slots {
		c := found.byName[name]
		if c == nil {
			c = &candidate{}
		}
		wg.Go(func() { g.settle(ctx, s, *c, policy.Detector(name)) })
	}
	wg.Wait()
	for name, s := range g.slots {
		if s.gone {
			delete(g.slots, name)
		}
	}
	return found.orphans
}

// publish swaps in a new generation if it would differ from the one that serves.
func (g *Generations) publish(policy *policies.Policy) {
	old := g.current.Load()
	next := &Set{Number: 1, Since: time.Now(), Policy: policy, Matcher: g.match.value, Entries: g.entries(policy)}
	if old != nil {
		if old.same(next) {
			return
		}
		next.Number = old.Number + 1
	}
	next.refs.Store(1)
	for _, e := range next.Entries {
		e.adoptedBy(next)
	}
	g.current.Store(next)
	g.opt.Log.Info("generation serving", "generation", next.Number, "policy", policy.DigestString()[:12], "plugins", next.describe(), "missing", next.Missing())
	if old != nil {
		old.Release()
	}
}

// Approve lets the package that waits under this name have the grants it asks for, and loads it. Errors are kind not_found if nothing
// waits, and those of loading.
func (g *Generations) Approve(ctx context.Context, name string) error {
	g.mu.Lock()
	s := g.slots[name]
	if s == nil || s.pending == nil {
		g.mu.Unlock()
		return abi.E("approve", v1.ErrorKindNotFound, name, errors.New("no plugin of this name waits for approval"))
	}
	grants := s.pending.Manifest.Grants
	g.faults.Lock()
	g.approved[name] = append(g.approved[name], grants...)
	g.faults.Unlock()
	g.mu.Unlock()
	return g.Reload(ctx)
}

// Promote lets a plugin's shadow take over now. The error is kind not_found if it has none.
func (g *Generations) Promote(ctx context.Context, name string) error {
	g.mu.Lock()
	s := g.slots[name]
	if s == nil || s.shadow == nil {
		g.mu.Unlock()
		return abi.E("promote", v1.ErrorKindNotFound, name, errors.New("no successor of this plugin runs in its shadow"))
	}
	g.promote(s.shadow.plugin.Identity())
	g.mu.Unlock()
	return g.Reload(ctx)
}

// Retry forgets that a plugin failed to load or blew its fuse, and tries again. The error is kind not_found if there is no such plugin.
func (g *Generations) Retry(ctx context.Context, name string) error {
	g.mu.Lock()
	s := g.slots[name]
	if s == nil {
		g.mu.Unlock()
		return abi.E("retry", v1.ErrorKindNotFound, name, errors.New("there is no plugin of this name"))
	}
	s.refused = Identity{}
	g.faults.Lock()
	delete(g.fused, s.lastFused)
	g.faults.Unlock()
	g.mu.Unlock()
	return g.Reload(ctx)
}

// Close ends all generations: it waits until every Set is released and every module is closed. Idempotent.
func (g *Generations) Close() error {
	g.cancel()
	<-g.stopped
	g.mu.Lock()
	if !g.closed {
		g.closed = true
		if s := g.current.Swap(nil); s != nil {
			s.Release()
		}
		for _, s := range g.slots {
			s.clear()
		}
	}
	g.mu.Unlock()
	return g.alive.wait()
}

// plugins counts loaded modules until they are closed.
type plugins struct {
	mu    sync.Mutex
	none  *sync.Cond
	count int
	errs  []error
}

func (p *plugins) init() { p.none = sync.NewCond(&p.mu) }

func (p *plugins) opened() {
	p.mu.Lock()
	p.count++
	p.mu.Unlock()
}

func (p *plugins) closed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count--
	if err != nil {
		p.errs = append(p.errs, err)
	}
	if p.count == 0 {
		p.none.Broadcast()
	}
}

func (p *plugins) wait() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.count > 0 {
		p.none.Wait()
	}
	return errors.Join(p.errs...)
}
