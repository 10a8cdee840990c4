package schema

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/tree"
)

// maxSteps bounds the work on one document: schemas visited, members and items looked at.
const maxSteps = 500_000

// run validates one document.
type run struct {
	t    *tree.Tree
	left int
}

// step takes n steps and reports whether any are left.
func (r *run) step(n int) bool {
	r.left -= n
	return r.left > 0
}

// ok reports whether node i fits the schema.
func (r *run) ok(s *node, i int) bool { return len(r.validate(s, i)) == 0 }

// validate returns the breaches of s at node i.
func (r *run) validate(s *node, i int) []violation {
	if s == nil || !r.step(1) {
		return nil
	}
	if s.never {
		return r.breach(s, i, "nothing is allowed here")
	}
	var out []violation
	if s.ref != nil {
		out = r.validate(s.ref, i)
	}
	out = append(out, r.anywhere(s, i)...)
	switch r.t.Nodes[i].Kind {
	case tree.Object:
		out = append(out, r.object(s, i)...)
	case tree.Array:
		out = append(out, r.array(s, i)...)
	case tree.String:
		out = append(out, r.str(s, i)...)
	case tree.Number:
		out = append(out, r.number(s, i)...)
	case tree.Bytes:
		out = append(out, r.length(s, i, len(r.t.Nodes[i].Text))...)
	}
	out = append(out, r.combine(s, i)...)
	if len(out) > maxViolations {
		out = out[:maxViolations]
	}
	return out
}

// breach makes one violation, told by the schema's place.
func (r *run) breach(s *node, i int, format string, args ...any) []violation {
	n := r.t.Nodes[i]
	return []violation{{fmt.Sprintf("%s: ", s.path) + fmt.Sprintf(format, args...), n.Start, n.End}}
}

// anywhere checks the keywords that apply to every kind of value.
func (r *run) anywhere(s *node, i int) []violation {
	n := r.t.Nodes[i]
	if s.kinds != nil && !s.kinds[n.Kind.String()] && !(n.Kind == tree.Number && s.kinds["integer"] && isInteger(n.Text)) {
		return r.breach(s, i, "a %s where %s is declared", n.Kind, kindList(s.kinds))
	}
	if !s.hasEnum {
		return nil
	}
	have := canonical(r.t, i)
	r.step(len(have) / 16)
	for _, want := range s.enum {
		if want == have {
			return nil
		}
	}
	return r.breach(s, i, "not one of the declared values")
}

func isInteger(s string) bool {
	n, ok := parseNumber(s)
	return ok && n.integer()
}

func kindList(kinds map[string]bool) string {
	var out []string
	for k := range kinds {
		out = append(out, k)
	}
	sort.Strings(out)
	return strings.Join(out, " or ")
}

func (r *run) object(s *node, i int) []violation {
	n := r.t.Nodes[i]
	var out []violation
	if s.minProps >= 0 && n.Len < s.minProps || s.maxProps >= 0 && n.Len > s.maxProps {
		out = r.breach(s, i, "the number of members is out of bounds")
	}
	for _, name := range s.required {
		if !r.step(1+n.Len/8) || r.t.Child(i, name) == tree.None {
			out = append(out, r.breach(s, i, "%q is required", name)...)
		}
	}
	for name, list := range s.depends {
		if r.t.Child(i, name) == tree.None {
			continue
		}
		for _, need := range list {
			if r.t.Child(i, need) == tree.None {
				out = append(out, r.breach(s, i, "%q requires %q", name, need)...)
			}
		}
	}
	for name, sub := range s.implies {
		if r.t.Child(i, name) != tree.None {
			out = append(out, r.validate(sub, i)...)
		}
	}
	for c := n.First; c != tree.None && r.step(1); c = r.t.Nodes[c].Next {
		out = append(out, r.member(s, c)...)
	}
	return out
}

// member checks one member of an object.
func (r *run) member(s *node, c int) []violation {
	name := r.t.Nodes[c].Key
	var out []violation
	known := false
	if sub := s.props[name]; sub != nil {
		known = true
		out = r.validate(sub, c)
	}
	for _, p := range s.patterns {
		if r.step(len(name)) && p.re.MatchString(name) {
			known = true
			out = append(out, r.validate(p.s, c)...)
		}
	}
	if s.extra != nil && !known {
		if s.extra.never {
			out = append(out, r.breach(s, c, "a member that is not declared")...)
		} else {
			out = append(out, r.validate(s.extra, c)...)
		}
	}
	if s.names != nil && !r.name(s.names, name) {
		out = append(out, r.breach(s, c, "a member with a name that is not allowed")...)
	}
	return out
}

// name checks a member's name as a string of its own.
func (r *run) name(s *node, name string) bool {
	one := &run{t: &tree.Tree{Nodes: []tree.Node{{Kind: tree.String, Text: name, Parent: tree.None, First: tree.None, Next: tree.None}}}, left: r.left}
	ok := one.ok(s, 0)
	r.left = one.left
	return ok
}

