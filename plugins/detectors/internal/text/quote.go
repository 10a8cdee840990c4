package text

import "bytes"

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

// marks are the pairs of quotation marks that differ from each other. Straight ones are found by counting.
var marks = [...][2]string{{"“", "”"}, {"«", "»"}, {"„", "“"}, {"「", "」"}, {"『", "』"}, {"‘", "’"}, {"《", "》"}}

// Quoted finds the narrowest quotation marks around [start, end). Marks in another paragraph do not count.
func Quoted(t []byte, start, end int) (Quote, bool) {
	low, high := paragraph(t, start, end)
	best, found := Quote{}, false
	keep := func(q Quote, ok bool) {
		if ok && (!found || q.Close-q.Open < best.Close-best.Open) {
			best, found = q, true
		}
	}
	for _, m := range &marks {
		keep(paired(t, start, end, low, high, m))
	}
	keep(straight(t, start, end, low, high, '"'))
	keep(straight(t, start, end, low, high, '`'))
	keep(single(t, start, end, low, high))
	if found {
		best.Code = t[best.Open] == '`'
		best.Data = isData(t, best)
	}
	return best, found
}

// paragraph bounds the search: the empty lines around the range, or quoteReach bytes.
func paragraph(t []byte, start, end int) (low, high int) {
	low, high = max(0, start-quoteReach), min(len(t), end+quoteReach)
	if i := bytes.LastIndex(t[low:start], []byte("\n\n")); i >= 0 {
		low += i + 2
	}
	if i := bytes.Index(t[end:high], []byte("\n\n")); i >= 0 {
		high = end + i
	}
	return low, high
}

// paired finds marks whose opening and closing forms differ.
func paired(t []byte, start, end, low, high int, m [2]string) (Quote, bool) {
	open := bytes.LastIndex(t[low:start], []byte(m[0]))
	if open < 0 {
		return Quote{}, false
	}
	open += low
	if bytes.Contains(t[open+len(m[0]):start], []byte(m[1])) {
		return Quote{}, false
	}
	shut := bytes.Index(t[end:high], []byte(m[1]))
	if shut < 0 {
		return Quote{}, false
	}
	return Quote{Open: open, Close: end + shut + len(m[1])}, true
}

// straight finds marks that look the same on both sides: an odd number of them stands before the range. Escaped marks (\") are part of
// what an outer pair holds and count like any other, because the pair around the range is the one that matters.
func straight(t []byte, start, end, low, high int, mark byte) (Quote, bool) {
	n, open := 0, -1
	for i := low; i < start; i++ {
		if t[i] == mark {
			n++
			open = i
		}
	}
	if n%2 == 0 {
		// The search may have begun inside a quotation; what counts then is whether the last mark looks like an opening one.
		if n == 0 || !opens(t, open) {
			return Quote{}, false
		}
	}
	shut := bytes.IndexByte(t[end:high], mark)
	if shut < 0 {
		return Quote{}, false
	}
	return Quote{Open: open, Close: end + shut + 1}, true
}

// opens reports whether the mark at i looks like an opening one: space before, none behind.
func opens(t []byte, i int) bool {
	before := i == 0 || Space(t[i-1]) || t[i-1] == '(' || t[i-1] == '[' || t[i-1] == '=' || t[i-1] == ':'
	return before && i+1 < len(t) && !Space(t[i+1])
}

// single finds straight single quotes; an apostrophe is told from a mark by the letters around it.
func single(t []byte, start, end, low, high int) (Quote, bool) {
	open := -1
	for i := low; i < start; i++ {
		if t[i] != '\'' {
			continue
		}
		switch {
		case opens(t, i):
			open = i
		case i+1 >= len(t) || !Letter(t[i+1]):
			open = -1
		}
	}
	if open < 0 {
		return Quote{}, false
	}
	for i := end; i < high; i++ {
		if t[i] == '\'' && (i+1 >= len(t) || !Letter(t[i+1])) {
			return Quote{Open: open, Close: i + 1}, true
		}
	}
	return Quote{}, false
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
