// Package meter rewrites a WebAssembly module so that it counts what it does and cannot run for ever.
//
// [Rewrite] is a pure function from bytes to bytes. It reads every section and every instruction that wazero 1.12 accepts
// (WebAssembly 2.0, tail calls, extended constant expressions, threads, exception handling with try_table, typed function
// references), refuses whatever it does not know, and injects a fuel counter. It also reports what the host needs to know about the
// original: imports, exports, limits, custom sections, and what a restored memory would not restore.
//
// # What is injected
//
//   - An import, by default "amygdala" "fuel" of type (i64) -> (i64). It becomes the last imported function, so the functions that the
//     module defines move up by one. Every function index in the module is shifted: calls, ref.func, elements, exports, start, names.
//   - A mutable i64 global behind all others, the counter, which begins at zero.
//   - Helper functions behind all others: one for each bulk instruction in use, see below, and one for each list of types of the locals
//     that a loop's check carries through the call of the import.
//   - Exports of the counter and of every mutable global, under names that start with [ReservedPrefix].
//   - Types behind all others, for these. The metered module needs multi-value, which WebAssembly 2.0 has.
//
// One thing is changed that has nothing to do with fuel: a select of floats or vectors becomes an if, because wazero 1.12 compiles such
// a select wrongly on amd64. See values.go.
//
// Each function pays at its entry, at its loop headers and where its control flow splits or joins. It looks whether the counter is
// below zero at loop headers, at the entry if it calls anything, and at least every 16,384 units of straight-line code. So at most
// that much, and a chunk of a bulk instruction, runs between two looks. When the counter is below zero the function hands it
// to the import and goes on with what that returns. The import is where the host checks the deadline and the budget, and where
// Go's garbage collector gets its chance; it panics to stop the guest.
//
// # The cost model
//
// A unit is about one simple instruction, a few tenths of a nanosecond of compiled code. The price of an instruction is static:
//
//	block, loop, end, else, nop                                     0, and 1 a value that a block type names
//	most instructions                                               1
//	vector instructions, table.get, table.set, br_table             2
//	division, remainder, square root                                8
//	branch, call, return                                            1 more for each value that moves
//	call 4, indirect call 8, call of an import                      64 more
//	atomic access                                                   16
//	memory.grow, ref.func, try_table, atomic wait and notify        64
//	throw, throw_ref                                                255
//	locals                                                          1 for every 4, at the entry
//	the frame on the call stack                                     1 for every 64 bytes of the body, at the entry
//
// Work that grows with an operand is paid for by the operand: a unit for 8 bytes of memory.fill, memory.copy and memory.init, a unit
// for an element of table.fill, table.copy, table.init and table.grow, 1,024 units for a page of memory.grow. The helpers do it in
// chunks of 64 KiB or 8,192 elements, and look at the counter before each; growth is paid for in one sum before it is tried, and
// for nothing when it must fail.
//
// A short stretch of code, up to 8 units, is paid for by the code in front of it whether control gets there or not, up to 16 units
// at a charge. That is the only overcharge. The prices are constants, so the same module with the same state and input uses the
// same fuel anywhere. Fuel is exact whenever the guest returns to the host or calls it. When a guest traps, the exported counter
// may be as old as the call that trapped, or as the last refuelling: it is still deterministic, and off by less than a slice.
//
// # Why the metered module is valid exactly when the original is
//
// Validation of a module is a conjunction of judgements: one for each declaration and one for each function body, each relative to
// the lists of types, functions, tables, memories, globals, tags and segments. Two steps, given that Rewrite accepted the original:
//
// No judgement on original parts changes. All lists only grow, at their ends, except that the list of functions grows between the
// imports and the rest. Rewrite refuses every type, function, table, memory, global, tag, segment, local and label index at or
// above the size that its list has in the original, dead code included. So every index that is left means the same entry after
// injection: unshifted ones because nothing moved below them, function indices because the shift is the order-preserving bijection
// onto the entries that are not injected. A judgement that mentions only such entries holds in the longer lists if and only if
// it holds in the original ones. This is where the check is needed: without it a body that sets global N, where the module has globals
// 0 to N-1, is invalid before and valid after, and writes the counter. The sets that are not lists: functions that ref.func may
// name are those in exports, elements and global initialisers, and injection adds none; export names stay distinct, since
// reserved ones are refused.
//
// No judgement on injected parts fails unless one on original parts did. Charges and checks are of type [] -> [], so they may stand
// between any two instructions, reachable or not, and leave the stack of every later instruction as it was. The block around a body
// has the function's results as its type and takes the function's label, at the same depth. The injected local comes behind all
// others and has a default value, as have those for selects. A select of type T becomes an if of type [T T] -> [T] behind the same
// condition, valid when both operands are of type T, as select is. A bulk instruction is replaced by a call of a helper of the same type, which consumes and gives the
// same values under the same rules. What else the validity of that instruction demands (that segment and table fit together, for
// one) is demanded by the copy of the instruction in the helper, with the same immediates: the helper is valid if and only if these
// demands are met. Its index demands were checked already. Imports, counter and exports are valid by construction; that a module's
// memory or table gets a maximum is checked against its minimum.
//
// The engine validates the original too. The tests run the official test suites, and random and mutated modules, with wazero as the
// judge of both.
package meter
