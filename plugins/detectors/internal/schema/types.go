package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/tree"
)

// fieldKind is how the value of a protobuf field is written.
type fieldKind uint8

// The kinds with the same numbers as google.protobuf.FieldDescriptorProto.Type.
const (
	kindDouble fieldKind = iota + 1
	kindFloat
	kindInt64
	kindUint64
	kindInt32
	kindFixed64
	kindFixed32
	kindBool
	kindString
	kindGroup
	kindMessage
	kindBytes
	kindUint32
	kindEnum
	kindSfixed32
	kindSfixed64
	kindSint32
	kindSint64
)

var kindNames = map[string]fieldKind{
	"double": kindDouble, "float": kindFloat, "int64": kindInt64, "uint64": kindUint64, "int32": kindInt32, "fixed64": kindFixed64,
	"fixed32": kindFixed32, "bool": kindBool, "string": kindString, "bytes": kindBytes,
	"uint32": kindUint32, "sfixed32": kindSfixed32, "sfixed64": kindSfixed64, "sint32": kindSint32, "sint64": kindSint64,
}

// field describes one field of a message.
type field struct {
	name     string
	kind     fieldKind
	typeName string // of a message or enum, without a leading dot
	repeated bool
	required bool
	utf8     bool
	oneof    int // index, or -1; a synthetic oneof of one member is harmless
	message  *message
	enum     map[int32]bool
}

// message describes one message type.
type message struct {
	name     string
	fields   map[uint32]*field
	required []uint32
	mapEntry bool
}

// types holds the messages and enums of one declaration.
type types struct {
	messages                map[string]*message
	enums                   map[string]map[int32]bool
	allowFields, allowEnums bool
}

func newTypes() *types {
	return &types{messages: map[string]*message{}, enums: map[string]map[int32]bool{}}
}

// maxFieldNumber is the largest number a protobuf field may have.
const maxFieldNumber = 1<<29 - 1

// link resolves the names of types.
func (ts *types) link() error {
	for _, m := range ts.messages {
		for number, f := range m.fields {
			if f.required {
				m.required = append(m.required, number)
			}
			if f.kind != kindMessage && f.kind != kindGroup && f.kind != kindEnum {
				continue
			}
			f.message, f.enum = ts.messages[f.typeName], ts.enums[f.typeName]
			if f.kind == kindEnum && f.enum == nil || f.kind != kindEnum && f.message == nil {
				return fmt.Errorf("field %s.%s has type %q, which is not among the descriptors; build the set with --include_imports", m.name, f.name, f.typeName)
			}
		}
	}
	return nil
}

// fromTable reads messages and enums from the settings:
//
//	"messages": {"Reading": {"1": {"name": "sensor", "type": "string", "label": "required"}, "2": {"name": "unit", "type": "Unit"}}},
//	"enums": {"Unit": [0, 1, 2]}
func (ts *types) fromTable(t *tree.Tree, schema, table int) error {
	if err := ts.enumTable(t, t.Child(schema, "enums")); err != nil {
		return err
	}
	if t.Nodes[table].Kind != tree.Object {
		return fmt.Errorf("messages must be an object")
	}
	for i := t.Nodes[table].First; i != tree.None; i = t.Nodes[i].Next {
		m := &message{name: t.Nodes[i].Key, fields: map[uint32]*field{}}
		ts.messages[m.name] = m
		if t.Nodes[i].Kind != tree.Object {
			return fmt.Errorf("message %q must be an object of fields", m.name)
		}
		for k := t.Nodes[i].First; k != tree.None; k = t.Nodes[k].Next {
			if err := ts.tableField(t, m, k); err != nil {
				return fmt.Errorf("message %q, field %q: %w", m.name, t.Nodes[k].Key, err)
			}
		}
	}
	return nil
}

func (ts *types) enumTable(t *tree.Tree, i int) error {
	if i == tree.None {
		return nil
	}
	for k := t.Nodes[i].First; k != tree.None; k = t.Nodes[k].Next {
		values := map[int32]bool{}
		for v := t.Nodes[k].First; v != tree.None; v = t.Nodes[v].Next {
			n, err := strconv.ParseInt(t.Nodes[v].Text, 10, 32)
			if err != nil {
				return fmt.Errorf("enum %q must be a list of whole numbers", t.Nodes[k].Key)
			}
			values[int32(n)] = true
		}
		ts.enums[t.Nodes[k].Key] = values
	}
	return nil
}

func (ts *types) tableField(t *tree.Tree, m *message, k int) error {
	number, err := strconv.ParseUint(t.Nodes[k].Key, 10, 32)
	if err != nil || number < 1 || number > maxFieldNumber {
		return fmt.Errorf("the key must be a field number from 1 to %d", maxFieldNumber)
	}
	if err := object(t, k, "a field", "name", "type", "label"); err != nil {
		return err
	}
	name, err := text(t, k, "name", true)
	if err != nil {
		return err
	}
	typ, err := text(t, k, "type", true)
	if err != nil {
		return err
	}
	label, err := text(t, k, "label", false)
	if err != nil || label != "" && label != "optional" && label != "required" && label != "repeated" {
		return fmt.Errorf("label must be optional, required or repeated")
	}
	f := &field{name: name, kind: kindNames[typ], repeated: label == "repeated", required: label == "required", utf8: typ == "string", oneof: -1}
	if f.kind == 0 {
		f.kind, f.typeName = kindMessage, typ
		if ts.enums[typ] != nil {
			f.kind = kindEnum
		}
	}
	m.fields[uint32(number)] = f
	return nil
}

