package wasm

import (
	"context"
	"encoding/binary"
	"math"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// maxVectors bounds the vectors of one fd_write and the subscriptions of one poll_oneoff, as IOV_MAX does on Linux.
const maxVectors = 1024

// A stub is one WASI function. Arguments are on the stack, and so is the errno that all of them answer, except proc_exit.
type stub func(c *call, mem api.Memory, stack []uint64)

// errno makes a stub out of a function that answers an errno.
func errno(run func(c *call, mem api.Memory, arg []uint64) uint64) stub {
	return func(c *call, mem api.Memory, stack []uint64) { stack[0] = run(c, mem, stack) }
}

var (
	// nothing succeeds.
	nothing = errno(func(*call, api.Memory, []uint64) uint64 { return abi.ErrnoSuccess })
	// noFile is the answer of every function that needs an open file: there are none.
	noFile = errno(func(*call, api.Memory, []uint64) uint64 { return abi.ErrnoBadf })
	// stdio answers success for the three standard streams and bad file for the rest.
	stdio = errno(func(_ *call, _ api.Memory, arg []uint64) uint64 { return badUnlessStdio(arg[0]) })
)

func badUnlessStdio(fd uint64) uint64 {
	if uint32(fd) <= 2 {
		return abi.ErrnoSuccess
	}
	return abi.ErrnoBadf
}

// stubs holds a function for everything that abi.Imports lists. There are no arguments, no environment, no files and no sockets;
// time and randomness are fields of the request; standard output and error go into a ring.
var stubs = map[string]stub{
	"args_get":          nothing,
	"args_sizes_get":    errno(noStrings),
	"environ_get":       nothing,
	"environ_sizes_get": errno(noStrings),

	"clock_res_get":  errno(clockRes),
	"clock_time_get": errno(clockTime),
	"poll_oneoff":    errno(poll),
	"proc_exit":      exit,
	"random_get":     errno(random),
	"sched_yield":    nothing,

	"fd_fdstat_get":       errno(fdStat),
	"fd_fdstat_set_flags": stdio,
	"fd_filestat_get":     errno(fileStat),
	"fd_read":             errno(read),
	"fd_write":            errno(write),
	"fd_close":            stdio,
	"fd_datasync":         stdio,
	"fd_sync":             stdio,
	"fd_seek":             errno(seek),
	"fd_tell":             errno(seek),

	"fd_advise":             noFile,
	"fd_allocate":           noFile,
	"fd_fdstat_set_rights":  noFile,
	"fd_filestat_set_size":  noFile,
	"fd_filestat_set_times": noFile,
	"fd_pread":              noFile,
	"fd_prestat_dir_name":   noFile,
	"fd_prestat_get":        noFile,
	"fd_pwrite":             noFile,
	"fd_readdir":            noFile,
	"fd_renumber":           noFile,

	"path_create_directory":   noFile,
	"path_filestat_get":       noFile,
	"path_filestat_set_times": noFile,
	"path_link":               noFile,
	"path_open":               noFile,
	"path_readlink":           noFile,
	"path_remove_directory":   noFile,
	"path_rename":             noFile,
	"path_symlink":            noFile,
	"path_unlink_file":        noFile,
}

// imports are the types of the stubs, by name.
var imports = sync.OnceValue(func() map[string]abi.Import {
	m := map[string]abi.Import{}
	for _, i := range abi.Imports() {
		m[i.Name] = i
	}
	return m
})

// valueTypes translates the contract's types into wazero's, which are numbered alike.
func valueTypes(types []abi.ValueType) []api.ValueType {
	var list []api.ValueType
	for _, t := range types {
		list = append(list, api.ValueType(t))
	}
	return list
}

// hostModules makes what a module may import available in its runtime: the stubs it names, and the refuelling function.
func hostModules(ctx context.Context, rt wazero.Runtime, fuelModule, fuelName string, names []string) error {
	if len(names) > 0 {
		b := rt.NewHostModuleBuilder(abi.ImportModule)
		for _, name := range names {
			i := imports()[name]
			b = b.NewFunctionBuilder().WithGoModuleFunction(stubs[name].host(), valueTypes(i.Params), valueTypes(i.Results)).Export(name)
		}
		if _, err := b.Instantiate(ctx); err != nil {
			return err
		}
	}
	refuel := api.GoFunc(func(ctx context.Context, stack []uint64) {
		stack[0] = uint64(ctx.(*call).refuel(int64(stack[0])))
	})
	_, err := rt.NewHostModuleBuilder(fuelModule).NewFunctionBuilder().
		WithGoFunction(refuel, []api.ValueType{api.ValueTypeI64}, []api.ValueType{api.ValueTypeI64}).Export(fuelName).Instantiate(ctx)
	return err
}

func (s stub) host() api.GoModuleFunc {
	return func(ctx context.Context, m api.Module, stack []uint64) {
		c := ctx.(*call)
		c.work(0)
		s(c, m.Memory(), stack)
	}
}

// noStrings answers the two sizes of an empty list.
func noStrings(_ *call, mem api.Memory, arg []uint64) uint64 {
	if !mem.WriteUint32Le(uint32(arg[0]), 0) || !mem.WriteUint32Le(uint32(arg[1]), 0) {
		return abi.ErrnoFault
	}
	return abi.ErrnoSuccess
}

// now reads one of the clocks: 0 is wall time, 1 monotonic time. CPU time does not exist.
func (c *call) now(id uint32) (t int64, ok bool) {
	switch id {
	case 0:
		return c.clock, true
	case 1:
		return c.mono, true
	}
	return 0, false
}

func clockRes(c *call, mem api.Memory, arg []uint64) uint64 {
	if _, ok := c.now(uint32(arg[0])); !ok {
		return abi.ErrnoInval
	}
	return put64(mem, arg[1], 1)
}

func clockTime(c *call, mem api.Memory, arg []uint64) uint64 {
	t, ok := c.now(uint32(arg[0]))
	if !ok {
		return abi.ErrnoInval
	}
	return put64(mem, arg[2], uint64(t))
}

func put64(mem api.Memory, addr, v uint64) uint64 {
	if !mem.WriteUint64Le(uint32(addr), v) {
		return abi.ErrnoFault
	}
	return abi.ErrnoSuccess
}

// exit is a trap whatever the code: a plugin has no business ending, and exit(0) is no answer.
func exit(c *call, _ api.Memory, arg []uint64) {
	c.stop(v1.ErrorKindTrap, "the guest called exit("+itoa(uint32(arg[0]))+")")
}

func random(c *call, mem api.Memory, arg []uint64) uint64 {
	p, ok := mem.Read(uint32(arg[0]), uint32(arg[1]))
	if !ok {
		return abi.ErrnoFault
	}
	for len(p) > 0 {
		n := min(len(p), 32<<10)
		c.work(n)
		c.fill(p[:n])
		p = p[n:]
	}
	return abi.ErrnoSuccess
}

// fdStat says that a standard stream is a character device which may be read and written.
func fdStat(_ *call, mem api.Memory, arg []uint64) uint64 {
	if e := badUnlessStdio(arg[0]); e != abi.ErrnoSuccess {
		return e
	}
	p, ok := mem.Read(uint32(arg[1]), 24)
	if !ok {
		return abi.ErrnoFault
	}
	clear(p)
	p[0] = 2                                          // filetype: character device
	binary.LittleEndian.PutUint64(p[8:], 1<<1|1<<6|8) // rights: read, write, set flags
	return abi.ErrnoSuccess
}

func fileStat(_ *call, mem api.Memory, arg []uint64) uint64 {
	if e := badUnlessStdio(arg[0]); e != abi.ErrnoSuccess {
		return e
	}
	p, ok := mem.Read(uint32(arg[1]), 64)
	if !ok {
		return abi.ErrnoFault
	}
	clear(p)
	p[16] = 2 // filetype: character device
	return abi.ErrnoSuccess
}

// seek says that a stream cannot.
func seek(_ *call, _ api.Memory, arg []uint64) uint64 {
	if uint32(arg[0]) <= 2 {
		return abi.ErrnoSpipe
	}
	return abi.ErrnoBadf
}

// read answers end of file on standard input.
func read(_ *call, mem api.Memory, arg []uint64) uint64 {
	if uint32(arg[0]) != 0 {
		return abi.ErrnoBadf
	}
	if !mem.WriteUint32Le(uint32(arg[3]), 0) {
		return abi.ErrnoFault
	}
	return abi.ErrnoSuccess
}

// write appends to the ring. It accepts everything and keeps the end.
func write(c *call, mem api.Memory, arg []uint64) uint64 {
	if fd := uint32(arg[0]); fd != 1 && fd != 2 {
		return abi.ErrnoBadf
	}
	count := uint32(arg[2])
	vectors, ok := mem.Read(uint32(arg[1]), count*8)
	if count > maxVectors {
		return abi.ErrnoInval
	} else if !ok {
		return abi.ErrnoFault
	}
	var total uint64
	for ; len(vectors) > 0; vectors = vectors[8:] {
		p, ok := mem.Read(binary.LittleEndian.Uint32(vectors), binary.LittleEndian.Uint32(vectors[4:]))
		if !ok {
			return abi.ErrnoFault
		}
		total += uint64(len(p))
		c.work(c.log.write(p))
	}
	if total > math.MaxUint32 || !mem.WriteUint32Le(uint32(arg[3]), uint32(total)) {
		return abi.ErrnoFault
	}
	return abi.ErrnoSuccess
}

// The layout of subscriptions and events in poll_oneoff.
const (
	subscriptionSize = 48
	eventSize        = 32
	tagClock         = 0
	clockAbsolute    = 1
)

// poll never waits. Subscriptions to files fail at once; otherwise the virtual clock jumps to the earliest timer, so that a guest
// that sleeps wakes up.
func poll(c *call, mem api.Memory, arg []uint64) uint64 {
	count := uint32(arg[2])
	if count == 0 || count > maxVectors {
		return abi.ErrnoInval
	}
	subs, ok := mem.Read(uint32(arg[0]), count*subscriptionSize)
	events, ok2 := mem.Read(uint32(arg[1]), count*eventSize)
	if !ok || !ok2 {
		return abi.ErrnoFault
	}
	c.work(len(subs))
	if n := pollFiles(subs, events); n > 0 {
		return put32(mem, arg[3], n)
	}
	wait := int64(math.MaxInt64)
	for s := subs; len(s) > 0; s = s[subscriptionSize:] {
		wait = min(wait, c.timer(s))
	}
	n := uint32(0)
	for s := subs; len(s) > 0; s = s[subscriptionSize:] {
		if c.timer(s) <= wait {
			n += event(events, n, s, abi.ErrnoSuccess)
		}
	}
	c.clock, c.mono = later(c.clock, wait), later(c.mono, wait)
	return put32(mem, arg[3], n)
}

func put32(mem api.Memory, addr uint64, v uint32) uint64 {
	if !mem.WriteUint32Le(uint32(addr), v) {
		return abi.ErrnoFault
	}
	return abi.ErrnoSuccess
}

func pollFiles(subs, events []byte) (n uint32) {
	for s := subs; len(s) > 0; s = s[subscriptionSize:] {
		if s[8] != tagClock {
			n += event(events, n, s, abi.ErrnoBadf)
		}
	}
	return n
}

// timer is how long until a clock subscription fires. An unknown clock counts as wall time.
func (c *call) timer(sub []byte) int64 {
	t := binary.LittleEndian.Uint64(sub[24:])
	if t > math.MaxInt64 {
		return math.MaxInt64
	}
	if binary.LittleEndian.Uint16(sub[40:])&clockAbsolute == 0 {
		return int64(t)
	}
	now, ok := c.now(binary.LittleEndian.Uint32(sub[16:]))
	if !ok {
		now = c.clock
	}
	if now < 0 {
		return int64(t)
	}
	return max(0, int64(t)-now)
}

// later adds a wait to a clock, which stops at the end of time.
func later(t, wait int64) int64 {
	if t > 0 && wait > math.MaxInt64-t {
		return math.MaxInt64
	}
	return t + wait
}

// event writes the n-th event for a subscription. The slices may overlap if the guest wants it so; that is its own affair.
func event(events []byte, n uint32, sub []byte, errno uint16) uint32 {
	user, tag := binary.LittleEndian.Uint64(sub), sub[8]
	e := events[n*eventSize:][:eventSize]
	clear(e)
	binary.LittleEndian.PutUint64(e, user)
	binary.LittleEndian.PutUint16(e[8:], errno)
	e[10] = tag
	return 1
}
