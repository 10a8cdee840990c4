package structure

import (
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/tree"
)

// role says what a text is to the tool that gets it.
type role uint8

const (
	// roleOther is a text whose use is unknown.
	roleOther role = iota
	// roleTarget is where the tool goes: a URL or a host.
	roleTarget
	// roleCommand is run.
	roleCommand
	// roleContent is written, sent or searched for: what it mentions is not fetched.
	roleContent
)

// field is one text of a request.
type field struct {
	place
	// plain is set when text[i] stands at start+i of the view.
	plain bool
	text  string
	// tool is the name of the tool that gets the text, key the name of the argument, both as written.
	tool, key string
	role      role
	// call numbers the tool calls of a payload that holds several.
	call int
	// decoded is set for texts that a decoding brought to light.
	decoded bool
}

// at maps a range of the text to the view.
func (f field) at(start, end int) place {
	if !f.plain {
		return f.place
	}
	return place{f.view, f.place.start + start, f.place.start + end}
}

// whole is the place of all of the text.
func (f field) whole() place { return f.place }

// maxFields bounds the texts of one request, maxNested the JSON documents inside JSON strings.
const (
	maxFields = 2000
	maxNested = 4
)

// fieldsOf takes a URL or tool call apart.
func fieldsOf(req *v1.DetectRequest) []field {
	var out []field
	for i, v := range req.Views {
		if v == nil || len(v.Text) == 0 || !usable(v.Name) {
			continue
		}
		f := field{place: place{i, 0, len(v.Text)}, plain: true, text: string(v.Text), decoded: v.Name != "text"}
		if req.Kind == v1.PayloadKindURL {
			f.role = roleTarget
			out = append(out, f)
			continue
		}
		f.role = roleCommand
		out = spread(out, f, 0)
	}
	return out
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
func spread(out []field, f field, depth int) []field {
	t := parse(f.text)
	if t == nil || depth >= maxNested {
		return append(out, f)
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
	from  field
	tools map[int]string
	calls int
	out   []field
}

func (s *spreader) node(i, depth int) {
	n := &s.tree.Nodes[i]
	switch n.Kind {
	case tree.Object:
		s.enter(i)
	case tree.Array:
		s.argv(i)
	case tree.String:
		s.str(i, depth)
	}
}

// enter notes the tool that an object calls; objects inside inherit it.
func (s *spreader) enter(i int) {
	tool := s.from.tool
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
	return s.from.tool
}

// keyOf returns the name of the nearest member that node i belongs to.
func (s *spreader) keyOf(i int) string {
	for i != tree.None && s.tree.Nodes[i].Parent != tree.None {
		if s.tree.Nodes[s.tree.Nodes[i].Parent].Kind == tree.Object {
			return s.tree.Nodes[i].Key
		}
		i = s.tree.Nodes[i].Parent
	}
	return s.from.key
}

// str appends a string, or what the JSON in it holds.
func (s *spreader) str(i, depth int) {
	n := &s.tree.Nodes[i]
	f := field{place: s.from.at(n.Start, n.End), plain: s.from.plain && n.Plain, text: n.Text, key: s.keyOf(i), decoded: s.from.decoded, call: s.from.call + s.calls}
	f.tool = s.toolOf(i)
	f.role = roleOf(f.tool, f.key)
	if s.key(n) {
		return
	}
	s.out = spread(s.out, f, depth+1)
}

// key leaves out the strings that name a method or a type.
func (s *spreader) key(n *tree.Node) bool { return n.Text == "" }

// argv appends an array of words as one command: ["curl", "-s", "http://..."].
func (s *spreader) argv(i int) {
	n := &s.tree.Nodes[i]
	key := s.keyOf(i)
	if n.Len < 2 || n.Len > 64 || roleOf(s.toolOf(i), key) != roleCommand {
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
	f := field{place: s.from.at(n.Start, n.End), text: strings.Join(words, " "), key: key, role: roleCommand, tool: s.toolOf(i), call: s.from.call + s.calls, decoded: s.from.decoded}
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
