package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestFresh fails when a generated file in the tree is not what the generator writes.
func TestFresh(t *testing.T) {
	if err := run("../../..", true); err != nil {
		t.Error(err)
	}
}

// TestDeterministic: the same input gives the same bytes.
func TestDeterministic(t *testing.T) {
	a, err := generate("../../..")
	if err != nil {
		t.Fatal(err)
	}
	b, err := generate("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(a, b, func(x, y output) bool { return x.name == y.name && string(x.data) == string(y.data) }) {
		t.Error("two runs differ")
	}
}

// TestRefuses: what the generated code cannot express is an error, not a surprise.
func TestRefuses(t *testing.T) {
	for body, want := range map[string]string{
		`message M { map<string, string> m = 1; }`:                "no fixed order",
		`message M { oneof o { string s = 1; } }`:                 "must be a message",
		`message M { optional string s = 1; }`:                    "only numbers",
		`message M { optional uint32 n = 1; // required` + "\n}":  "only numbers",
		`message M { fixed32 f = 1; }`:                            "not supported",
		`message M { message N {} N n = 1; }`:                     "nested types",
		`message M { bool validate = 1; }`:                        "hide a method",
		`enum E { E_NONE = 0; }`:                                  "E_UNSPECIFIED",
		`enum E { UNSPECIFIED = 0; }`:                             "does not start with E_",
		`message M { string s = 1 }`:                              "syntax error",
		`message M { ` + strings.Repeat("bool b = 1;", 2) + ` } `: "",
	} {
		dir := t.TempDir()
		text := "syntax = \"proto3\";\npackage amygdala.v1;\n\n// What it is.\n" + body
		if err := os.WriteFile(filepath.Join(dir, "m.proto"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := load(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\n got %v\nwant %s", body, err, want)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.proto"), []byte("syntax = \"proto3\";\n\nmessage M {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(dir); err == nil || !strings.Contains(err.Error(), "no comment") {
		t.Errorf("a message without a comment: %v", err)
	}
	if _, err := load(t.TempDir()); err == nil {
		t.Error("an empty folder is no contract")
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		"user_prompt": "UserPrompt", "ssrf": "SSRF", "url": "URL", "cost_nano_usd": "CostNanoUSD", "id": "ID", "media_type": "MediaType", "_x": "X",
	} {
		if got := camel(in); got != want {
			t.Errorf("camel(%s) = %s", in, got)
		}
	}
	for in, want := range map[string]string{
		"ErrorKind": "error_kind", "HTTPMethod": "http_method", "Op": "op", "PluginKind": "plugin_kind", "DeriveVia": "derive_via",
	} {
		if got := snake(in); got != want {
			t.Errorf("snake(%s) = %s", in, got)
		}
	}
}
