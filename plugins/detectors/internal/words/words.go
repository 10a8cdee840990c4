// Package words looks for any of many short texts in one pass. In a sandbox, where strings.Contains has no help from the processor, a list
// of fifty words would otherwise cost fifty passes.
package words

// Set is a list of texts to look for. ASCII letters match in either case; everything else matches byte by byte.
type Set struct {
	list []string
	// first marks the bytes, in either case, that a text starts with; seen has a bit for every pair of bytes that one starts with.
	first [256]bool
	seen  [1 << 16 / 64]uint64
	// heads lists the texts by their first two bytes.
	heads map[uint16][]int32
}

// New makes a Set. Texts must have two bytes or more, and their ASCII letters must be small.
func New(list ...string) *Set {
	s := &Set{list: list, heads: map[uint16][]int32{}}
	for i, w := range list {
		if len(w) < 2 || asciiLower(w) != w {
			panic("words: a text of less than two bytes, or with capitals: " + w)
		}
		head := uint16(w[0])<<8 | uint16(w[1])
		s.seen[head/64] |= 1 << (head % 64)
		for c := range s.first {
			s.first[c] = s.first[c] || lower[c] == w[0]
		}
		s.heads[head] = append(s.heads[head], int32(i))
	}
	return s
}

func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower[c]
	}
	return string(b)
}

// List returns the texts as given to New.
func (s *Set) List() []string { return s.list }

// In reports whether text holds one of the texts.
func (s *Set) In(text string) bool {
	at, _ := s.Find(text)
	return at >= 0
}

// Find returns where the first of the texts stands and which it is, or -1 and "".
func (s *Set) Find(text string) (at int, found string) {
	for i := 0; i+1 < len(text); i++ {
		if !s.first[text[i]] {
			continue
		}
		head := uint16(lower[text[i]])<<8 | uint16(lower[text[i+1]])
		if s.seen[head/64]&(1<<(head%64)) == 0 {
			continue
		}
		for _, n := range s.heads[head] {
			if w := s.list[n]; hasPrefix(text[i:], w) {
				return i, w
			}
		}
	}
	return -1, ""
}

// Count returns how many different texts occur, at most most.
func (s *Set) Count(text string, most int) int {
	var got []string
	for len(text) > 0 && len(got) < most {
		at, w := s.Find(text)
		if at < 0 {
			break
		}
		fresh := true
		for _, g := range got {
			fresh = fresh && g != w
		}
		if fresh {
			got = append(got, w)
		}
		text = text[at+1:]
	}
	return len(got)
}

var lower = func() (t [256]byte) {
	for c := range t {
		t[c] = byte(c)
		if c >= 'A' && c <= 'Z' {
			t[c] = byte(c) | 0x20
		}
	}
	return t
}()

func hasPrefix(text, w string) bool {
	if len(text) < len(w) {
		return false
	}
	for i := 2; i < len(w); i++ {
		if lower[text[i]] != w[i] {
			return false
		}
	}
	return true
}
