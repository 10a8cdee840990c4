package v1

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// The shapes a field can have on the wire, as the strict check sees them.
const (
	shapeBool = iota
	shapeInt32
	shapeInt64
	shapeUint32
	shapeUint64
	shapeSint32
	shapeSint64
	shapeEnum
	shapeFloat
	shapeDouble
	shapeFixed32
	shapeFixed64
	shapeString
	shapeBytes
	shapeMessage
)

// strictField is one line of a generated table. ref is the index of the message or enum; oneof counts from 1.
type strictField struct {
	name               string
	num                uint32
	shape              uint8
	oneof              uint8
	ref                uint16
	repeated, required bool
}

// strictMessage is one message of the table. needs is the number of its oneof that must have a member, and name that oneof's name.
type strictMessage struct {
	fields []strictField
	needs  uint8
	name   string
}

// wire is the wire type of one value.
func (f *strictField) wire() uint32 {
	switch f.shape {
	case shapeString, shapeBytes, shapeMessage:
		return wireBytes
	case shapeFloat, shapeFixed32:
		return wireFixed32
	case shapeDouble, shapeFixed64:
		return wireFixed64
	}
	return wireVarint
}

// checkStrict holds b against message number ref of the tables.
func checkStrict(ref uint16, b []byte) error {
	return asError(strictMessageCheck(ref, b, 0))
}

// strictMessageCheck walks one message. counts is how often each field was met, by its place in the table.
func strictMessageCheck(ref uint16, b []byte, depth int) *DecodeError {
	m := &strictMessages[ref]
	var counts [64]int
	var oneofs uint64
	d := newDecoder(b, depth)
	for d.next() {
		i := slices.IndexFunc(m.fields, func(f strictField) bool { return f.num == d.tag>>3 })
		if i < 0 {
			d.fail("unknown field number " + strconv.Itoa(int(d.tag>>3)))
			break
		}
		f := &m.fields[i]
		if !f.repeated && counts[i] > 0 {
			d.nested(f.name, -1, &DecodeError{Reason: "the field is given twice"})
		}
		if f.oneof > 0 && oneofs>>f.oneof&1 != 0 && counts[i] == 0 {
			d.nested(f.name, -1, &DecodeError{Reason: "another member of the same oneof is set"})
		}
		oneofs |= 1 << f.oneof
		strictValues(&d, f, &counts[i], depth)
	}
	if m.needs > 0 && oneofs>>m.needs&1 == 0 {
		d.fail("no member of " + m.name + " is set")
	}
	return strictRequired(&d, m.fields, &counts)
}

// strictRequired ends the check of a message: nothing failed, and nothing is missing.
func strictRequired(d *decoder, fields []strictField, counts *[64]int) *DecodeError {
	for i := range fields {
		if fields[i].required && counts[i] == 0 {
			d.nested(fields[i].name, -1, &DecodeError{Reason: "the required field is missing"})
		}
	}
	return d.err
}

// strictValues checks the value at d, or the values of a packed list, and counts them.
func strictValues(d *decoder, f *strictField, count *int, depth int) {
	wire := d.tag & 7
	if f.repeated && wire == wireBytes && f.wire() != wireBytes {
		packed := newDecoder(d.bytes(), depth)
		for packed.err == nil && d.err == nil && packed.pos < len(packed.b) {
			strictValue(&packed, f, *count, depth)
			*count++
		}
		if d.err == nil {
			d.err = packed.err
		}
		return
	}
	if wire != f.wire() {
		d.nested(f.name, -1, &DecodeError{Reason: "wire type " + strconv.Itoa(int(wire)) + " does not fit the field"})
		return
	}
	strictValue(d, f, *count, depth)
	*count++
}

// strictValue checks one value and names the field in a failure.
func strictValue(d *decoder, f *strictField, i, depth int) {
	if d.err != nil {
		return
	}
	if !f.repeated {
		i = -1
	}
	var err *DecodeError
	if f.shape == shapeMessage {
		if b := d.bytes(); d.err == nil {
			err = strictMessageCheck(f.ref, b, depth+1)
		}
	} else if reason := strictScalar(d, f); reason != "" {
		err = &DecodeError{Reason: reason}
	}
	if err == nil {
		err, d.err = d.err, nil
	}
	d.nested(f.name, i, err)
}

// strictScalar reads a value and says what is wrong with it; "" if nothing is.
func strictScalar(d *decoder, f *strictField) string {
	switch f.shape {
	case shapeString, shapeBytes:
		return strictText(f, d.bytes())
	case shapeFloat:
		return strictFloat(float64(d.float()))
	case shapeDouble:
		return strictFloat(d.double())
	case shapeFixed32:
		d.fixed32()
		return ""
	case shapeFixed64:
		d.fixed64()
		return ""
	}
	return strictVarint(f, d.varint())
}

func strictText(f *strictField, b []byte) string {
	if f.required && len(b) == 0 {
		return "the required field is empty"
	}
	if f.shape == shapeString && !utf8.Valid(b) {
		return reasonUTF8
	}
	return ""
}

func strictFloat(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "the number is not finite"
	}
	return ""
}

func strictVarint(f *strictField, v uint64) string {
	fits := true
	switch f.shape {
	case shapeBool:
		fits = v <= 1
	case shapeInt32:
		fits = int64(v) == int64(int32(v))
	case shapeUint32, shapeSint32:
		fits = v <= math.MaxUint32
	case shapeEnum:
		return strictEnum(f, int64(v))
	}
	if !fits {
		return "the number does not fit the field"
	}
	return ""
}

func strictEnum(f *strictField, v int64) string {
	if v == 0 && (f.required || f.repeated) {
		return "the enum value is unspecified"
	}
	if v != 0 && (v != int64(int32(v)) || !slices.Contains(strictEnums[f.ref], int32(v))) {
		return "unknown enum value " + strconv.FormatInt(v, 10)
	}
	return ""
}
