package main

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/amygdala-host/amygdala/abi/internal/gen/source"
)

// messages writes the reference: every enum and message with the comments of its .proto file.
func (c *contract) messages() (string, error) {
	var b strings.Builder
	for _, f := range c.files {
		fmt.Fprintf(&b, "### %s\n\n%s\n\n", f.Path(), fileComment(f))
		for i := range f.Enums().Len() {
			d := f.Enums().Get(i)
			fmt.Fprintf(&b, "#### %s\n\nEnum. %s\n\n%s\n", d.Name(), paragraphs(source.Comment(d)), enumTable(d))
		}
		for i := range f.Messages().Len() {
			writeMessage(&b, f.Messages().Get(i))
		}
	}
	return b.String(), nil
}

// fileComment is what stands above the syntax line.
func fileComment(f protoreflect.FileDescriptor) string {
	const syntaxField = 12
	return paragraphs(f.SourceLocations().ByPath(protoreflect.SourcePath{syntaxField}).LeadingComments)
}

// paragraphs joins the lines of each paragraph.
func paragraphs(comment string) string {
	var out []string
	for p := range strings.SplitSeq(strings.TrimSpace(comment), "\n\n") {
		out = append(out, strings.Join(strings.Fields(p), " "))
	}
	// A comment keeps the space behind its slashes, so an empty line between paragraphs is not empty.
	return strings.ReplaceAll(strings.Join(out, "\n\n"), "\n \n", "\n\n")
}

func enumTable(d protoreflect.EnumDescriptor) string {
	var b strings.Builder
	b.WriteString("| number | value | meaning |\n|---|---|---|\n")
	for i := range d.Values().Len() {
		v := d.Values().Get(i)
		fmt.Fprintf(&b, "| %d | `%s` | %s |\n", v.Number(), v.Name(), oneLine(source.Comment(v)))
	}
	return b.String()
}

func writeMessage(b *strings.Builder, d protoreflect.MessageDescriptor) {
	fmt.Fprintf(b, "#### %s\n\n%s\n\n", d.Name(), paragraphs(source.Comment(d)))
	if d.Fields().Len() == 0 {
		return
	}
	for i := range d.Oneofs().Len() {
		if o := d.Oneofs().Get(i); !o.IsSynthetic() {
			fmt.Fprintf(b, "%s of the members of `%s` is set.\n\n", map[bool]string{true: "Exactly one", false: "At most one"}[needed(o)], o.Name())
		}
	}
	b.WriteString("| number | field | type | meaning |\n|---|---|---|---|\n")
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		fmt.Fprintf(b, "| %d | `%s` | %s | %s |\n", f.Number(), f.Name(), typeText(f), fieldText(f))
	}
	b.WriteByte('\n')
}

func needed(o protoreflect.OneofDescriptor) bool {
	required, _ := source.Mark(o)
	return required
}

func typeText(f protoreflect.FieldDescriptor) string {
	t := f.Kind().String()
	switch f.Kind() {
	case protoreflect.MessageKind:
		t = fmt.Sprintf("[%s](#%s)", f.Message().Name(), anchor(string(f.Message().Name())))
	case protoreflect.EnumKind:
		t = fmt.Sprintf("[%s](#%s)", f.Enum().Name(), anchor(string(f.Enum().Name())))
	}
	switch {
	case f.IsList():
		return "repeated " + t
	case f.HasOptionalKeyword():
		return "optional " + t
	}
	return t
}

func fieldText(f protoreflect.FieldDescriptor) string {
	required, note := source.Mark(f)
	var parts []string
	if required {
		parts = append(parts, "**Required.**")
	}
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		parts = append(parts, "Member of `"+string(o.Name())+"`.")
	}
	parts = append(parts, source.Comment(f), note)
	return oneLine(strings.Join(parts, " "))
}
