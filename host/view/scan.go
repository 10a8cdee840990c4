package view

// marks is a set of the bytes that decoders look for.
type marks uint32

const (
	markEscape    marks = 1 << iota // ESC, backspace, a bare carriage return
	markControl                     // other control characters
	markHigh                        // above 0x7F
	markLess                        // <
	markAmp                         // &
	markPercent                     // %
	markBackslash                   // \
	markEqual                       // =
	markBracket                     // [
	markQuote                       // " ' `
	markCode                        // # / -
	markWord                        // letters and digits
)

// markAny wakes a decoder on every text.
const markAny = ^marks(0)

var markOf = func() (t [256]marks) {
	for c := range t {
		switch {
		case c >= 0x80:
			t[c] = markHigh
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f:
			t[c] = markControl
		case 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9':
			t[c] = markWord
		}
	}
	for c, m := range map[byte]marks{'<': markLess, '&': markAmp, '%': markPercent, '\\': markBackslash, '=': markEqual, '[': markBracket,
		'"': markQuote, '\'': markQuote, '`': markQuote, '#': markCode, '/': markCode, '-': markCode} {
		t[c] = m
	}
	t[0x1b] |= markEscape
	t['\b'] |= markEscape
	t['\r'] |= markEscape
	return t
}()

// scan is what one pass over a text finds: which marks it holds.
type scan struct {
	seen marks
}

func (s *scan) reset() { *s = scan{} }

func (s *scan) text(p []byte, _ bool) {
	var seen marks
	for _, c := range p {
		seen |= markOf[c]
	}
	s.seen = seen
}
