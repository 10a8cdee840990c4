package words

import (
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	s := New("system prompt", "syst", "пароль", "ab")
	for text, want := range map[string]int{"": -1, "a": -1, "my SYSTEM PROMPT": 3, "sys": -1, "cab": 1, "мой пароль": 7, "ПАРОЛЬ": -1, "a b": -1} {
		if at, _ := s.Find(text); at != want {
			t.Errorf("Find(%q) = %d, want %d", text, at, want)
		}
	}
	if _, w := s.Find("xx system"); w != "syst" {
		t.Errorf("found %q", w)
	}
	if n := s.Count("ab ab system prompt", 5); n != 2 {
		t.Errorf("Count = %d", n)
	}
	if n := s.Count("ab syst пароль", 2); n != 2 {
		t.Errorf("Count = %d", n)
	}
}

func FuzzIn(f *testing.F) {
	list := []string{"--yolo", "/etc/", "ab", "abc", "ключ"}
	s := New(list...)
	f.Add("x --YOLO /etc")
	f.Fuzz(func(t *testing.T, text string) {
		want := false
		for _, w := range list {
			want = want || strings.Contains(asciiLower(text), w)
		}
		if got := s.In(text); got != want {
			t.Fatalf("In(%q) = %v", text, got)
		}
	})
}
