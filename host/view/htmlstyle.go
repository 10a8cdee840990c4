package view

import "bytes"

func equalName(name []byte, lower string) bool {
	return len(name) == len(lower) && bytes.EqualFold(name, []byte(lower))
}

func oneOf(name []byte, lower ...string) bool {
	for _, l := range lower {
		if equalName(name, l) {
			return true
		}
	}
	return false
}

var (
	blockTags = nameSet("address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset " +
		"figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe legend li link main " +
		"menu meta nav noscript ol optgroup option p pre script section select style summary table tbody td template textarea " +
		"tfoot th thead title tr ul video img input")
	voidTags = nameSet("area base br col embed hr img input link meta param source track wbr")
)

func nameSet(names string) map[string]bool {
	set := map[string]bool{}
	for _, n := range bytes.Fields([]byte(names)) {
		set[string(n)] = true
	}
	return set
}

// lookup finds a tag name in a set, whatever its case, without allocating.
func lookup(set map[string]bool, name []byte) bool {
	var lower [12]byte
	if len(name) > len(lower) {
		return false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		lower[i] = c
	}
	return set[string(lower[:len(name)])]
}

func blockTag(name []byte) bool { return lookup(blockTags, name) }
func voidTag(name []byte) bool  { return lookup(voidTags, name) }

// attribute calls f for each attribute of t with the range of its value in the source, until f returns false.
func (t tag) attribute(f func(name, value []byte, at int) bool) {
	p := t.attrs
	for k := 0; k < len(p); {
		if p[k] <= ' ' || p[k] == '/' {
			k++
			continue
		}
		start := k
		for k < len(p) && p[k] > ' ' && p[k] != '=' {
			k++
		}
		name := p[start:k]
		for k < len(p) && p[k] <= ' ' {
			k++
		}
		lo, hi := k, k
		if k < len(p) && p[k] == '=' {
			lo, hi, k = attributeValue(p, k+1)
		}
		if !f(name, p[lo:hi], t.attrsAt+lo) {
			return
		}
		if k == start {
			k++
		}
	}
}

// attributeValue finds the value after an equals sign and the offset after it.
func attributeValue(p []byte, k int) (lo, hi, next int) {
	for k < len(p) && p[k] <= ' ' {
		k++
	}
	if k < len(p) && (p[k] == '"' || p[k] == '\'') {
		end := bytes.IndexByte(p[k+1:], p[k])
		if end < 0 {
			return k + 1, len(p), len(p)
		}
		return k + 1, k + 1 + end, k + 2 + end
	}
	lo = k
	for k < len(p) && p[k] > ' ' {
		k++
	}
	return lo, k, k
}

// attributes collects the attribute values that are text for a person or a machine to read.
func (p *page) attributes(t tag) {
	input := equalName(t.name, "input")
	t.attribute(func(name, value []byte, at int) bool {
		readable := oneOf(name, "alt", "title", "aria-label", "aria-description", "aria-placeholder", "placeholder", "summary", "label",
			"content", "data-prompt") || input && equalName(name, "value") || bytes.HasPrefix(name, []byte("data-"))
		if readable && bytes.IndexByte(value, ' ') > 0 {
			p.attr.sep('\n', at)
			p.attr.inline(at, at+len(value))
		}
		return true
	})
}

// hides reports whether an element keeps its content from a person's eyes.
func (p *page) hides(t tag) bool {
	if oneOf(t.name, "template", "noscript", "noembed", "noframes", "datalist") {
		return true
	}
	found := false
	t.attribute(func(name, value []byte, _ int) bool {
		switch {
		case equalName(name, "hidden"):
			found = true
		case equalName(name, "aria-hidden"):
			found = equalName(value, "true")
		case equalName(name, "style"):
			found = hidingStyle(value)
		case equalName(name, "class"), equalName(name, "id"):
			found = p.ruled(name, value)
		}
		return !found
	})
	return found
}

// ruled reports whether one of the names in a class or id attribute is hidden by the page's own style sheet.
func (p *page) ruled(attr, value []byte) bool {
	prefix := byte('.')
	if equalName(attr, "id") {
		prefix = '#'
	}
	for len(value) > 0 && len(p.rules) > 0 {
		var name []byte
		name, value, _ = bytes.Cut(value, []byte{' '})
		for _, r := range p.rules {
			if r[0] == prefix && bytes.Equal(r[1:], name) {
				return true
			}
		}
	}
	return false
}

// maxRules bounds the hiding selectors remembered of one page.
const maxRules = 64

