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

// nameKind is what matters about an element or an attribute.
type nameKind uint8

const (
	tagBlock  nameKind = 1 << iota // starts a new line
	tagVoid                        // has no content
	tagRaw                         // its content is no text
	tagTitle                       // its content is metadata
	tagHiding                      // browsers do not show its content
	tagInput                       // an input field
	tagAuto                        // ends where the next of its kind starts
)

const (
	attrText   nameKind = iota + 1 // its value is text for a person or a machine to read
	attrHidden                     // hides the element, with the value "true" or any
	attrAria
	attrStyle
	attrClass
	attrID
	attrColor
	attrValue // text if the element is an input
)

// nameTable finds the kind of a name, whatever its case. It is a hash table with open addressing: a page asks it for every tag and
// attribute.
type nameTable struct {
	slots [256]struct {
		key  nameKey
		kind nameKind
	}
	// lengths has a bit for each length of a name, by first letter: most names that are asked for fail here.
	lengths [32]uint32
}

// nameKey is a name of up to 16 characters in lower case.
type nameKey [2]uint64

// keyOf packs a name; ok is false if it is longer than any in the tables.
func keyOf(name []byte) (k nameKey, ok bool) {
	if len(name) > 16 {
		return k, false
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		k[i>>3&1] |= uint64(c) << (8 * (i & 7))
	}
	return k, true
}

// slot is where the search for a key starts.
func (k nameKey) slot() int { return int((k[0] ^ k[1]*7) * 0x9e3779b97f4a7c15 >> 56) }

func (t *nameTable) of(name []byte) nameKind {
	if len(name) == 0 || t.lengths[name[0]&31]>>(len(name)&31)&1 == 0 {
		return 0
	}
	k, ok := keyOf(name)
	if !ok {
		return 0
	}
	for i := k.slot(); t.slots[i&255].kind != 0; i++ {
		if t.slots[i&255].key == k {
			return t.slots[i&255].kind
		}
	}
	return 0
}

func (t *nameTable) add(kind nameKind, names string) {
	for _, n := range bytes.Fields([]byte(names)) {
		k, _ := keyOf(n)
		i := k.slot()
		for t.slots[i&255].kind != 0 && t.slots[i&255].key != k {
			i++
		}
		t.slots[i&255].key = k
		t.slots[i&255].kind |= kind
		t.lengths[n[0]&31] |= 1 << len(n)
	}
}

// tagKinds and attrKinds follow the HTML standard's lists of elements and attributes.
var tagKinds = func() *nameTable {
	t := new(nameTable)
	t.add(tagBlock, "address article aside blockquote body br button caption center dd details dialog dir div dl dt fieldset "+
		"figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html iframe legend li link main "+
		"menu meta nav noscript ol optgroup option p pre script section select style summary table tbody td template textarea "+
		"tfoot th thead title tr ul video img input")
	t.add(tagVoid, "area base br col embed hr img input link meta param source track wbr")
	t.add(tagRaw, "script style")
	t.add(tagTitle, "title")
	t.add(tagHiding, "template noscript noembed noframes datalist")
	t.add(tagInput, "input")
	t.add(tagAuto, "p li dt dd td th tr option")
	return t
}()

var attrKinds = func() *nameTable {
	t := new(nameTable)
	t.add(attrText, "alt title aria-label aria-description aria-placeholder placeholder summary label content")
	t.add(attrHidden, "hidden")
	t.add(attrAria, "aria-hidden")
	t.add(attrStyle, "style")
	t.add(attrClass, "class")
	t.add(attrID, "id")
	t.add(attrValue, "value")
	t.add(attrColor, "color")
	return t
}()

// attribute is one attribute of a tag; its value is [lo, hi) of the source.
type attribute struct {
	name   []byte
	lo, hi int
	kind   nameKind
}

// next reads the attribute at offset k of the tag's attributes, and returns where the next one starts; -1 at the end.
func (t *tag) next(k int) (a attribute, after int) {
	p := t.attrs
	for k < len(p) && (p[k] <= ' ' || p[k] == '/') {
		k++
	}
	if k >= len(p) {
		return a, -1
	}
	start := k
	for k < len(p) && p[k] > ' ' && p[k] != '=' {
		k++
	}
	a.name = p[start:k]
	for k < len(p) && p[k] <= ' ' {
		k++
	}
	lo, hi := k, k
	if k < len(p) && p[k] == '=' {
		lo, hi, k = attributeValue(p, k+1)
	}
	a.lo, a.hi, a.kind = t.attrsAt+lo, t.attrsAt+hi, attrKinds.of(a.name)
	if a.kind == 0 && bytes.HasPrefix(a.name, []byte("data-")) {
		a.kind = attrText
	}
	return a, max(k, start+1)
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

// attributes collects the attribute values that are text, and reports whether one of the attributes hides the element.
func (p *page) attributes(t *tag) (hides bool) {
	for k := 0; ; {
		var a attribute
		if a, k = t.next(k); k < 0 {
			return hides
		}
		value := p.src[a.lo:a.hi]
		switch a.kind {
		case attrText:
			p.readable(a)
		case attrValue:
			if t.kind&tagInput != 0 {
				p.readable(a)
			}
		case attrHidden:
			hides = true
		case attrAria:
			hides = hides || equalName(value, "true")
		case attrStyle:
			hides = hides || hidingStyle(value)
		case attrColor:
			hides = hides || pale(value)
		case attrClass:
			hides = hides || p.ruled('.', value)
		case attrID:
			hides = hides || p.ruled('#', value)
		}
	}
}

// readable appends an attribute's value, if it is more than one word.
func (p *page) readable(a attribute) {
	if bytes.IndexByte(p.src[a.lo:a.hi], ' ') > 0 {
		p.attr.sep('\n', a.lo)
		p.attr.inline(a.lo, a.hi)
	}
}

// ruled reports whether one of the names in a class ('.') or id ('#') attribute is hidden by the page's own style sheet.
func (p *page) ruled(prefix byte, value []byte) bool {
	for len(value) > 0 {
		var name []byte
		name, value, _ = bytes.Cut(value, []byte{' '})
		if prefix == '.' && hidingClasses.of(name) != 0 {
			return true
		}
		for _, r := range p.rules {
			if r[0] == prefix && bytes.Equal(r[1:], name) {
				return true
			}
		}
	}
	return false
}

// hidingClasses are class names that hide by convention, in the common CSS frameworks or for screen readers.
var hidingClasses = func() *nameTable {
	t := new(nameTable)
	t.add(attrHidden, "sr-only visually-hidden visuallyhidden hidden d-none hide invisible is-hidden display-none")
	return t
}()

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
		case oneOf(name, "color", "-webkit-text-fill-color"):
			color = value
		case oneOf(name, "background", "background-color"):
			background = value
		}
	}
	switch {
	case len(color) == 0:
		return false
	case equalName(color, "transparent"), unseen(color):
		return true
	case len(background) == 0:
		return pale(color)
	}
	return sameColor(color, background)
}

// unseen reports whether a colour is written with an opacity of zero: rgba(0, 0, 0, 0).
func unseen(color []byte) bool {
	return len(color) > 5 && equalName(color[:5], "rgba(") && string(bytes.TrimSpace(color[bytes.LastIndexAny(color, ",/")+1:])) == "0)"
}

// pale reports whether a colour is white: on a page that says nothing of its background, it cannot be seen.
func pale(color []byte) bool { return string(plainColor(color)) == "white" }

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
	case equalName(name, "mso-hide"):
		return equalName(value, "all")
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
