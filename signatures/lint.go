package signatures

import (
	"fmt"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// MinAnchorBytes is the least an anchor must hold, spaces and signs aside. Two characters of a script without spaces are enough.
const MinAnchorBytes = 3

// Lint returns what is wrong with the packs, in the order of their files and lines. Signatures without an error are compiled, and their
// examples are run through the real matcher.
func Lint(packs []*Pack) []Problem {
	var out []Problem
	first := map[string]*Signature{}
	names := map[string]*Pack{}
	for _, p := range packs {
		if other := names[p.Name]; other != nil {
			out = append(out, Problem{p.File, p.lines.of("pack", 1), "", Error,
				fmt.Sprintf("pack name %q is already used by %s; rename one", p.Name, other.File)})
		}
		names[p.Name] = p
		for _, s := range p.Signatures {
			found := lintSignature(s)
			if other := first[s.ID]; other != nil {
				found = append(found, s.problem(Error, "id", "id %q is already used at %s:%d; rename one", s.ID, other.File, other.Line))
			} else {
				first[s.ID] = s
			}
			if !hasError(found) {
				found = append(found, lintExamples(s)...)
			}
			out = append(out, found...)
		}
	}
	return out
}

func hasError(problems []Problem) bool {
	return slices.ContainsFunc(problems, func(p Problem) bool { return p.Level == Error })
}

// lintSignature checks all but the examples' outcome.
func lintSignature(s *Signature) []Problem {
	c, out := compileSignature(s, &memory{})
	if len(s.Positive) == 0 {
		out = append(out, s.problem(Error, "positive", "has no positive example; add a text that must match"))
	}
	if len(s.Negative) == 0 {
		out = append(out, s.problem(Error, "negative", "has no negative example; add a harmless text close to the attack"))
	}
	if len(c.groups) > 0 {
		out = append(out, lintAnchors(s)...)
	}
	for _, pattern := range s.Patterns {
		out = append(out, lintPattern(s, "pattern", pattern)...)
	}
	for _, pattern := range s.Excludes {
		out = append(out, lintPattern(s, "exclude", pattern)...)
	}
	out = append(out, lintRepeats(s)...)
	out = append(out, lintGroups(s, c)...)
	return append(out, lintUnreachable(s, c)...)
}

// lintRepeats points out literals that are written twice.
func lintRepeats(s *Signature) []Problem {
	var out []Problem
	for i, group := range s.Literals {
		for j, text := range group {
			if first := slices.Index(group, text); first < j {
				out = append(out, s.problem(Warning, fmt.Sprintf("literals[%d][%d]", i, j), "literal %q is in the group twice; remove one", text))
			}
		}
	}
	return out
}

// lintGroups points out later groups that are near to almost every place of ordinary text.
func lintGroups(s *Signature, c *compiled) []Problem {
	var out []Problem
	for i, group := range c.groups {
		if i == 0 {
			continue
		}
		if share := coverage(group, s.Window); share > everywhere {
			out = append(out, s.problem(Warning, fmt.Sprintf("literals[%d]", i), "the group narrows nothing: %d%% of ordinary text has one of its literals within %d bytes; remove the group, or the short and common words in it", share, s.Window))
		}
	}
	return out
}

// lintUnreachable points out literals that no pattern has a place for while it has one for others of their group: they are often misspelt.
// A group that lies outside of the pattern altogether is context, and meant so.
func lintUnreachable(s *Signature, c *compiled) []Problem {
	if len(c.patterns) == 0 || slices.Contains(c.patterns, nil) {
		return nil
	}
	var out []Problem
	for i, group := range c.groups {
		if len(group) != len(s.Literals[i]) {
			continue // some are no literals; already told
		}
		var strange []string
		for j, l := range group {
			if !slices.ContainsFunc(c.patterns, func(p *pattern) bool { return p.program().mayTouch(l) }) {
				strange = append(strange, strconv.Quote(s.Literals[i][j]))
			}
		}
		if len(strange) > 0 && len(strange) < len(group) {
			out = append(out, s.problem(Warning, fmt.Sprintf("literals[%d]", i), "a match of the pattern has no place for %s, but for others of the group; spell them as in the pattern, or remove them", strings.Join(strange, ", ")))
		}
	}
	return out
}

// lintAnchors checks that the first group can carry the search.
func lintAnchors(s *Signature) []Problem {
	var out []Problem
	for j, text := range s.Literals[0] {
		path := fmt.Sprintf("literals[0][%d]", j)
		size, runes, run := weigh(text)
		dense := isDense(text)
		switch {
		case dense && runes < 2:
			out = append(out, s.problem(Error, path, "anchor %q is a single character; use at least two", text))
		case dense:
		case size < MinAnchorBytes:
			out = append(out, s.problem(Error, path, "anchor %q is shorter than %d bytes; it would be looked up everywhere: use a longer word", text, MinAnchorBytes))
		case run == 0:
			out = append(out, s.problem(Error, path, "anchor %q has no letter or digit; signs are everywhere in code and tables: add a word", text))
		default:
			out = append(out, lintCommon(s, path, text)...)
		}
	}
	return out
}

// lintCommon refuses anchors that ordinary text is full of.
func lintCommon(s *Signature, path, text string) []Problem {
	n := commonness(text, s.Word)
	read := n * (2*s.Window + len(text))
	switch {
	case n >= tooCommon:
		return []Problem{s.problem(Error, path, "anchor %q occurs %d times in a megabyte of ordinary English; anchor on a rarer word, and move this one to a later group", text, n)}
	case len(s.Literals) == 1 && len(s.Patterns) > 0 && read > tooMuchRead:
		return []Problem{s.problem(Error, path, "anchor %q occurs %d times in a megabyte of ordinary English, so the pattern would read %d%% of it; add a second group, or anchor on a rarer word", text, n, read/10_000)}
	}
	return nil
}

// weigh returns the bytes and runes of text without its spaces, and the longest run of letters and digits in runes.
func weigh(text string) (size, runes, run int) {
	now := 0
	for _, r := range text {
		if now++; !isWord(r) {
			now = 0
		}
		if !isGapSpace(r) {
			size, runes = size+utf8.RuneLen(r), runes+1
		}
		run = max(run, now)
	}
	return size, runes, run
}

// isDense reports a text of scripts whose single characters say as much as an English syllable or word.
func isDense(text string) bool {
	for _, r := range text {
		if r < utf8.RuneSelf || !unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) && !isGapSpace(r) {
			return false
		}
	}
	return true
}

