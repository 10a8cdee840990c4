package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/amygdala-host/amygdala/abi"
	"github.com/amygdala-host/amygdala/abi/internal/gen/source"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// contract is everything the parts are made from.
type contract struct {
	root  string
	files []protoreflect.FileDescriptor
}

func load(root string) (*contract, error) {
	files, err := source.Load(filepath.Join(root, "abi", "v1"))
	return &contract{root, files}, err
}

// message finds a message by name.
func (c *contract) message(name string) protoreflect.MessageDescriptor {
	for _, f := range c.files {
		if d := f.Messages().ByName(protoreflect.Name(name)); d != nil {
			return d
		}
	}
	panic("no message " + name + " in the contract")
}

// member describes the member of an envelope with the given number, such as "`detect` (DetectRequest)".
func (c *contract) member(envelope string, num int) string {
	f := c.message(envelope).Fields().ByNumber(protoreflect.FieldNumber(num))
	return fmt.Sprintf("`%s` ([%s](#%s))", f.Name(), f.Message().Name(), anchor(string(f.Message().Name())))
}

func anchor(name string) string { return strings.ToLower(name) }

func (c *contract) ops() (string, error) {
	var b strings.Builder
	b.WriteString("| op | number | plugins | must implement | Request.body | Response.body |\n|---|---|---|---|---|---|\n")
	for _, s := range abi.Ops() {
		plugins, required := s.Plugin.String(), "no"
		if s.Plugin == v1.PluginKindUnspecified {
			plugins = "every"
		}
		if s.Required {
			required = "yes"
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s |\n", strings.ToUpper(s.Op.String()), s.Op, plugins, required,
			c.member("Request", s.Request), c.member("Response", s.Response))
	}
	return b.String(), nil
}

func (c *contract) imports() (string, error) {
	var b strings.Builder
	b.WriteString("| function | type | the stub |\n|---|---|---|\n")
	for _, f := range abi.Imports() {
		fmt.Fprintf(&b, "| `%s` | `(%s) -> (%s)` | %s |\n", f.Name, list(f.Params), list(f.Results), f.Does)
	}
	return b.String(), nil
}

func list(types []abi.ValueType) string {
	var names []string
	for _, t := range types {
		names = append(names, t.String())
	}
	return strings.Join(names, " ")
}

func (c *contract) errorKinds() (string, error) {
	for _, f := range c.files {
		if d := f.Enums().ByName("ErrorKind"); d != nil {
			return enumTable(d), nil
		}
	}
	return "", fmt.Errorf("no enum ErrorKind")
}

// constants makes a table of the constant group of abi.go whose comment starts with intro.
func (c *contract) constants(intro string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(c.root, "abi", "abi.go"), nil, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && strings.HasPrefix(g.Doc.Text(), intro) {
			return constantTable(g)
		}
	}
	return "", fmt.Errorf("abi.go has no constants with a comment that starts with %q", intro)
}

func constantTable(g *ast.GenDecl) (string, error) {
	var b strings.Builder
	b.WriteString("| constant | value | |\n|---|---|---|\n")
	for _, s := range g.Specs {
		spec := s.(*ast.ValueSpec)
		v, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(spec.Values[0]))
		if err != nil {
			return "", err
		}
		meaning := strings.TrimPrefix(oneLine(spec.Doc.Text()), spec.Names[0].Name+" is ")
		fmt.Fprintf(&b, "| %s | %s | %s |\n", spec.Names[0].Name, thousands(v.Value.ExactString()), meaning)
	}
	return b.String(), nil
}

// thousands groups digits.
func thousands(digits string) string {
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// oneLine makes a comment fit into a table.
func oneLine(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "\\|")
}
