package view

import "bytes"

// decodeANSI removes terminal escape sequences ("ansi"), and collects what a terminal would not show: concealed text, text in
// the colour of its background, text erased or overwritten after it was written, and titles ("ansi.hidden").
func decodeANSI(j job) {
	if indexControl(j.src) < 0 {
		return
	}
	t := terminal{e: editor{b: j.build(stepANSI, "ansi")}, hide: j.build(stepFresh, "ansi.hidden"), src: j.src}
	t.hide.hidden = true
	i := 0
	for i < len(j.src) {
		k := indexControl(j.src[i:])
		if k < 0 {
			break
		}
		t.text(i, i+k)
		i += k
		i += t.control(i)
	}
	t.text(i, len(j.src))
	t.e.finish()
	t.hide.commit()
}

// indexControl finds the next control character that moves the cursor or starts a sequence; the end of a CR LF line is neither.
func indexControl(p []byte) int {
	for i, c := range p {
		if c == 0x1b || c == '\b' || c == '\r' && i+1 < len(p) && p[i+1] != '\n' {
			return i
		}
	}
	return -1
}

// terminal follows just enough of a terminal's state to tell what stays on the screen.
type terminal struct {
	e    editor
	hide *builder
	src  []byte
	// conceal is SGR 8; fore and back are the colours in force, -1 for the default.
	conceal    bool
	fore, back int
	colored    bool
	line       int // start of the current line
	prev       int // start of the line before
}

// text notes the visible characters [lo, hi) and where their lines start.
func (t *terminal) text(lo, hi int) {
	if lo >= hi {
		return
	}
	if t.conceal || t.colored && t.fore == t.back {
		t.hide.sep('\n', lo)
		t.hide.extract(lo, hi)
	}
	for {
		k := bytes.IndexByte(t.src[lo:hi], '\n')
		if k < 0 {
			return
		}
		lo += k + 1
		t.prev, t.line = t.line, lo
	}
}

// control handles the control character at i and returns the length of its sequence.
func (t *terminal) control(i int) int {
	rest := t.src[i:]
	switch {
	case rest[0] == '\b':
		t.e.change(nil, i, i+1)
		return 1
	case rest[0] == '\r':
		t.erased(t.line, i)
		t.e.change([]byte{'\n'}, i, i+1)
		t.line = i + 1
		return 1
	case len(rest) < 2:
		return 1
	case rest[1] == '[':
		return t.csi(i)
	case bytes.IndexByte([]byte("]P_^X"), rest[1]) >= 0:
		return t.osc(i)
	}
	t.e.change(nil, i, i+2)
	return 2
}

// csi handles ESC [ parameters final.
func (t *terminal) csi(i int) int {
	k := i + 2
	for k < len(t.src) && t.src[k] >= 0x20 && t.src[k] < 0x40 {
		k++
	}
	if k >= len(t.src) {
		t.e.change(nil, i, k)
		return k - i
	}
	params := t.src[i+2 : k]
	switch t.src[k] {
	case 'm':
		t.colors(params)
	case 'J':
		t.erased(t.prev, i)
	case 'K', 'G':
		t.erased(t.line, i)
	case 'A', 'F', 'H', 'f':
		t.erased(t.prev, i)
	}
	t.e.change(nil, i, k+1)
	return k + 1 - i
}

// erased collects the text [lo, hi) that the terminal is about to overwrite.
func (t *terminal) erased(lo, hi int) {
	if lo >= hi {
		return
	}
	t.hide.sep('\n', lo)
	for lo < hi {
		k := indexControl(t.src[lo:hi])
		if k < 0 {
			t.hide.extract(lo, hi)
			break
		}
		t.hide.extract(lo, lo+k)
		lo += k + controlLen(t.src[lo+k:hi])
	}
	t.line, t.prev = hi, hi
}

// controlLen is the length of the escape sequence at the start of p, without interpreting it.
func controlLen(p []byte) int {
	if len(p) < 2 || p[0] != 0x1b || p[1] != '[' {
		return 1
	}
	k := 2
	for k < len(p) && p[k] >= 0x20 && p[k] < 0x40 {
		k++
	}
	return min(k+1, len(p))
}

// osc handles ESC ] text BEL and its relatives: titles, links, device strings.
func (t *terminal) osc(i int) int {
	k := i + 2
	for k < len(t.src) && t.src[k] != 7 && t.src[k] != 0x1b {
		k++
	}
	t.hide.sep('\n', i+2)
	t.hide.extract(i+2, k)
	if k+1 < len(t.src) && t.src[k] == 0x1b && t.src[k+1] == '\\' {
		k++
	}
	k = min(k+1, len(t.src))
	t.e.change(nil, i, k)
	t.line = k
	return k - i
}

// colors follows the SGR parameters that can make text invisible.
func (t *terminal) colors(params []byte) {
	if len(params) == 0 {
		t.conceal, t.colored = false, false
		return
	}
	for len(params) > 0 {
		var field []byte
		field, params, _ = bytes.Cut(params, []byte{';'})
		n := 0
		for _, c := range field {
			n = min(n*10+digitOf(c), 999)
		}
		t.color(n)
	}
}

func (t *terminal) color(n int) {
	if !t.colored {
		t.fore, t.back = -1, -2
	}
	switch {
	case n == 0:
		t.conceal, t.colored = false, false
	case n == 8:
		t.conceal = true
	case n == 28:
		t.conceal = false
	case n >= 30 && n <= 37 || n >= 90 && n <= 97:
		t.fore, t.colored = n%10, true
	case n >= 40 && n <= 47 || n >= 100 && n <= 107:
		t.back, t.colored = n%10, true
	case n == 39:
		t.fore = -1
	case n == 49:
		t.back = -2
	}
}
