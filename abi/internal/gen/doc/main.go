// Command doc rewrites the generated parts of ABI.md: what lies between <!-- begin NAME --> and <!-- end NAME -->. Run it with
//
//	go generate ./abi/...
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", ".", "folder of the module")
	flag.Parse()
	if err := run(*root); err != nil {
		fmt.Fprintln(os.Stderr, "doc:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	name := filepath.Join(root, "abi", "ABI.md")
	old, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	text, err := generate(root, old)
	if err != nil || bytes.Equal(text, old) {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// generate returns the text with every part made anew.
func generate(root string, text []byte) ([]byte, error) {
	c, err := load(root)
	if err != nil {
		return nil, err
	}
	for _, part := range []struct {
		name string
		make func() (string, error)
	}{
		{"ops", c.ops},
		{"imports", c.imports},
		{"errors", c.errorKinds},
		{"caps", func() (string, error) { return c.constants("Caps that hold") }},
		{"limits", func() (string, error) { return c.constants("Limits of one call") }},
		{"messages", c.messages},
		{"examples", c.examples},
		{"guest", c.guest},
	} {
		body, err := part.make()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.name, err)
		}
		if text, err = replace(text, part.name, body); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// replace puts body between the markers of a part.
func replace(text []byte, name, body string) ([]byte, error) {
	begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return nil, fmt.Errorf("ABI.md has no part %q between %q and %q", name, begin, end)
	}
	return []byte(before + begin + strings.TrimRight(body, "\n") + "\n" + end + after), nil
}
