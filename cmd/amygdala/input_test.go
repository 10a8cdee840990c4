package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInterruptedInput: a terminal or pipe that says nothing does not keep the program from ending.
func TestInterruptedInput(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	silent, w := io.Pipe()
	defer w.Close()
	cancel()
	if _, err := readAll(ctx, "-", silent, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want canceled", err)
	}
	in, err := openInput(ctx, "-", silent)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	err = eachRow("-", in, func(int, *row) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want canceled", err)
	}
}

// TestCutOffRows: half a line is no row, also if it looks like one.
func TestCutOffRows(t *testing.T) {
	var z bytes.Buffer
	zw := gzip.NewWriter(&z)
	for range 200 {
		zw.Write([]byte("{\"text\":\"hello\"}\n"))
	}
	zw.Flush()
	file := filepath.Join(t.TempDir(), "rows.jsonl.gz")
	if err := os.WriteFile(file, z.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := openRows(t.Context(), file, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rows := 0
	err = eachRow(file, in, func(int, *row) error { rows++; return nil })
	if !errors.Is(err, io.ErrUnexpectedEOF) || rows != 200 {
		t.Errorf("%d rows, then %v", rows, err)
	}
	rows = 0
	err = eachRow("x", io.MultiReader(strings.NewReader("{\"text\":\"a\"}\n{\"text\":\"b\"}"), broken{}), func(int, *row) error { rows++; return nil })
	if err == nil || rows != 1 || !strings.Contains(err.Error(), "after line 1") {
		t.Errorf("%d rows, then %v", rows, err)
	}
	if err := eachRow("x", strings.NewReader(strings.Repeat("a", maxLine+1)), nil); err == nil || !strings.Contains(err.Error(), "x:1: the line has more than") {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"page.html":             "page.html",
		"größe 漢字.txt":          "größe 漢字.txt",
		"a\nb: CLEAR":           `a\x0ab: CLEAR`,
		"\x1b[2Jx":              `\x1b[2Jx`,
		"\u009b31m":             `\x9b31m`,
		"\u202egnp.exe":         `\u202egnp.exe`,
		"bad\xffbytes":          `bad\xffbytes`,
		"a replacement: \ufffd": "a replacement: \ufffd",
	} {
		if got := printable(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := printableText("a\n\tb\x1b[0m"); got != "a\n\tb\\x1b[0m" {
		t.Errorf("%q", got)
	}
}
