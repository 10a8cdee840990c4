package signatures

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"gopkg.in/yaml.v3"
)

// field is one key of the format: what FORMAT.md says about it, and how it is read into a T. It is the only place that knows the key.
type field[T any] struct {
	key      string
	typ      string
	required bool
	def      string
	doc      string
	set      func(d *decoder, to T, path string, n *yaml.Node)
}

var packFields = []field[*Pack]{
	{"pack", "name", true, "", "Name of the pack: letters a-z, digits and hyphens.",
		func(d *decoder, p *Pack, path string, n *yaml.Node) { p.Name = d.name(path, n) }},
	{"version", "version", true, "", "Semantic version of the pack, MAJOR.MINOR.PATCH. Raise it with every change that ships.",
		func(d *decoder, p *Pack, path string, n *yaml.Node) { p.Version = d.semver(path, n) }},
	{"license", "text", false, "", "SPDX licence expression of the pack.",
		func(d *decoder, p *Pack, path string, n *yaml.Node) { p.License = d.text(path, n, 100) }},
	{"description", "text", false, "", "One line for a person choosing packs.",
		func(d *decoder, p *Pack, path string, n *yaml.Node) { p.Description = d.text(path, n, 300) }},
	{"threat", "threat", false, "", "Threat of the signatures that name none.",
		func(d *decoder, p *Pack, path string, n *yaml.Node) { p.Threat = d.threat(path, n) }},
	{"signatures", "list of signatures", true, "", "The signatures; see below.", setSignatures},
}

var signatureFields = []field[*Signature]{
	{"id", "name", true, "", "Unique over all packs: letters a-z, digits and hyphens. Never reuse an id for another meaning.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) { s.ID = d.name(path, n) }},
	{"version", "whole number", true, "", "1 or more. Raise it when what matches changes.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) { s.Version = d.integer(path, n, 1, 1<<20) }},
	{"threat", "threat", false, "the pack's", "What a hit accuses the text of.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) { s.Threat = d.threat(path, n) }},
	{"severity", "severity", true, "", "Harm done if the hit is true and the text is acted on.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) { s.Severity = d.severity(path, n) }},
	{"confidence", "number", true, "", "How often a hit is a real attack, by your own measure: above 0, at most 1.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) { s.Confidence = d.fraction(path, n) }},
	{"maturity", "`enforce` or `shadow`", false, "`enforce`", "Hits of a shadow signature are counted and shown, and change no verdict.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) {
			s.Maturity = Maturity(d.choice(path, n, "enforce", "shadow"))
		}},
	{"kinds", "list of kinds", false, "all", "The payload kinds it applies to.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) { s.Kinds = d.kinds(path, n) }},
	{"tags", "list of texts", false, "", "Free labels that detectors read, such as `lang:de` or `role:override`.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) { s.Tags = d.texts(path, n, 32, 64) }},
	{"case", "`fold` or `exact`", false, "`fold`", "`fold` ignores case, accents and typographic variants of quotes and hyphens; `exact` compares bytes as written.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) {
			s.Exact = d.choice(path, n, "fold", "exact") == 1
		}},
	{"spaces", "`flexible` or `exact`", false, "`flexible`", "`flexible`: a space matches any run of white space and Markdown marks; `exact`: a space is one space.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) {
			s.ExactSpaces = d.choice(path, n, "flexible", "exact") == 1
		}},
	{"word", "`true` or `false`", false, "`false`", "`true`: no letter, mark or digit of any script may touch the match, or a letter or digit at an edge of a literal. Not for scripts without spaces.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) {
			s.Word = d.choice(path, n, "false", "true") == 1
		}},
	{"literals", "list of lists of texts", true, "", "One text of every list must occur. The first list is the anchor: choose rare words.", setLiterals},
	{"pattern", "RE2 pattern", false, "", "Searched around the anchor. Without any pattern the literals alone match.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) {
			s.Patterns = append(s.Patterns, d.text(path, n, MaxPatternBytes))
		}},
	{"patterns", "list of RE2 patterns", false, "", "Several patterns, any of which matches.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) {
			s.Patterns = append(s.Patterns, d.texts(path, n, MaxPatterns, MaxPatternBytes)...)
		}},
	{"window", "whole number", false, strconv.Itoa(DefaultWindow), "Bytes on each side of the anchor in which the other literals and the pattern are looked for, 1 to " + strconv.Itoa(MaxWindow) + ".",
		func(d *decoder, s *Signature, path string, n *yaml.Node) { s.Window = d.integer(path, n, 1, MaxWindow) }},
	{"exclude", "list of RE2 patterns", false, "", "A match that overlaps a match of one of these is dropped. They are looked for in the window around the match.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) {
			s.Excludes = d.texts(path, n, MaxPatterns, MaxPatternBytes)
		}},
	{"references", "list of texts", false, "", "Where the knowledge comes from.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) { s.References = d.texts(path, n, 32, 500) }},
	{"positive", "list of texts", true, "", "Texts that must match. They are run by lint.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) {
			s.Positive = d.texts(path, n, 64, MaxExampleBytes)
		}},
	{"negative", "list of texts", true, "", "Harmless texts close to the attack that must not match. They are run by lint.",
		func(d *decoder, s *Signature, path string, n *yaml.Node) {
			s.Negative = d.texts(path, n, 64, MaxExampleBytes)
		}},
}

