package signatures

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// The generators below make small worlds in which everything collides: few words, shared prefixes, several scripts, all kinds of gaps.
var (
	worldWords = []string{"ignore", "ignores", "norm", "rule", "rules", "ruler", "prior", "or", "aab", "aba", "ab", "baa", "Café", "cafe", "ключ", "КЛЮЧИ",
		"指令", "指", "ігнор", "straße", "don't", "a-b", "###", "<|x|>", "x", "ı", "sys_id", "école"}
	worldGaps = []string{" ", " ", " ", "  ", "\n", "\n> ", " **", "** ", "_", "\t", "\u00a0", "\u3000", " * _ ", "-", "", ".", ", ", "/ /", " # ",
		strings.Repeat(" ", 63), strings.Repeat(" ", 64), strings.Repeat(" ", 65)}
	worldPieces = []string{`\bignore`, `ignore\b`, `rules?`, `\s+`, `\s*`, ` `, `.{0,9}`, `[^.]{0,20}`, `(?:rule|prior|指令)`, `(ab|aab)`, `a{2,4}`, `[a-z]{3}`,
		`(?-i:Café)`, `café`, `ключ`, `\bключ\b`, `\B`, `^`, `$`, `(?m:^)`, `(?m:$)`, `\pL{1,5}`, `\w{2,8}`, `x?`, `(?:ab ){1,3}`, `[\s,]`, `don't`, `.{0,40}?`, `[ab]{1,6}`}
)

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

func randomPhrase(r *rand.Rand) string {
	s := pick(r, worldWords)
	for r.IntN(3) == 0 {
		s += " " + pick(r, worldWords)
	}
	return s
}

func randomSignature(r *rand.Rand, id int) *Signature {
	s := &Signature{ID: fmt.Sprintf("s-%d", id), Version: 1, Threat: v1.ThreatPromptInjection, Severity: v1.SeverityHigh, Confidence: 1,
		Window: pick(r, []int{1, 3, 10, 25, 60, 200}), Exact: r.IntN(4) == 0, ExactSpaces: r.IntN(6) == 0, Word: r.IntN(4) == 0}
	for range 1 + r.IntN(3) {
		var group []string
		for range 1 + r.IntN(3) {
			group = append(group, randomPhrase(r))
		}
		s.Literals = append(s.Literals, group)
	}
	for range r.IntN(3) {
		s.Patterns = append(s.Patterns, randomPattern(r))
	}
	if r.IntN(3) == 0 {
		s.Excludes = append(s.Excludes, randomPattern(r))
	}
	return s
}

func randomPattern(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		b.WriteString(pick(r, worldPieces))
	}
	return b.String()
}

func randomText(r *rand.Rand, words int) string {
	var b strings.Builder
	for range words {
		w := pick(r, worldWords)
		switch r.IntN(6) {
		case 0:
			w = strings.ToUpper(w)
		case 1:
			runes := []rune(w)
			w = string(runes[:1+r.IntN(len(runes))])
		case 2:
			w = strings.ReplaceAll(w, "'", "’")
		}
		b.WriteString(w)
		b.WriteString(pick(r, worldGaps))
	}
	return b.String()
}

// render makes hits comparable.
func render(hits []Hit) []string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s[%d:%d]", h.Sig.ID, h.Start, h.End))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// referenceHits is Match by the definition.
func referenceHits(m *Matcher, text []byte, kind v1.PayloadKind) []Hit {
	var out []Hit
	for _, c := range m.sigs {
		if c.kinds>>(uint32(kind)&31)&1 != 0 {
			out = c.reference(out, text)
		}
	}
	return out
}

// checkAgainstReference matches text both ways.
func checkAgainstReference(t *testing.T, m *Matcher, text []byte) int {
	t.Helper()
	b := &Budget{limit: 1 << 40}
	hits, err := m.Match(nil, text, Query{Budget: b})
	if err != nil {
		t.Fatalf("%v on %q", err, text)
	}
	if b.Truncated() {
		return 0
	}
	got, want := render(hits), render(referenceHits(m, text, v1.PayloadKindUnspecified))
	if !slices.Equal(got, want) {
		t.Fatalf("matcher and reference differ\ngot  %v\nwant %v\ntext %q\nsignatures %s", got, want, text, describe(m, append(got, want...)))
	}
	return len(got)
}

func describe(m *Matcher, named []string) string {
	var b strings.Builder
	for _, c := range m.sigs {
		if slices.ContainsFunc(named, func(n string) bool { return strings.HasPrefix(n, c.sig.ID+"[") }) {
			s := c.sig
			fmt.Fprintf(&b, "\n%s %q patterns %q exclude %q window %d exact %t/%t word %t", s.ID, s.Literals, s.Patterns, s.Excludes, s.Window, s.Exact, s.ExactSpaces, s.Word)
		}
	}
	return b.String()
}

// TestMatcherIsTheDefinition compares the matcher with the definition of a match, followed word by word.
func TestMatcherIsTheDefinition(t *testing.T) {
	hits := 0
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		p := &Pack{}
		for i := range 12 {
			p.Signatures = append(p.Signatures, randomSignature(r, i))
		}
		m, err := Compile([]*Pack{p})
		if err != nil {
			t.Fatal(err)
		}
		for range 25 {
			hits += checkAgainstReference(t, m, []byte(randomText(r, 1+r.IntN(40))))
		}
	}
	t.Logf("%d hits compared", hits)
	if hits < 1000 {
		t.Errorf("only %d hits: the texts do not try the matcher", hits)
	}
}

// TestExactMatchesAreRE2s compares the exact half with Go's regexp, on texts where both mean the same by \b.
func TestExactMatchesAreRE2s(t *testing.T) {
	tried := 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 2))
		rules := patternRules{exact: r.IntN(2) == 0, exactSpaces: r.IntN(2) == 0}
		source := randomPattern(r)
		re, err := parsePattern(source, rules)
		if err != nil {
			t.Fatal(err)
		}
		theirs := regexp.MustCompile(rules.rewrite(re).String())
		ours, err := newPattern(source, rules, &memory{})
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			text := strings.Map(asciiWords, randomText(r, 1+r.IntN(12)))
			var k pike
			begin, end, _ := k.find(ours.program(), []byte(text), 0, len(text), 1<<40)
			want := theirs.FindStringIndex(text)
			var bt backtrack
			if b, e, _, ok := bt.find(ours.program(), []byte(text), 0, len(text), 1<<40); ok && (b != begin || b >= 0 && e != end) {
				t.Fatalf("%q on %q: backtracking finds [%d %d], pike [%d %d]", source, text, b, e, begin, end)
			}
			if want == nil && begin >= 0 || want != nil && (begin != want[0] || end != want[1]) {
				t.Fatalf("%q on %q: got [%d %d], RE2 says %v", source, text, begin, end, want)
			}
			_, stop, ok, full := ours.automaton().find([]byte(text), 0, len(text))
			if full || want != nil && !ok {
				t.Fatalf("%q on %q: the automaton says no at %d (full %t), RE2 says %v", source, text, stop, full, want)
			}
			tried++
		}
	}
	t.Logf("%d searches compared", tried)
}

// asciiWords drops the runes about which Go's \b has another opinion.
func asciiWords(r rune) rune {
	if r == '_' || r >= 0x80 && isWord(r) {
		return -1
	}
	return r
}
