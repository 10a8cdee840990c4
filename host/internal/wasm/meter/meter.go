package meter

// DefaultModule and DefaultName say where a metered module imports its refuelling function from, unless Options says otherwise.
const (
	DefaultModule = "amygdala"
	DefaultName   = "fuel"
)

// ReservedPrefix starts every export name that Rewrite adds. A module that exports such a name itself is refused.
const ReservedPrefix = "amygdala:"

// FuelExport is the name under which the metered module exports its fuel counter, a mutable i64.
const FuelExport = ReservedPrefix + "fuel"

// Options is what the caller decides about a rewrite. The zero value means: the default import, no cap, no blocking waits.
type Options struct {
	// Module and Name are the import that a metered module calls when its fuel is below zero. Its type is
	// (i64) -> (i64): it is given the counter, a negative number of units, and answers the new counter. Whoever implements it
	// checks the deadline and the budget, and panics to stop the guest. Empty means DefaultModule and DefaultName.
	// A module that has this import itself is refused.
	Module, Name string
	// MaxMemoryPages caps a memory that the module defines: the declared maximum becomes the smaller of both, and a memory
	// without a maximum gets one. A minimum above the cap is refused. Zero leaves the declaration as it is.
	MaxMemoryPages uint32
	// MaxTableElements does the same for each table that the module defines. Table entries are eight bytes of host memory that
	// no memory cap counts. Zero leaves the declarations as they are.
	MaxTableElements uint32
	// AllowWait accepts memory.atomic.wait32 and wait64, which can block a host thread for ever without using fuel.
	AllowWait bool
}

// Result is a metered module and what its original says about itself. Its slices and strings do not alias the input, except for
// Custom.
type Result struct {
	// Wasm is the metered binary. Of the custom sections it keeps only the name section: the others speak of byte offsets that
	// have moved, or are data for the host, and are found in Custom.
	Wasm []byte
	// FuelGlobal is the export name of the fuel counter, always FuelExport.
	FuelGlobal string
	// Globals lists the mutable globals that the original defines or imports, the fuel counter apart, each exported under a
	// reserved name so that it can be saved and restored.
	Globals []Global
	// Imports, in their order, without the refuelling function.
	Imports []Import
	// Exports, in their order, without those that Rewrite added.
	Exports []Export
	// Memory is the module's memory, or nil.
	Memory *Memory
	// Tables, imported ones first.
	Tables []Table
	// HasStart says that the module has a start function, which runs during instantiation.
	HasStart bool
	// Custom holds the custom sections of the original in their order, the name section included; Data aliases the input.
	Custom []Section
	// Unrestorable lists, sorted and without repetition, why a restored memory and restored globals are not the whole state of an
	// instance of this module: it writes tables, drops segments, or has state that Go code cannot read. Empty means that they are,
	// as long as the memory did not grow, which only the caller can notice.
	Unrestorable []string
	// Features names what the module uses beyond WebAssembly 2.0: FeatureThreads and so on, sorted.
	Features []string
	// Functions and Loops count what was metered: function bodies, and loops in them.
	Functions, Loops int
	// Weight estimates what compiling costs beyond the size of the code, in units of about six nanoseconds: wazero's compiler needs
	// time that grows with the square of a function's blocks, and with the product of its blocks and its locals or nested loops.
	Weight uint64
}

// Names of features in Result.Features, in the words of wazero's feature flags.
const (
	FeatureThreads       = "threads"
	FeatureTailCall      = "tail-call"
	FeatureExtendedConst = "extended-const"
	FeatureExceptions    = "exception-handling"
	FeatureTypedRefs     = "typed-function-references"
)

// Kind says what an import or an export is.
type Kind byte

// The kinds, as the binary format numbers them.
const (
	KindFunc Kind = iota
	KindTable
	KindMemory
	KindGlobal
	KindTag
)

// String gives the word of the text format.
func (k Kind) String() string {
	switch k {
	case KindFunc:
		return "func"
	case KindTable:
		return "table"
	case KindMemory:
		return "memory"
	case KindGlobal:
		return "global"
	case KindTag:
		return "tag"
	}
	return "unknown"
}

// Global is a mutable global of the original.
type Global struct {
	// Name is the reserved export name, ReservedPrefix + "global:" + Index.
	Name string
	// Index in the module's global index space.
	Index uint32
	Type  ValueType
	// Imported says that the value lives in another module.
	Imported bool
	// Restorable says that 64 bits hold the whole value and that it means the same later: the four number types.
	Restorable bool
}

// Import is one import of the original.
type Import struct {
	Module, Name string
	Kind         Kind
	// Func is the type of a function or a tag, Value that of a global or a table's elements.
	Func  FuncType
	Value ValueType
	// Mutable is for globals.
	Mutable bool
}

// Export is one export of the original.
type Export struct {
	Name string
	Kind Kind
	// Func is the type of a function or a tag, Value that of a global or a table's elements.
	Func  FuncType
	Value ValueType
	// Mutable is for globals.
	Mutable bool
}

// Memory describes the linear memory, in pages of 64 KiB, with Max as it is in the metered module.
type Memory struct {
	Min, Max uint32
	// HasMax is false when there is no maximum but the format's own 65,536 pages.
	HasMax, Shared, Imported bool
}

// Table describes one table, with Max as it is in the metered module.
type Table struct {
	Type             ValueType
	Min, Max         uint32
	HasMax, Imported bool
}

// Section is a custom section.
type Section struct {
	Name string
	Data []byte
}

// ValueType is the type of a value: one of the constants below, or a typed reference, which has no name in Go.
type ValueType uint64

// The value types that the binary format writes as one byte.
const (
	I32       ValueType = 0x7f
	I64       ValueType = 0x7e
	F32       ValueType = 0x7d
	F64       ValueType = 0x7c
	V128      ValueType = 0x7b
	FuncRef   ValueType = 0x70
	ExternRef ValueType = 0x6f
	ExnRef    ValueType = 0x69
)

// FuncType is the type of a function.
type FuncType struct {
	Params, Results []ValueType
}
