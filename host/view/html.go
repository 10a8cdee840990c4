package view

import (
	"bytes"
	"html"
	"unicode/utf8"
)

// decodeHTML reads HTML, whole pages and the pieces of it in Markdown or mail alike. It yields the visible text with tags removed
// and character references resolved ("html"), comments ("html.comment"), text that style or markup hides ("html.hidden"), and
// text in attributes and metadata ("html.attr").
func decodeHTML(j job) {
	p := page{src: j.src, seen: editor{b: j.build(stepHTML, "html")}, comment: j.build(stepHTML, "html.comment"),
		concealed: j.build(stepHTML, "html.hidden"), attr: j.build(stepHTML, "html.attr")}
	p.comment.hidden, p.concealed.hidden, p.attr.hidden = true, true, true
	p.rules = hidingRules(j.src)
	p.less, p.amp = -1, -1
	for i := 0; i < len(j.src); {
		k := p.next(i)
		p.text(i, k)
		if i = k; i < len(j.src) {
			i = p.markup(i)
		}
	}
	p.seen.b.encoded = p.codes >= encodedFrom
	p.seen.finish()
	p.comment.commit()
	p.concealed.commit()
	p.attr.commit()
}

// next finds the markup character at or after i, or the end of the text. It remembers where the next '<' and '&' are: looking for
// both from every position would cost the square of the length.
func (p *page) next(i int) int {
	if p.less < i {
		p.less = indexFrom(p.src, i, '<')
	}
	if p.amp < i {
		p.amp = indexFrom(p.src, i, '&')
	}
	return min(p.less, p.amp)
}

// indexFrom is the offset of the first c at or after i, or the end of the text.
func indexFrom(p []byte, i int, c byte) int {
	if k := bytes.IndexByte(p[i:], c); k >= 0 {
		return i + k
	}
	return len(p)
}

// page is the state of one walk through markup.
type page struct {
	src                      []byte
	seen                     editor
	comment, concealed, attr *builder
	rules                    [][]byte // selectors of the style sheet that hide what they match
	// hiding is the name of the outermost open element that hides its content; depth counts open elements of the same name.
	hiding []byte
	depth  int
	codes  int // letters and digits given by number
	less   int // where the next '<' and '&' are
	amp    int
}

// text handles the characters [lo, hi) between markup.
func (p *page) text(lo, hi int) {
	if lo >= hi || len(p.hiding) == 0 {
		return
	}
	p.concealed.extract(lo, hi)
	p.seen.change(nil, lo, hi)
}

// markup handles the '<' or '&' at i and returns where to go on.
func (p *page) markup(i int) int {
	rest := p.src[i:]
	switch {
	case rest[0] == '&':
		return p.reference(i)
	case bytes.HasPrefix(rest, []byte("<!--")):
		return p.remark(i, 4, "-->")
	case bytes.HasPrefix(rest, []byte("<![CDATA[")):
		p.seen.change(nil, i, i+9)
		return i + 9
	case len(rest) > 1 && (rest[1] == '!' || rest[1] == '?'):
		return p.remark(i, 2, ">")
	}
	t, ok := readTag(p.src, i)
	if !ok {
		return i + 1
	}
	return p.tag(&t)
}

// remark handles a comment whose text starts `open` bytes after i.
func (p *page) remark(i, open int, closer string) int {
	end, next := len(p.src), len(p.src)
	if k := bytes.Index(p.src[i+open:], []byte(closer)); k >= 0 {
		end = i + open + k
		next = end + len(closer)
	} else if open == 2 {
		return i + 1 // "<!" without ">" is no markup
	}
	p.comment.sep('\n', i+open)
	p.comment.inline(i+open, end)
	p.seen.change(nil, i, next)
	return next
}

// tag is one start or end tag in the source.
type tag struct {
	lo, hi     int
	name       []byte
	attrs      []byte
	attrsAt    int
	kind       nameKind
	end, empty bool
}

// maxTag bounds a tag: a '<' with no '>' near it is a sign of less-than.
const maxTag = 16 << 10

// readTag reads the tag at i.
func readTag(src []byte, i int) (tag, bool) {
	t := tag{lo: i}
	k := i + 1
	if k < len(src) && src[k] == '/' {
		t.end = true
		k++
	}
	start := k
	for k < len(src) && k-start < 64 && nameByte(src[k]) {
		k++
	}
	if k == start || k >= len(src) || !letter(src[start]) {
		return t, false
	}
	t.name = src[start:k]
	t.kind = tagKinds.of(t.name)
	if c := src[k]; c != '>' && c != '/' && c > ' ' {
		return t, false
	}
	t.attrsAt = k
	if t.hi = tagEnd(src[:min(len(src), i+maxTag)], k); t.hi == 0 {
		return t, false
	}
	t.attrs = src[k : t.hi-1]
	t.empty = bytes.HasSuffix(t.attrs, []byte("/"))
	return t, true
}

// tagEnd is the offset after the '>' that ends a tag whose attributes start at k; 0 if there is none.
func tagEnd(src []byte, k int) int {
	for k < len(src) {
		switch c := src[k]; c {
		case '>':
			return k + 1
		case '<':
			return 0
		case '=':
			k++
			for k < len(src) && (src[k] == ' ' || src[k] == '\n' || src[k] == '\t') {
				k++
			}
			if k < len(src) && (src[k] == '"' || src[k] == '\'') {
				q := bytes.IndexByte(src[k+1:], src[k])
				if q < 0 {
					return 0
				}
				k += q + 2
			}
		default:
			k++
		}
	}
	return 0
}

