package v1

import (
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// MaxDepth is how deeply messages may be nested inside each other, in both encodings. The deepest message of the contract itself
// stays well below it, so only hostile input ever meets it.
const MaxDepth = 32

// The wire types of protobuf. Groups (3 and 4) are not part of proto3 and are refused.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// maxFieldNumber is the largest field number of protobuf.
const maxFieldNumber = 1<<29 - 1

const (
	reasonTruncated = "the bytes end in the middle of a field"
	reasonVarint    = "a varint is longer than 64 bits"
	reasonTag       = "a field tag is malformed"
	reasonWireType  = "a field has a wire type that proto3 does not use"
	reasonUTF8      = "a string is not valid UTF-8"
	reasonDepth     = "messages are nested too deeply"
)

// decoder walks the fields of one message. The first failure sticks in err; after it every method returns zero values.
type decoder struct {
	b   []byte
	pos int
	tag uint32
	err *DecodeError
}

func newDecoder(b []byte, depth int) decoder {
	d := decoder{b: b}
	if depth > MaxDepth {
		d.fail(reasonDepth)
	}
	return d
}

func (d *decoder) fail(reason string) {
	if d.err == nil {
		d.err = &DecodeError{Reason: reason}
	}
}

// asError turns a nil *DecodeError into a nil error.
func asError(err *DecodeError) error {
	if err == nil {
		return nil
	}
	return err
}

// next reads a tag; false at the end and after a failure.
func (d *decoder) next() bool {
	if d.err != nil || d.pos >= len(d.b) {
		return false
	}
	t := d.varint()
	if t>>3 == 0 || t>>3 > maxFieldNumber {
		d.fail(reasonTag)
		return false
	}
	d.tag = uint32(t)
	return true
}

// varint is a call and not code in place: guests carry one copy of it.
//
//go:noinline
func (d *decoder) varint() uint64 {
	if d.pos < len(d.b) && d.b[d.pos] < 0x80 {
		d.pos++
		return uint64(d.b[d.pos-1])
	}
	return d.longVarint()
}

func (d *decoder) longVarint() uint64 {
	var v uint64
	for i := uint(0); i < 10; i++ {
		if d.pos >= len(d.b) {
			d.fail(reasonTruncated)
			return 0
		}
		c := d.b[d.pos]
		d.pos++
		if i == 9 && c > 1 {
			break
		}
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			return v
		}
	}
	d.fail(reasonVarint)
	return 0
}

// bytes returns a length-delimited value. It aliases the input; its capacity ends with it.
//
//go:noinline
func (d *decoder) bytes() []byte {
	n := d.varint()
	if n > uint64(len(d.b)-d.pos) {
		d.fail(reasonTruncated)
		return nil
	}
	if n == 0 {
		return nil
	}
	start := d.pos
	d.pos += int(n)
	return d.b[start:d.pos:d.pos]
}

// str reads the string field name.
func (d *decoder) str(name string) string {
	b := d.bytes()
	if !utf8.Valid(b) {
		d.nested(name, -1, &DecodeError{Reason: reasonUTF8})
		return ""
	}
	return string(b)
}

