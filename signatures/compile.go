package signatures

import (
	"fmt"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// compiled is a signature in the form that is matched.
type compiled struct {
	sig      *Signature
	kinds    uint32 // bit per payload kind; all bits set if it applies to all
	groups   [][]*literal
	patterns []*pattern
	excludes []*pattern
}

// appliesTo is Signature.Applies without a loop.
func (c *compiled) appliesTo(k v1.PayloadKind) bool { return c.kinds>>(uint32(k)&31)&1 != 0 }

// compileSignature builds what is needed to match s. The problems it returns are errors: such a signature cannot be matched.
func compileSignature(s *Signature, m *memory) (*compiled, []Problem) {
	c := &compiled{sig: s, kinds: kindMask(s.Kinds)}
	var problems []Problem
	fail := func(path, format string, args ...any) {
		problems = append(problems, s.problem(Error, path, format, args...))
	}
	if len(s.Literals) == 0 {
		fail("literals", "has no required literal; name the words that every match contains")
	}
	if s.Window < 1 || s.Window > MaxWindow {
		fail("window", "window %d is not between 1 and %d", s.Window, MaxWindow)
	}
	for i, group := range s.Literals {
		var set []*literal
		for j, text := range group {
			l, err := newLiteral(text, s.Exact, s.ExactSpaces, s.Word)
			if err != nil {
				fail(fmt.Sprintf("literals[%d][%d]", i, j), "literal %q %v", text, err)
				continue
			}
			set = append(set, l)
		}
		c.groups = append(c.groups, set)
	}
	c.patterns = s.compilePatterns(s.Patterns, "pattern", m, fail)
	c.excludes = s.compilePatterns(s.Excludes, "exclude", m, fail)
	return c, problems
}

func (s *Signature) compilePatterns(sources []string, path string, m *memory, fail func(path, format string, args ...any)) []*pattern {
	var out []*pattern
	for _, source := range sources {
		p, err := newPattern(source, s.rules(path), m)
		if err != nil {
			fail(path, "%s %q %v", path, clip(source, 60), err)
		}
		out = append(out, p)
	}
	return out
}

// rules are those of the signature; the word rule is for matches, not for what cancels them.
func (s *Signature) rules(path string) patternRules {
	return patternRules{exact: s.Exact, exactSpaces: s.ExactSpaces, word: s.Word && path != "exclude"}
}

// kindMask has a bit for each kind, and the bit of the unspecified kind.
func kindMask(kinds []v1.PayloadKind) uint32 {
	if len(kinds) == 0 {
		return ^uint32(0)
	}
	mask := uint32(1)
	for _, k := range kinds {
		mask |= 1 << (uint32(k) & 31)
	}
	return mask
}

// Level says how bad a problem is.
type Level uint8

const (
	// Error: the signature must not ship.
	Error Level = iota
	// Warning: it works, and could be better.
	Warning
)

// String returns "error" or "warning".
func (l Level) String() string {
	if l == Warning {
		return "warning"
	}
	return "error"
}

// Problem is something wrong with a signature.
type Problem struct {
	File  string
	Line  int
	ID    string // of the signature; empty if the pack itself is meant
	Level Level
	Text  string // one sentence: what is wrong and how to mend it
}

// String reads "file:line: signature: level: text".
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s: %s: %s", p.File, p.Line, p.ID, p.Level, p.Text)
}

// problem finds the line of path.
func (s *Signature) problem(level Level, path, format string, args ...any) Problem {
	key, _, _ := strings.Cut(path, "[")
	line := s.lines.of(path, s.lines.of(key, s.lines.of(key+"s", s.Line)))
	return Problem{File: s.File, Line: line, ID: s.ID, Level: level, Text: fmt.Sprintf(format, args...)}
}
