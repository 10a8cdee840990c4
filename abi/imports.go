package abi

// ImportModule is the only module a plugin may import from.
const ImportModule = "wasi_snapshot_preview1"

// ValueType is the type of a parameter or result, as WebAssembly encodes it.
type ValueType byte

// The value types that occur in the contract.
const (
	I32 ValueType = 0x7f
	I64 ValueType = 0x7e
)

// String returns the name in the text format.
func (t ValueType) String() string {
	if t == I64 {
		return "i64"
	}
	return "i32"
}

// Import is a function that a plugin may import from ImportModule. All of them are inert.
type Import struct {
	Name    string
	Params  []ValueType
	Results []ValueType
	// Does says what the host's stub does, in half a sentence.
	Does string
}

// The errno values that the stubs answer with.
const (
	ErrnoSuccess = 0
	ErrnoBadf    = 8
	ErrnoFault   = 21
	ErrnoInval   = 28
	ErrnoSpipe   = 70
)

const (
	doesNothing = "succeeds and does nothing"
	needsFile   = "answers 8 (badf): there are no files"
	onStdio     = "succeeds for descriptors 0 to 2 and does nothing; answers 8 (badf) for others"
	onStream    = "answers 70 (spipe) for descriptors 0 to 2, which are streams; 8 (badf) for others"
)

// imports lists what Go (wasip1), C (wasi-libc) and AssemblyScript need to start: parameters as "i" for i32 and "l" for i64.
var imports = [...]struct{ name, params, does string }{
	{"args_get", "ii", doesNothing},
	{"args_sizes_get", "ii", "writes two zeros: no arguments"},
	{"clock_res_get", "ii", "writes 1 (ns) for clocks 0 and 1; answers 28 (inval) for others"},
	{"clock_time_get", "ili", "writes the virtual clock: 0 (wall time) starts at Request.clock_unix_nanos, 1 (monotonic) goes on from the snapshot, and only poll_oneoff moves them"},
	{"environ_get", "ii", doesNothing},
	{"environ_sizes_get", "ii", "writes two zeros: no environment"},
	{"fd_advise", "illi", needsFile},
	{"fd_allocate", "ill", needsFile},
	{"fd_close", "i", onStdio},
	{"fd_datasync", "i", onStdio},
	{"fd_fdstat_get", "ii", "describes descriptors 0 to 2 as character devices; answers 8 (badf) for others"},
	{"fd_fdstat_set_flags", "ii", onStdio},
	{"fd_fdstat_set_rights", "ill", needsFile},
	{"fd_filestat_get", "ii", "describes descriptors 0 to 2 as character devices; answers 8 (badf) for others"},
	{"fd_filestat_set_size", "il", needsFile},
	{"fd_filestat_set_times", "illi", needsFile},
	{"fd_pread", "iiili", needsFile},
	{"fd_prestat_dir_name", "iii", needsFile},
	{"fd_prestat_get", "ii", needsFile},
	{"fd_pwrite", "iiili", needsFile},
	{"fd_read", "iiii", "reads 0 bytes (end of file) from descriptor 0; answers 8 (badf) for others"},
	{"fd_readdir", "iiili", needsFile},
	{"fd_renumber", "ii", needsFile},
	{"fd_seek", "ilii", onStream},
	{"fd_sync", "i", onStdio},
	{"fd_tell", "ii", onStream},
	{"fd_write", "iiii", "keeps the last bytes written to descriptors 1 and 2, up to the log limit, for error reports; answers 8 (badf) for others"},
	{"path_create_directory", "iii", needsFile},
	{"path_filestat_get", "iiiii", needsFile},
	{"path_filestat_set_times", "iiiilli", needsFile},
	{"path_link", "iiiiiii", needsFile},
	{"path_open", "iiiiillii", needsFile},
	{"path_readlink", "iiiiii", needsFile},
	{"path_remove_directory", "iii", needsFile},
	{"path_rename", "iiiiii", needsFile},
	{"path_symlink", "iiiii", needsFile},
	{"path_unlink_file", "iii", needsFile},
	{"poll_oneoff", "iiii", "returns at once: the virtual clock jumps to the earliest timer; descriptors answer 8 (badf)"},
	{"proc_exit", "i", "is a trap, whatever the code; it has no result"},
	{"random_get", "ii", "fills the buffer with bytes that follow from Request.seed alone"},
	{"sched_yield", "", doesNothing},
}

// Imports returns every function a plugin may import, sorted by name. A module that imports anything else, or one of these with
// another type, is refused.
func Imports() []Import {
	list := make([]Import, len(imports))
	for i, f := range imports {
		list[i] = Import{Name: f.name, Params: valueTypes(f.params), Results: []ValueType{I32}, Does: f.does}
		if f.name == "proc_exit" {
			list[i].Results = nil
		}
	}
	return list
}

func valueTypes(s string) []ValueType {
	types := make([]ValueType, len(s))
	for i := range s {
		types[i] = I32
		if s[i] == 'l' {
			types[i] = I64
		}
	}
	return types
}
