package meter_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

// global is the global section with one mutable i32.
var oneGlobal = sec(6, vec([]byte{i32t, 1, 0x41, 0, 0x0b}))

// refusals are modules that must not pass, with a part of the reason. Many of them would be made valid by injection.
var refusals = map[string]struct {
	bin  []byte
	want string
}{
	"empty":                   {nil, "out of bounds"},
	"not wasm":                {[]byte("#!/bin/sh -c 'x'"), "magic header"},
	"component":               {[]byte("\x00asm\x0d\x00\x01\x00"), "magic header"},
	"unknown section":         {binary(sec(14, nil)), "malformed section id 14"},
	"section past the end":    {binary([]byte{1, 200, 1}), "out of bounds"},
	"duplicate section":       {binary(sec(1, vec()), sec(1, vec())), "type section is repeated or out of order"},
	"section order":           {binary(sec(3, vec()), sec(1, vec())), "type section is repeated or out of order"},
	"section with a rest":     {binary(sec(1, []byte{0, 0})), "section size mismatch"},
	"lying count":             {binary(sec(2, []byte{0xff, 0xff, 0xff, 0xff, 0x0f})), "out of bounds"},
	"over-long number":        {binary(sec(1, []byte{0x80, 0x80, 0x80, 0x80, 0x80, 0})), "too long"},
	"over-large number":       {binary(sec(1, []byte{0xff, 0xff, 0xff, 0xff, 0x1f})), "too large"},
	"function without code":   {binary(sec(1, vec(sig("", ""))), sec(3, vec([]byte{0}))), "inconsistent lengths"},
	"code without function":   {binary(sec(10, vec(body(none())))), "inconsistent lengths"},
	"data count":              {binary(sec(12, []byte{1})), "data count and data section"},
	"name that is not UTF-8":  {binary(sec(7, vec(cat(sized([]byte{0xff}), []byte{0, 0})))), "UTF-8"},
	"two memories":            {binary(sec(5, vec([]byte{0, 1}, []byte{0, 1}))), "multiple memories"},
	"name section that lies":  {binary(sec(0, cat(str("name"), []byte{1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f}))), "out of bounds"},
	"global N+1 set":          {one("", "", none(), []byte{0x42, 0, 0x24, 1}, oneGlobal), "unknown global 1, the module has 1"},
	"global N+1 got":          {one("", "", none(), []byte{0x23, 1, 0x1a}, oneGlobal), "unknown global 1"},
	"global N+1 in dead code": {one("", "", none(), []byte{0x00, 0x42, 0, 0x24, 1}, oneGlobal), "unknown global 1"},
	"global N+1 exported":     {binary(oneGlobal, sec(7, vec(export("x", 3, 1)))), "unknown global 1"},
	"global N+1 in a global":  {binary(sec(6, vec([]byte{i64t, 0, 0x23, 0, 0x0b}))), "unknown global 0"},
	"global N+1 as an offset": {
		binary(sec(5, vec([]byte{0, 1})), oneGlobal, sec(11, vec([]byte{0, 0x23, 1, 0x0b, 0}))), "unknown global 1",
	},
	"mutable global in a constant": {
		binary(sec(2, vec(cat(str("m"), str("g"), []byte{3, i32t, 1}))), sec(6, vec([]byte{i32t, 0, 0x23, 0, 0x0b}))), "constant expression required",
	},
	"function N+1 called":     {one("", "", none(), []byte{0x10, 1}), "unknown function 1"},
	"function N+1 returned":   {one("", "", none(), []byte{0x12, 1}), "unknown function 1"},
	"function N+1 referenced": {one("", "", none(), []byte{0xd2, 1, 0x1a}), "unknown function 1"},
	"function N+1 started":    {binary(sec(1, vec(sig("", ""))), sec(8, []byte{0})), "unknown function 0"},
	"function N+1 exported":   {binary(sec(7, vec(export("x", 0, 0)))), "unknown function 0"},
	"function N+1 in an element": {
		binary(sec(4, vec([]byte{fref, 0, 1})), sec(9, vec([]byte{0, 0x41, 0, 0x0b, 1, 0}))), "unknown function 0",
	},
	"type N+1 of a function":   {binary(sec(3, vec([]byte{0}))), "unknown type 0"},
	"type N+1 of a block":      {one("", "", none(), []byte{0x02, 1, 0x0b}), "unknown type 1"},
	"type N+1 called":          {one("", "", none(), []byte{0x41, 0, 0x11, 1, 0}), "unknown type 1"},
	"table N+1":                {one("", "", none(), []byte{0x41, 0, 0x25, 0, 0x1a}), "unknown table 0"},
	"table N+1 called through": {one("", "", none(), []byte{0x41, 0, 0x11, 0, 0}), "unknown table 0"},
	"memory N+1":               {one("", "", none(), []byte{0x3f, 1, 0x1a}), "zero byte expected"},
	"memory that is not there": {binary(sec(1, vec(sig("", ""))), sec(3, vec([]byte{0})), sec(10, vec(body(none(), 0x3f, 0, 0x1a)))), "unknown memory 0"},
	"data segment N+1":         {one("", "", none(), []byte{0xfc, 9, 0}), "data count section required"},
	"element segment N+1":      {one("", "", none(), []byte{0xfc, 13, 0}), "unknown elem segment 0"},
	"local N+1":                {one("", "", none(), []byte{0x20, 0, 0x1a}), "unknown local 0"},
	"local N+1 behind others":  {one("\x7f", "", []byte{1, 1, i32t}, []byte{0x20, 2, 0x1a}), "unknown local 2"},
	"label N+1":                {one("", "", none(), []byte{0x0c, 1}), "unknown label 1"},
	"tag N+1":                  {one("", "", none(), []byte{0x08, 0}), "unknown tag 0"},
	"too many locals":          {one("", "", cat([]byte{1}, leb(1<<31), []byte{i32t}), nil), "too many locals"},
	"calls beside globals":     {callsAndGlobals(9000, 10_000), "too much to compile"},
	"too many imports":         {binary(sec(2, cat(leb(1001), make([]byte, 8000)))), "1001 items, at most 1000"},
	"branches without end":     {one("", "", none(), bytes.Repeat([]byte{0x41, 0, 0x0d, 0}, 1<<17+1)), "control splits or joins"},
	"too large a body":         {one("", "", none(), make([]byte, 8_000_000)), "a function body of 8000002 bytes"},
	"unknown instruction":      {one("", "", none(), []byte{0xff}), "unknown instruction 0xff"},
	"legacy exceptions":        {one("", "", none(), []byte{0x06, 0x40, 0x0b}), "legacy exception handling"},
	"unknown bulk instruction": {one("", "", none(), []byte{0xfc, 18}), "unknown instruction 0xfc 18"},
	"unknown vector":           {one("", "", none(), []byte{0xfd, 0x9a, 1}), "unknown vector instruction 0x9a"},
	"over-long vector opcode":  {one("", "", none(), []byte{0xfd, 0x8b, 0x00}), "overlong vector instruction"},
	"relaxed vector":           {one("", "", none(), []byte{0xfd, 0x80, 2}), "vector instruction"},
	"unknown atomic":           {one("", "", none(), []byte{0xfe, 0x4f, 0, 0}), "unknown atomic instruction"},
	"atomic wait":              {one("", "", none(), []byte{0xfe, 1, 2, 0}), "block its host"},
	"else without if":          {one("", "", none(), []byte{0x05}), "else without if"},
	"code behind the end":      {one("", "", none(), []byte{0x0b, 0x01}), "size mismatch"},
	"code without an end":      {one("", "", none(), []byte{0x02, 0x40}), "unexpected end"},
	"reserved export":          {binary(oneGlobal, sec(7, vec(export(meter.FuelExport, 3, 0)))), "reserved"},
	"reserved import": {
		binary(sec(1, vec(sig("\x7e", "\x7e"))), sec(2, vec(cat(str(meter.DefaultModule), str(meter.DefaultName), []byte{0, 0})))), "reserved",
	},
	"duplicate export": {binary(oneGlobal, sec(7, vec(export("x", 3, 0), export("x", 3, 0)))), "duplicate export"},
}

