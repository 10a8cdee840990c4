package host

import (
	"sort"
	"unicode/utf8"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/view"
)

// reach is how many bytes on each side of a hit a detector that asked for excerpts sees. Sentences that address, quote or negate an
// instruction stand within a paragraph of it; 1 KiB is about ten lines of prose.
const reach = 1 << 10

// smallView is sent whole even to a detector that asked for excerpts: cutting it would save nothing.
const smallView = 2 * reach

// hit is a signature match in one view of an inspection.
type hit struct {
	view       int
	start, end int
	wire       v1.Hit
}

// entry is one View of a request and where it came from.
type entry struct {
	view int
	base int
}

// request is what one style of detector (whole views or excerpts) is asked, and how to map its answers back.
type request struct {
	body    v1.DetectRequest
	entries []entry
}

// span is a byte range of one view.
type span struct{ start, end int }

// whole builds a request with all views complete.
func whole(set *view.Set, hits []hit) *request {
	r := &request{}
	for i := range set.Views {
		r.add(set, i, span{0, len(set.Views[i].Text)}, -1)
	}
	for i := range set.Views {
		r.body.Views[i].Parent = int32(set.Views[i].Parent)
	}
	for _, h := range hits {
		r.hit(h, h.view, 0)
	}
	return r
}

// excerpts builds a request with windows around hits. The original text is always there when it is small.
func excerpts(set *view.Set, hits []hit) *request {
	r := &request{}
	first := make([]int, len(set.Views)) // entry index + 1 of a view's first excerpt
	byView := make(map[int][]hit)
	for _, h := range hits {
		byView[h.view] = append(byView[h.view], h)
	}
	for i := range set.Views {
		hs := byView[i]
		if len(hs) == 0 && (i > 0 || len(set.Views[i].Text) > smallView) {
			continue
		}
		parent := -1
		if p := set.Views[i].Parent; p >= 0 && p < i {
			parent = first[p] - 1
		}
		first[i] = len(r.entries) + 1
		r.windows(set, i, hs, parent)
	}
	return r
}

// windows adds the merged windows of one view and the hits inside them.
func (r *request) windows(set *view.Set, i int, hs []hit, parent int) {
	text := set.Views[i].Text
	for _, w := range merge(text, hs) {
		at := len(r.entries)
		r.add(set, i, w, parent)
		for _, h := range hs {
			if h.start >= w.start && h.end <= w.end {
				r.hit(h, at, w.start)
			}
		}
	}
}

// merge turns hits into disjoint windows on UTF-8 boundaries.
func merge(text []byte, hs []hit) []span {
	if len(text) <= smallView {
		return []span{{0, len(text)}}
	}
	sort.SliceStable(hs, func(a, b int) bool { return hs[a].start < hs[b].start })
	var out []span
	for _, h := range hs {
		w := span{boundary(text, h.start-reach), boundary(text, h.end+reach)}
		if n := len(out); n > 0 && w.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, w.end)
			continue
		}
		out = append(out, w)
	}
	return out
}

// boundary clamps i into text and moves it left to the start of a rune.
func boundary(text []byte, i int) int {
	i = min(max(i, 0), len(text))
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

func (r *request) add(set *view.Set, i int, w span, parent int) {
	v := &set.Views[i]
	from, to := v.Origin(w.start, w.end)
	r.entries = append(r.entries, entry{view: i, base: w.start})
	r.body.Views = append(r.body.Views, &v1.View{
		Name: v.Name, Text: v.Text[w.start:w.end], Base: uint32(w.start), Size: uint32(len(v.Text)),
		Hidden: v.Hidden, Encoded: v.Encoded, Parent: int32(parent), OriginStart: uint32(from), OriginEnd: uint32(to),
	})
}

func (r *request) hit(h hit, at, base int) {
	w := h.wire
	w.View, w.Start, w.End = uint32(at), uint32(h.start-base), uint32(h.end-base)
	r.body.Hits = append(r.body.Hits, &w)
}

// origin maps a finding's range back to the original payload.
func (r *request) origin(set *view.Set, f *v1.Finding) (name string, start, end int) {
	e := r.entries[f.View]
	v := &set.Views[e.view]
	start, end = v.Origin(e.base+int(f.Start), e.base+int(f.End))
	return v.Name, start, end
}
