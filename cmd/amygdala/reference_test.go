package main

import (
	"bytes"
	"os"
	"testing"
)

// TestReferenceIsFresh fails when a command changed and CLI.md did not.
func TestReferenceIsFresh(t *testing.T) {
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"reference"}, nil, &out, &errs); code != exitOK {
		t.Fatal(errs.String())
	}
	have, err := os.ReadFile("CLI.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, out.Bytes()) {
		t.Error("CLI.md is stale; run `go generate ./cmd/amygdala`")
	}
}
