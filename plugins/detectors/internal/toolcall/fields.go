// Package toolcall takes requests apart: which texts a tool call carries, which tool gets them, and what the tool does with them.
//
// Formats differ between agents, so nothing here depends on one: a call is an object with a name beside arguments, JSON inside JSON
// strings is opened, and what is no JSON is taken for a command line.
package toolcall

import (
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/finding"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/tree"
)

// Role says what a text is to the tool that gets it.
type Role uint8

const (
	// Other is a text whose use is unknown.
	Other Role = iota
	// Target is where the tool goes: a URL or a host.
	Target
	// Command is run.
	Command
	// Content is written, sent or searched for: what it mentions is not fetched.
	Content
)

// Field is one text of a request.
type Field struct {
	// Whole is where all of it stands.
	Whole finding.Place
	// Plain is set when Text[i] stands at Whole.Start+i.
	Plain bool
	Text  string
	// Tool is the name of the tool that gets the text, Key the name of the argument, both as written; empty if there is none.
	Tool, Key string
	Role      Role
	// Call numbers the tool calls of a payload that holds several.
	Call int
	// Decoded is set for texts that a decoding brought to light.
	Decoded bool
	// Literal is set for numbers and booleans.
	Literal bool
	// Opened is set for a text that is itself JSON: what it holds follows as fields of its own.
	Opened bool
}

// At maps a range of the text to the view.
func (f Field) At(start, end int) finding.Place {
	if !f.Plain {
		return f.Whole
	}
	return finding.At(f.Whole.View, f.Whole.Start+start, f.Whole.Start+end)
}

// maxFields bounds the texts of one request, maxNested the JSON documents inside JSON strings.
const (
	maxFields = 2000
	maxNested = 4
)

// Fields takes a URL or tool call apart.
func Fields(req *v1.DetectRequest) []Field {
	var out []Field
	for i, v := range req.Views {
		if v == nil || len(v.Text) == 0 || !usable(v.Name) {
			continue
		}
		f := Field{Whole: finding.At(i, 0, len(v.Text)), Plain: true, Text: string(v.Text), Decoded: v.Name != "text"}
		if req.Kind == v1.PayloadKindURL {
			f.Role = Target
			out = append(out, f)
			continue
		}
		f.Role = Command
		if f.Decoded && len(out) > 0 && out[0].Key != "" {
			f = inherit(f, out, int(v.OriginStart), int(v.OriginEnd))
		}
		out = spread(out, f, 0)
	}
	return out
}

// inherit gives a decoded text the use of the argument that it was found in. One that lies in no single argument is a document: the call
// as such has been taken apart already.
func inherit(f Field, known []Field, start, end int) Field {
	f.Role = Content
	for _, k := range known {
		if k.Whole.View == 0 && !k.Opened && k.Whole.Start <= start && end <= k.Whole.End && start < end {
			f.Role, f.Tool, f.Key, f.Call = k.Role, k.Tool, k.Key, k.Call
			return f
		}
	}
	return f
}

// skipped are decodings that no tool undoes by itself, and those that this package does better with the structure in view.
var skipped = []string{"rot13", "leet", "reversed", "spaced", "json", "url"}

// usable reports whether a tool might read the text of a view with this name.
func usable(name string) bool {
	for _, step := range strings.Split(name, ">") {
		for _, s := range skipped {
			if step == s {
				return false
			}
		}
	}
	return true
}

// spread appends f, or the strings of the JSON document that it holds.
func spread(out []Field, f Field, depth int) []Field {
	t := parse(f.Text)
	if t == nil || depth >= maxNested {
		return append(out, f)
	}
	if f.Key != "" {
		f.Opened = true
		out = append(out, f) // some judge the document as a whole
	}
	s := spreader{tree: t, from: f, tools: map[int]string{}, out: out}
	for i := range t.Nodes {
		if len(s.out) >= maxFields {
			break
		}
		s.node(i, depth)
	}
	return s.out
}

// parse reads text as a JSON object or array, or returns nil.
func parse(text string) *tree.Tree {
	head := strings.TrimLeft(text, " \t\r\n")
	if head == "" || head[0] != '{' && head[0] != '[' {
		return nil
	}
	t, err := tree.JSON(text, tree.Limits{Nodes: 20_000})
	if err != nil {
		return nil
	}
	return t
}

