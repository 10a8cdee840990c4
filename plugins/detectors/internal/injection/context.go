package injection

import (
	"bytes"
	"slices"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/text"
)

// How far, in bytes, the context of a hit is looked at.
const (
	sentenceReach = 220 // for the sentence the hit stands in
	leadReach     = 40  // for the words right before it
	lineReach     = 320 // for the line it stands in
	templateReach = 160 // for the placeholders of a template
	topicReach    = 600 // for what the text around is about
)

// What context is worth, in log-odds. It only ever lowers the evidence of a hit, and never below none.
const (
	negatedCost  = -3.0 // "never ignore ..."
	reportedCost = -1.6 // "attackers may tell the model to ignore ..."
	quotedCost   = -1.2 // "ignore ..." in quotation marks or backticks
	listedCost   = -1.2 // a phrase in a list, table row or rule
	fencedCost   = -0.8 // inside a code fence
	templateCost = -2.0 // chat markup in the template that produces it
	topicCost    = -0.3 // for each word about attacks and defence, up to topicMost
	topicMost    = 5
)

// surroundings is what the text around a hit says about it.
type surroundings struct {
	negated, told, reported, quoted, listed, fenced, template bool
	topic                                                     int // words about attacks and defence nearby, up to topicMost
}

// mention reports whether the hit is rather spoken about than spoken.
func (s surroundings) mention() bool { return s.quoted || s.told || s.reported || s.listed || s.fenced }

// cost is the sum of all reasons to believe a hit less.
func (s surroundings) cost() float64 {
	c := 0.0
	add := func(when bool, cost float64) {
		if when {
			c += cost
		}
	}
	add(s.negated, negatedCost)
	add(s.told || s.reported, reportedCost)
	add(s.quoted, quotedCost)
	add(s.listed, listedCost)
	add(s.fenced, fencedCost)
	add(s.template, templateCost)
	if s.mention() {
		return c + float64(s.topic)*topicCost
	}
	return c + float64(min(s.topic, 3))*topicCost/2
}

// page is one view and what was found out about it.
type page struct {
	text   []byte
	hidden bool // nobody but a machine reads it
	cut    bool // the text is an excerpt that does not begin where the view does
	words  []text.Word
	fences []int // offsets of code fences
}

func newPage(v *v1.View) *page {
	p := &page{text: v.Text, hidden: v.Hidden, cut: v.Base > 0, words: text.Words(v.Text, vocabulary)}
	for at := 0; ; {
		i := bytes.Index(p.text[at:], fence)
		if i < 0 {
			return p
		}
		at += i
		if line := lineStart(p.text, at); len(bytes.TrimLeft(p.text[line:at], " \t>")) == 0 {
			p.fences = append(p.fences, at)
		}
		for at < len(p.text) && p.text[at] == '`' {
			at++
		}
	}
}

var fence = []byte("```")

// fenced reports whether the place is inside a code fence: an odd number of fences stands before it. In an excerpt the count is not
// known, and only a fence that names its language is sure to open one.
func (p *page) fenced(at int) bool {
	n, _ := slices.BinarySearch(p.fences, at)
	if n == 0 || !p.cut {
		return n%2 == 1
	}
	named := p.fences[n-1] + len(fence)
	return named < len(p.text) && text.Letter(p.text[named])
}

// lineStart returns where the line of t[at] begins, or lineReach bytes before it.
func lineStart(t []byte, at int) int {
	low := max(0, at-lineReach)
	return low + bytes.LastIndexByte(t[low:at], '\n') + 1
}

// look judges the surroundings of [start, end).
func (p *page) look(start, end int) surroundings {
	var s surroundings
	for start < end-1 && !text.Letter(p.text[start]) {
		start++ // patterns may begin with the end of what stands before
	}
	s.fenced = p.fenced(start)
	q, quoted := text.Quoted(p.text, start, end)
	lead := start
	if quoted {
		lead = q.Open
		s.quoted = !q.Data && citation(p.text, q)
	}
	from, to := text.Sentence(p.text, start, end, sentenceReach)
	s.negated, s.told = p.led(min(start, lead), from)
	if lead != start {
		n, r := p.led(start, max(from, lead))
		s.negated, s.told = s.negated || n, s.told || r
	}
	s.reported = p.cued(from, start, cue) || p.cued(end, to, afterCue)
	s.listed = p.listed(start, q, quoted)
	s.topic = p.topic(start, end)
	return s
}

// templated reports whether the placeholders of a template language stand near the place.
func (p *page) templated(start, end int) bool {
	near := p.text[max(0, start-templateReach):min(len(p.text), end+templateReach)]
	for i := 1; i < len(near); i++ {
		if near[i-1] == '{' && (near[i] == '{' || near[i] == '%') || near[i-1] == '_' && bytes.HasPrefix(near[i:], []byte("token")) {
			return true
		}
	}
	return false
}

// citation reports whether a quotation cites words inside a longer sentence, rather than being a paragraph that somebody put in marks.
func citation(t []byte, q text.Quote) bool {
	if q.Code {
		return true
	}
	line := bytes.TrimSpace(t[lineStart(t, q.Open):q.Open])
	rest := t[q.Close:min(len(t), q.Close+lineReach)]
	if i := bytes.IndexByte(rest, '\n'); i >= 0 {
		rest = rest[:i]
	}
	return len(line)+len(bytes.TrimSpace(rest)) > 2
}
