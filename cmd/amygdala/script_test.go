package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts run this very program as "amygdala".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"amygdala": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the command line as a person would. Scripts share the caches of this user, so that plugins are built and compiled once.
func TestScripts(t *testing.T) {
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Skip("no cache folder: " + err.Error())
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("HOME", os.Getenv("HOME"))
			env.Setenv("GOFLAGS", "-mod=mod")
			env.Setenv("GOMODCACHE", os.Getenv("GOMODCACHE"))
			env.Setenv("GOCACHE", os.Getenv("GOCACHE"))
			return nil
		},
	})
}
