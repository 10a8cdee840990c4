package meter_test

import "slices"

// Hand-written modules for the tests, section by section. Everything is bytes, so that invalid modules can be written too.

const (
	i32t = 0x7f
	i64t = 0x7e
	f32t = 0x7d
	f64t = 0x7c
	v128 = 0x7b
	fref = 0x70
	xref = 0x6f
)

func leb(v uint32) []byte {
	var b []byte
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

// sleb encodes a signed number.
func sleb(v int64) []byte {
	var b []byte
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && c&0x40 == 0) || (v == -1 && c&0x40 != 0) {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// cat joins byte strings.
func cat(parts ...[]byte) []byte { return slices.Concat(parts...) }

// sized puts the length in front.
func sized(b []byte) []byte { return append(leb(uint32(len(b))), b...) }

// str is a name.
func str(s string) []byte { return sized([]byte(s)) }

// vec is a vector: the count, then the items.
func vec(items ...[]byte) []byte { return append(leb(uint32(len(items))), cat(items...)...) }

// sec is a section.
func sec(id byte, payload []byte) []byte { return append([]byte{id}, sized(payload)...) }

// binary is a module of these sections.
func binary(sections ...[]byte) []byte {
	return append([]byte("\x00asm\x01\x00\x00\x00"), cat(sections...)...)
}

// sig is a function type.
func sig(params, results string) []byte {
	return cat([]byte{0x60}, sized([]byte(params)), sized([]byte(results)))
}

// body is a function of the code section: declarations of locals, then code, to which the end is added.
func body(locals []byte, code ...byte) []byte { return sized(append(append(locals, code...), 0x0b)) }

// none declares no locals.
func none() []byte { return []byte{0} }

// export is an item of the export section.
func export(name string, kind byte, index uint32) []byte {
	return cat(str(name), []byte{kind}, leb(index))
}

// one is a module with one function of the given type, exported as "f", a page of memory exported as "memory", and more sections
// that stand between the memory section and the export section.
func one(params, results string, locals []byte, code []byte, between ...[]byte) []byte {
	return binary(cat(
		sec(1, vec(sig(params, results))),
		sec(3, vec([]byte{0})),
		sec(5, vec([]byte{0, 1})),
	), cat(between...), sec(7, vec(export("f", 0, 0), export("memory", 2, 0))), sec(10, vec(body(locals, code...))))
}

// tightLoop exports spin(n): it adds up n bytes of memory, as a C compiler would write it.
func tightLoop() []byte {
	code := []byte{
		0x03, 0x40, // loop
		0x20, 2, 0x20, 1, 0x41, 0xff, 0xff, 0x03, 0x71, 0x2d, 0, 0, 0x6a, 0x21, 2, // sum += memory[i&0xffff]
		0x20, 1, 0x41, 1, 0x6a, 0x22, 1, 0x20, 0, 0x49, 0x0d, 0, // i++; if i < n: again
		0x0b,
		0x20, 2,
	}
	return one(string(rune(i32t)), string(rune(i32t)), []byte{1, 2, i32t}, code)
}
