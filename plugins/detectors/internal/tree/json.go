package tree

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON reads one document of RFC 8259: nothing before or after it but white space, no comments, no bad UTF-8, no lone surrogates.
func JSON(src string, lim Limits) (*Tree, error) {
	p := &jsonParser{src: src, b: newBuilder(lim)}
	if err := p.document(); err != nil {
		return nil, err
	}
	return &Tree{Nodes: p.b.nodes}, nil
}

type jsonParser struct {
	src string
	at  int
	b   *builder
}

func (p *jsonParser) fail(reason string) *SyntaxError {
	return &SyntaxError{Offset: p.at, Reason: reason}
}

func (p *jsonParser) document() error {
	if err := p.value(None, ""); err != nil {
		return err
	}
	if p.space(); p.at < len(p.src) {
		return p.fail("text after the end of the document")
	}
	return nil
}

func (p *jsonParser) space() {
	for p.at < len(p.src) && (p.src[p.at] == ' ' || p.src[p.at] == '\t' || p.src[p.at] == '\n' || p.src[p.at] == '\r') {
		p.at++
	}
}

// peek skips white space and returns the next byte, or 0 at the end.
func (p *jsonParser) peek() byte {
	if p.space(); p.at < len(p.src) {
		return p.src[p.at]
	}
	return 0
}

func (p *jsonParser) value(parent int, key string) *SyntaxError {
	switch c := p.peek(); {
	case c == '{':
		return p.container(parent, key, Object, '}')
	case c == '[':
		return p.container(parent, key, Array, ']')
	case c == '"':
		return p.stringValue(parent, key)
	case c == '-' || c >= '0' && c <= '9':
		return p.number(parent, key)
	case c == 't':
		return p.literal(parent, key, "true", Bool)
	case c == 'f':
		return p.literal(parent, key, "false", Bool)
	case c == 'n':
		return p.literal(parent, key, "null", Null)
	case c == 0 && p.at >= len(p.src):
		return p.fail("the document ends too early")
	}
	return p.fail("not a JSON value")
}

func (p *jsonParser) container(parent int, key string, kind Kind, end byte) *SyntaxError {
	self, err := p.b.add(parent, Node{Kind: kind, Key: key, Start: p.at})
	if err != nil {
		return err
	}
	p.at++
	for first := true; p.peek() != end; first = false {
		if !first {
			if p.peek() != ',' {
				return p.fail("a comma or the end of the container is missing")
			}
			p.at++
		}
		if err := p.member(self, kind); err != nil {
			return err
		}
	}
	p.at++
	p.b.nodes[self].End = p.at
	if kind == Object {
		p.b.markRepeated(self)
	}
	return nil
}

func (p *jsonParser) member(parent int, kind Kind) *SyntaxError {
	if kind == Array {
		return p.value(parent, "")
	}
	if p.peek() != '"' {
		return p.fail("a member without a name")
	}
	key, _, _, _, err := p.str()
	if err != nil {
		return err
	}
	if p.peek() != ':' {
		return p.fail("a colon is missing")
	}
	p.at++
	return p.value(parent, key)
}

func (p *jsonParser) literal(parent int, key, word string, kind Kind) *SyntaxError {
	if !strings.HasPrefix(p.src[p.at:], word) {
		return p.fail("not a JSON value")
	}
	_, err := p.b.add(parent, Node{Kind: kind, Key: key, Text: word, Start: p.at, End: p.at + len(word)})
	p.at += len(word)
	return err
}

func (p *jsonParser) stringValue(parent int, key string) *SyntaxError {
	text, start, end, plain, err := p.str()
	if err != nil {
		return err
	}
	_, err = p.b.add(parent, Node{Kind: String, Key: key, Text: text, Start: start, End: end, Plain: plain})
	return err
}

// str reads a string; p.at is at its quote.
func (p *jsonParser) str() (text string, start, end int, plain bool, err *SyntaxError) {
	p.at++
	start = p.at
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == '"':
			end = p.at
			p.at++
			return p.src[start:end], start, end, true, p.checkUTF8(p.src[start:end], start)
		case c == '\\':
			text, end, err = p.escaped(start)
			return text, start, end, false, err
		case c < ' ':
			return "", 0, 0, false, p.fail("a control character in a string")
		}
		p.at++
	}
	return "", 0, 0, false, p.fail("a string without an end")
}

func (p *jsonParser) checkUTF8(s string, start int) *SyntaxError {
	if utf8.ValidString(s) {
		return nil
	}
	return &SyntaxError{Offset: start, Reason: "a string that is not UTF-8"}
}

// escaped reads the rest of a string whose first escape is at p.at.
func (p *jsonParser) escaped(start int) (string, int, *SyntaxError) {
	out := append(make([]byte, 0, 64), p.src[start:p.at]...)
	for p.at < len(p.src) {
		switch c := p.src[p.at]; {
		case c == '"':
			p.at++
			return string(out), p.at - 1, p.checkUTF8(string(out), start)
		case c < ' ':
			return "", 0, p.fail("a control character in a string")
		case c == '\\':
			var err *SyntaxError
			if out, err = p.escape(out); err != nil {
				return "", 0, err
			}
			continue
		default:
			out = append(out, c)
		}
		p.at++
	}
	return "", 0, p.fail("a string without an end")
}

const simpleEscapes = "\"\\/bfnrt"

func (p *jsonParser) escape(out []byte) ([]byte, *SyntaxError) {
	if p.at+1 >= len(p.src) {
		return nil, p.fail("a string without an end")
	}
	c := p.src[p.at+1]
	if i := strings.IndexByte(simpleEscapes, c); i >= 0 {
		p.at += 2
		return append(out, "\"\\/\b\f\n\r\t"[i]), nil
	}
	r, ok := p.unit(p.at)
	if c != 'u' || !ok {
		return nil, p.fail("an unknown escape in a string")
	}
	p.at += 6
	if utf16.IsSurrogate(r) {
		low, ok := p.unit(p.at)
		full := utf16.DecodeRune(r, low)
		if !ok || full == utf8.RuneError {
			return nil, p.fail("half of a surrogate pair")
		}
		p.at += 6
		r = full
	}
	return utf8.AppendRune(out, r), nil
}

// unit reads \uXXXX at i.
func (p *jsonParser) unit(i int) (rune, bool) {
	if i+6 > len(p.src) || p.src[i] != '\\' || p.src[i+1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range []byte(p.src[i+2 : i+6]) {
		d := strings.IndexByte("0123456789abcdef", c|0x20)
		if c < '0' || d < 0 || c == 'P' {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func (p *jsonParser) number(parent int, key string) *SyntaxError {
	start := p.at
	if p.src[p.at] == '-' {
		p.at++
	}
	lead := p.at
	if !p.digits() || p.src[lead] == '0' && p.at > lead+1 {
		return p.fail("a malformed number")
	}
	if p.at < len(p.src) && p.src[p.at] == '.' {
		if p.at++; !p.digits() {
			return p.fail("a malformed number")
		}
	}
	if p.at < len(p.src) && p.src[p.at]|0x20 == 'e' {
		p.at++
		if p.at < len(p.src) && (p.src[p.at] == '+' || p.src[p.at] == '-') {
			p.at++
		}
		if !p.digits() {
			return p.fail("a malformed number")
		}
	}
	_, err := p.b.add(parent, Node{Kind: Number, Key: key, Text: p.src[start:p.at], Start: start, End: p.at})
	return err
}

func (p *jsonParser) digits() bool {
	from := p.at
	for p.at < len(p.src) && p.src[p.at] >= '0' && p.src[p.at] <= '9' {
		p.at++
	}
	return p.at > from
}
