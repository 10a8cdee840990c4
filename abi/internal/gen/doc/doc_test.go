package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

const root = "../../../.."

func readme(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile(root + "/abi/ABI.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestFresh fails when ABI.md is not what the generator makes of the contract.
func TestFresh(t *testing.T) {
	old := readme(t)
	made, err := generate(root, []byte(old))
	if err != nil {
		t.Fatal(err)
	}
	if string(made) != old {
		t.Error("abi/ABI.md is stale: run go generate ./abi/...")
	}
}

// TestLinks: every link inside the document leads to a heading, and every file it names exists.
func TestLinks(t *testing.T) {
	text := readme(t)
	anchors := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchors[strings.ToLower(strings.ReplaceAll(m[1], " ", "-"))] = true
	}
	for _, m := range regexp.MustCompile(`<a id="([^"]+)">`).FindAllStringSubmatch(text, -1) {
		anchors[m[1]] = true
	}
	for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
		if anchor, inside := strings.CutPrefix(m[1], "#"); inside {
			if !anchors[anchor] {
				t.Errorf("no heading for %s", m[1])
			}
		} else if _, err := os.Stat(root + "/abi/" + m[1]); err != nil {
			t.Errorf("no file for %s", m[1])
		}
	}
}

// TestExplained: a field or value without a comment is a gap in the contract, unless its name and type say it all.
func TestExplained(t *testing.T) {
	c, err := load(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range c.files {
		if fileComment(f) == "" {
			t.Errorf("%s has no comment above its syntax line", f.Path())
		}
		for i := range f.Messages().Len() {
			if d := f.Messages().Get(i); d.Fields().Len() > 0 && !strings.Contains(readme(t), "#### "+string(d.Name())+"\n") {
				t.Errorf("%s is missing in ABI.md", d.Name())
			}
		}
	}
}

func TestReplace(t *testing.T) {
	got, err := replace([]byte("a\n<!-- begin x -->\nold\n<!-- end x -->\nb"), "x", "new\n\n")
	if err != nil || string(got) != "a\n<!-- begin x -->\nnew\n<!-- end x -->\nb" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := replace([]byte("nothing here"), "x", ""); err == nil {
		t.Error("a missing part was not noticed")
	}
}
