package signatures

import (
	"regexp"
	"slices"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Baseline matches by Go's regexp, in the ways that come to mind first. The bench command measures them beside a Matcher; nothing else
// should use them. Not all of a signature is looked at: no excludes, no word rule, no flexible spaces.
type Baseline struct {
	m    *Matcher
	each []*regexp.Regexp
	all  *regexp.Regexp
}

// NewBaseline compiles the packs once as a pattern for each signature, and once as a single alternation of all of them.
func NewBaseline(packs []*Pack) (*Baseline, error) {
	m, err := Compile(packs)
	if err != nil {
		return nil, err
	}
	b := &Baseline{m: m}
	var sources []string
	for _, c := range m.sigs {
		source := c.sig.plain()
		re, err := regexp.Compile(source)
		if err != nil {
			return nil, err
		}
		b.each = append(b.each, re)
		sources = append(sources, "(?:"+source+")")
	}
	b.all, err = regexp.Compile(strings.Join(sources, "|"))
	return b, err
}

// plain returns the signature as one pattern of Go's regexp.
func (s *Signature) plain() string {
	parts := s.Patterns
	if len(parts) == 0 && len(s.Literals) > 0 {
		for _, text := range s.Literals[0] {
			parts = append(parts, regexp.QuoteMeta(text))
		}
	}
	joined := "(?:" + strings.Join(parts, ")|(?:") + ")"
	if s.Exact {
		return joined
	}
	return "(?i:" + joined + ")"
}

// OneByOne searches every signature's pattern in the whole text, and returns how many signatures match.
func (b *Baseline) OneByOne(text []byte, kind v1.PayloadKind) int {
	n := 0
	for i, c := range b.m.sigs {
		if c.appliesTo(kind) && b.each[i].Match(text) {
			n++
		}
	}
	return n
}

// Prefiltered finds the literals by the matcher's own automaton, and searches the one alternation in the windows around the anchors that have
// their groups near. It returns the number of matches.
func (b *Baseline) Prefiltered(text []byte, kind v1.PayloadKind) (int, error) {
	return b.filtered(text, kind, func(s *scan) (n int) {
		for _, w := range s.windows() {
			n += len(b.all.FindAllIndex(text[w.start:w.end], -1))
		}
		return n
	})
}

// Windowed finds the literals by the matcher's own automaton, and searches the pattern of each signature in its own windows: what is left to
// gain when everything but the pattern search is already there. It returns the number of matches.
func (b *Baseline) Windowed(text []byte, kind v1.PayloadKind) (int, error) {
	return b.filtered(text, kind, func(s *scan) (n int) {
		for _, sig := range s.hit {
			for at := s.spots[sig].last; at > 0; at = s.areas[at-1].previous {
				n += len(b.each[sig].FindAllIndex(text[s.areas[at-1].start:s.areas[at-1].end], -1))
			}
		}
		return n
	})
}

// filtered runs the first half of a match, and leaves the second to search.
func (b *Baseline) filtered(text []byte, kind v1.PayloadKind, search func(*scan) int) (int, error) {
	s := b.m.scratch.Get().(*scan)
	defer s.release()
	s.begin(nil, text, Query{Kind: kind}, nil)
	if err := s.read(); err != nil {
		return 0, err
	}
	return search(s) + len(s.dst), nil
}

// windows joins the areas of all signatures.
func (s *scan) windows() []area {
	var all, out []area
	for _, sig := range s.hit {
		for at := s.spots[sig].last; at > 0; at = s.areas[at-1].previous {
			all = append(all, s.areas[at-1])
		}
	}
	slices.SortFunc(all, func(a, b area) int { return a.start - b.start })
	for _, a := range all {
		if n := len(out); n > 0 && a.start <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, a.end)
			continue
		}
		out = append(out, a)
	}
	return out
}
