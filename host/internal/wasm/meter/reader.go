package meter

import (
	"fmt"
	"unicode/utf8"
)

// Error says why a module was refused, and where. It is the only error type of this package.
type Error struct {
	// Offset of the offending byte in the original binary.
	Offset int
	// Where names the section, or the function as func[index in the function index space].
	Where string
	// What is wrong, in the words of the specification where it has some.
	What string
}

// Error is one line without a newline.
func (e *Error) Error() string {
	return fmt.Sprintf("wasm %s, byte %#x: %s", e.Where, e.Offset, e.What)
}

// A reader walks bytes [pos, end) of the original binary. The first failure sticks: every later read returns zero values, so that
// parsing code checks once per item, and loops stop because pos is moved to end.
type reader struct {
	buf      []byte
	pos, end int
	where    string
	err      *Error
}

// fail records the first failure, at an offset of the original binary.
func (r *reader) fail(at int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: at, Where: r.where, What: fmt.Sprintf(format, args...)}
	}
	r.pos = r.end
}

// ok is false after a failure.
func (r *reader) ok() bool { return r.err == nil }

// at is the offset of the next byte. It is a call, so that `at, b := r.at(), r.byte()` has a defined order.
func (r *reader) at() int { return r.pos }

// left is the number of bytes not yet read.
func (r *reader) left() int { return r.end - r.pos }

// byte reads one byte.
func (r *reader) byte() byte {
	if r.pos >= r.end {
		r.fail(r.end, "unexpected end")
		return 0
	}
	b := r.buf[r.pos]
	r.pos++
	return b
}

// bytes reads n bytes; the result aliases the input.
func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(r.left()) {
		r.fail(r.pos, "length %d is out of bounds, %d bytes are left", n, r.left())
		return nil
	}
	b := r.buf[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return b
}

// skip reads and forgets n bytes.
func (r *reader) skip(n int) { r.bytes(uint32(n)) }

// sub cuts a reader for the next n bytes off r.
func (r *reader) sub(n uint32, where string) *reader {
	s := &reader{buf: r.buf, pos: r.pos, where: where}
	r.bytes(n)
	s.end, s.err = r.pos, r.err
	if !r.ok() {
		s.pos = s.end
	}
	return s
}

// adopt takes over the failure of a reader that sub made.
func (r *reader) adopt(s *reader) {
	if r.err == nil && s.err != nil {
		r.err, r.pos = s.err, r.end
	}
}

// done fails unless everything was read.
func (r *reader) done() {
	if r.ok() && r.pos != r.end {
		r.fail(r.pos, "section size mismatch, %d bytes too many", r.left())
	}
}

// u32 reads an unsigned LEB128 of at most five bytes.
func (r *reader) u32() uint32 {
	start, v := r.at(), uint32(0)
	for shift := 0; shift < 35; shift += 7 {
		b := r.byte()
		if shift == 28 && b > 0x0f {
			break
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	r.fail(start, "integer representation too long or too large for 32 bits")
	return 0
}

// signed reads a signed LEB128 of the given width; the bits of the last byte beyond the width must extend the sign.
func (r *reader) signed(bits int) int64 {
	start, v := r.at(), int64(0)
	last := (bits - 1) / 7 * 7
	for shift := 0; shift <= last; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b >= 0x80 {
			continue
		}
		if shift == last {
			// The sign bit and every unused bit above it must agree.
			if top := int8(b<<1) >> (bits - last); top != 0 && top != -1 {
				break
			}
		}
		if shift+7 < 64 {
			v = v << (64 - 7 - shift) >> (64 - 7 - shift)
		}
		return v
	}
	r.fail(start, "integer representation too long or too large for %d bits", bits)
	return 0
}

// count reads the length of a vector whose items take at least min bytes each, so that whatever is allocated for it is bounded by
// the size of the input.
func (r *reader) count(min int) int {
	start, n := r.at(), r.u32()
	if uint64(n)*uint64(min) > uint64(r.left()) {
		r.fail(start, "length %d is out of bounds, %d bytes are left", n, r.left())
		return 0
	}
	return int(n)
}

// limited reads the length of a vector like count, and refuses more than max items.
func (r *reader) limited(min, max int) int {
	start, n := r.at(), r.count(min)
	if n > max {
		r.fail(start, "%d items, at most %d are supported", n, max)
		return 0
	}
	return n
}

// name reads a string, which must be UTF-8.
func (r *reader) name() string {
	start := r.pos
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		r.fail(start, "malformed UTF-8 encoding")
		return ""
	}
	return string(b)
}

// index reads an index into a space of the given size.
func (r *reader) index(what string, size int) uint32 {
	start, i := r.at(), r.u32()
	if r.ok() && uint64(i) >= uint64(size) {
		r.fail(start, "unknown %s %d, the module has %d", what, i, size)
		return 0
	}
	return i
}

// Append functions of the binary format.

func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendS64(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendName(b []byte, s string) []byte {
	return append(appendU32(b, uint32(len(s))), s...)
}

// appendSized writes a section, subsection or function body: its size, then itself.
func appendSized(b, body []byte) []byte {
	return append(appendU32(b, uint32(len(body))), body...)
}
