package main

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/sdk/conformance/hostile"
)

// watched is a service that follows a plugin folder.
type watched struct {
	t   *testing.T
	dir string
	url string
}

func newWatched(t *testing.T) *watched {
	t.Helper()
	w := &watched{t: t, dir: t.TempDir()}
	policy := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(policy, []byte(smallPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(t.Context(), host.Options{PluginDirs: []string{w.dir}, PolicyFile: policy, Builtins: []guest.Builtin{}, Cache: t.TempDir(), Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	a := &api{log: slog.New(slog.DiscardHandler), local: true}
	srv := httptest.NewServer(a.routes())
	t.Cleanup(srv.Close)
	a.ready(h)
	w.url = srv.URL
	return w
}

// drop writes a plugin file the way cp does: in place, so that the watcher may see half of it.
func (w *watched) drop(wasm []byte) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, "p.wasm"), wasm, 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *watched) status() guest.Status {
	w.t.Helper()
	_, body := get(w.t, w.url+"/api/plugins")
	var st guest.Status
	if err := json.Unmarshal([]byte(body), &st); err != nil {
		w.t.Fatal(err)
	}
	return st
}

// until waits for a state that must come; a minute is for a machine that does other things too.
func (w *watched) until(what string, ok func(guest.Status) bool) guest.Status {
	w.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if st := w.status(); ok(st) {
			return st
		}
	}
	b, _ := json.MarshalIndent(w.status(), "", " ")
	w.t.Fatalf("%s did not come; status: %s", what, b)
	return guest.Status{}
}

func plugin(st guest.Status, name string) *guest.PluginStat {
	for i := range st.Plugins {
		if st.Plugins[i].Name == name {
			return &st.Plugins[i]
		}
	}
	return nil
}

func (w *watched) verdict() string {
	w.t.Helper()
	_, body := post(w.t, w.url+"/v1/scan", `{"text":"hello","kind":"web"}`)
	var d struct {
		Verdict string `json:"verdict"`
	}
	if err := json.Unmarshal([]byte(body), &d); err != nil {
		w.t.Fatal(err)
	}
	return d.Verdict
}

// TestDropIn is the life of a plugin in a running service: it appears, a broken successor changes nothing and is explained, a good one takes
// over, and when the file goes the plugin goes.
func TestDropIn(t *testing.T) {
	w := newWatched(t)
	if got := w.verdict(); got != "clear" {
		t.Fatalf("before: %s", got)
	}
	w.drop(hostile.Model())
	st := w.until("the first generation with the plugin", func(st guest.Status) bool {
		p := plugin(st, "hostile")
		return p != nil && p.State == guest.StateServing
	})
	serving := *plugin(st, "hostile")

	for _, g := range hostile.All() {
		stage := map[string]string{"trap-in-initialize": "load", "another-abi": "load", "unknown-import": "load", "endless-start": "load",
			"describe-that-lies": "describe", "spin": "warm-up", "not-wasm": "open"}[g.Name]
		if stage == "" {
			continue
		}
		t.Run(g.Name, func(t *testing.T) {
			w.t = t
			w.drop(g.Wasm)
			st := w.until("the explanation", func(st guest.Status) bool {
				p := plugin(st, "hostile")
				return p != nil && p.LastError != nil && p.LastError.Stage == stage
			})
			if p := plugin(st, "hostile"); p.SHA256 != serving.SHA256 || p.State != guest.StateServing {
				t.Errorf("the old plugin does not serve: %+v", p)
			}
			if got := w.verdict(); got != "clear" {
				t.Errorf("verdict %s", got)
			}
		})
	}
	w.t = t
	w.drop(hostile.Model()[:200])
	w.until("the explanation of half a file", func(st guest.Status) bool {
		p := plugin(st, "hostile")
		return p != nil && p.State == guest.StateServing && p.SHA256 == serving.SHA256 && p.LastError != nil && p.LastError.Stage == "open"
	})
	w.drop(hostile.Accuser())
	w.until("the successor", func(st guest.Status) bool {
		p := plugin(st, "hostile")
		return p != nil && p.SHA256 != serving.SHA256 && p.LastError == nil
	})
	if got := w.verdict(); got != "threat" {
		t.Errorf("after: %s", got)
	}
	if err := os.Remove(filepath.Join(w.dir, "p.wasm")); err != nil {
		t.Fatal(err)
	}
	w.until("a generation without the plugin", func(st guest.Status) bool { return plugin(st, "hostile") == nil })
	if got := w.verdict(); got != "clear" {
		t.Errorf("afterwards: %s", got)
	}
}