// lintPattern checks what a pattern may match.
func lintPattern(s *Signature, path, pattern string) []Problem {
	re, err := parsePattern(pattern, s.rules(path))
	if err != nil {
		return nil // already told
	}
	re = s.rules(path).rewrite(re)
	shown := clip(pattern, 60)
	var out []Problem
	n := measure(re)
	switch {
	case n.min == 0:
		out = append(out, s.problem(Error, path, "%s %q can match nothing at all; make a part of it required", path, shown))
	case n.max >= unbounded:
		out = append(out, s.problem(Error, path, "%s %q has no longest match: %s is unbounded; write a bound such as {0,60}", path, shown, unboundedPart(re)))
	case path == "pattern" && n.min > 2*s.Window+MaxLiteralBytes:
		out = append(out, s.problem(Error, path, "%s %q needs at least %d bytes, more than a window of %d on each side holds", path, shown, n.min, s.Window))
	case path == "pattern" && usual(re) > s.Window+MaxLiteralBytes:
		out = append(out, s.problem(Warning, path, "%s %q can match %d characters, but is only searched within %d bytes of the anchor: longer matches are cut or missed; raise window or lower the counts",
			path, shown, usual(re), s.Window))
	}
	if p, err := newPattern(pattern, s.rules(path), &memory{}); err == nil && !p.automaton().explore() {
		out = append(out, s.problem(Error, path, "%s %q needs an automaton of more than %d states; split it, or use fewer alternatives and counts", path, shown, maxStates))
	}
	return out
}

// unboundedPart shows the repeat that has no bound.
func unboundedPart(re *syntax.Regexp) string {
	for _, sub := range re.Sub {
		if measure(sub).max >= unbounded {
			return unboundedPart(sub)
		}
	}
	return re.String()
}

// lintExamples runs the examples through a matcher of this signature alone.
func lintExamples(s *Signature) []Problem {
	m, err := Compile([]*Pack{{Signatures: []*Signature{s}}})
	if err != nil {
		return []Problem{s.problem(Error, "id", "%v", err)}
	}
	out := lintCost(s, m)
	for i, text := range s.Positive {
		if ok, err := matches(m, text, s.exampleKind()); err != nil || !ok {
			out = append(out, s.problem(Error, fmt.Sprintf("positive[%d]", i), "positive example %d does not match: %q", i+1, clip(text, 80)))
		}
	}
	for i, text := range s.Negative {
		if ok, err := matches(m, text, s.exampleKind()); err != nil || ok {
			out = append(out, s.problem(Error, fmt.Sprintf("negative[%d]", i), "negative example %d matches: %q", i+1, clip(text, 80)))
		}
	}
	return out
}

// maxSampleShare is how much of the sample a signature may cost, in per cent of its bytes.
const maxSampleShare = 25

// lintCost matches the sample of ordinary text, and warns of signatures that are busy there.
func lintCost(s *Signature, m *Matcher) []Problem {
	p := m.Profile()
	if _, err := p.Match(nil, sample, Query{Budget: &Budget{limit: 1 << 40}}); err != nil {
		return nil // without a limit and a deadline it cannot fail
	}
	for _, c := range p.Costs() {
		if share := 100 * c.Work / len(sample); share > maxSampleShare {
			return []Problem{s.problem(Warning, "literals", "costs %d%% of ordinary text: in a sample of %d bytes its anchors occur %d times, and with the other groups %d times, its patterns read %d bytes and try %d steps; use rarer anchors, more groups or a smaller window",
				share, len(sample), c.Anchors, c.Candidates, c.Read, c.Tried)}
		}
	}
	return nil
}

func matches(m *Matcher, text string, kind v1.PayloadKind) (bool, error) {
	hits, err := m.Match(nil, []byte(text), Query{Kind: kind})
	return len(hits) > 0, err
}