// callsAndGlobals is a small module that wazero takes gigabytes to compile.
func callsAndGlobals(globals, calls int) []byte {
	list := slices.Repeat([][]byte{{i32t, 1, 0x41, 0, 0x0b}}, globals)
	return one("", "", none(), bytes.Repeat([]byte{0x10, 0}, calls), sec(6, vec(list...)))
}

func TestRefuse(t *testing.T) {
	for name, c := range refusals {
		t.Run(name, func(t *testing.T) {
			_, err := meter.Rewrite(c.bin, meter.Options{})
			var e *meter.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("got %v, want %q", err, c.want)
			}
			if e.Offset < 0 || e.Offset > len(c.bin) || e.Where == "" {
				t.Errorf("%v does not say where", e)
			}
		})
	}
}

// TestRefuseTruncated cuts a module anywhere: no prefix of it is a module, except in front of a section.
func TestRefuseTruncated(t *testing.T) {
	bin := tightLoop()
	for n := range bin {
		if _, err := meter.Rewrite(bin[:n], meter.Options{}); err == nil && n != 8 && n != 16 {
			t.Errorf("a module cut off at byte %d of %d passes", n, len(bin))
		}
	}
}

// TestSelfRefuel is the attack that index checks are for: the module sets a global that only injection would give it.
func TestSelfRefuel(t *testing.T) {
	refill := one("", "", none(), []byte{0x03, 0x40, 0x42, 0xff, 0x00, 0x24, 1, 0x0c, 0, 0x0b}, oneGlobal)
	if _, err := meter.Rewrite(refill, meter.Options{}); err == nil {
		t.Fatal("a module may write the counter")
	}
}