// hidingRules finds the simple selectors (.name, #name) in <style> elements whose declarations hide.
func hidingRules(src []byte) (rules [][]byte) {
	for len(rules) < maxRules {
		k := bytes.Index(src, []byte("<style"))
		if k < 0 {
			return rules
		}
		src = src[k+6:]
		src = src[min(bytes.IndexByte(src, '>')+1, len(src)):]
		end := bytes.Index(src, []byte("</style"))
		if end < 0 {
			return sheetRules(rules, src)
		}
		rules = sheetRules(rules, src[:end])
		src = src[end:]
	}
	return rules
}

func sheetRules(rules [][]byte, sheet []byte) [][]byte {
	for len(rules) < maxRules {
		open := bytes.IndexByte(sheet, '{')
		if open < 0 {
			return rules
		}
		end := bytes.IndexByte(sheet[open:], '}')
		if end < 0 {
			return rules
		}
		if hidingStyle(sheet[open+1 : open+end]) {
			for _, sel := range bytes.Split(sheet[:open], []byte{','}) {
				if sel = bytes.TrimSpace(sel); len(sel) > 1 && (sel[0] == '.' || sel[0] == '#') && bytes.IndexByte(sel, ' ') < 0 {
					rules = append(rules, sel)
				}
			}
		}
		sheet = sheet[open+end+1:]
	}
	return rules
}

// hidingStyle reports whether CSS declarations make text invisible: not displayed, of no size, transparent, off the screen, or in
// the colour of its background.
func hidingStyle(css []byte) bool {
	var color, background []byte
	for len(css) > 0 {
		var decl []byte
		decl, css, _ = bytes.Cut(css, []byte{';'})
		name, value, ok := bytes.Cut(decl, []byte{':'})
		if !ok {
			continue
		}
		name, value = bytes.TrimSpace(name), declared(value)
		switch {
		case hidingDeclaration(name, value):
			return true
		case equalName(name, "color"):
			color = value
		case oneOf(name, "background", "background-color"):
			background = value
		}
	}
	return len(color) > 0 && (sameColor(color, background) || equalName(color, "transparent"))
}

// declared is a CSS value without "!important" and spaces around it.
func declared(value []byte) []byte {
	value, _, _ = bytes.Cut(value, []byte{'!'})
	return bytes.TrimSpace(value)
}

func hidingDeclaration(name, value []byte) bool {
	switch {
	case equalName(name, "display"):
		return equalName(value, "none")
	case equalName(name, "visibility"):
		return oneOf(value, "hidden", "collapse")
	case oneOf(name, "opacity", "font-size", "max-height", "max-width", "width", "height", "line-height"):
		return tiny(name, value)
	case oneOf(name, "left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top"):
		return len(value) >= 5 && value[0] == '-' && digitOf(value[1]) < 10 && digitOf(value[2]) < 10 && digitOf(value[3]) < 10
	case oneOf(name, "clip", "clip-path"):
		return bytes.HasPrefix(value, []byte("rect(0")) || bytes.HasPrefix(value, []byte("rect(1px")) ||
			bytes.HasPrefix(value, []byte("inset(50%")) || bytes.HasPrefix(value, []byte("inset(100%"))
	case equalName(name, "transform"):
		return bytes.HasPrefix(value, []byte("scale(0)"))
	}
	return false
}

// tiny reports whether a size or an opacity is too small to be seen: below 0.1, or a font of at most one pixel.
func tiny(name, value []byte) bool {
	n, digits, frac := 0.0, 0, 0.0
	for i, c := range value {
		switch {
		case digitOf(c) < 10 && frac == 0:
			n, digits = n*10+float64(digitOf(c)), digits+1
		case digitOf(c) < 10:
			n, frac, digits = n+float64(digitOf(c))*frac, frac/10, digits+1
		case c == '.' && frac == 0:
			frac = 0.1
		default:
			unit := value[i:]
			if digits == 0 || equalName(unit, "%") && n > 5 {
				return false
			}
			return n < 0.1 || equalName(name, "font-size") && n <= 1 && bytes.HasPrefix(unit, []byte("p"))
		}
	}
	return digits > 0 && n < 0.1
}

// sameColor compares two CSS colours, as written or as the usual spellings of white and black.
func sameColor(a, b []byte) bool {
	return len(b) > 0 && bytes.EqualFold(plainColor(a), plainColor(b))
}

func plainColor(c []byte) []byte {
	switch {
	case oneOf(c, "white", "#fff", "#ffffff", "rgb(255,255,255)", "rgb(255, 255, 255)"):
		return []byte("white")
	case oneOf(c, "black", "#000", "#000000", "rgb(0,0,0)", "rgb(0, 0, 0)"):
		return []byte("black")
	}
	return c
}
