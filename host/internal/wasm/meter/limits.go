package meter

// Limits on what one module may declare. The format allows more than any compiler emits, and some of what it allows takes hundreds of
// bytes of memory for a byte of input, here or in wazero: 70 KB of code with 10,000 globals and 10,000 calls made it take 16 GB and 40
// seconds. The limits are those of the browsers' JS API, which every toolchain stays within, or lower where nothing real comes near.
const (
	maxTypes    = 1 << 16
	maxImports  = 1000 // wazero walks the list at every call of an import
	maxFuncs    = 1 << 18
	maxTables   = 100
	maxTags     = 1 << 12
	maxGlobals  = 1 << 14
	maxExports  = 1 << 17
	maxElems    = 1 << 16
	maxDatas    = 1 << 17
	maxCustoms  = 1 << 14
	maxBody     = 7_654_321
	maxParams   = 1000
	maxResults  = 1000
	maxLocals   = 50_000
	maxStack    = 1 << 17 // values on the stack of one function
	maxCharges  = 1 << 17 // places where control splits or joins, in one function
	maxElements = 10_000_000
	maxPages    = 1 << 16

	// Sums over a whole module, for which wazero keeps tens of bytes each.
	maxAllLocals  = 1 << 22
	maxAllMembers = 1 << 20
	// maxReloads bounds, in one function, the product of its calls and the mutable globals: after each call wazero reloads each global,
	// in 165 bytes of intermediate code.
	maxReloads = 1 << 21
)
