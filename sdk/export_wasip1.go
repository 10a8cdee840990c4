package sdk

//lint:file-ignore U1000 what is here is exported to the host by go:wasmexport

import (
	"errors"
	"unsafe"

	"github.com/amygdala-host/amygdala/abi"
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
	req := request(ptr, size)
	if req == nil && size > 0 {
		return pack(encode(nil, abi.E("call", v1.ErrorKindInvalid, "request", errors.New("a request must lie in the room amygdala_alloc gave"))))
	}
	return pack(Dispatch(v1.Op(op), req))
}

// request is the memory alloc handed out last, if that is what the host means.
func request(ptr, size uint32) []byte {
	if len(in) == 0 || ptr != uint32(uintptr(unsafe.Pointer(&in[0]))) || int(size) > len(in) {
		return nil
	}
	return in[:size]
}

func pack(b []byte) uint64 {
	if len(b) == 0 {
		return 0
	}
	return uint64(uintptr(unsafe.Pointer(&b[0])))<<32 | uint64(len(b))
}
