// Package tree reads JSON and MessagePack documents into one form, strictly and within limits, for detectors that look at structure.
package tree

import "fmt"

// Kind is the kind of a value.
type Kind uint8

// The kinds of values. Bytes and Extension occur in MessagePack only.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
	Bytes
	Extension
)

var kindNames = [...]string{"null", "boolean", "number", "string", "array", "object", "bytes", "extension"}

// String returns the name of the kind as JSON Schema spells it, where it has one.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// None is the index of no node.
const None = -1

// Node is one value.
type Node struct {
	Kind Kind
	// Key is the member's name, if the parent is an object.
	Key string
	// Text is the decoded string, the literal of a number ("1e3"), "true" or "false", or the raw bytes.
	Text string
	// Start and End are the value's byte range in the source; of a string, the range inside the quotes.
	Start, End int
	// Plain is set for a string without escapes: Text[i] stands at Start+i.
	Plain bool
	// Parent, First and Next are indices into Tree.Nodes, or None. Depth is 0 for the root.
	Parent, First, Next, Depth int
	// Len is the number of children.
	Len int
	// Repeated is set when an earlier sibling has the same key.
	Repeated bool
}

// Tree is a document. Nodes[0] is its root; a parent comes before its children.
type Tree struct {
	Nodes []Node
}

// Limits bound a document. Zero fields mean the defaults.
type Limits struct {
	// Nodes is the most values a document may have; default 100,000.
	Nodes int
	// Depth is how deep containers may nest; default 100.
	Depth int
}

const (
	defaultNodes = 100_000
	defaultDepth = 100
)

func (l Limits) withDefaults() Limits {
	if l.Nodes <= 0 {
		l.Nodes = defaultNodes
	}
	if l.Depth <= 0 {
		l.Depth = defaultDepth
	}
	return l
}

// SyntaxError says where a document is malformed or over a limit.
type SyntaxError struct {
	// Offset is the byte where reading stopped.
	Offset int
	// Limit is set when the document may be well formed but exceeds Limits.
	Limit bool
	// Reason is a phrase without any text of the document.
	Reason string
}

// Error returns the reason and the offset.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset) }

// builder adds nodes under the limits.
type builder struct {
	nodes []Node
	lim   Limits
	last  map[int]int // last child of a container, for linking
}

func newBuilder(lim Limits) *builder {
	return &builder{lim: lim.withDefaults(), last: map[int]int{}}
}

// add appends a node under parent and returns its index.
func (b *builder) add(parent int, n Node) (int, *SyntaxError) {
	if len(b.nodes) >= b.lim.Nodes {
		return None, &SyntaxError{Offset: n.Start, Limit: true, Reason: fmt.Sprintf("more than %d values", b.lim.Nodes)}
	}
	n.Parent, n.First, n.Next = parent, None, None
	i := len(b.nodes)
	if parent != None {
		p := &b.nodes[parent]
		n.Depth = p.Depth + 1
		if n.Depth > b.lim.Depth {
			return None, &SyntaxError{Offset: n.Start, Limit: true, Reason: fmt.Sprintf("nested deeper than %d", b.lim.Depth)}
		}
		p.Len++
		if p.First == None {
			p.First = i
		} else {
			b.nodes[b.last[parent]].Next = i
		}
		b.last[parent] = i
	}
	b.nodes = append(b.nodes, n)
	return i, nil
}

// markRepeated sets Repeated on members whose key came before in the same object.
func (b *builder) markRepeated(object int) {
	if b.nodes[object].Len < 2 {
		return
	}
	seen := make(map[string]bool, b.nodes[object].Len)
	for i := b.nodes[object].First; i != None; i = b.nodes[i].Next {
		n := &b.nodes[i]
		n.Repeated = seen[n.Key]
		seen[n.Key] = true
	}
}

// Child returns the index of the member named key of object i, or None.
func (t *Tree) Child(i int, key string) int {
	for c := t.Nodes[i].First; c != None; c = t.Nodes[c].Next {
		if t.Nodes[c].Key == key && t.Nodes[i].Kind == Object {
			return c
		}
	}
	return None
}

// Path returns where node i stands, as a JSON pointer with its names cut to 40 bytes each.
func (t *Tree) Path(i int) string {
	if i <= 0 || t.Nodes[i].Parent == None {
		return ""
	}
	parent := t.Nodes[i].Parent
	if t.Nodes[parent].Kind == Object {
		key := t.Nodes[i].Key
		if len(key) > 40 {
			key = key[:40]
		}
		return t.Path(parent) + "/" + key
	}
	n := 0
	for c := t.Nodes[parent].First; c != None && c != i; c = t.Nodes[c].Next {
		n++
	}
	return fmt.Sprintf("%s/%d", t.Path(parent), n)
}

// Texts returns the strings of the array at node i, which must be a list of non-empty strings.
func (t *Tree) Texts(i int) ([]string, error) {
	if t.Nodes[i].Kind != Array {
		return nil, fmt.Errorf("%s must be a list of texts", t.Nodes[i].Key)
	}
	var out []string
	for c := t.Nodes[i].First; c != None; c = t.Nodes[c].Next {
		if t.Nodes[c].Kind != String || t.Nodes[c].Text == "" {
			return nil, fmt.Errorf("%s must be a list of texts", t.Nodes[i].Key)
		}
		out = append(out, t.Nodes[c].Text)
	}
	return out, nil
}
