package structure

import (
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/finding"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// link is a URL that displaying or clicking a text fetches.
type link struct {
	start, end int
	how        carrier
}

// maxLinks bounds the links of one view.
const maxLinks = 500

// linksIn finds the URLs that Markdown, HTML and CSS fetch or offer.
func linksIn(text string) []link {
	var out []link
	p := pageOf(text)
	weburl.Scan(text, func(start, end int) bool {
		out = append(out, link{start, end, p.howFetched(start)})
		return len(out) < maxLinks
	})
	for from := 0; len(out) < maxLinks; { // protocol-relative addresses: "](//host/..." and src="//host/..."
		i := strings.Index(text[from:], "//")
		if i < 0 {
			break
		}
		i += from
		from = i + 2
		if i > 0 && strings.IndexByte("(\"'<=", text[i-1]) >= 0 {
			if end := i + urlEnd(text[i:]); end > i+4 {
				out = append(out, link{i, end, p.howFetched(i)})
			}
		}
	}
	return out
}

// urlEnd is where an address without a scheme ends.
func urlEnd(s string) int {
	n := strings.IndexAny(s, " \t\r\n\"'<>)`")
	if n < 0 {
		n = len(s)
	}
	return min(n, weburl.MaxURL)
}

// lookBack is how much text before a URL is read to see what fetches it.
const lookBack = 400

// howFetched reads the text before a URL.
func (p page) howFetched(start int) carrier {
	before := p.text[max(0, start-lookBack):start]
	trimmed := strings.TrimRight(before, " \t\r\n<\"'")
	lower := strings.ToLower(trimmed)
	switch {
	case strings.HasSuffix(trimmed, "]("):
		return markdownLink(trimmed[:len(trimmed)-2])
	case strings.HasSuffix(trimmed, "]:"):
		return p.reference(trimmed)
	case strings.HasSuffix(lower, "url("), strings.HasSuffix(lower, "@import"):
		return carrierAuto
	case strings.HasSuffix(lower, "="):
		return attribute(lower)
	}
	return carrierLink
}

// markdownLink tells ![alt]( from [text](: before holds what precedes the closing bracket.
func markdownLink(before string) carrier {
	depth := 0
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth < 0 {
				if i > 0 && before[i-1] == '!' {
					return carrierAuto
				}
				return carrierLink
			}
		}
	}
	return carrierLink
}

// reference judges a definition "[id]: URL": an image that uses it is fetched by itself.
func (p page) reference(before string) carrier {
	open := strings.LastIndexByte(before, '[')
	if open >= 0 && p.images[before[open+1:len(before)-2]] {
		return carrierAuto
	}
	return carrierLink
}

// page is a text with the names of the references that its images use.
type page struct {
	text   string
	images map[string]bool
}

// maxName bounds the names of references.
const maxName = 200

// pageOf finds ![text][name] and ![name].
func pageOf(text string) page {
	p := page{text: text, images: map[string]bool{}}
	for from := 0; len(p.images) < maxLinks; {
		i := strings.Index(text[from:], "![")
		if i < 0 {
			break
		}
		from += i + 2
		rest := text[from:min(len(text), from+maxName)]
		name, after, ok := strings.Cut(rest, "]")
		if !ok {
			continue
		}
		if second, closed := strings.CutPrefix(after, "["); closed {
			if inner, _, ok := strings.Cut(second, "]"); ok && inner != "" {
				name = inner
			}
		}
		p.images[name] = true
	}
	return p
}

// attribute judges name="URL" inside a tag.
func attribute(before string) carrier {
	tag := before[strings.LastIndexByte(before, '<')+1:]
	name := strings.TrimRight(before[:len(before)-1], " \t")
	name = name[strings.LastIndexAny(name, " \t\r\n\"'/<")+1:]
	switch name {
	case "src", "srcset", "poster", "background", "lowsrc", "dynsrc", "data", "xlink:href", "data-src":
		return carrierAuto
	case "content", "url":
		return carrierAuto // <meta http-equiv=refresh content="0;url=...">
	case "href":
		if strings.HasPrefix(tag, "link") || strings.HasPrefix(tag, "image") || strings.HasPrefix(tag, "base") {
			return carrierAuto
		}
	}
	return carrierLink
}

// judgeCarriers judges the links of every view in which a signature saw a suspicious one, and the URLs of a request.
func (j *judgement) judgeCarriers() {
	for i := range j.fields {
		if !j.fields[i].Opened {
			j.judgeOutbound(&j.fields[i])
		}
	}
	if j.req.Kind == v1.PayloadKindURL {
		return
	}
	done := map[uint32]bool{}
	for _, h := range j.req.Hits {
		if h.Threat != v1.ThreatExfiltration || done[h.View] || !tagged(h, "check:link") {
			continue
		}
		done[h.View] = true
		j.judgeLinks(int(h.View), j.text(int(h.View)))
	}
}

func (j *judgement) judgeLinks(view int, text string) {
	for _, l := range linksIn(text) {
		if j.found.Enough(v1.ThreatExfiltration) {
			return
		}
		raw := text[l.start:l.end]
		if strings.HasPrefix(raw, "//") {
			raw = "https:" + raw
		}
		if weburl.Parse(raw, &j.url) {
			j.accuse(j.loadOf(&j.url, l.how), finding.At(view, l.start, l.end))
		}
	}
}

// judgeOutbound judges the URLs that a request goes to. What a tool writes or sends is judged by what displays it.
func (j *judgement) judgeOutbound(f *toolcall.Field) {
	whole := weburl.Clean(f.Text)
	if weburl.Parse(whole, &j.url) && j.url.Authority && !strings.ContainsAny(whole, " <>") {
		j.accuse(j.loadOf(&j.url, carrierRequest), f.Whole)
		return
	}
	for _, l := range linksIn(f.Text) {
		if j.found.Enough(v1.ThreatExfiltration) {
			return
		}
		if !weburl.Parse(f.Text[l.start:l.end], &j.url) {
			continue
		}
		how := l.how
		if how == carrierLink && f.Role != toolcall.Content {
			how = carrierRequest
		}
		j.accuse(j.loadOf(&j.url, how), f.At(l.start, l.end))
	}
}

// accuse reports what a URL carries, and the credential in it.
func (j *judgement) accuse(l load, at finding.Place) {
	j.found.Add(v1.ThreatExfiltration, v1.SeverityHigh, l.score, at, "", l.why)
	if j.acts {
		j.found.Add(v1.ThreatSecret, v1.SeverityHigh, l.cred, at, "", l.why)
	}
}

// tagged reports whether a hit's signature has the tag.
func tagged(h *v1.Hit, tag string) bool {
	for _, t := range h.Tags {
		if t == tag {
			return true
		}
	}
	return false
}

// tagValue returns what follows prefix in a tag.
func tagValue(h *v1.Hit, prefix string) string {
	for _, t := range h.Tags {
		if v, ok := strings.CutPrefix(t, prefix); ok {
			return v
		}
	}
	return ""
}
