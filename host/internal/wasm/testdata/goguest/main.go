// Command goguest is the Go plugin that the engine's tests run: the first byte of a request says what to do.
package main

import (
	"fmt"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unsafe"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

func main() {}

var (
	in      []byte
	out     []byte
	counter byte
	kept    [][]byte
)

//go:wasmexport amygdala_abi_v1
func marker() {}

//go:wasmexport amygdala_alloc
func alloc(n uint32) uint32 {
	if int(n) > cap(in) {
		in = make([]byte, n)
	}
	in = in[:max(1, n)]
	return uint32(uintptr(unsafe.Pointer(&in[0])))
}

//go:wasmexport amygdala_call
func call(op, ptr, n uint32) uint64 {
	req := unsafe.Slice((*byte)(unsafe.Pointer(uintptr(ptr))), n)
	out = append(out[:0], run(req[0], req[1:])...)
	return uint64(uintptr(unsafe.Pointer(&out[0])))<<32 | uint64(len(out))
}

func run(what byte, arg []byte) []byte {
	switch what {
	case 'e': // echo
		return append([]byte{'='}, arg...)
	case 'd': // decode a request and answer with an empty verdict
		return decode(arg)
	case 'c': // count calls
		counter++
		return []byte{counter}
	case 'p':
		panic("the guest is unhappy")
	case 'n':
		return nilDeref(nil)
	case 'x':
		os.Exit(int(arg[0]))
	case 's':
		start := time.Now()
		time.Sleep(time.Hour)
		return []byte(time.Since(start).String())
	case 't':
		return fmt.Append(nil, time.Now().UnixNano())
	case 'r':
		return []byte(strings.Repeat("r", recurse(1<<14)))
	case 'R':
		return []byte(fmt.Sprint(recurse(1 << 40)))
	case 'a': // allocate for ever
		for {
			kept = append(kept, make([]byte, 1<<20))
			kept[len(kept)-1][0] = 1
		}
	case 'g': // grow the heap by 8 MiB
		kept = append(kept, make([]byte, 8<<20))
		return []byte{byte(len(kept))}
	case 'l':
		for range 1 << 14 {
			fmt.Fprintln(os.Stderr, strings.Repeat("flood ", 10))
		}
		return []byte("flooded")
	case 'w':
		runtime.GC()
		return []byte("collected")
	case 'm': // a regexp over the argument
		return fmt.Append(nil, len(words.FindAll(arg, -1)))
	case 'b':
		return byteLoop(arg)
	case 'W':
		return warm()
	case 'S':
		for {
		}
	}
	return []byte("unknown")
}

// warm does what the SDK does before the snapshot: a call's work once, room in the heap, and no collector.
func warm() []byte {
	text := []byte(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200))
	req := v1.DetectRequest{Kind: v1.PayloadKindDoc, Views: []*v1.View{{Name: "text", Text: text}}}
	for range 3 {
		in = make([]byte, 16<<10)
		decode(req.AppendProto(nil))
	}
	room := make([]byte, 4<<20)
	runtime.KeepAlive(room)
	debug.SetMemoryLimit(40 << 20)
	debug.SetGCPercent(-1)
	runtime.GC()
	return []byte("warm")
}

var words = regexp.MustCompile(`(?i)\b(ignore|forget|disregard)\s+(all|any)?\s*(previous|prior)\s+instructions?\b`)

func decode(arg []byte) []byte {
	var req v1.DetectRequest
	if err := req.UnmarshalProto(arg); err != nil {
		return []byte(err.Error())
	}
	v := v1.Verdict{Findings: []*v1.Finding{{Threat: v1.ThreatSecret, Severity: v1.SeverityLow, Confidence: 0.5, End: uint32(len(req.Views))}}}
	return v.AppendProto(nil)
}

// byteLoop is the tightest loop the tests measure.
func byteLoop(arg []byte) []byte {
	var sum byte
	for range 1 << 4 {
		for _, b := range arg {
			sum = sum*31 + b
		}
	}
	return []byte{sum}
}

//go:noinline
func nilDeref(p *[1 << 20]byte) []byte { return p[:] }

//go:noinline
func recurse(n int) int {
	if n == 0 {
		return 0
	}
	return recurse(n-1) + 1
}