type spreader struct {
	tree  *tree.Tree
	from  Field
	tools map[int]string
	calls int
	out   []Field
}

func (s *spreader) node(i, depth int) {
	n := &s.tree.Nodes[i]
	switch n.Kind {
	case tree.Object:
		s.enter(i)
	case tree.Array:
		s.argv(i)
	case tree.String, tree.Number, tree.Bool:
		s.leaf(i, depth)
	}
}

// enter notes the tool that an object calls; objects inside inherit it.
func (s *spreader) enter(i int) {
	tool := s.from.Tool
	if p := s.tree.Nodes[i].Parent; p != tree.None {
		tool = s.toolOf(p)
	}
	if name := s.callName(i); name != "" {
		tool = name
		s.calls++
	}
	s.tools[i] = tool
}

// callName returns the name of the tool when the object is a call: a name beside arguments.
func (s *spreader) callName(i int) string {
	for _, key := range []string{"name", "tool", "tool_name", "toolName", "function", "action", "recipient_name"} {
		c := s.tree.Child(i, key)
		if c == tree.None || s.tree.Nodes[c].Kind != tree.String {
			continue
		}
		for _, args := range []string{"arguments", "args", "params", "parameters", "input", "tool_input", "action_input", "kwargs"} {
			if s.tree.Child(i, args) != tree.None {
				return s.tree.Nodes[c].Text
			}
		}
	}
	return ""
}

// toolOf returns the tool whose call node i is part of.
func (s *spreader) toolOf(i int) string {
	for i != tree.None {
		if tool, ok := s.tools[i]; ok {
			return tool
		}
		i = s.tree.Nodes[i].Parent
	}
	return s.from.Tool
}

// keyOf returns the name of the nearest member that node i belongs to.
func (s *spreader) keyOf(i int) string {
	for i != tree.None && s.tree.Nodes[i].Parent != tree.None {
		if s.tree.Nodes[s.tree.Nodes[i].Parent].Kind == tree.Object {
			return s.tree.Nodes[i].Key
		}
		i = s.tree.Nodes[i].Parent
	}
	return s.from.Key
}

// leaf appends a string, or what the JSON in it holds, or a literal.
func (s *spreader) leaf(i, depth int) {
	n := &s.tree.Nodes[i]
	f := Field{Whole: s.from.At(n.Start, n.End), Plain: s.from.Plain && n.Plain, Text: n.Text, Key: s.keyOf(i), Tool: s.toolOf(i),
		Decoded: s.from.Decoded, Call: s.from.Call + s.calls}
	if f.Role = RoleOf(f.Tool, f.Key); s.from.Role == Content {
		f.Role = Content // a document that is written stays one, whatever is in it
	}
	if n.Kind != tree.String {
		f.Literal = true
		s.out = append(s.out, f)
	} else if n.Text != "" {
		s.out = spread(s.out, f, depth+1)
	}
}

// argv appends an array of words as one command: ["curl", "-s", "http://..."].
func (s *spreader) argv(i int) {
	n := &s.tree.Nodes[i]
	key := s.keyOf(i)
	if n.Len < 2 || n.Len > 64 || RoleOf(s.toolOf(i), key) != Command {
		return
	}
	var words []string
	if c := s.sibling(i, "command"); c != "" {
		words = append(words, c)
	}
	for c := n.First; c != tree.None; c = s.tree.Nodes[c].Next {
		if s.tree.Nodes[c].Kind != tree.String {
			return
		}
		words = append(words, quoteWord(s.tree.Nodes[c].Text))
	}
	f := Field{Whole: s.from.At(n.Start, n.End), Text: strings.Join(words, " "), Key: key, Role: Command, Tool: s.toolOf(i), Call: s.from.Call + s.calls,
		Decoded: s.from.Decoded}
	s.out = append(s.out, f)
}

// sibling returns the text of a string member beside node i.
func (s *spreader) sibling(i int, key string) string {
	p := s.tree.Nodes[i].Parent
	if p == tree.None {
		return ""
	}
	if c := s.tree.Child(p, key); c != tree.None && c != i && s.tree.Nodes[c].Kind == tree.String {
		return s.tree.Nodes[c].Text
	}
	return ""
}

func quoteWord(w string) string {
	if !strings.ContainsAny(w, " \t\n'\"|;&<>()$`\\") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
