package wasm

import (
	"reflect"
	"unsafe"

	"github.com/tetratelabs/wazero/api"
)

// keepStack is the largest call stack an idle instance keeps. wazero never shrinks one.
const keepStack = 64 << 10

// stackProbe reports the size of the call stack a wazero function runs on, or nil when this wazero does not show it. wazero doubles
// a full stack, copies it and gives up at 80 MB only; it has no setting for less. Its field is read, never written.
func stackProbe(f api.Function) func() int {
	v := reflect.ValueOf(f)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	field, ok := v.Elem().Type().FieldByName("stack")
	if !ok || field.Type != reflect.TypeFor[[]byte]() {
		return nil
	}
	stack := (*[]byte)(unsafe.Add(v.UnsafePointer(), field.Offset))
	return func() int { return len(*stack) }
}

// deep says that an earlier call left a stack that is not worth keeping.
func (e entry) deep() bool { return e.depth != nil && e.depth() > keepStack }

// memoryBuffer returns the slice in which wazero keeps a memory's bytes, or nil when this wazero keeps it elsewhere. It is how a
// memory that grew is made as small as its snapshot again: see instance.shrink.
func memoryBuffer(m api.Memory) *[]byte {
	v := reflect.ValueOf(m)
	if v.Kind() != reflect.Pointer || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	field := v.Elem().FieldByName("Buffer")
	if !field.IsValid() || !field.CanAddr() || !field.Addr().CanInterface() {
		return nil
	}
	buffer, _ := field.Addr().Interface().(*[]byte)
	return buffer
}
