// Package shell reads command lines well enough to see what they do: which programs run, with which words, connected by which pipes.
//
// It is no shell. It undoes quoting, simple variables and escapes, since attackers use them to hide words, and never runs anything.
package shell

import "strings"

// Limits of what is read. Text beyond them is ignored; the caller sees Script.Truncated.
const (
	// MaxText is the longest text read, in bytes.
	MaxText = 64 << 10
	// MaxWords is the most words read.
	MaxWords = 4096
	// maxExpand bounds a word after variables were put in.
	maxExpand = 1 << 10
	// maxExpanded bounds what variables add to a script.
	maxExpanded = 16 << 10
)

// Word is one argument with its quotes and escapes undone.
type Word struct {
	Text string
	// Start and End are the byte range in the source.
	Start, End int
	// Quoted is set when the word, or a part of it, stood in quotes.
	Quoted bool
}

// Command is a program with its arguments.
type Command struct {
	Words []Word
	// Piped is set when its input is the output of the command before it.
	Piped bool

	name string
	args []Word
}

// Script is a list of commands in order.
type Script struct {
	Commands  []Command
	Truncated bool
}

// Name returns the program without its path, ".exe" and leading assignments, in lower case; prefixes such as sudo and env are skipped.
func (c *Command) Name() string { return c.name }

// prefixes run another program with the rest of their arguments.
var prefixes = map[string]bool{"sudo": true, "doas": true, "env": true, "nohup": true, "time": true, "nice": true, "command": true, "exec": true, "xargs": true, "timeout": true, "busybox": true, "then": true, "do": true, "else": true, "if": true, "while": true, "!": true, "$": true, "#": true, "%": true, ">": true, "(": true, "{": true, "`": true, "start": true, "stdbuf": true, "watch": true, "torsocks": true, "proxychains": true, "unbuffer": true}

// Args returns the words from the program on: assignments, prefixes and the prefixes' own options are dropped.
func (c *Command) Args() []Word { return c.args }

// settle finds the program among the words.
func (c *Command) settle() {
	if c.args = program(c.Words); len(c.args) > 0 {
		c.name = base(c.args[0].Text)
	}
}

func program(words []Word) []Word {
	skipped, value := false, false
	for len(words) > 0 {
		w := words[0].Text
		switch {
		case value:
			value = false
		case prefixes[base(w)] && len(words) > 1:
			skipped = true
		case isAssignment(w) && !words[0].Quoted:
		case skipped && strings.HasPrefix(w, "-"):
			value = w == "-u" || w == "-g" || w == "-I" || w == "--user"
		case skipped && isNumber(w):
		default:
			return words
		}
		words = words[1:]
	}
	return nil
}

// Prefixed reports whether one of the leading words is one of the program names.
func (c *Command) Prefixed(names ...string) bool {
	for _, w := range c.Words {
		b := base(w.Text)
		for _, n := range names {
			if b == n {
				return true
			}
		}
		if !prefixes[b] && !isAssignment(w.Text) && !strings.HasPrefix(w.Text, "-") {
			return false
		}
	}
	return false
}

// Text returns the words joined by spaces.
func (c *Command) Text() string {
	parts := make([]string, len(c.Words))
	for i, w := range c.Words {
		parts[i] = w.Text
	}
	return strings.Join(parts, " ")
}

// Range returns the byte range of the command in the source.
func (c *Command) Range() (start, end int) {
	if len(c.Words) == 0 {
		return 0, 0
	}
	return c.Words[0].Start, c.Words[len(c.Words)-1].End
}

// maxBase is how much of a word is read as the name of a program.
const maxBase = 256

// base returns the last element of a path in lower case, without ".exe".
func base(w string) string {
	if len(w) > maxBase {
		w = w[len(w)-maxBase:]
	}
	for i := len(w) - 1; i >= 0; i-- {
		if w[i] == '/' || w[i] == '\\' {
			w = w[i+1:]
			break
		}
	}
	return strings.TrimSuffix(lower(w), ".exe")
}

// lower is strings.ToLower without work for what is in lower case already.
func lower(s string) string {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 'A' && c <= 'Z' || c >= 0x80 {
			return strings.ToLower(s)
		}
	}
	return s
}

// isAssignment reports NAME=value.
func isAssignment(w string) bool {
	name, _, ok := strings.Cut(w, "=")
	return ok && isName(name)
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

func isNumber(s string) bool {
	for i := 0; i < len(s); i++ {
		if !(s[i] >= '0' && s[i] <= '9' || s[i] == '.' || i > 0 && i == len(s)-1 && strings.IndexByte("smhd", s[i]) >= 0) {
			return false
		}
	}
	return s != ""
}
