package text

import "unicode/utf8"

// A Quote is a pair of quotation marks (or backticks) around a place.
type Quote struct {
	// Open is the offset of the opening mark, Close the offset behind the closing one.
	Open, Close int
	// Code says that backticks are the marks.
	Code bool
	// Data says that the marks belong to a programming or data language: a value after a key, an element of a list, an argument.
	// Such a quotation is somebody's text, and not somebody's words cited by the writer.
	Data bool
}

// quoteReach is how far quotation marks are looked for on each side. A citation longer than this is a text of its own.
const quoteReach = 320

// pairs are the quotation marks whose opening form differs from the closing one. Straight ones are found by counting.
var pairs = [...]struct{ open, shut rune }{{'“', '”'}, {'«', '»'}, {'„', '“'}, {'「', '」'}, {'『', '』'}, {'‘', '’'}, {'《', '》'}}

// Quoted finds the narrowest quotation marks around [start, end). Marks in another paragraph do not count.
func Quoted(t []byte, start, end int) (Quote, bool) {
	low, high := paragraph(t, start, end)
	var before opened
	before.scan(t, low, start)
	q, ok := before.shut(t, end, high)
	if ok {
		q.Code = t[q.Open] == '`'
		q.Data = isData(t, q)
	}
	return q, ok
}

// paragraph bounds the search: the empty lines around the range, or quoteReach bytes.
func paragraph(t []byte, start, end int) (low, high int) {
	low, high = start, end
	for least := max(0, start-quoteReach); low > least; low-- {
		if t[low-1] == '\n' && low < start && t[low] == '\n' {
			low++
			break
		}
	}
	for most := min(len(t), end+quoteReach); high < most; high++ {
		if t[high] == '\n' && high+1 < most && t[high+1] == '\n' {
			break
		}
	}
	return low, high
}

// opened is what stands open before a place: offsets behind which a closing mark would make a quotation, 0 for none, else offset+1.
type opened struct {
	double, tick, single int
	pairs                [len(pairs)]int
}

// scan reads the marks of [low, at).
func (o *opened) scan(t []byte, low, at int) {
	doubles, ticks, lastDouble, lastTick := 0, 0, -1, -1
	for i := low; i < at; i++ {
		switch b := t[i]; {
		case b == '"':
			doubles, lastDouble = doubles+1, i
		case b == '`':
			ticks, lastTick = ticks+1, i
		case b == '\'':
			o.apostrophe(t, i)
		case b >= utf8.RuneSelf && markByte(b):
			o.wide(t, i)
		}
	}
	o.double, o.tick = stands(t, doubles, lastDouble), stands(t, ticks, lastTick)
}

// stands tells whether a straight mark is open: an odd number of them came, or the search began inside a quotation and the last one looks
// like an opening one.
func stands(t []byte, n, last int) int {
	if n%2 == 1 || n > 0 && opens(t, last) {
		return last + 1
	}
	return 0
}

// apostrophe tells a straight single quotation mark from an apostrophe by the letters around it.
func (o *opened) apostrophe(t []byte, i int) {
	switch {
	case opens(t, i):
		o.single = i + 1
	case i+1 >= len(t) || !Letter(t[i+1]):
		o.single = 0
	}
}

// markByte reports the first bytes of the marks in pairs.
func markByte(b byte) bool { return b == 0xE2 || b == 0xC2 || b == 0xE3 }

// wide reads a mark of pairs.
func (o *opened) wide(t []byte, i int) {
	r, _ := utf8.DecodeRune(t[i:])
	for k, p := range &pairs {
		switch r {
		case p.shut:
			o.pairs[k] = 0
		case p.open:
			o.pairs[k] = i + 1
		}
	}
}

// shut looks in [end, high) for the first mark that closes the innermost one open before.
func (o *opened) shut(t []byte, end, high int) (Quote, bool) {
	best, found := Quote{}, false
	keep := func(open, shut int) {
		if open > 0 && (!found || open-1 > best.Open) {
			best, found = Quote{Open: open - 1, Close: shut}, true
		}
	}
	for i := end; i < high; i++ {
		switch b := t[i]; {
		case b == '"':
			keep(o.double, i+1)
			o.double = 0
		case b == '`':
			keep(o.tick, i+1)
			o.tick = 0
		case b == '\'' && (i+1 >= len(t) || !Letter(t[i+1])):
			keep(o.single, i+1)
			o.single = 0
		case b >= utf8.RuneSelf && markByte(b):
			r, size := utf8.DecodeRune(t[i:])
			for k, p := range &pairs {
				if r == p.shut {
					keep(o.pairs[k], i+size)
					o.pairs[k] = 0
				}
			}
		}
	}
	return best, found
}

// opens reports whether the mark at i looks like an opening one: space before, none behind.
func opens(t []byte, i int) bool {
	before := i == 0 || Space(t[i-1]) || t[i-1] == '(' || t[i-1] == '[' || t[i-1] == '=' || t[i-1] == ':'
	return before && i+1 < len(t) && !Space(t[i+1])
}

// listed is the length up to which an element of a list is a phrase, and not a text of its own.
const listed = 120

// isData reports whether a quotation stands where a data language has its values: after a key or an assignment, or as a long element of
// a list. Short elements are lists of phrases, which people write in prose and in rules alike.
func isData(t []byte, q Quote) bool {
	if q.Code {
		return false
	}
	i := q.Open - 1
	for i >= 0 && (Space(t[i]) || t[i] == '\\') {
		i--
	}
	if i < 0 {
		return false
	}
	switch t[i] {
	case '=', '{':
		return true
	case ':':
		return afterKey(t, i)
	case ',', '[', '(':
		return q.Close-q.Open > listed
	}
	return false
}

// afterKey reports whether the colon at i follows one word that begins its line, object or list entry: a key, and not a sentence.
func afterKey(t []byte, i int) bool {
	i--
	for n := 0; i >= 0 && n < 48; i, n = i-1, n+1 {
		switch b := t[i]; {
		case b == '\n' || b == '{' || b == ',':
			return true
		case Letter(b) || b == '"' || b == '\'' || b == '\\' || b == '_' || b == '-' || b == '.':
		case Space(b):
			return keyStart(t, i)
		default:
			return false
		}
	}
	return i < 0
}

// keyStart reports whether nothing but indentation and a list mark stands before i in its line.
func keyStart(t []byte, i int) bool {
	for ; i >= 0 && t[i] != '\n'; i-- {
		switch {
		case t[i] == '{' || t[i] == ',':
			return true
		case !Space(t[i]) && t[i] != '-':
			return false
		}
	}
	return true
}
