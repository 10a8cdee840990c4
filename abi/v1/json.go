package v1

import (
	"math"
	"strconv"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// jsonKey begins a member of an object, with a comma unless it is the first.
func jsonKey(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, key...)
	return append(dst, '"', ':')
}

// jsonItem begins element i of a list.
func jsonItem(dst []byte, i int) []byte {
	if i > 0 {
		return append(dst, ',')
	}
	return dst
}

// jsonString appends s in quotes. What is not UTF-8 becomes U+FFFD, since JSON cannot hold it.
func jsonString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			dst = jsonByte(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		dst = utf8.AppendRune(dst, r)
		i += n
	}
	return append(dst, '"')
}

func jsonByte(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	}
	if c < 0x20 {
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
	return append(dst, c)
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// jsonBytes appends b as padded standard base64 in quotes.
func jsonBytes(dst, b []byte) []byte {
	dst = append(dst, '"')
	for ; len(b) >= 3; b = b[3:] {
		v := uint(b[0])<<16 | uint(b[1])<<8 | uint(b[2])
		dst = append(dst, base64Digits[v>>18], base64Digits[v>>12&63], base64Digits[v>>6&63], base64Digits[v&63])
	}
	switch len(b) {
	case 1:
		dst = append(dst, base64Digits[b[0]>>2], base64Digits[b[0]&3<<4], '=', '=')
	case 2:
		v := uint(b[0])<<8 | uint(b[1])
		dst = append(dst, base64Digits[v>>10], base64Digits[v>>4&63], base64Digits[v<<2&63], '=')
	}
	return append(dst, '"')
}

func jsonFloat32(dst []byte, f float32) []byte { return jsonFloat(dst, float64(f), 32) }
func jsonFloat64(dst []byte, f float64) []byte { return jsonFloat(dst, f, 64) }

// jsonFloat appends f with the fewest digits that read back the same, as browsers print numbers.
func jsonFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `"NaN"`...)
	case math.IsInf(f, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(f, -1):
		return append(dst, `"-Infinity"`...)
	}
	if abs := math.Abs(f); abs == 0 || abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, bits)
	}
	return strconv.AppendFloat(dst, f, 'e', -1, bits)
}

// jsonInt64 and jsonUint64 quote: a JSON number is only safe up to 2^53.
func jsonInt64(dst []byte, v int64) []byte {
	return append(strconv.AppendInt(append(dst, '"'), v, 10), '"')
}

func jsonUint64(dst []byte, v uint64) []byte {
	return append(strconv.AppendUint(append(dst, '"'), v, 10), '"')
}

func jsonNumber(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }
func jsonBool(dst []byte, v bool) []byte    { return strconv.AppendBool(dst, v) }

// jsonDecoder reads one JSON text. The first failure sticks in err and makes every loop end.
type jsonDecoder struct {
	b   []byte
	pos int
	// key is the member name last read by next; it may alias b.
	key []byte
	// strict also refuses missing required fields and unknown enum numbers.
	strict bool
	err    *DecodeError
	depth  int
	// names and places describe the way from the outermost object to the value being read, for errors.
	names  [MaxDepth + 2]string
	places [MaxDepth + 2]int
}

// fieldSet remembers which fields an object named (seen) and which of them had a value other than null (set). Bit i is the
// field with place i in its message.
type fieldSet struct{ seen, set uint64 }

func unmarshalJSON(b []byte, strict bool, decode func(*jsonDecoder)) error {
	d := jsonDecoder{b: b, strict: strict}
	if !utf8.Valid(b) {
		d.fail("JSON text is not valid UTF-8")
	}
	decode(&d)
	if d.space(); d.err == nil && d.pos < len(d.b) {
		d.fail("there is more after the end of the JSON value")
	}
	return asError(d.err)
}

