// Package view reads one payload in every way an assistant might read it.
//
// Text can reach a model in disguise: encoded, spelled with look-alike letters, split over string literals, or put where a person
// does not look. Of undoes these disguises once for all detectors. Each reading is a View: valid UTF-8 text with an exact map back
// to byte offsets of the original. A decoding accuses nobody; it is judged by what it hides.
//
// All work is bounded: the depth of a chain, the number of views and the bytes they hold are capped, every decoder is linear in
// its input, and what a cap cut off is reported in Set.Truncated. A clean ASCII text costs one pass and no allocation.
package view

import (
	"bytes"
	"strings"
	"sync"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Limits bound the work on one payload. Zero fields mean the defaults.
type Limits struct {
	// Depth is the longest chain of decodings below the original text; default 6.
	Depth int
	// Views is the largest number of views, the original included; default 64.
	Views int
	// Bytes is the most that all decoded views together may hold; default 4 times the payload plus 16 KiB.
	Bytes int
	// Binary decodes what looks binary too: the payload has a declared binary schema, and what text is in it must be read.
	Binary bool
}

const (
	defaultDepth = 6
	defaultViews = 64
	// Decoders shrink their input or keep its size, so four times the payload leaves room for several whole-text readings.
	defaultFactor = 4
	defaultSlack  = 16 << 10
)

func (l Limits) withDefaults(size int) Limits {
	if l.Depth <= 0 {
		l.Depth = defaultDepth
	}
	if l.Views <= 0 {
		l.Views = defaultViews
	}
	if l.Bytes <= 0 {
		l.Bytes = defaultFactor*size + defaultSlack
	}
	return l
}

// View is one reading of the payload. Its fields must not be changed, and nothing of it may be used after Set.Release.
type View struct {
	// Name is the chain of decodings, outermost first, joined by ">": "text", "html.comment", "url>base64".
	Name string
	// Text is valid UTF-8. Where several places of the payload were decoded, their texts are separated by line feeds; an in-place
	// decoding (URL escapes, entities, look-alikes) keeps some of the text around each place, so that phrases stay whole.
	Text []byte
	// Parent is the index in Set.Views of the view this was decoded from; -1 for the original text.
	Parent int
	// Depth is the number of decodings between this view and the original.
	Depth int
	// Hidden says that a person looking at the payload would not see this text. Inherited from the parent.
	Hidden bool
	// Encoded says that the text was written in a code or cipher. Inherited from the parent.
	Encoded bool

	set   *Set
	spans []span // nil: the same bytes as the parent
	step  step
	novel marks // marks that decoding brought to light
}

// Has reports whether one of the decodings in the view's chain has this name.
func (v *View) Has(name string) bool {
	rest := v.Name
	for rest != "" {
		head, tail, _ := strings.Cut(rest, ">")
		if head == name {
			return true
		}
		rest = tail
	}
	return false
}

// Origin maps the range [start, end) of Text to the smallest range of the original payload that produced it. It is exact for text
// that was copied or rewritten character by character, and covers whole source groups (a base64 quantum, an escape) otherwise.
// Offsets outside Text are clamped.
func (v *View) Origin(start, end int) (int, int) {
	for v.set != nil {
		start, end = v.back(start, end)
		if v.Parent < 0 {
			break
		}
		v = &v.set.Views[v.Parent]
	}
	return start, end
}

// Decoded reports whether the range [start, end) of Text holds anything that differs from the parent's text. A match for which it
// is false lies wholly in text copied for context, and is found in the parent too.
func (v *View) Decoded(start, end int) bool {
	if v.spans == nil {
		return false
	}
	start, end = v.clamp(start, end)
	i := v.spanAt(start)
	return !v.spans[i].copied() || (i+1 < len(v.spans) && int(v.spans[i+1].out) < end)
}

// fresh reports whether a decoder that looks at single stretches has to look at [start, end): text copied from the parent was looked
// at there.
func (v *View) fresh(start, end int) bool { return v.Parent < 0 || v.Decoded(start, end) }

// Set holds all views of one payload. It belongs to one goroutine until Of returns, and may then be read by many.
type Set struct {
	// Views starts with the original text ("text", UTF-8 repaired); every parent comes before its children.
	Views []View
	// Truncated says that a cap of Limits cut something off: the views are not all there is.
	Truncated bool
	// Undecodable says that the payload is binary and no reading turns it into text.
	Undecodable bool
	// NonASCII says that the payload holds a byte above 0x7F.
	NonASCII bool
	// Work counts the bytes scanned and produced. It depends on the payload and the limits only.
	Work int

	kind v1.PayloadKind
	lim  Limits
	used int // bytes held by decoded views and by those being built
	scan scan
	open []*builder
	free []*builder
	// Scratch memory of decoders.
	row, named []literal
}

var sets = sync.Pool{New: func() any { return new(Set) }}

// Of reads data in every way it knows, within lim. Views[0].Text aliases data when data is valid UTF-8, so data must not change
// before Release. It must be shorter than 4 GiB. Of never fails: what it could not do shows in Truncated and Undecodable.
func Of(data []byte, kind v1.PayloadKind, lim Limits) *Set {
	s := sets.Get().(*Set)
	s.kind, s.lim = kind, lim.withDefaults(len(data))
	s.original(data)
	for i := 0; i < len(s.Views) && (lim.Binary || !s.Undecodable); i++ {
		s.decode(i)
	}
	return s
}

// keepBytes is the most memory that one buffer may keep while its Set waits in the pool.
const keepBytes = 8 << 20

// Release gives the Set back for reuse. Neither it nor any of its views may be used afterwards. A Set that is never released is
// garbage like any other value.
func (s *Set) Release() {
	for _, b := range s.open {
		b.s, b.src = nil, nil
		if cap(b.text)+cap(b.spans)*spanBytes <= keepBytes && len(s.free) < defaultViews {
			s.free = append(s.free, b)
		}
	}
	clear(s.open)
	clear(s.Views)
	s.scan.reset()
	clear(s.row[:cap(s.row)])
	clear(s.named[:cap(s.named)])
	*s = Set{Views: s.Views[:0], open: s.open[:0], free: s.free, scan: s.scan, row: s.row[:0], named: s.named[:0]}
	sets.Put(s)
}

// decode runs every decoder that has something to do on view i.
func (s *Set) decode(i int) {
	v := &s.Views[i]
	if len(v.Text) == 0 {
		return
	}
	s.Work += len(v.Text)
	s.scan.text(v.Text)
	s.NonASCII = s.NonASCII || (i == 0 && s.scan.seen&markHigh != 0)
	for d := range decoders {
		dec := &decoders[d]
		if !s.wanted(&s.Views[i], dec) {
			continue
		}
		if s.Views[i].Depth >= s.lim.Depth {
			s.Truncated = true
			return
		}
		s.Work += len(s.Views[i].Text)
		dec.run(job{s: s, parent: i, src: s.Views[i].Text, scan: &s.scan, kind: s.kind})
	}
}

// wanted reports whether a decoder has work on v. Decoders that rewrite in place run in one canonical order, so that a text with
// three disguises yields a chain of three views and not one for each permutation; but a mark that only decoding brought to light
// wakes every decoder again.
func (s *Set) wanted(v *View, d *decoder) bool {
	if d.marks&s.scan.seen == 0 {
		return false
	}
	return v.Parent < 0 || d.step > v.step || v.novel&d.marks != 0 && !(d.step == stepFold && v.step == stepFold)
}

// known reports whether a view with this text exists already.
func (s *Set) known(text []byte, hidden bool) bool {
	for i := range s.Views {
		if len(s.Views[i].Text) == len(text) && bytes.Equal(s.Views[i].Text, text) {
			s.Views[i].Hidden = s.Views[i].Hidden || hidden
			return true
		}
	}
	return false
}