// fromDescriptorSet reads a serialised google.protobuf.FileDescriptorSet.
func (ts *types) fromDescriptorSet(raw []byte) error {
	w := wire{data: raw}
	for !w.done() {
		number, body, err := w.bytesField()
		if err != nil {
			return fmt.Errorf("descriptors is no FileDescriptorSet: %w", err)
		}
		if number != 1 {
			continue
		}
		if err := ts.file(body); err != nil {
			return fmt.Errorf("descriptors is no FileDescriptorSet: %w", err)
		}
	}
	if len(ts.messages) == 0 {
		return fmt.Errorf("descriptors holds no message")
	}
	return nil
}

// file reads a FileDescriptorProto: package = 2, message_type = 4, enum_type = 5, syntax = 12.
func (ts *types) file(raw []byte) error {
	pkg, syntax := "", "proto2"
	var messages, enums [][]byte
	err := eachField(raw, func(number uint32, body []byte, _ uint64) {
		switch number {
		case 2:
			pkg = string(body)
		case 4:
			messages = append(messages, body)
		case 5:
			enums = append(enums, body)
		case 12:
			syntax = string(body)
		}
	})
	if err != nil {
		return err
	}
	for _, e := range enums {
		if err := ts.enumType(pkg, e); err != nil {
			return err
		}
	}
	for _, m := range messages {
		if err := ts.messageType(pkg, m, syntax == "proto2", 0); err != nil {
			return err
		}
	}
	return nil
}

func scoped(scope, name string) string {
	if scope == "" {
		return name
	}
	return scope + "." + name
}

// messageType reads a DescriptorProto: name = 1, field = 2, nested_type = 3, enum_type = 4, options = 7 (map_entry = 7).
func (ts *types) messageType(scope string, raw []byte, proto2 bool, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("messages nest deeper than %d", maxDepth)
	}
	m := &message{fields: map[uint32]*field{}}
	var nested, enums, fields [][]byte
	err := eachField(raw, func(number uint32, body []byte, _ uint64) {
		switch number {
		case 1:
			m.name = scoped(scope, string(body))
		case 2:
			fields = append(fields, body)
		case 3:
			nested = append(nested, body)
		case 4:
			enums = append(enums, body)
		case 7:
			_ = eachField(body, func(n uint32, _ []byte, v uint64) { m.mapEntry = m.mapEntry || n == 7 && v == 1 }) // a malformed option is no option
		}
	})
	if err != nil {
		return err
	}
	ts.messages[m.name] = m
	for _, b := range fields {
		if err := m.addField(b, proto2); err != nil {
			return err
		}
	}
	for _, b := range enums {
		if err := ts.enumType(m.name, b); err != nil {
			return err
		}
	}
	for _, b := range nested {
		if err := ts.messageType(m.name, b, proto2, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// addField reads a FieldDescriptorProto: name = 1, number = 3, label = 4, type = 5, type_name = 6, oneof_index = 9, proto3_optional = 17.
func (m *message) addField(raw []byte, proto2 bool) error {
	f := &field{oneof: -1, utf8: !proto2}
	var number, label uint64
	err := eachField(raw, func(n uint32, body []byte, v uint64) {
		switch n {
		case 1:
			f.name = string(body)
		case 3:
			number = v
		case 4:
			label = v
		case 5:
			f.kind = fieldKind(v)
		case 6:
			f.typeName = strings.TrimPrefix(string(body), ".")
		case 9:
			f.oneof = int(int32(v))
		}
	})
	if err != nil {
		return err
	}
	if number < 1 || number > maxFieldNumber || f.kind < kindDouble || f.kind > kindSint64 {
		return fmt.Errorf("field %s.%s has a number or type out of range", m.name, f.name)
	}
	f.required, f.repeated = label == 2, label == 3
	m.fields[uint32(number)] = f
	return nil
}

// enumType reads an EnumDescriptorProto: name = 1, value = 2 {number = 2}.
func (ts *types) enumType(scope string, raw []byte) error {
	name := ""
	values := map[int32]bool{}
	err := eachField(raw, func(number uint32, body []byte, _ uint64) {
		switch number {
		case 1:
			name = scoped(scope, string(body))
		case 2:
			value := int32(0) // an absent number is 0
			_ = eachField(body, func(n uint32, _ []byte, v uint64) {
				if n == 2 {
					value = int32(v)
				}
			}) // a malformed value is 0
			values[value] = true
		}
	})
	ts.enums[name] = values
	return err
}
