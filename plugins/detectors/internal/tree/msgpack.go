package tree

import (
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"
)

// MessagePack reads one MessagePack document. Map keys must be strings; str must be UTF-8; nothing may follow the document.
func MessagePack(src string, lim Limits) (*Tree, error) {
	p := &packParser{src: src, b: newBuilder(lim)}
	if err := p.value(None, ""); err != nil {
		return nil, err
	}
	if p.at < len(src) {
		return nil, p.fail("bytes after the end of the document")
	}
	return &Tree{Nodes: p.b.nodes}, nil
}

type packParser struct {
	src string
	at  int
	b   *builder
}

func (p *packParser) fail(reason string) *SyntaxError {
	return &SyntaxError{Offset: p.at, Reason: reason}
}

// take returns the next n bytes.
func (p *packParser) take(n uint64) (string, *SyntaxError) {
	if n > uint64(len(p.src)-p.at) {
		return "", p.fail("the document ends too early")
	}
	s := p.src[p.at : p.at+int(n)]
	p.at += int(n)
	return s, nil
}

// uint reads a big-endian number of size bytes.
func (p *packParser) uint(size int) (uint64, *SyntaxError) {
	s, err := p.take(uint64(size))
	if err != nil {
		return 0, err
	}
	var b [8]byte
	copy(b[8-size:], s)
	return binary.BigEndian.Uint64(b[:]), nil
}

func (p *packParser) value(parent int, key string) *SyntaxError {
	start := p.at
	head, err := p.take(1)
	if err != nil {
		return err
	}
	n := Node{Key: key, Start: start}
	switch c := head[0]; {
	case c < 0x80:
		return p.scalar(parent, n, Number, strconv.Itoa(int(c)))
	case c < 0x90:
		return p.container(parent, n, Object, uint64(c&0x0f))
	case c < 0xa0:
		return p.container(parent, n, Array, uint64(c&0x0f))
	case c < 0xc0:
		return p.blob(parent, n, String, uint64(c&0x1f))
	case c >= 0xe0:
		return p.scalar(parent, n, Number, strconv.Itoa(int(int8(c))))
	default:
		return p.tagged(parent, n, c)
	}
}

// tagged reads the formats 0xc0 to 0xdf.
func (p *packParser) tagged(parent int, n Node, c byte) *SyntaxError {
	switch c {
	case 0xc0:
		return p.scalar(parent, n, Null, "null")
	case 0xc1:
		return p.fail("the byte 0xc1, which MessagePack never uses")
	case 0xc2:
		return p.scalar(parent, n, Bool, "false")
	case 0xc3:
		return p.scalar(parent, n, Bool, "true")
	case 0xc4, 0xc5, 0xc6:
		return p.sized(parent, n, Bytes, 1<<(c-0xc4))
	case 0xc7, 0xc8, 0xc9:
		return p.extension(parent, n, 1<<(c-0xc7), 0)
	case 0xca, 0xcb:
		return p.float(parent, n, 4<<(c-0xca))
	case 0xcc, 0xcd, 0xce, 0xcf:
		v, err := p.uint(1 << (c - 0xcc))
		if err != nil {
			return err
		}
		return p.scalar(parent, n, Number, strconv.FormatUint(v, 10))
	case 0xd0, 0xd1, 0xd2, 0xd3:
		return p.signed(parent, n, 1<<(c-0xd0))
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		return p.extension(parent, n, 0, 1<<(c-0xd4))
	case 0xd9, 0xda, 0xdb:
		return p.sized(parent, n, String, 1<<(c-0xd9))
	case 0xdc, 0xdd:
		return p.sized(parent, n, Array, 2<<(c-0xdc))
	}
	return p.sized(parent, n, Object, 2<<(c-0xde))
}

func (p *packParser) scalar(parent int, n Node, kind Kind, text string) *SyntaxError {
	n.Kind, n.Text, n.End = kind, text, p.at
	_, err := p.b.add(parent, n)
	return err
}

func (p *packParser) signed(parent int, n Node, size int) *SyntaxError {
	v, err := p.uint(size)
	if err != nil {
		return err
	}
	shift := 64 - 8*size
	return p.scalar(parent, n, Number, strconv.FormatInt(int64(v<<shift)>>shift, 10))
}

// float keeps the shortest text that reads back the same; NaN and infinities keep Go's names, which no schema's numbers match.
func (p *packParser) float(parent int, n Node, size int) *SyntaxError {
	v, err := p.uint(size)
	if err != nil {
		return err
	}
	f := math.Float64frombits(v)
	if size == 4 {
		f = float64(math.Float32frombits(uint32(v)))
	}
	return p.scalar(parent, n, Number, strconv.FormatFloat(f, 'g', -1, 64))
}

// sized reads a value whose length takes size bytes.
func (p *packParser) sized(parent int, n Node, kind Kind, size int) *SyntaxError {
	length, err := p.uint(size)
	if err != nil {
		return err
	}
	if kind == Array || kind == Object {
		return p.container(parent, n, kind, length)
	}
	return p.blob(parent, n, kind, length)
}

func (p *packParser) blob(parent int, n Node, kind Kind, length uint64) *SyntaxError {
	n.Start = p.at
	s, err := p.take(length)
	if err != nil {
		return err
	}
	if kind == String && !utf8.ValidString(s) {
		return &SyntaxError{Offset: n.Start, Reason: "a string that is not UTF-8"}
	}
	n.Plain = true
	return p.scalar(parent, n, kind, s)
}

// extension reads a typed blob: its length in size bytes, or fixed when size is 0.
func (p *packParser) extension(parent int, n Node, size int, fixed uint64) *SyntaxError {
	if size > 0 {
		var err *SyntaxError
		if fixed, err = p.uint(size); err != nil {
			return err
		}
	}
	if _, err := p.take(1); err != nil {
		return err
	}
	return p.blob(parent, n, Extension, fixed)
}

func (p *packParser) container(parent int, n Node, kind Kind, length uint64) *SyntaxError {
	n.Kind = kind
	self, err := p.b.add(parent, n)
	if err != nil {
		return err
	}
	for range length {
		key := ""
		if kind == Object {
			if key, err = p.key(); err != nil {
				return err
			}
		}
		if err := p.value(self, key); err != nil {
			return err
		}
	}
	p.b.nodes[self].End = p.at
	if kind == Object {
		p.b.markRepeated(self)
	}
	return nil
}

// key reads a map key, which must be a string.
func (p *packParser) key() (string, *SyntaxError) {
	if p.at >= len(p.src) {
		return "", p.fail("the document ends too early")
	}
	size, c := 0, p.src[p.at]
	switch {
	case c >= 0xa0 && c < 0xc0:
		p.at++
		return p.keyText(uint64(c & 0x1f))
	case c >= 0xd9 && c <= 0xdb:
		p.at++
		size = 1 << (c - 0xd9)
	default:
		return "", p.fail("a map key that is not a string")
	}
	length, err := p.uint(size)
	if err != nil {
		return "", err
	}
	return p.keyText(length)
}

func (p *packParser) keyText(length uint64) (string, *SyntaxError) {
	s, err := p.take(length)
	if err == nil && !utf8.ValidString(s) {
		err = p.fail("a map key that is not UTF-8")
	}
	return s, err
}
