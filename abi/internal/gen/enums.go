package main

import "slices"

// emitEnums writes one int32 type per enum with its names.
func emitEnums(p *printer, s *schema) {
	p.use("strconv")
	for _, e := range s.enums {
		emitEnumType(p, e)
		emitEnumNames(p, e)
	}
}

func emitEnumType(p *printer, e *enum) {
	p.comment(e.comment)
	p.p("type %s int32\n", e.name)
	p.p("// The values of %s.", e.name)
	p.p("const (")
	for _, v := range e.values {
		p.comment(v.comment)
		p.p("%s %s = %d", v.name, e.name, v.num)
	}
	p.p(")\n")
	p.p("// %sValues returns every value that means something, in the order of the contract.", e.name)
	p.p("func %sValues() []%s {\nreturn []%s{", e.name, e.name, e.name)
	for _, v := range e.values[1:] {
		p.p("%s,", v.name)
	}
	p.p("}\n}\n")
}

func emitEnumNames(p *printer, e *enum) {
	p.p("// String returns the short name, such as %q; a value outside the contract is shown as its number.", e.values[1].short)
	p.p("func (v %s) String() string {\nswitch v {", e.name)
	for _, v := range e.values {
		p.p("case %s:\nreturn %q", v.name, v.short)
	}
	p.p("}\nreturn \"%s(\" + strconv.Itoa(int(v)) + \")\"\n}\n", snake(e.name))
	p.p("// Known reports whether v is a value of the contract; %s is not.", e.values[0].name)
	p.p("func (v %s) Known() bool {", e.name)
	if lo, hi, ok := span(e); ok {
		p.p("return v >= %s && v <= %s", lo, hi)
	} else {
		p.p("_, ok := Parse%s(v.String())\nreturn ok", e.name)
	}
	p.p("}\n")
	p.p("// Parse%s finds a value by its short name; the unspecified one cannot be named.", e.name)
	p.p("func Parse%s(s string) (%s, bool) {\nswitch s {", e.name, e.name)
	for _, v := range e.values[1:] {
		p.p("case %q:\nreturn %s, true", v.short, v.name)
	}
	p.p("}\nreturn 0, false\n}\n")
}

// span returns the first and last value if the values have no gaps.
func span(e *enum) (lo, hi string, ok bool) {
	values := slices.Clone(e.values[1:])
	slices.SortFunc(values, func(a, b value) int { return int(a.num - b.num) })
	last := values[len(values)-1]
	return values[0].name, last.name, int(last.num-values[0].num) == len(values)-1
}
