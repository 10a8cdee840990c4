package text_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/text"
)

// at returns the range of the word HERE in s.
func at(t *testing.T, s string) ([]byte, int, int) {
	t.Helper()
	i := strings.Index(s, "HERE")
	if i < 0 {
		t.Fatalf("%q has no HERE", s)
	}
	return []byte(s), i, i + 4
}

func TestQuoted(t *testing.T) {
	for _, c := range []struct {
		in         string
		found      bool
		code, data bool
	}{
		{in: `He said "HERE" twice.`, found: true},
		{in: `He said HERE "twice".`},
		{in: `He said "no" and HERE and "yes".`},
		{in: "A “wise HERE word” is rare.", found: true},
		{in: "A ‘wise HERE word’ is rare.", found: true},
		{in: "Das „gute HERE Wort“.", found: true},
		{in: "「HERE」と言う。", found: true},
		{in: "don't HERE can't"},
		{in: "say 'go HERE now' to it", found: true},
		{in: "run `HERE` now", found: true, code: true},
		{in: `{"note": "see HERE there"}`, found: true, data: true},
		{in: "title: \"HERE\"\n", found: true, data: true},
		{in: "For example: \"HERE\"\n", found: true},
		{in: `phrases = ["a b", "HERE", "c d"]`, found: true},
		{in: "\"open\n\nHERE\n\nclose\""},
	} {
		b, i, j := at(t, c.in)
		q, ok := text.Quoted(b, i, j)
		if ok != c.found || q.Code != c.code || q.Data != c.data {
			t.Errorf("%q: found %v code %v data %v, want %v %v %v", c.in, ok, q.Code, q.Data, c.found, c.code, c.data)
		}
		if ok && (q.Open >= i || q.Close <= j) {
			t.Errorf("%q: the marks at %d and %d are not around %d to %d", c.in, q.Open, q.Close, i, j)
		}
	}
}

func TestSentence(t *testing.T) {
	for in, want := range map[string]string{
		"One. Two HERE two. Three.":       " Two HERE two.",
		"version 1.2 HERE 3.4 is out":     "version 1.2 HERE 3.4 is out",
		"a\n\nb HERE\n\nc":                "\nb HERE\n",
		"一。二HERE二。三":                      "二HERE二。",
		"- first\n- HERE second\n- third": "- HERE second\n",
	} {
		b, i, j := at(t, in)
		from, to := text.Sentence(b, i, j, 100)
		if got := string(b[from:to]); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	b := []byte("You must DON'T stop, née 42! averyveryverylongwordthatnobodyknows")
	words := text.Words(b, text.Vocabulary{"don't": 1, "née": 2, "averyveryverylongwordtha": 4})
	var got []string
	for _, w := range words {
		got = append(got, string(b[w.Start:w.End])+"="+string(rune('0'+w.Meaning)))
	}
	if want := "You=0|must=0|DON'T=1|stop=0|née=2|42=0|averyveryverylongwordthatnobodyknows=0"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if i := text.First(words, 4); i != 1 {
		t.Errorf("the first word at or after 4 is word %d, want 1", i)
	}
	if i := text.First(words, len(b)); i != len(words) {
		t.Errorf("there is a word %d behind the text", i)
	}
}

// FuzzAround asks everything about an arbitrary range of an arbitrary text.
func FuzzAround(f *testing.F) {
	f.Add("He said \"x y\" and `z`.", 9, 2)
	f.Add("“a”\n\n'b'", 3, 1)
	f.Fuzz(func(t *testing.T, s string, start, n int) {
		if !utf8.ValidString(s) || start < 0 || n <= 0 || start > len(s) || n > len(s)-start {
			return
		}
		b := []byte(s)
		if q, ok := text.Quoted(b, start, start+n); ok && (q.Open < 0 || q.Open >= start || q.Close <= start+n || q.Close > len(b)) {
			t.Fatalf("marks at %d and %d around %d and %d of %d bytes", q.Open, q.Close, start, start+n, len(b))
		}
		if from, to := text.Sentence(b, start, start+n, 50); from > start+n || to < start || from < 0 || to > len(b) {
			t.Fatalf("sentence %d to %d around %d to %d", from, to, start, start+n)
		}
		for _, w := range text.Words(b, nil) {
			if w.Start >= w.End || int(w.End) > len(b) {
				t.Fatalf("a word from %d to %d of %d bytes", w.Start, w.End, len(b))
			}
		}
	})
}
