package signatures

import (
	"cmp"
	"slices"
	"unicode/utf8"
)

type span struct{ start, end int }

func occurrences(group []*literal, text []byte) []span {
	var out []span
	for i := 0; i < len(text); i++ {
		if !utf8.RuneStart(text[i]) {
			continue
		}
		for _, l := range group {
			if end, ok := l.endAt(text, i); ok {
				out = append(out, span{i, end})
			}
		}
	}
	return out
}

// reference follows the definition of a match word by word.
func (c *compiled) reference(dst []Hit, text []byte) []Hit {
	places := make([][]span, len(c.groups))
	for g, group := range c.groups {
		if places[g] = occurrences(group, text); len(places[g]) == 0 {
			return dst
		}
	}
	var areas []span
	var hits []span
	for _, a := range places[0] {
		area := span{max(0, a.start-c.sig.Window), min(len(text), a.end+c.sig.Window)}
		all := true
		for _, others := range places[1:] {
			all = all && slices.ContainsFunc(others, func(o span) bool { return o.start >= area.start && o.end <= area.end })
		}
		if !all {
			continue
		}
		if len(c.patterns) == 0 {
			hits = append(hits, a)
		}
		area = span{runeStart(text, area.start), runeEnd(text, area.end)}
		areas = append(areas, area)
	}
	for _, area := range join(areas) {
		for _, p := range c.patterns {
			hits = append(hits, all(p, text, area)...)
		}
	}
	slices.SortFunc(hits, func(a, b span) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	n := 0
	for _, h := range slices.Compact(hits) {
		if n < MaxHits && !c.excluded(text, h) {
			dst = append(dst, Hit{c.sig, h.start, h.end})
			n++
		}
	}
	return dst
}

func (c *compiled) excluded(text []byte, h span) bool {
	area := span{runeStart(text, h.start-c.sig.Window), runeEnd(text, h.end+c.sig.Window)}
	for _, p := range c.excludes {
		for _, x := range all(p, text, area) {
			if x.start < h.end && x.end > h.start {
				return true
			}
		}
	}
	return false
}

func all(p *pattern, text []byte, area span) []span {
	var k pike
	var out []span
	for i := area.start; i <= area.end; {
		begin, end, _ := k.find(p.program(), text, i, area.end, 1<<40)
		if begin < 0 {
			break
		}
		if end == begin {
			end += runeSize(text, end)
		} else {
			out = append(out, span{begin, end})
		}
		i = end
	}
	return out
}

func join(areas []span) []span {
	slices.SortFunc(areas, func(a, b span) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	var out []span
	for _, a := range areas {
		if n := len(out); n > 0 && a.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, a.end)
			continue
		}
		out = append(out, a)
	}
	return out
}
