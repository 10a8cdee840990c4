package sdk

import (
	"unsafe"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// in is where the host writes a request. It is kept, so that a warmed plugin reuses it.
var in []byte

//go:wasmexport amygdala_abi_v1
func abiV1() {}

//go:wasmexport amygdala_alloc
func alloc(size uint32) uint32 {
	n := max(1, int(size))
	if n > cap(in) {
		in = make([]byte, n)
	}
	in = in[:n]
	return uint32(uintptr(unsafe.Pointer(&in[0])))
}

//go:wasmexport amygdala_call
func call(op int32, ptr, size uint32) uint64 {
	var req []byte
	if size > 0 {
		req = unsafe.Slice((*byte)(unsafe.Pointer(uintptr(ptr))), size)
	}
	resp := Dispatch(v1.Op(op), req)
	if len(resp) == 0 {
		return 0
	}
	return uint64(uintptr(unsafe.Pointer(&resp[0])))<<32 | uint64(len(resp))
}
