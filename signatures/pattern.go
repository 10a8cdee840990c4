package signatures

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
)

// patternRules are the parts of a signature that change what its patterns mean.
type patternRules struct {
	exact, exactSpaces, word bool
}

// parsePattern reads an author's pattern. The tree that is matched, folded and with flexible spaces, is made of it by rewrite.
func parsePattern(pattern string, rules patternRules) (*syntax.Regexp, error) {
	flags := syntax.Perl
	if !rules.exact {
		flags |= syntax.FoldCase
	}
	re, err := syntax.Parse(pattern, flags)
	if err != nil {
		var e *syntax.Error
		if errors.As(err, &e) {
			return nil, fmt.Errorf("not a valid RE2 pattern: %s at %q", e.Code, e.Expr)
		}
		return nil, fmt.Errorf("not a valid RE2 pattern: %w", err)
	}
	return re, nil
}

// rewrite applies the rules to the tree, and drops captures.
func (p patternRules) rewrite(re *syntax.Regexp) *syntax.Regexp {
	switch re.Op {
	case syntax.OpLiteral:
		return p.rewriteLiteral(re)
	case syntax.OpCharClass:
		return p.rewriteClass(re)
	case syntax.OpCapture:
		return p.rewrite(re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		if !p.exactSpaces && isSpaceNode(re.Sub[0]) {
			return rewriteSpaceRepeat(re)
		}
	}
	out := *re
	out.Sub0 = [1]*syntax.Regexp{}
	out.Sub = make([]*syntax.Regexp, len(re.Sub))
	for i, sub := range re.Sub {
		out.Sub[i] = p.rewrite(sub)
	}
	return &out
}

// rewriteLiteral makes a node of every rune, and one gap of every run of spaces.
func (p patternRules) rewriteLiteral(re *syntax.Regexp) *syntax.Regexp {
	fold := re.Flags&syntax.FoldCase != 0
	out := &syntax.Regexp{Op: syntax.OpConcat}
	for i, r := range re.Rune {
		if r == ' ' && !p.exactSpaces {
			if i == 0 || re.Rune[i-1] != ' ' {
				out.Sub = append(out.Sub, gapNode())
			}
			continue
		}
		out.Sub = append(out.Sub, runeNode(r, fold))
	}
	if len(out.Sub) == 1 {
		return out.Sub[0]
	}
	return out
}

func runeNode(r rune, fold bool) *syntax.Regexp {
	if !fold {
		return &syntax.Regexp{Op: syntax.OpLiteral, Rune: []rune{r}}
	}
	out := &syntax.Regexp{Op: syntax.OpCharClass}
	for _, v := range variants(lowerASCII(r), true) {
		out.Rune = append(out.Rune, v, v)
	}
	return out
}

// lowerASCII undoes what the parser does to folded runes: it keeps the smallest of the orbit.
func lowerASCII(r rune) rune {
	if r >= 'A' && r <= 'Z' {
		return r + 'a' - 'A'
	}
	return r
}

// rewriteClass makes \s a gap, and lets a class that has \s in it know white space of every script.
func (p patternRules) rewriteClass(re *syntax.Regexp) *syntax.Regexp {
	switch {
	case p.exactSpaces || !coversSpace(re.Rune):
		return re
	case isSpaceNode(re):
		return gapNode()
	}
	out := *re
	out.Rune = append(append([]rune(nil), re.Rune...), wideSpaces...)
	out.Rune = cleanClass(out.Rune)
	return &out
}

// rewriteSpaceRepeat turns a repeated space into a gap, or into one that may be missing.
func rewriteSpaceRepeat(re *syntax.Regexp) *syntax.Regexp {
	switch {
	case re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Min > 0:
		return gapNode()
	case re.Op == syntax.OpQuest:
		return &syntax.Regexp{Op: syntax.OpQuest, Flags: re.Flags, Sub: []*syntax.Regexp{gapNode()}}
	}
	return &syntax.Regexp{Op: syntax.OpStar, Sub: []*syntax.Regexp{{Op: syntax.OpCharClass, Rune: gapClass}}}
}

// isSpaceNode reports \s or a space.
func isSpaceNode(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpCapture:
		return isSpaceNode(re.Sub[0])
	case syntax.OpLiteral:
		return len(re.Rune) == 1 && re.Rune[0] == ' '
	case syntax.OpCharClass:
		return slices.Equal(re.Rune, []rune("\t\n\f\r  ")) // and not just any three ranges that hold white space, such as [^!?]
	}
	return false
}

// coversSpace reports whether the ranges hold all of \s: tab, newline, form feed, return, space.
func coversSpace(ranges []rune) bool {
	for _, r := range "\t\n\f\r " {
		if !inRanges(ranges, r) {
			return false
		}
	}
	return true
}

func inRanges(ranges []rune, r rune) bool {
	for i := 0; i < len(ranges); i += 2 {
		if r >= ranges[i] && r <= ranges[i+1] {
			return true
		}
	}
	return false
}

// gapNode matches what gapAny does in a literal, without its limit of length: the window limits it.
func gapNode() *syntax.Regexp {
	mark := &syntax.Regexp{Op: syntax.OpCharClass, Rune: markClass}
	space := &syntax.Regexp{Op: syntax.OpCharClass, Rune: spaceClass}
	both := &syntax.Regexp{Op: syntax.OpCharClass, Rune: gapClass}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: []*syntax.Regexp{
		{Op: syntax.OpStar, Sub: []*syntax.Regexp{mark}},
		space,
		{Op: syntax.OpStar, Sub: []*syntax.Regexp{both}},
	}}
}

var (
	wideSpaces = rangesOf(unicode.White_Space)
	spaceClass = cleanClass(wideSpaces)
	markClass  = cleanClass(pairs(gapMarks))
	gapClass   = cleanClass(append(append([]rune(nil), spaceClass...), markClass...))
)

func rangesOf(t *unicode.RangeTable) []rune {
	var out []rune
	for r := rune(0); r <= 0xFFFF; r++ {
		if unicode.Is(t, r) {
			out = append(out, r, r)
		}
	}
	return out
}

func pairs(s string) []rune {
	var out []rune
	for _, r := range s {
		out = append(out, r, r)
	}
	return out
}