func letter(c byte) bool   { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func nameByte(c byte) bool { return markOf[c]&markWord != 0 || c == '-' || c == ':' || c == '_' }

// tag handles one tag and returns the offset after it, and after its content for elements whose content is no text.
func (p *page) tag(t *tag) int {
	if len(p.hiding) > 0 && p.insideHidden(t) {
		p.seen.change(nil, t.lo, t.hi)
		return t.hi
	}
	p.seen.to(t.lo)
	if t.kind&tagBlock != 0 {
		p.seen.b.sep('\n', t.lo)
	}
	p.seen.done = t.hi
	if t.end {
		return t.hi
	}
	hides := t.kind&tagHiding != 0
	if len(t.attrs) > 1 {
		hides = p.attributes(t) || hides
	}
	switch {
	case t.kind&tagRaw != 0:
		p.seen.done = rawEnd(p.src, t)
	case t.kind&tagTitle != 0:
		end := rawEnd(p.src, t)
		p.attr.sep('\n', t.hi)
		p.attr.inline(t.hi, end)
		p.seen.done = end
	case hides && t.kind&tagVoid == 0 && !t.empty:
		p.hiding, p.depth = t.name, 1
		p.concealed.sep('\n', t.hi)
	}
	return p.seen.done
}

// insideHidden follows the nesting of elements within a hidden one. It reports false if the tag lies outside after all, because it
// ends the hidden element without an end tag.
func (p *page) insideHidden(t *tag) bool {
	same := bytes.EqualFold(t.name, p.hiding)
	if same && !t.end && t.kind&tagAuto != 0 {
		p.hiding = nil
		return false
	}
	if t.kind&tagBlock != 0 {
		p.concealed.sep('\n', t.hi)
	}
	if !t.end {
		p.attributes(t)
	}
	if same && t.end {
		p.depth--
	} else if same && !t.empty {
		p.depth++
	}
	if p.depth == 0 {
		p.hiding = nil
	}
	return true
}

// rawEnd finds the end tag of an element whose content holds no markup.
func rawEnd(src []byte, t *tag) int {
	for i := t.hi; i < len(src); {
		k := bytes.Index(src[i:], []byte("</"))
		if k < 0 {
			return len(src)
		}
		i += k
		if after := src[i+2:]; len(after) >= len(t.name) && bytes.EqualFold(after[:len(t.name)], t.name) {
			return i
		}
		i += 2
	}
	return len(src)
}

// reference handles the character reference at i.
func (p *page) reference(i int) int {
	r, n, code := readReference(p.src[i:])
	if n == 0 {
		return i + 1
	}
	if code {
		p.codes++
	}
	if len(p.hiding) > 0 {
		p.concealed.putRune(r, i, i+n)
		p.seen.change(nil, i, i+n)
		return i + n
	}
	p.seen.changeRune(r, i, i+n)
	return i + n
}

// inline appends [lo, hi) with character references resolved.
func (b *builder) inline(lo, hi int) {
	for lo < hi {
		k := bytes.IndexByte(b.src[lo:hi], '&')
		if k < 0 {
			break
		}
		r, n, _ := readReference(b.src[lo+k : hi])
		b.extract(lo, lo+k)
		lo += k
		if n == 0 {
			b.extract(lo, lo+1)
			lo++
			continue
		}
		b.putRune(r, lo, lo+n)
		lo += n
	}
	b.extract(lo, hi)
}

// readReference reads the character reference at the start of p: &#105; &#x69; &lt; and the same without semicolon where browsers
// accept it. code says that it gives an ASCII letter or digit by number.
func readReference(p []byte) (r rune, n int, code bool) {
	if len(p) < 3 {
		return 0, 0, false
	}
	if p[1] == '#' {
		return numericReference(p)
	}
	end := 1
	for end < len(p) && end < 34 && markOf[p[end]]&markWord != 0 {
		end++
	}
	if end == 1 || end >= len(p) || p[end] != ';' {
		return 0, 0, false
	}
	end++
	switch string(p[1 : end-1]) {
	case "lt":
		return '<', end, false
	case "gt":
		return '>', end, false
	case "amp":
		return '&', end, false
	case "quot":
		return '"', end, false
	case "nbsp":
		return ' ', end, false
	}
	text := html.UnescapeString(string(p[:end]))
	r, size := utf8.DecodeRuneInString(text)
	if size != len(text) {
		return 0, 0, false // unknown, or one of the few that stand for two characters
	}
	return r, end, false
}

func numericReference(p []byte) (rune, int, bool) {
	k, base := 2, 10
	if p[2] == 'x' || p[2] == 'X' {
		k, base = 3, 16
	}
	start, v := k, 0
	for k < len(p) && digitOf(p[k]) < base {
		if v = v*base + digitOf(p[k]); v > utf8.MaxRune {
			return 0, 0, false
		}
		k++
	}
	if k == start || k-start > 10 {
		return 0, 0, false
	}
	if k < len(p) && p[k] == ';' {
		k++
	}
	r := rune(v)
	if r == 0 || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return r, k, r < utf8.RuneSelf && markOf[byte(r)]&markWord != 0
}
