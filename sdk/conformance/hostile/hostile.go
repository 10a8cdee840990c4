// Package hostile holds guests that do what a plugin must not. Each is a few hundred bytes of hand-written Wasm around one offence, and
// otherwise answers like a well-behaved detector, so that it fails for the reason it was made for. The conformance suite must refuse
// every one of them, and pass Model.
package hostile

import (
	"math"
	"slices"
	"strings"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// Guest is one hostile module and what the suite must say about it.
type Guest struct {
	// Name is the offence.
	Name string
	Wasm []byte
	// Case is the conformance case that must fail.
	Case string
	// Says is part of the message that must come with it: the reason, not just the failure.
	Says string
}

// Function indices of every guest: three imports, the three exports, then whatever the offence needs.
const (
	procExit = iota
	randomGet
	fdWrite
	markerFunc
	allocFunc
	callFunc
	extraFunc
)

// Type indices of every guest.
const (
	typVoid = iota // () -> ()
	typAlloc
	typCall
	typExit
	typTwo  // (i32, i32) -> i32
	typFour // (i32, i32, i32, i32) -> i32
)

// Where the canned answers lie, and the memory the offences scribble on.
const (
	scratch  = 512
	answers  = 1024
	requests = 64 << 10
	pages    = 40
)

// canned is a guest's fixed text.
type canned struct {
	m        *module
	encoding v1.Encoding
	at       int
	size     map[string]int64
}

// put stores an answer in the guest's encoding.
func (c *canned) put(name string, answer *v1.Response) {
	if c.encoding == v1.EncodingJSON {
		c.raw(name, answer.AppendJSON(nil))
		return
	}
	c.raw(name, answer.AppendProto(nil))
}

// raw stores the bytes of an answer and remembers them as ptr<<32|len.
func (c *canned) raw(name string, b []byte) {
	c.m.data = append(c.m.data, segment{c.at, b})
	c.size[name] = int64(c.at)<<32 | int64(len(b))
	c.at += (len(b) + 15) &^ 15
}

func (c *canned) answer(name string) []byte { return ret(i64const(c.size[name])) }

// manifest is what every guest says of itself unless lying is its offence.
func manifest(encoding v1.Encoding) *v1.Manifest {
	return &v1.Manifest{
		Name: "hostile", Version: "1.0.0", Kind: v1.PluginKindDetector, ABI: abi.Version, Encoding: encoding,
		Ops: []v1.Op{v1.OpDescribe, v1.OpConfigure, v1.OpDetect}, Threats: []v1.Threat{v1.ThreatPromptInjection},
		Wake: &v1.Wake{Always: true}, Limits: &v1.Limits{MemoryPages: 2 * pages, Fuel: 100_000_000}, // fuel, so that runaways end after the same number of steps everywhere
	}
}

// finding is a well-formed accusation.
func finding() *v1.Finding {
	return &v1.Finding{Threat: v1.ThreatPromptInjection, Severity: v1.SeverityHigh, Confidence: 0.9}
}

// build makes a guest whose DETECT runs body, which must end in an answer. edit changes anything else.
func build(body func(c *canned) []byte, edit ...func(m *module, c *canned)) []byte {
	return buildIn(v1.EncodingProtobuf, body, edit...)
}

// buildIn is build for a guest that speaks the encoding.
func buildIn(encoding v1.Encoding, body func(c *canned) []byte, edit ...func(m *module, c *canned)) []byte {
	m := &module{
		types: []funcType{{}, {[]byte{i32}, []byte{i32}}, {[]byte{i32, i32, i32}, []byte{i64}}, {[]byte{i32}, nil},
			{[]byte{i32, i32}, []byte{i32}}, {[]byte{i32, i32, i32, i32}, []byte{i32}}},
		imports: []importFunc{{"wasi_snapshot_preview1", "proc_exit", typExit}, {"wasi_snapshot_preview1", "random_get", typTwo},
			{"wasi_snapshot_preview1", "fd_write", typFour}},
		funcs:   []function{{typ: typVoid}, {typ: typAlloc, body: i32const(requests)}, {typ: typCall}},
		pages:   [2]int{pages, 1024},
		exports: []export{{abi.ExportMarker, funcKind, markerFunc}, {abi.ExportAlloc, funcKind, allocFunc}, {abi.ExportCall, funcKind, callFunc}, {abi.ExportMemory, memoryKind, 0}},
	}
	c := &canned{m: m, encoding: encoding, at: answers, size: map[string]int64{}}
	c.put("describe", &v1.Response{Manifest: manifest(encoding)})
	c.put("configured", &v1.Response{Configured: &v1.ConfigureResponse{}})
	c.put("clean", &v1.Response{Verdict: &v1.Verdict{}})
	c.put("accuse", &v1.Response{Verdict: &v1.Verdict{Findings: []*v1.Finding{finding()}}})
	c.put("unsupported", &v1.Response{Error: &v1.Error{Kind: v1.ErrorKindUnsupported, Op: "dispatch"}})
	for _, e := range edit {
		e(m, c)
	}
	m.funcs[callFunc-markerFunc].body = join(
		onOp(v1.OpDescribe, c.answer("describe")), onOp(v1.OpConfigure, c.answer("configured")), onOp(v1.OpDetect, body(c)), c.answer("unsupported"))
	packed, err := guest.Pack(m.bytes(), manifest(encoding), nil)
	if err != nil {
		panic("hostile: " + err.Error()) // the manifest is fixed: this cannot depend on the offence
	}
	return packed
}

func onOp(o v1.Op, body []byte) []byte {
	return join(localGet(0), i32const(int32(o)), i32eq, when(body))
}

func clean(c *canned) []byte { return c.answer("clean") }

// Model is a guest with no offence: it finds nothing and keeps the contract.
func Model() []byte { return build(clean) }

// Accuser is Model with another verdict: it accuses every payload, within the contract.
func Accuser() []byte { return build(func(c *canned) []byte { return c.answer("accuse") }) }

// All returns the whole set.
func All() []Guest {
	return slices.Concat(runaways(), liars(), misspellers(), intruders())
}

// runaways use more than they were given.
func runaways() []Guest {
	exponential := func(m *module, _ *canned) {
		m.funcs = append(m.funcs, function{typ: typExit, body: join(localGet(0), when(
			localGet(0), i32const(-1), i32add, call(extraFunc), localGet(0), i32const(-1), i32add, call(extraFunc)))})
	}
	endless := func(m *module, _ *canned) {
		m.funcs = append(m.funcs, function{typ: typVoid, body: loop(again)})
		m.start = extraFunc + 1
	}
	return []Guest{
		{"spin", build(func(*canned) []byte { return join(loop(again), unreachable) }), "contract.detect", "fuel"},
		{"loop-free-recursion", build(func(c *canned) []byte { return join(i32const(64), call(extraFunc), clean(c)) }, exponential), "contract.detect", "fuel"},
		{"memory-fill-loop", build(func(*canned) []byte {
			return join(loop(i32const(requests), i32const(0), i32const((pages-1)*abi.PageSize), memoryFill, again), unreachable)
		}), "contract.detect", "fuel"},
		{"grow-to-the-cap", build(func(c *canned) []byte {
			return join(loop(i32const(16), memoryGrow, i32const(-1), i32ne, againIf), clean(c))
		}), "budget.memory", "memory"},
		{"log-flood", build(logFlood), "budget.log", "log"},
		{"endless-start", build(clean, endless), "load.start", "fuel"},
	}
}

// logFlood writes 64 KiB to stdout sixteen times.
func logFlood(c *canned) []byte {
	iovec := join(i32const(scratch), i32const(requests), op(0x36, 2, 0), i32const(scratch+4), i32const(64<<10), op(0x36, 2, 0))
	write := join(i32const(1), i32const(scratch), i32const(1), i32const(scratch+8), call(fdWrite), drop)
	count := join(load8(scratch+16), i32const(1), i32add)
	return join(iovec, loop(write, store8(scratch+16, count), load8(scratch+16), i32const(16), i32ne, againIf), clean(c))
}

// liars answer what is not so, or what depends on what they must not know.
func liars() []Guest {
	answerWith := func(r *v1.Response) []byte {
		return build(func(c *canned) []byte { c.put("special", r); return c.answer("special") })
	}
	verdict := func(edit func(f *v1.Finding)) []byte {
		f := finding()
		edit(f)
		return answerWith(&v1.Response{Verdict: &v1.Verdict{Findings: []*v1.Finding{f}}})
	}
	raw := func(packed int64) []byte { return build(func(*canned) []byte { return ret(i64const(packed)) }) }
	lie := func(m *module, c *canned) {
		other := manifest(v1.EncodingProtobuf)
		other.Version = "9.9.9"
		c.put("describe", &v1.Response{Manifest: other})
	}
	firstTime := join(load8(scratch), op(0x45)) // i32.eqz
	return []Guest{
		{"output-of-4-GiB", raw(answers<<32 | 0xffffffff), "contract.detect", "output"},
		{"pointer-out-of-range", raw(-4096<<32 | 16), "contract.detect", "memory"},
		{"empty-answer", raw(0), "contract.detect", "empty"},
		{"describe-that-lies", build(clean, lie), "load.describe", "version"},
		{"unknown-enum", verdict(func(f *v1.Finding) { f.Threat = 77 }), "contract.detect", "threat"},
		{"undeclared-threat", verdict(func(f *v1.Finding) { f.Threat = v1.ThreatSSRF }), "contract.detect", "ssrf"},
		{"range-outside-the-view", verdict(func(f *v1.Finding) { f.Start, f.End = 0, math.MaxUint32 }), "contract.detect", "view"},
		{"confidence-above-1", verdict(func(f *v1.Finding) { f.Confidence = 7 }), "contract.detect", "confidence"},
		{"error-kind-of-the-host", answerWith(&v1.Response{Error: &v1.Error{Kind: v1.ErrorKindCanceled}}), "contract.detect", "only the host"},
		{"not-a-verdict", answerWith(&v1.Response{Configured: &v1.ConfigureResponse{}}), "contract.detect", "verdict"},
		{"state-kept-between-calls", build(func(c *canned) []byte {
			return join(firstTime, when(store8(scratch, i32const(1)), clean(c)), c.answer("accuse"))
		}), "determinism.state", "earlier call"},
		{"non-determinism", build(func(c *canned) []byte {
			return join(i32const(scratch), i32const(1), call(randomGet), drop, load8(scratch), i32const(1), op(0x71), when(c.answer("accuse")), clean(c))
		}), "determinism.seed", "seed"},
		{"table-writes", build(tableWrites, func(m *module, _ *canned) { m.table, m.elems = 1, []int{allocFunc} }), "isolation.reset", "table"},
	}
}

// tableWrites answers by a table entry that it clears, which a copy of memory and globals would not bring back.
func tableWrites(c *canned) []byte {
	cleared := join(i32const(0), op(0x25, 0), op(0xd1)) // table.get 0, ref.is_null
	return join(cleared, when(c.answer("accuse")), i32const(0), refNull, tableSet, clean(c))
}

// intruders try to leave the sandbox, or to come back from the dead.
func intruders() []Guest {
	firstTime := join(load8(scratch), op(0x45))
	return []Guest{
		{"exit-0", build(func(*canned) []byte { return join(i32const(0), call(procExit), unreachable) }), "contract.detect", "exit"},
		{"trap-then-reuse", build(func(c *canned) []byte {
			return join(firstTime, when(store8(scratch, i32const(1)), unreachable), clean(c))
		}), "contract.detect", "trap"},
		{"trap-in-initialize", build(clean, func(m *module, _ *canned) {
			m.funcs = append(m.funcs, function{typ: typVoid, body: unreachable})
			m.exports = append(m.exports, export{abi.ExportInitialize, funcKind, extraFunc})
		}), "load.start", "trap"},
		{"unknown-import", build(clean, func(m *module, _ *canned) { m.imports[procExit] = importFunc{"env", "system", typExit} }), "load.module", "env.system"},
		{"wrong-export-types", build(clean, func(m *module, _ *canned) { m.exports[1].idx = markerFunc }), "load.module", abi.ExportAlloc},
		{"another-abi", build(clean, func(m *module, _ *canned) { m.exports[0].name = abi.MarkerPrefix + "7" }), "load.module", abi.ExportMarker},
		{"valid-only-by-injection", build(func(c *canned) []byte {
			return join(i64const(math.MaxInt64), globalSet(0), clean(c)) // there is no global 0, until a meter adds one
		}), "load.module", "global"},
		{"not-wasm", []byte("\x7fELF, or so"), "load.package", "WebAssembly"},
	}
}

// Refused checks the suite's answer to g: passed is the report's verdict, failure looks up the message of a failed case. It returns the
// message, or what was expected instead.
func (g Guest) Refused(passed bool, failure func(id string) (message string, failed bool)) (ok bool, why string) {
	if passed {
		return false, "the suite passed it"
	}
	message, failed := failure(g.Case)
	switch {
	case !failed:
		return false, "case " + g.Case + " did not fail"
	case !strings.Contains(message, g.Says):
		return false, "failed for another reason than " + g.Says + ": " + message
	}
	return true, message
}
