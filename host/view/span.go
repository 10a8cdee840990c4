package view

import (
	"bytes"
	"sort"
	"unicode/utf8"
)

// A span says where a stretch of a view's text came from. It produces the text from out up to the next span's out, from n bytes of
// the parent at src. A stretch of equal small groups (three bytes for each URL escape, say) is one span with the group sizes.
type span struct {
	out, src, n uint32
	// groupOut bytes of text come from groupSrc bytes of source. groupOut 0: the whole span is one group.
	groupOut, groupSrc uint8
	flags              uint8
}

const (
	spanCopy   uint8 = 1 << iota // the same bytes as the source
	spanMirror                   // the groups are in reverse order
)

// spanBytes is the memory of one span.
const spanBytes = 16

func (s span) copied() bool { return s.flags&spanCopy != 0 }

// sourceOf maps a part [lo, hi) of the span's text (relative to its start, lo < hi) to source offsets.
func (s span) sourceOf(lo, hi int) (int, int) {
	src, n := int(s.src), int(s.n)
	if s.groupOut == 0 {
		return src, src + n
	}
	out, unit := int(s.groupOut), int(s.groupSrc)
	from, to := lo/out*unit, min((hi+out-1)/out*unit, n)
	if s.flags&spanMirror != 0 {
		from, to = n-to, n-from
	}
	return src + from, src + to
}

func (v *View) clamp(start, end int) (int, int) {
	start = min(max(start, 0), len(v.Text))
	return start, min(max(end, start), len(v.Text))
}

// spanAt finds the span that holds text offset pos; the last one for the end of the text.
func (v *View) spanAt(pos int) int {
	return max(sort.Search(len(v.spans), func(i int) bool { return int(v.spans[i].out) > pos })-1, 0)
}

// back maps a range of the text to the parent's offsets.
func (v *View) back(start, end int) (int, int) {
	start, end = v.clamp(start, end)
	if v.spans == nil {
		return start, end
	}
	if start == end {
		return v.point(start)
	}
	i := v.spanAt(start)
	lo, hi := -1, 0
	for ; i < len(v.spans) && int(v.spans[i].out) < end; i++ {
		s, stop := v.spans[i], len(v.Text)
		if i+1 < len(v.spans) {
			stop = int(v.spans[i+1].out)
		}
		a, b := s.sourceOf(max(start-int(s.out), 0), min(end, stop)-int(s.out))
		if lo < 0 || a < lo {
			lo = a
		}
		hi = max(hi, b)
	}
	return lo, hi
}

// point maps an empty range: to the start of what follows, or to the end of the source.
func (v *View) point(pos int) (int, int) {
	if pos == len(v.Text) && pos > 0 {
		_, hi := v.back(pos-1, pos)
		return hi, hi
	}
	lo, _ := v.back(pos, pos+1)
	return lo, lo
}

// builder writes one view. Several may be open at a time; each ends with commit or discard, after which its memory belongs to the
// view or waits in the Set for the next builder.
type builder struct {
	s      *Set
	src    []byte
	text   []byte
	spans  []span
	parent int
	step   step
	name   string
	novel  marks
	// changed counts the bytes of text that were decoded, copies aside.
	changed int
	hidden  bool
	encoded bool
}

// build opens a builder for a view decoded from j's text.
func (j job) build(st step, name string) *builder {
	s := j.s
	var b *builder
	if n := len(s.free); n > 0 {
		b, s.free = s.free[n-1], s.free[:n-1]
	} else {
		b = new(builder)
	}
	*b = builder{s: s, src: j.src, text: b.text[:0], spans: b.spans[:0], parent: j.parent, step: st, name: name}
	return b
}

// fresh is View.fresh of the source.
func (b *builder) fresh(lo, hi int) bool { return b.parent < 0 || b.s.Views[b.parent].fresh(lo, hi) }

