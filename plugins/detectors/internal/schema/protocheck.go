package schema

import (
	"fmt"
	"unicode/utf8"
)

// protoChecker checks serialised protobuf messages.
type protoChecker struct {
	types *types
	root  *message
}

func (c protoChecker) check(data []byte) ([]violation, error) {
	r := &protoRun{types: c.types, left: maxSteps, size: len(data)}
	r.message(c.root, data, 0)
	if r.left <= 0 {
		return nil, fmt.Errorf("the message has more than %d fields", maxSteps)
	}
	return r.out, nil
}

// protoRun gathers the breaches of one message.
type protoRun struct {
	types *types
	left  int
	size  int
	out   []violation
}

func (r *protoRun) breach(m *message, format string, args ...any) {
	if len(r.out) < maxViolations {
		r.out = append(r.out, violation{what: m.name + ": " + fmt.Sprintf(format, args...), end: r.size})
	}
}

// message checks the fields of one message.
func (r *protoRun) message(m *message, data []byte, depth int) {
	if depth > maxDepth {
		r.breach(m, "nested deeper than %d", maxDepth)
		return
	}
	w := wire{data: data}
	seen := map[uint32]bool{}
	oneofs := map[int]uint32{}
	for !w.done() && len(r.out) < maxViolations {
		if r.left--; r.left <= 0 {
			return
		}
		number, typ, err := w.tag()
		if err != nil {
			r.breach(m, "%v", err)
			return
		}
		body, v, err := w.value(typ, number, depth)
		if err != nil {
			r.breach(m, "%v", err)
			return
		}
		r.fieldOf(m, number, typ, body, v, depth, seen, oneofs)
	}
	for _, number := range m.required {
		if !seen[number] {
			r.breach(m, "field %q is required", m.fields[number].name)
		}
	}
}

func (r *protoRun) fieldOf(m *message, number uint32, typ wireType, body []byte, v uint64, depth int, seen map[uint32]bool, oneofs map[int]uint32) {
	f := m.fields[number]
	if f == nil {
		if !r.types.allowFields {
			r.breach(m, "field number %d is not declared", number)
		}
		return
	}
	if seen[number] && !f.repeated {
		r.breach(m, "field %q stands twice", f.name)
	}
	seen[number] = true
	if other, ok := oneofs[f.oneof]; ok && other != number && f.oneof >= 0 {
		r.breach(m, "%q and %q exclude each other", m.fields[other].name, f.name)
	}
	oneofs[f.oneof] = number
	r.shape(m, f, typ, body, v, depth)
}

// shape checks that a value is written as its type is, and what is in it.
func (r *protoRun) shape(m *message, f *field, typ wireType, body []byte, v uint64, depth int) {
	want := wireOf(f.kind)
	if f.repeated && typ == wireBytes && want != wireBytes && want != wireStart {
		r.packed(m, f, want, body)
		return
	}
	if typ != want {
		r.breach(m, "field %q is written as wire type %d, not %d", f.name, typ, want)
		return
	}
	switch f.kind {
	case kindString:
		if f.utf8 && !utf8.Valid(body) {
			r.breach(m, "field %q is not UTF-8", f.name)
		}
	case kindMessage, kindGroup:
		r.message(f.message, body, depth+1)
	default:
		r.scalar(m, f, v)
	}
}

// scalar checks the range of a number.
func (r *protoRun) scalar(m *message, f *field, v uint64) {
	switch f.kind {
	case kindBool:
		if v > 1 {
			r.breach(m, "field %q is neither true nor false", f.name)
		}
	case kindEnum:
		if s := int64(v); s > 1<<31-1 || s < -1<<31 || !r.types.allowEnums && !f.enum[int32(v)] {
			r.breach(m, "field %q has a value that is not declared", f.name)
		}
	case kindUint32, kindSint32:
		if v > 1<<32-1 {
			r.breach(m, "field %q has a number of more than 32 bits", f.name)
		}
	case kindInt32:
		if s := int64(v); s > 1<<31-1 || s < -1<<31 {
			r.breach(m, "field %q has a number of more than 32 bits", f.name)
		}
	}
}

// packed checks a repeated number in its packed form.
func (r *protoRun) packed(m *message, f *field, typ wireType, body []byte) {
	w := wire{data: body}
	for !w.done() && len(r.out) < maxViolations {
		if r.left--; r.left <= 0 {
			return
		}
		_, v, err := w.value(typ, 0, 0)
		if err != nil {
			r.breach(m, "field %q: %v", f.name, err)
			return
		}
		r.scalar(m, f, v)
	}
}

// wireOf returns the shape of a kind. Source: protobuf.dev, Encoding.
func wireOf(k fieldKind) wireType {
	switch k {
	case kindDouble, kindFixed64, kindSfixed64:
		return wireFixed8
	case kindFloat, kindFixed32, kindSfixed32:
		return wireFixed4
	case kindString, kindBytes, kindMessage:
		return wireBytes
	case kindGroup:
		return wireStart
	}
	return wireVarint
}
