package text

import "sort"

// Meaning is what a vocabulary knows of a word. Its bits belong to the vocabulary's owner; 0 is a word it does not know.
type Meaning uint32

// Vocabulary gives words their meaning. Keys are lower-case as far as they are ASCII, and at most MaxWord bytes long.
type Vocabulary map[string]Meaning

// MaxWord is the longest word a Vocabulary can know.
const MaxWord = 24

// A Word is a run of letters and digits, with apostrophes inside.
type Word struct {
	Start, End int32
	Meaning    Meaning
}

// Words finds all words of a text, in order, in one pass. It allocates the list it returns.
func Words(t []byte, v Vocabulary) []Word {
	out := make([]Word, 0, len(t)/6+4)
	var buf [MaxWord]byte
	for i := 0; i < len(t); {
		if !Letter(t[i]) {
			i++
			continue
		}
		from, n := i, 0
		for i < len(t) && inWord(t, i) {
			if n < MaxWord {
				buf[n] = Lower(t[i])
			}
			n++
			i++
		}
		w := Word{Start: int32(from), End: int32(i)}
		if n <= MaxWord {
			w.Meaning = v[string(buf[:n])]
		}
		out = append(out, w)
	}
	return out
}

// inWord reports whether t[i] belongs to a word: a letter, or an apostrophe between letters.
func inWord(t []byte, i int) bool {
	return Letter(t[i]) || t[i] == '\'' && i > 0 && i+1 < len(t) && Letter(t[i-1]) && Letter(t[i+1])
}

// First returns the index of the first word that begins at or after at.
func First(words []Word, at int) int {
	return sort.Search(len(words), func(i int) bool { return int(words[i].Start) >= at })
}