// separator reports whether the line feed at pos of the source was put there by the decoder that made the source.
func (b *builder) separator(pos int) bool {
	if b.parent < 0 {
		return false
	}
	lo, hi := b.s.Views[b.parent].back(pos, pos+1)
	return lo == hi
}

// room reports whether n more bytes fit, and books them.
func (b *builder) room(n int) bool {
	if b.s.used+n > b.s.lim.Bytes {
		b.s.Truncated = true
		return false
	}
	b.s.used += n
	return true
}

func (b *builder) last() *span {
	if n := len(b.spans); n > 0 {
		return &b.spans[n-1]
	}
	return nil
}

func (b *builder) add(sp span) {
	sp.out = uint32(len(b.text))
	b.spans = append(b.spans, sp)
}

// copy appends the source bytes [lo, hi) unchanged.
func (b *builder) copy(lo, hi int) {
	if lo >= hi || !b.room(hi-lo) {
		return
	}
	if l := b.last(); l != nil && l.copied() && int(l.src+l.n) == lo {
		l.n += uint32(hi - lo)
	} else {
		b.add(span{src: uint32(lo), n: uint32(hi - lo), groupOut: 1, groupSrc: 1, flags: spanCopy})
	}
	b.text = append(b.text, b.src[lo:hi]...)
}

// put appends p, decoded from the source bytes [lo, hi) as one group.
func (b *builder) put(p []byte, lo, hi int) {
	if len(p) == 0 || !b.room(len(p)) {
		return
	}
	b.group(len(p), lo, hi)
	b.text = append(b.text, p...)
	for _, c := range p {
		b.novel |= markOf[c]
	}
	b.changed += len(p)
}

// putByte is put for one ASCII byte.
func (b *builder) putByte(c byte, lo, hi int) {
	if !b.room(1) {
		return
	}
	b.group(1, lo, hi)
	b.text = append(b.text, c)
	b.novel |= markOf[c]
	b.changed++
}

// putRune is put for one character.
func (b *builder) putRune(r rune, lo, hi int) {
	if r < utf8.RuneSelf && r >= 0 {
		b.putByte(byte(r), lo, hi)
		return
	}
	var tmp [utf8.UTFMax]byte
	b.put(tmp[:utf8.EncodeRune(tmp[:], r)], lo, hi)
}

// group notes that the next n bytes of text come from [lo, hi), extending the last span when it goes on in the same way.
func (b *builder) group(n, lo, hi int) {
	unit := hi - lo
	if n > 255 || unit > 255 || unit == 0 {
		b.add(span{src: uint32(lo), n: uint32(unit)})
		return
	}
	if l := b.last(); l != nil && l.flags == 0 && int(l.groupOut) == n && int(l.groupSrc) == unit && int(l.src+l.n) == lo {
		l.n += uint32(unit)
		return
	}
	b.add(span{src: uint32(lo), n: uint32(unit), groupOut: uint8(n), groupSrc: uint8(unit)})
}

// sep appends a separator that stands between two places of the source; pos is where the next one starts.
func (b *builder) sep(c byte, pos int) {
	if n := len(b.text); n > 0 && b.text[n-1] != c && b.room(1) {
		b.add(span{src: uint32(pos)})
		b.text = append(b.text, c)
	}
}

// point is a state of a builder to return to.
type point struct {
	text, spans, changed int
	last                 span
}

// mark and rewind undo a trial: everything appended since mark is forgotten.
func (b *builder) mark() point {
	p := point{text: len(b.text), spans: len(b.spans), changed: b.changed}
	if l := b.last(); l != nil {
		p.last = *l
	}
	return p
}

func (b *builder) rewind(p point) {
	b.s.used -= len(b.text) - p.text
	b.text, b.spans, b.changed = b.text[:p.text], b.spans[:p.spans], p.changed
	if l := b.last(); l != nil {
		*l = p.last
	}
}

// cut drops the text after n bytes, which must be in the last span.
func (b *builder) cut(n int) {
	b.s.used -= len(b.text) - n
	b.text = b.text[:n]
}