func (r *run) array(s *node, i int) []violation {
	n := r.t.Nodes[i]
	var out []violation
	if s.minItems >= 0 && n.Len < s.minItems || s.maxItems >= 0 && n.Len > s.maxItems {
		out = r.breach(s, i, "the number of items is out of bounds")
	}
	at, matched := 0, 0
	seen := map[string]bool{}
	for c := n.First; c != tree.None && r.step(1); c = r.t.Nodes[c].Next {
		switch {
		case at < len(s.prefix):
			out = append(out, r.validate(s.prefix[at], c)...)
		case s.items != nil:
			out = append(out, r.validate(s.items, c)...)
		}
		if s.contains != nil && r.ok(s.contains, c) {
			matched++
		}
		if s.unique {
			key := canonical(r.t, c)
			r.step(len(key) / 16)
			if seen[key] {
				out = append(out, r.breach(s, c, "an item stands twice")...)
			}
			seen[key] = true
		}
		at++
	}
	return append(out, r.contained(s, i, matched)...)
}

func (r *run) contained(s *node, i, matched int) []violation {
	if s.contains == nil {
		return nil
	}
	least := 1
	if s.minContains >= 0 {
		least = s.minContains
	}
	if matched < least || s.maxContains >= 0 && matched > s.maxContains {
		return r.breach(s, i, "the number of items that fit contains is out of bounds")
	}
	return nil
}

func (r *run) str(s *node, i int) []violation {
	v := r.t.Nodes[i].Text
	var out []violation
	if s.minLength >= 0 || s.maxLength >= 0 {
		r.step(len(v) / 16)
		out = r.length(s, i, utf8.RuneCountInString(v))
	}
	if s.pattern != nil && (!r.step(len(v)) || !s.pattern.MatchString(v)) {
		out = append(out, r.breach(s, i, "does not match the declared pattern")...)
	}
	if s.format != nil && !s.format(v) {
		out = append(out, r.breach(s, i, "is no %s", s.formatName)...)
	}
	return out
}

func (r *run) length(s *node, i, n int) []violation {
	if s.minLength >= 0 && n < s.minLength || s.maxLength >= 0 && n > s.maxLength {
		return r.breach(s, i, "the length is out of bounds")
	}
	return nil
}

func (r *run) number(s *node, i int) []violation {
	n, ok := parseNumber(r.t.Nodes[i].Text)
	switch {
	case !ok:
		return r.breach(s, i, "not a finite number")
	case s.min != nil && n.less(*s.min), s.max != nil && s.max.less(n), s.exMin != nil && !s.exMin.less(n), s.exMax != nil && !n.less(*s.exMax):
		return r.breach(s, i, "the number is out of bounds")
	case s.multiple != nil && !n.multipleOf(*s.multiple):
		return r.breach(s, i, "not a multiple as declared")
	}
	return nil
}

// combine checks the keywords that hold alternatives.
func (r *run) combine(s *node, i int) []violation {
	var out []violation
	for _, sub := range s.all {
		out = append(out, r.validate(sub, i)...)
	}
	if len(s.any) > 0 && r.count(s.any, i, 1) == 0 {
		out = append(out, r.breach(s, i, "fits none of the alternatives")...)
	}
	if len(s.one) > 0 && r.count(s.one, i, 2) != 1 {
		out = append(out, r.breach(s, i, "fits not exactly one of the alternatives")...)
	}
	if s.not != nil && r.ok(s.not, i) {
		out = append(out, r.breach(s, i, "fits what is excluded")...)
	}
	if s.when != nil {
		if r.ok(s.when, i) {
			out = append(out, r.validate(s.yes, i)...)
		} else {
			out = append(out, r.validate(s.no, i)...)
		}
	}
	return out
}

// count returns how many schemas fit, at most most.
func (r *run) count(list []*node, i, most int) int {
	n := 0
	for _, sub := range list {
		if n < most && r.ok(sub, i) {
			n++
		}
	}
	return n
}

// canonical returns a text that is equal for equal values: members in order of their names, numbers in one form.
func canonical(t *tree.Tree, i int) string {
	var b strings.Builder
	appendCanonical(&b, t, i)
	return b.String()
}

func appendCanonical(b *strings.Builder, t *tree.Tree, i int) {
	n := t.Nodes[i]
	switch n.Kind {
	case tree.Object:
		members := make([]int, 0, n.Len)
		for c := n.First; c != tree.None; c = t.Nodes[c].Next {
			members = append(members, c)
		}
		sort.Slice(members, func(x, y int) bool { return t.Nodes[members[x]].Key < t.Nodes[members[y]].Key })
		b.WriteByte('{')
		for _, c := range members {
			b.WriteString(strconv.Quote(t.Nodes[c].Key))
			appendCanonical(b, t, c)
		}
		b.WriteByte('}')
	case tree.Array:
		b.WriteByte('[')
		for c := n.First; c != tree.None; c = t.Nodes[c].Next {
			appendCanonical(b, t, c)
			b.WriteByte(',')
		}
		b.WriteByte(']')
	case tree.Number:
		v, _ := parseNumber(n.Text)
		b.WriteString(v.text())
	default:
		b.WriteByte("zbnsaoxe"[n.Kind])
		b.WriteString(strconv.Quote(n.Text))
	}
}