func (d *jsonDecoder) fail(reason string) {
	if d.err != nil {
		return
	}
	path := ""
	for i := 1; i <= d.depth && i < len(d.names); i++ {
		if d.names[i] == "" {
			break
		}
		if path != "" {
			path += "."
		}
		path += d.names[i]
		if d.places[i] >= 0 {
			path += "[" + strconv.Itoa(d.places[i]) + "]"
		}
	}
	d.err = &DecodeError{Path: path, Reason: reason}
}

func (d *jsonDecoder) space() {
	for d.pos < len(d.b) {
		switch d.b[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// peek returns the next byte that is not white space; 0 at the end and after a failure.
func (d *jsonDecoder) peek() byte {
	if d.space(); d.err != nil || d.pos >= len(d.b) {
		return 0
	}
	return d.b[d.pos]
}

// take consumes c if it is next.
func (d *jsonDecoder) take(c byte) bool {
	if d.peek() != c {
		return false
	}
	d.pos++
	return true
}

func (d *jsonDecoder) word(w string) bool {
	d.space()
	if len(d.b)-d.pos < len(w) || string(d.b[d.pos:d.pos+len(w)]) != w {
		return false
	}
	d.pos += len(w)
	return true
}

// open starts an object.
func (d *jsonDecoder) open() bool {
	if !d.take('{') {
		d.fail("expected a JSON object")
		return false
	}
	if d.depth++; d.depth > MaxDepth {
		d.fail(reasonDepth)
		return false
	}
	d.names[d.depth] = ""
	return true
}

// next reads the next member name and its colon; false when the object has ended. first must be true for the first member.
func (d *jsonDecoder) next(first *bool) bool {
	d.names[min(d.depth, MaxDepth)] = ""
	if d.err != nil {
		return false
	}
	if d.take('}') {
		d.depth--
		return false
	}
	if !*first && !d.take(',') {
		d.fail("expected a comma or the end of a JSON object")
		return false
	}
	*first = false
	if d.key = d.quoted(); d.err == nil && !d.take(':') {
		d.fail("expected a colon after a JSON member name")
	}
	return d.err == nil
}

// field notes that the member just named is the field at bit. False: it is null, which means absent.
func (d *jsonDecoder) field(s *fieldSet, bit uint, name string) bool {
	d.names[d.depth], d.places[d.depth] = name, -1
	if s.seen>>bit&1 != 0 {
		d.fail("the field is given twice")
		return false
	}
	s.seen |= 1 << bit
	if d.peek() == 'n' && d.word("null") {
		return false
	}
	s.set |= 1 << bit
	return d.err == nil
}

func (d *jsonDecoder) unknown() {
	d.fail("unknown field " + strconv.Quote(string(d.key)))
}

// list reads what separates list elements: call it before each one with its index. False: the list has ended.
func (d *jsonDecoder) list(i int) bool {
	d.places[d.depth] = -1
	if d.err != nil {
		return false
	}
	if i == 0 && !d.take('[') {
		d.fail("expected a JSON list")
		return false
	}
	if d.take(']') {
		return false
	}
	if i > 0 && !d.take(',') {
		d.fail("expected a comma or the end of a JSON list")
		return false
	}
	d.places[d.depth] = i
	return true
}

// one refuses a second member of a oneof.
func (d *jsonDecoder) one(set uint64, oneof string) {
	if set&(set-1) != 0 {
		d.fail("more than one member of " + oneof + " is set")
	}
}

// need refuses a message without a required field, when strict.
func (d *jsonDecoder) need(ok bool, name string) {
	if d.strict && !ok && d.err == nil {
		// The object has ended, so the path names the message: add the field.
		d.depth++
		d.names[d.depth], d.places[d.depth] = name, -1
		d.fail("the required field is missing or empty")
		d.depth--
	}
}

func (d *jsonDecoder) bool() bool {
	if d.peek() == 't' && d.word("true") {
		return true
	}
	if d.peek() != 'f' || !d.word("false") {
		d.fail("expected true or false")
	}
	return false
}

func (d *jsonDecoder) str() string { return string(d.quoted()) }

// quoted reads a JSON string. Without escapes the result aliases the input.
func (d *jsonDecoder) quoted() []byte {
	if !d.take('"') {
		d.fail("expected a JSON string")
		return nil
	}
	start := d.pos
	for d.pos < len(d.b) {
		switch c := d.b[d.pos]; {
		case c == '"':
			d.pos++
			return d.b[start : d.pos-1]
		case c == '\\':
			return d.unescape(start)
		case c < 0x20:
			d.fail("a control character in a JSON string is not escaped")
			return nil
		}
		d.pos++
	}
	d.fail("a JSON string has no end")
	return nil
}

func (d *jsonDecoder) unescape(start int) []byte {
	out := append(make([]byte, 0, d.pos-start+16), d.b[start:d.pos]...)
	for d.pos < len(d.b) && d.err == nil {
		c := d.b[d.pos]
		d.pos++
		switch {
		case c == '"':
			return out
		case c == '\\':
			out = d.escape(out)
		case c < 0x20:
			d.fail("a control character in a JSON string is not escaped")
		default:
			out = append(out, c)
		}
	}
	d.fail("a JSON string has no end")
	return nil
}

// escape reads what follows a backslash.
func (d *jsonDecoder) escape(out []byte) []byte {
	if d.pos >= len(d.b) {
		return out
	}
	c := d.b[d.pos]
	d.pos++
	switch c {
	case '"', '\\', '/':
		return append(out, c)
	case 'b':
		return append(out, '\b')
	case 'f':
		return append(out, '\f')
	case 'n':
		return append(out, '\n')
	case 'r':
		return append(out, '\r')
	case 't':
		return append(out, '\t')
	case 'u':
		return utf8.AppendRune(out, d.escapedRune())
	}
	d.fail("a JSON string holds an unknown escape")
	return out
}

// escapedRune reads the digits of \uXXXX, and the second half of a surrogate pair.
func (d *jsonDecoder) escapedRune() rune {
	r := d.hex4()
	if r < 0xd800 || r > 0xdfff {
		return r
	}
	if r < 0xdc00 && d.pos+1 < len(d.b) && d.b[d.pos] == '\\' && d.b[d.pos+1] == 'u' {
		d.pos += 2
		if low := d.hex4(); low >= 0xdc00 && low <= 0xdfff {
			return (r-0xd800)<<10 | (low - 0xdc00) + 0x10000
		}
	}
	d.fail("a JSON string holds half of a surrogate pair")
	return 0
}

func (d *jsonDecoder) hex4() rune {
	if len(d.b)-d.pos < 4 {
		d.fail("a JSON string has no end")
		return 0
	}
	var r rune
	for _, c := range d.b[d.pos : d.pos+4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			d.fail("a JSON string holds an unknown escape")
			return 0
		}
		r = r<<4 | rune(c)
	}
	d.pos += 4
	return r
}

// bytes reads base64, standard or URL alphabet, padded or not.
func (d *jsonDecoder) bytes() []byte {
	in := d.quoted()
	if len(in) == 0 {
		return nil
	}
	n := len(in)
	for pad := 0; pad < 2 && n > 0 && len(in)%4 == 0 && in[n-1] == '='; pad++ {
		n--
	}
	out := make([]byte, 0, n*3/4)
	var acc uint32
	for i, c := range in[:n] {
		v := base64Value(c)
		if v < 0 {
			d.fail("bytes are not valid base64")
			return nil
		}
		acc = acc<<6 | uint32(v)
		if i%4 == 3 {
			out = append(out, byte(acc>>16), byte(acc>>8), byte(acc))
		}
	}
	switch n % 4 {
	case 1:
		d.fail("bytes are not valid base64")
	case 2:
		out = append(out, byte(acc>>4))
	case 3:
		out = append(out, byte(acc>>10), byte(acc>>2))
	}
	return out
}

func base64Value(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	}
	return -1
}

// number reads a JSON number, or a string that holds one, which the mapping allows for every numeric type.
func (d *jsonDecoder) number() string {
	if d.peek() == '"' {
		s := d.quoted()
		if d.err == nil && numberLen(s) != len(s) {
			d.fail("expected a number")
		}
		return string(s)
	}
	n := 0
	if d.err == nil {
		n = numberLen(d.b[d.pos:])
	}
	if n == 0 {
		d.fail("expected a number")
		return ""
	}
	d.pos += n
	return string(d.b[d.pos-n : d.pos])
}

// numberLen is the length of the JSON number that b starts with; 0 if there is none.
func numberLen(b []byte) int {
	i := 0
	if i < len(b) && b[i] == '-' {
		i++
	}
	n := digits(b[i:])
	if n == 0 || n > 1 && b[i] == '0' {
		return 0
	}
	i += n
	if i < len(b) && b[i] == '.' {
		if n = digits(b[i+1:]); n == 0 {
			return 0
		}
		i += 1 + n
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		j := i + 1
		if j < len(b) && (b[j] == '+' || b[j] == '-') {
			j++
		}
		if n = digits(b[j:]); n == 0 {
			return 0
		}
		i = j + n
	}
	return i
}

func digits(b []byte) int {
	n := 0
	for n < len(b) && b[n] >= '0' && b[n] <= '9' {
		n++
	}
	return n
}

// int reads an integer of the given width. Forms such as 1.0 and 1e3 are integers too, as the mapping has it.
func (d *jsonDecoder) int(bits int) int64 {
	s := d.number()
	if d.err != nil {
		return 0
	}
	v, err := strconv.ParseInt(s, 10, bits)
	if err == nil {
		return v
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1<<53 || int64(f)<<(64-bits)>>(64-bits) != int64(f) {
		d.fail("expected a whole number that fits the field")
		return 0
	}
	return int64(f)
}

func (d *jsonDecoder) uint(bits int) uint64 {
	s := d.number()
	if d.err != nil {
		return 0
	}
	v, err := strconv.ParseUint(s, 10, bits)
	if err == nil {
		return v
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f > 1<<53 || uint64(f)<<(64-bits)>>(64-bits) != uint64(f) {
		d.fail("expected a whole number that fits the field")
		return 0
	}
	return uint64(f)
}

func (d *jsonDecoder) float(bits int) float64 {
	s := d.number()
	if d.err != nil {
		return 0
	}
	f, err := strconv.ParseFloat(s, bits)
	if err != nil {
		d.fail("expected a finite number that fits the field")
	}
	return f
}

type enum interface {
	~int32
	Known() bool
}

// jsonEnum reads an enum: a number, or the name of the value in the .proto file.
func jsonEnum[E enum](d *jsonDecoder, prefix string, parse func(string) (E, bool)) E {
	if d.peek() != '"' {
		v := E(d.int(32))
		if d.strict && d.err == nil && v != 0 && !v.Known() {
			d.fail("unknown enum value " + strconv.Itoa(int(v)))
		}
		return v
	}
	name := d.str()
	if d.err != nil || name == prefix+"UNSPECIFIED" {
		return 0
	}
	if len(name) > len(prefix) && name[:len(prefix)] == prefix {
		if v, ok := parse(lower(name[len(prefix):])); ok {
			return v
		}
	}
	d.fail("unknown enum value " + strconv.Quote(name))
	return 0
}

// listed refuses the unspecified value inside a list, when strict.
func listed[E enum](d *jsonDecoder, v E) E {
	if d.strict && v == 0 {
		d.fail("an unspecified value in a list")
	}
	return v
}

// lower maps upper-case ASCII to lower case, and lower case to something no name holds, so that names match exactly.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		switch {
		case c >= 'A' && c <= 'Z':
			b[i] = c + 'a' - 'A'
		case c >= 'a' && c <= 'z':
			b[i] = '?'
		}
	}
	return string(b)
}
