package view

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// original makes views[0], and the UTF-16 or UTF-32 reading when the payload has one.
func (s *Set) original(data []byte) {
	s.Views = append(s.Views, View{Name: "text", Text: data, Parent: -1, set: s})
	if asciiOnly(data) {
		return
	}
	j := job{s: s, parent: 0, src: data}
	wide, valid := widthOf(data), utf8.Valid(data)
	if !valid {
		s.repair(j)
	}
	if wide.unit != 0 {
		decodeWide(j, wide)
	}
	s.Undecodable = len(s.Views) == 1 && (!valid || bytes.IndexByte(data, 0) >= 0) && unreadable(data)
}

// asciiOnly reports whether p holds only ASCII without NUL.
func asciiOnly(p []byte) bool { return !hasHigh(p) && bytes.IndexByte(p, 0) < 0 }

// hasHigh reports whether p holds a byte above 0x7F.
func hasHigh(p []byte) bool {
	const top = 0x8080808080808080
	for len(p) >= 32 {
		w := binary.LittleEndian.Uint64(p) | binary.LittleEndian.Uint64(p[8:]) | binary.LittleEndian.Uint64(p[16:]) |
			binary.LittleEndian.Uint64(p[24:])
		if w&top != 0 {
			return true
		}
		p = p[32:]
	}
	for _, c := range p {
		if c >= utf8.RuneSelf {
			return true
		}
	}
	return false
}

// repair gives views[0] a copy of its text in which every byte that is no part of valid UTF-8 is U+FFFD. The copy does not count
// against Limits.Bytes: without it there would be no view at all.
func (s *Set) repair(j job) {
	b := j.build(stepText, "text")
	limit := s.lim.Bytes
	s.lim.Bytes = 4*len(j.src) + limit
	for i := 0; i < len(j.src); {
		n := validPrefix(j.src[i:])
		b.copy(i, i+n)
		if i += n; i < len(j.src) {
			b.put([]byte("\uFFFD"), i, i+1)
			i++
		}
	}
	s.lim.Bytes = limit
	s.used = 0
	v := &s.Views[0]
	v.Text, v.spans = b.text, b.spans
	s.open = append(s.open, b)
}

// validPrefix is the length of the longest valid UTF-8 prefix of p.
func validPrefix(p []byte) int {
	for i := 0; i < len(p); {
		if p[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(p)
}

// unreadable reports whether p is no text: more than one byte in eight is a control character or breaks UTF-8.
func unreadable(p []byte) bool {
	bad := 0
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 || r < ' ' && r != '\n' && r != '\t' && r != '\r' && r != 0x1b && r != '\f' {
			bad++
		}
		i += n
	}
	return bad*8 > len(p)
}

// wide describes an encoding with 2 or 4 bytes a unit; unit 0 means none.
type wide struct {
	unit  int
	big   bool
	start int // after the byte order mark
}

func (w wide) at(p []byte) rune {
	var r uint32
	for i := range w.unit {
		shift := 8 * i
		if w.big {
			shift = 8 * (w.unit - 1 - i)
		}
		r |= uint32(p[i]) << shift
	}
	if r > utf8.MaxRune {
		return utf8.RuneError
	}
	return rune(r)
}

// widthOf recognises UTF-16 and UTF-32 by the byte order mark, or by where the NUL bytes are.
func widthOf(p []byte) wide {
	switch {
	case bytes.HasPrefix(p, []byte{0xff, 0xfe, 0, 0}):
		return wide{unit: 4, start: 4}
	case bytes.HasPrefix(p, []byte{0, 0, 0xfe, 0xff}):
		return wide{unit: 4, big: true, start: 4}
	case bytes.HasPrefix(p, []byte{0xff, 0xfe}):
		return wide{unit: 2, start: 2}
	case bytes.HasPrefix(p, []byte{0xfe, 0xff}):
		return wide{unit: 2, big: true, start: 2}
	}
	return widthByNULs(p)
}

// widthByNULs looks at the share of NUL bytes at each position of a group of four. Text in a Latin script leaves the high bytes 0.
func widthByNULs(p []byte) wide {
	const sample = 4096
	p = p[:min(len(p), sample)]
	if len(p) < 4 || bytes.IndexByte(p, 0) < 0 {
		return wide{}
	}
	var zero [4]int
	for i, c := range p {
		if c == 0 {
			zero[i&3]++
		}
	}
	most := (len(p) + 3) / 4 * 6 / 10
	z := func(i int) bool { return zero[i] > most }
	switch {
	case z(1) && z(2) && z(3) && !z(0):
		return wide{unit: 4}
	case z(0) && z(1) && z(2) && !z(3):
		return wide{unit: 4, big: true}
	case z(1) && z(3) && !z(0) && !z(2):
		return wide{unit: 2}
	case z(0) && z(2) && !z(1) && !z(3):
		return wide{unit: 2, big: true}
	}
	return wide{}
}

// each calls f with every character of p and the range of bytes it takes.
func (w wide) each(p []byte, f func(r rune, lo, hi int)) {
	for i := w.start; i+w.unit <= len(p); {
		r, n := w.at(p[i:]), w.unit
		if utf16.IsSurrogate(r) {
			r = utf8.RuneError
			if w.unit == 2 && i+4 <= len(p) {
				if pair := utf16.DecodeRune(w.at(p[i:]), w.at(p[i+2:])); pair != utf8.RuneError {
					r, n = pair, 4
				}
			}
		}
		f(r, i, i+n)
		i += n
	}
}

// decodeWide reads the payload as UTF-16 or UTF-32, if the result looks like text.
func decodeWide(j job, w wide) {
	name := "utf16"
	if w.unit == 4 {
		name = "utf32"
	}
	b := j.build(stepFresh, name)
	b.parent = -1 // the bytes themselves, not the repaired text
	w.each(j.src, b.putRune)
	if !textual(b.text) {
		b.discard()
		return
	}
	b.commit()
}

// textual reports whether p is something a person could read: valid UTF-8 with hardly any control characters, and mostly letters,
// digits and spaces.
func textual(p []byte) bool {
	if len(p) == 0 || !utf8.Valid(p) {
		return false
	}
	runes, bad, word := 0, 0, 0
	for i := 0; i < len(p); {
		c, n := p[i], 1
		switch {
		case c >= utf8.RuneSelf:
			var r rune
			if r, n = utf8.DecodeRune(p[i:]); r == utf8.RuneError || r < 0xa0 || r >= 0xe000 && r < 0xf900 || r&0xfffe == 0xfffe {
				bad++
			} else {
				word++
			}
		case markOf[c]&markWord != 0 || c == ' ':
			word++
		case c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f:
			bad++
		}
		runes++
		i += n
	}
	return bad*20 <= runes && word*10 >= runes*6
}