func setSignatures(d *decoder, p *Pack, path string, n *yaml.Node) {
	for i, item := range d.list(path, n, 5000) {
		s := &Signature{Window: DefaultWindow, File: p.File, Line: item.Line, lines: lines{}}
		at := fmt.Sprintf("%s[%d]", path, i)
		decodeMapping(d, item, s, at, s.lines, fieldsOfSignature())
		p.Signatures = append(p.Signatures, s)
	}
}

// fieldsOfSignature breaks the initialisation cycle between the two tables.
func fieldsOfSignature() []field[*Signature] { return signatureFields }

func setLiterals(d *decoder, s *Signature, path string, n *yaml.Node) {
	for i, group := range d.list(path, n, MaxGroups) {
		at := fmt.Sprintf("%s[%d]", path, i)
		s.lines[fmt.Sprintf("literals[%d]", i)] = group.Line
		for j, item := range d.list(at, group, MaxLiterals) {
			s.lines[fmt.Sprintf("literals[%d][%d]", i, j)] = item.Line
		}
		s.Literals = append(s.Literals, d.texts(at, group, MaxLiterals, MaxLiteralBytes))
	}
}

var (
	nameForm   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	semverForm = regexp.MustCompile(`^(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})$`)
)

func (d *decoder) name(path string, n *yaml.Node) string {
	s := d.text(path, n, 80)
	if s != "" && !nameForm.MatchString(s) {
		d.fail(n.Line, "%s: %q is not a name; use a-z, 0-9 and single hyphens between them", path, s)
	}
	return s
}

func (d *decoder) semver(path string, n *yaml.Node) string {
	s := d.text(path, n, 20)
	if s != "" && !semverForm.MatchString(s) {
		d.fail(n.Line, "%s: %q is not a version; write MAJOR.MINOR.PATCH, such as 1.0.0", path, s)
	}
	return s
}

func (d *decoder) threat(path string, n *yaml.Node) v1.Threat {
	return enum(d, path, n, v1.ParseThreat, v1.ThreatValues())
}

func (d *decoder) severity(path string, n *yaml.Node) v1.Severity {
	return enum(d, path, n, v1.ParseSeverity, v1.SeverityValues())
}

func (d *decoder) kinds(path string, n *yaml.Node) []v1.PayloadKind {
	var out []v1.PayloadKind
	for i, item := range d.list(path, n, 32) {
		at := fmt.Sprintf("%s[%d]", path, i)
		k := enum(d, at, item, v1.ParsePayloadKind, v1.PayloadKindValues())
		for _, have := range out {
			if have == k {
				d.fail(item.Line, "%s: %s is listed twice; remove one", at, k)
			}
		}
		out = append(out, k)
	}
	return out
}

// enum reads one of the contract's short names.
func enum[E fmt.Stringer](d *decoder, path string, n *yaml.Node, parse func(string) (E, bool), all []E) E {
	s := d.text(path, n, 80)
	v, ok := parse(s)
	if !ok && s != "" {
		d.fail(n.Line, "%s: %q is unknown; use one of %s", path, s, joined(all))
	}
	return v
}

func joined[E fmt.Stringer](all []E) string {
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.String()
	}
	return strings.Join(names, ", ")
}

// choice returns the index of the word that n is.
func (d *decoder) choice(path string, n *yaml.Node, words ...string) int {
	s := d.text(path, n, 80)
	for i, w := range words {
		if s == w {
			return i
		}
	}
	if s != "" {
		d.fail(n.Line, "%s: %q is unknown; use %s", path, s, strings.Join(words, " or "))
	}
	return 0
}

func (d *decoder) integer(path string, n *yaml.Node, low, high int) int {
	s := d.text(path, n, 20)
	v, err := strconv.Atoi(s)
	if s != "" && (err != nil || v < low || v > high) {
		d.fail(n.Line, "%s: %q is not a whole number from %d to %d", path, s, low, high)
		return low
	}
	return v
}

func (d *decoder) fraction(path string, n *yaml.Node) float64 {
	s := d.text(path, n, 20)
	v, err := strconv.ParseFloat(s, 64)
	if s != "" && (err != nil || math.IsNaN(v) || v <= 0 || v > 1) {
		d.fail(n.Line, "%s: %q is not a number above 0 and at most 1", path, s)
		return 0
	}
	return v
}