// discard closes the builder without making a view.
func (b *builder) discard() {
	b.rewind(point{})
	s := b.s
	b.s, b.src = nil, nil // a pooled builder must not keep a payload alive
	s.free = append(s.free, b)
}

// commit makes the view, unless it is empty or another view says the same.
func (b *builder) commit() {
	s, text := b.s, b.text
	s.Work += len(text)
	var parent View
	if b.parent >= 0 {
		parent = s.Views[b.parent]
	}
	hidden := b.hidden || parent.Hidden
	if blank(text) || s.known(text, hidden) {
		b.discard()
		return
	}
	if len(s.Views) >= s.lim.Views {
		s.Truncated = true
		b.discard()
		return
	}
	v := View{Name: b.name, Text: text, Parent: b.parent, Depth: parent.Depth + 1, Hidden: hidden,
		Encoded: b.encoded || parent.Encoded, set: s, spans: b.spans, step: b.step, novel: b.novel}
	if b.parent > 0 {
		v.Name = parent.Name + ">" + b.name
	}
	s.open = append(s.open, b)
	s.Views = append(s.Views, v)
}

func blank(p []byte) bool {
	for _, c := range p {
		if c > ' ' {
			return false
		}
	}
	return true
}

// context is how much unchanged text an in-place decoding keeps on each side of a change.
const context = 256

// editor rewrites a text in place, keeping only the surroundings of its changes: a long page with one entity costs a short view.
// Changes must come in order and must not overlap.
type editor struct {
	b *builder
	// done is the source offset up to which the text is settled; 0 and no output yet means that nothing was changed.
	done    int
	started bool
}

// to settles the source up to lo, where the next change starts.
func (e *editor) to(lo int) {
	if e.started && lo-e.done <= 2*context {
		e.b.copy(e.done, lo)
		return
	}
	start := runeStart(e.b.src, max(lo-context, 0))
	if k := bytes.IndexAny(e.b.src[start:max(lo-context/2, start)], " \n\t"); k >= 0 {
		start += k + 1
	}
	if e.started {
		e.tail()
		e.b.sep('\n', start)
	}
	e.started = true
	e.b.copy(start, lo)
}

// tail copies what follows the last change, up to a space if there is one far enough.
func (e *editor) tail() {
	end := runeStart(e.b.src, min(e.done+context, len(e.b.src)))
	if rest := e.b.src[e.done:end]; end < len(e.b.src) {
		if k := bytes.LastIndexAny(rest, " \n\t"); k > context/2 {
			end = e.done + k
		}
	}
	e.b.copy(e.done, end)
}

// change replaces the source bytes [lo, hi) by p; an empty p drops them.
func (e *editor) change(p []byte, lo, hi int) {
	e.to(lo)
	e.b.put(p, lo, hi)
	e.done = hi
}

// changeRune replaces the source bytes [lo, hi) by one character.
func (e *editor) changeRune(r rune, lo, hi int) {
	e.to(lo)
	e.b.putRune(r, lo, hi)
	e.done = hi
}

// finish makes the view if anything was changed.
func (e *editor) finish() {
	if !e.started {
		e.b.discard()
		return
	}
	e.tail()
	e.b.commit()
}

// runeStart moves pos forward to the start of a character.
func runeStart(p []byte, pos int) int {
	for pos < len(p) && !utf8.RuneStart(p[pos]) {
		pos++
	}
	return pos
}

// extract appends the source bytes [lo, hi) unchanged, like copy, but as text whose very place is the discovery (a comment, a hidden
// element): View.Decoded is true for it.
func (b *builder) extract(lo, hi int) {
	if lo >= hi || !b.room(hi-lo) {
		return
	}
	b.add(span{src: uint32(lo), n: uint32(hi - lo), groupOut: 1, groupSrc: 1})
	b.text = append(b.text, b.src[lo:hi]...)
	b.changed += hi - lo
}
