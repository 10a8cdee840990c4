// Package abi is the contract between the host and its plugins: version, exports, imports, caps and the error type. The
// messages themselves are in abi/v1; ABI.md tells all of it to someone who writes a plugin in another language.
//
// A plugin is one WebAssembly module. It exports a memory and the functions below, imports nothing but a fixed part of WASI
// preview 1 that does nothing (see Imports), and answers bytes with bytes:
//
//	amygdala_alloc(len) -> ptr               the host asks for room and writes a Request there
//	amygdala_call(op, ptr, len) -> ptr<<32|len   the guest answers with a Response in its memory
//
// The package depends on the standard library alone, and on little of it, because every guest carries it.
package abi

// Version is the major version of the contract. Within a version fields, enum values and ops are only ever added.
const Version = 1

// Revision counts what was added within Version. Each field, value and op added after revision 0 says in its comment which revision it
// came with; see "Growth" in ABI.md.
const Revision = 0

// What a module exports. Beside these it must export its linear memory as ExportMemory.
const (
	// ExportMemory is the linear memory that requests and answers live in.
	ExportMemory = "memory"
	// ExportMarker, () -> (), says which contract the module is written for. It is never called.
	ExportMarker = "amygdala_abi_v1"
	// ExportAlloc, (i32) -> i32, returns the address of room for that many bytes, valid until the next ExportCall has returned.
	ExportAlloc = "amygdala_alloc"
	// ExportCall, (op i32, ptr i32, len i32) -> i64, handles one Request and returns ptr<<32|len of one Response.
	ExportCall = "amygdala_call"
	// ExportInitialize, () -> (), is optional: the start of a WASI reactor, called once before anything else.
	ExportInitialize = "_initialize"
	// MarkerPrefix begins the marker of every version, so that a module for another one can be told so.
	MarkerPrefix = "amygdala_abi_v"
)

// The custom sections of a packed plugin.
const (
	// SectionManifest holds the Manifest in the JSON mapping. At most one.
	SectionManifest = "amygdala.manifest"
	// SectionAssetPrefix followed by a name begins the section name of one asset.
	SectionAssetPrefix = "amygdala.asset/"
)

// Caps that hold whatever the policy says. Sizes are in bytes.
const (
	// MaxErrorMessage is how much of Error.message is kept.
	MaxErrorMessage = 1 << 10
	// MaxReason is the longest Finding.reason.
	MaxReason = 256
	// MaxState is the largest Verdict.state, HTTPRequest.state and AuthStep.state.
	MaxState = 64 << 10
	// MaxStepState is the largest StepAnswer.state.
	MaxStepState = 1 << 20
	// MaxTraceText is the longest Trace.text.
	MaxTraceText = 2 << 10
	// MaxActions is how many actions one StepAnswer may have.
	MaxActions = 1024
	// MaxFindings is how many findings one Verdict may have.
	MaxFindings = 256
	// MaxQuestion is the longest Question.prompt.
	MaxQuestion = 64 << 10
	// MaxAnswer is the largest Question.max_answer_bytes.
	MaxAnswer = 64 << 10
	// MaxWarnings is how many warnings ConfigureResponse may have.
	MaxWarnings = 64
	// MaxWarning is how much of one warning is kept.
	MaxWarning = 512
	// MaxName is the longest name of a plugin or asset.
	MaxName = 64
	// MaxIdentifier is the longest name of a signature, topic, model or tool, and the longest Error.op and Error.subject.
	MaxIdentifier = 256
	// MaxSummary is the longest one-line text in a manifest: summary, license, homepage.
	MaxSummary = 256
	// MaxManifest is the largest packed manifest.
	MaxManifest = 64 << 10
	// MaxAssets is how many assets a packed plugin may carry.
	MaxAssets = 64
)

// Limits of one call where neither manifest nor policy says otherwise.
const (
	// DefaultMemoryPages is in pages of 64 KiB: 64 MiB. A Go guest needs at least 40 pages to start.
	DefaultMemoryPages = 1024
	// DefaultFuel is in units of about one Wasm instruction.
	DefaultFuel = 2_000_000_000
	// DefaultWallMillis is in milliseconds of real time.
	DefaultWallMillis = 1000
	// DefaultInputBytes is the largest request.
	DefaultInputBytes = 16 << 20
	// DefaultOutputBytes is the largest answer.
	DefaultOutputBytes = 1 << 20
	// DefaultLogBytes is how much is kept of what was written to stdout and stderr.
	DefaultLogBytes = 16 << 10
)

// PageSize is the size of a WebAssembly memory page in bytes.
const PageSize = 64 << 10