func (d *decoder) fixed32() uint32 {
	if len(d.b)-d.pos < 4 {
		d.fail(reasonTruncated)
		return 0
	}
	b := d.b[d.pos : d.pos+4]
	d.pos += 4
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func (d *decoder) fixed64() uint64 {
	lo := d.fixed32()
	return uint64(lo) | uint64(d.fixed32())<<32
}

//go:noinline
func (d *decoder) float() float32  { return math.Float32frombits(d.fixed32()) }
func (d *decoder) double() float64 { return math.Float64frombits(d.fixed64()) }

//go:noinline
func (d *decoder) bool() bool { return d.varint() != 0 }

//go:noinline
func (d *decoder) sint32() int32 { v := uint32(d.varint()); return int32(v>>1) ^ -int32(v&1) }

//lint:ignore U1000 the generator uses it as soon as a message has such a field
func (d *decoder) sint64() int64 { v := d.varint(); return int64(v>>1) ^ -int64(v&1) }

// skip passes over the value of a field that nobody knows.
//
//go:noinline
func (d *decoder) skip() {
	switch d.tag & 7 {
	case wireVarint:
		d.varint()
	case wireFixed64:
		d.fixed64()
	case wireBytes:
		d.bytes()
	case wireFixed32:
		d.fixed32()
	default:
		d.fail(reasonWireType)
	}
}

// nested takes over the failure of a message inside field name; i is its place in a list, or -1.
//
//go:noinline
func (d *decoder) nested(name string, i int, err *DecodeError) {
	if err != nil && d.err == nil {
		d.err = err.under(name, i)
	}
}

// run counts how often the current field repeats without another in between, itself included: at least 1.
func (d *decoder) run() int {
	ahead, n := *d, 1
	for ahead.skip(); ahead.next() && ahead.tag == d.tag; ahead.skip() {
		n++
	}
	return n
}

// batch appends a fresh element to list. Elements are allocated by the run, so a list costs two allocations and never more
// memory than the fields that really are in the input ask for.
func batch[T any](d *decoder, list []*T, spare []T) ([]*T, []T) {
	if len(spare) == 0 {
		n := d.run()
		spare = make([]T, n)
		list = slices.Grow(list, n)
	}
	return append(list, &spare[0]), spare[1:]
}

func appendVarint(dst []byte, v uint64) []byte {
	for v >= 0x80 {
		dst = append(dst, byte(v)|0x80)
		v >>= 7
	}
	return append(dst, byte(v))
}

func appendFixed32(dst []byte, v uint32) []byte {
	return append(dst, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
}

// The must functions append a tag and a value; the put functions do so unless the value is zero. They are calls rather than
// code in place because a guest carries every one of them.

//go:noinline
func mustUint(dst []byte, tag uint32, v uint64) []byte {
	return appendVarint(appendVarint(dst, uint64(tag)), v)
}

//go:noinline
func putUint(dst []byte, tag uint32, v uint64) []byte {
	if v == 0 {
		return dst
	}
	return mustUint(dst, tag, v)
}

//go:noinline
func mustBool(dst []byte, tag uint32, v bool) []byte {
	if v {
		return mustUint(dst, tag, 1)
	}
	return mustUint(dst, tag, 0)
}

//go:noinline
func putBool(dst []byte, tag uint32, v bool) []byte {
	if !v {
		return dst
	}
	return mustUint(dst, tag, 1)
}

//go:noinline
func mustFloat(dst []byte, tag uint32, v float32) []byte {
	return appendFixed32(appendVarint(dst, uint64(tag)), math.Float32bits(v))
}

// putFloat writes -0, as protobuf does: only the bits of +0 are the default.
//
//go:noinline
func putFloat(dst []byte, tag uint32, v float32) []byte {
	if math.Float32bits(v) == 0 {
		return dst
	}
	return mustFloat(dst, tag, v)
}

//go:noinline
func mustDouble(dst []byte, tag uint32, v float64) []byte {
	u := math.Float64bits(v)
	return appendFixed32(appendFixed32(appendVarint(dst, uint64(tag)), uint32(u)), uint32(u>>32))
}

//go:noinline
func putDouble(dst []byte, tag uint32, v float64) []byte {
	if math.Float64bits(v) == 0 {
		return dst
	}
	return mustDouble(dst, tag, v)
}

// mustHead begins a length-delimited value of n bytes.
//
//go:noinline
func mustHead(dst []byte, tag uint32, n int) []byte { return mustUint(dst, tag, uint64(n)) }

func mustText[T string | []byte](dst []byte, tag uint32, v T) []byte {
	return append(mustHead(dst, tag, len(v)), v...)
}

//go:noinline
func putString(dst []byte, tag uint32, v string) []byte {
	if v == "" {
		return dst
	}
	return mustText(dst, tag, v)
}

//go:noinline
func putBytes(dst []byte, tag uint32, v []byte) []byte {
	if len(v) == 0 {
		return dst
	}
	return mustText(dst, tag, v)
}

func zigzag32(v int32) uint64 { return uint64(uint32(v)<<1 ^ uint32(v>>31)) }

//lint:ignore U1000 the generator uses it as soon as a message has such a field
func zigzag64(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

func sizeVarint(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// sizeUint is what putUint writes after a tag of t bytes, sizeText what putString and putBytes write for n bytes.
//
//go:noinline
func sizeUint(t int, v uint64) int {
	if v == 0 {
		return 0
	}
	return t + sizeVarint(v)
}

//go:noinline
func sizeText(t, n int) int {
	if n == 0 {
		return 0
	}
	return sizeBody(t, n)
}

//go:noinline
func sizeBool(t int, v bool) int {
	if !v {
		return 0
	}
	return t + 1
}

//go:noinline
func sizeFloat(t int, v float32) int {
	if math.Float32bits(v) == 0 {
		return 0
	}
	return t + 4
}

//go:noinline
func sizeDouble(t int, v float64) int {
	if math.Float64bits(v) == 0 {
		return 0
	}
	return t + 8
}

// sizeBody is a length-delimited value of n bytes with its length and a tag of t bytes.
//
//go:noinline
func sizeBody(t, n int) int { return t + sizeVarint(uint64(n)) + n }
