package meter_test

// Hand-written modules. wasmModule assembles sections; each section is id, then its payload.

func leb(v uint32) []byte {
	var b []byte
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func section(id byte, payload ...byte) []byte {
	return append(append([]byte{id}, leb(uint32(len(payload)))...), payload...)
}

func wasmModule(sections ...[]byte) []byte {
	out := []byte("\x00asm\x01\x00\x00\x00")
	for _, s := range sections {
		out = append(out, s...)
	}
	return out
}

// tightLoop exports spin(n): the sum of n bytes of memory, as a C compiler would write the loop.
func tightLoop(pad int) []byte {
	body := []byte{1, 2, 0x7f, // two i32 locals: i, acc
		0x03, 0x40, // loop
		0x20, 2, // acc
		0x20, 1, 0x41, 0xff, 0xff, 0x03, 0x71, // i & 0xffff
		0x2d, 0, 0, // load8_u
		0x6a, 0x21, 2, // acc +=
		0x20, 1, 0x41, 1, 0x6a, 0x22, 1, // i++
		0x20, 0, 0x49, 0x0d, 0, // i < n: again
		0x0b,
		0x20, 2, 0x0b}
	padBody := []byte{0}
	for range pad {
		padBody = append(padBody, 0x41, 1, 0x1a)
	}
	padBody = append(padBody, 0x0b)
	code := append([]byte{2}, leb(uint32(len(padBody)))...)
	code = append(code, padBody...)
	code = append(code, leb(uint32(len(body)))...)
	code = append(code, body...)
	return wasmModule(
		section(1, 2, 0x60, 0, 0, 0x60, 1, 0x7f, 1, 0x7f),
		section(3, 2, 0, 1),
		section(5, 1, 0, 1),
		section(7, 1, 4, 's', 'p', 'i', 'n', 0, 1),
		section(10, code...),
	)
}
