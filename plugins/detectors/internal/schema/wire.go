package schema

import (
	"errors"
	"fmt"
)

// wireType is the shape of a field on the wire.
type wireType uint8

const (
	wireVarint wireType = 0
	wireFixed8 wireType = 1 // eight bytes
	wireBytes  wireType = 2
	wireStart  wireType = 3 // group
	wireEnd    wireType = 4
	wireFixed4 wireType = 5 // four bytes
)

var errTruncated = errors.New("the message ends inside a field")

// wire reads the protobuf wire format.
type wire struct {
	data []byte
	at   int
}

func (w *wire) done() bool { return w.at >= len(w.data) }

// varint reads at most ten bytes; more, or a value beyond 64 bits, is malformed.
func (w *wire) varint() (uint64, error) {
	var v uint64
	for shift := 0; shift < 70; shift += 7 {
		if w.done() {
			return 0, errTruncated
		}
		b := w.data[w.at]
		w.at++
		if shift == 63 && b > 1 {
			return 0, errors.New("a number of more than 64 bits")
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("a number of more than ten bytes")
}

// tag reads a field's number and shape.
func (w *wire) tag() (uint32, wireType, error) {
	v, err := w.varint()
	if err != nil {
		return 0, 0, err
	}
	number, typ := v>>3, wireType(v&7)
	if number < 1 || number > maxFieldNumber {
		return 0, 0, errors.New("a field number out of range")
	}
	if typ > wireFixed4 {
		return 0, 0, fmt.Errorf("wire type %d, which does not exist", typ)
	}
	return uint32(number), typ, nil
}

// take returns the next n bytes.
func (w *wire) take(n uint64) ([]byte, error) {
	if n > uint64(len(w.data)-w.at) {
		return nil, errTruncated
	}
	b := w.data[w.at : w.at+int(n)]
	w.at += int(n)
	return b, nil
}

// value reads a field's value: the number of a varint, the bytes of anything else. Groups are skipped whole.
func (w *wire) value(typ wireType, number uint32, depth int) (body []byte, v uint64, err error) {
	switch typ {
	case wireVarint:
		v, err = w.varint()
	case wireFixed8:
		body, err = w.take(8)
	case wireFixed4:
		body, err = w.take(4)
	case wireBytes:
		if v, err = w.varint(); err == nil {
			body, err = w.take(v)
		}
	case wireStart:
		body, err = w.group(number, depth)
	default:
		err = errors.New("the end of a group that did not begin")
	}
	return body, v, err
}

// group returns the content of a group up to its end tag.
func (w *wire) group(number uint32, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("groups nest deeper than %d", maxDepth)
	}
	start := w.at
	for {
		end := w.at
		n, typ, err := w.tag()
		if err != nil {
			return nil, err
		}
		if typ == wireEnd {
			if n != number {
				return nil, errors.New("the end of another group")
			}
			return w.data[start:end], nil
		}
		if _, _, err := w.value(typ, n, depth+1); err != nil {
			return nil, err
		}
	}
}

// bytesField reads a field of which only the bytes matter.
func (w *wire) bytesField() (uint32, []byte, error) {
	number, typ, err := w.tag()
	if err != nil {
		return 0, nil, err
	}
	body, _, err := w.value(typ, number, 0)
	return number, body, err
}

// eachField calls visit with every field of a message.
func eachField(raw []byte, visit func(number uint32, body []byte, v uint64)) error {
	w := wire{data: raw}
	for !w.done() {
		number, typ, err := w.tag()
		if err != nil {
			return err
		}
		body, v, err := w.value(typ, number, 0)
		if err != nil {
			return err
		}
		visit(number, body, v)
	}
	return nil
}
