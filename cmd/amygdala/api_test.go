package main

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/host/guest"
	"github.com/amygdala-host/amygdala/sdk/conformance/hostile"
)

// smallPolicy does without the shipped detectors, so that these tests need no toolchain.
const smallPolicy = `version: 1
detectors:
  injection: { enabled: false, required: false }
  structure: { enabled: false, required: false }
  privilege: { enabled: false, required: false }
  schema: { enabled: false, required: false }
`

// newAPI serves a host with one well-behaved guest that finds nothing, and any other guests in dir.
func newAPI(t *testing.T, policy string, builtins ...guest.Builtin) (*api, *httptest.Server) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	h, err := host.New(t.Context(), host.Options{PolicyFile: file, Builtins: append([]guest.Builtin{}, builtins...), Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	a := &api{log: slog.New(slog.DiscardHandler), local: true}
	srv := httptest.NewServer(a.routes())
	t.Cleanup(srv.Close)
	a.ready(h)
	return a, srv
}

func modelGuest() guest.Builtin { return guest.Builtin{Name: "hostile", Wasm: hostile.Model()} }

func post(t *testing.T, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(header); i += 2 {
		if header[i] == "Host" {
			req.Host = header[i+1]
			continue
		}
		req.Header.Set(header[i], header[i+1])
	}
	return do(t, req)
}

func do(t *testing.T, req *http.Request) (int, string) {
	t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, req)
}

func TestScanAPI(t *testing.T) {
	_, srv := newAPI(t, smallPolicy, modelGuest())
	for _, c := range []struct {
		name, body string
		header     []string
		status     int
		want       string
	}{
		{"clear", `{"id":"1","text":"hello","kind":"web"}`, nil, 200, `"verdict":"clear"`},
		{"bytes", `{"bytes":"aGVsbG8=","kind":"web"}`, nil, 200, `"verdict":"clear"`},
		{"charset", `{"text":"hello"}`, []string{"Content-Type", "application/json; charset=utf-8"}, 200, `"generation":1`},
		{"unknown kind", `{"text":"hello","kind":"zebra"}`, nil, 400, "unknown kind"},
		{"no text", `{"kind":"web"}`, nil, 400, `\"text\" (UTF-8) or \"bytes\"`},
		{"both", `{"text":"a","bytes":"YQ=="}`, nil, 400, "not both"},
		{"bad base64", `{"bytes":"%%%"}`, nil, 400, "base64"},
		{"text twice", `{"text":"an attack","text":"hello"}`, nil, 400, "given twice"},
		{"another case", `{"text":"an attack","Text":"hello"}`, nil, 400, `write \"text\"`},
		{"not UTF-8", "{\"text\":\"a\xff\"}", nil, 400, "not UTF-8"},
		{"not JSON", `hello`, nil, 400, "one JSON object"},
		{"a form", `text=hello`, []string{"Content-Type", "application/x-www-form-urlencoded"}, 415, "application/json"},
		{"re-bound name", `{"text":"hello"}`, []string{"Host", "evil.example"}, 421, "loopback"},
	} {
		t.Run(c.name, func(t *testing.T) {
			status, body := post(t, srv.URL+"/v1/scan", c.body, c.header...)
			if status != c.status || !strings.Contains(body, c.want) {
				t.Errorf("%d %s; want %d with %q", status, body, c.status, c.want)
			}
		})
	}
}

// TestHoldIsAnAnswer: what cannot be judged is a verdict, not an HTTP error.
func TestHoldIsAnAnswer(t *testing.T) {
	_, srv := newAPI(t, smallPolicy+"limits: { payload: 1KiB }\n", modelGuest())
	status, body := post(t, srv.URL+"/v1/scan", `{"text":"`+strings.Repeat("a", 2000)+`"}`)
	if status != 200 || !strings.Contains(body, `"verdict":"hold"`) || !strings.Contains(body, "more than 1024 bytes") {
		t.Errorf("%d %s", status, body)
	}
}

// TestMissingDetectorHolds: the shipped policy requires detectors that this host does not have.
func TestMissingDetectorHolds(t *testing.T) {
	_, srv := newAPI(t, "version: 1\n", modelGuest())
	_, body := post(t, srv.URL+"/v1/scan", `{"text":"hello"}`)
	if !strings.Contains(body, `"verdict":"hold"`) || !strings.Contains(body, "required detector injection is not running") {
		t.Error(body)
	}
	if status, body := get(t, srv.URL+"/readyz"); status != 503 || !strings.Contains(body, "injection") {
		t.Errorf("%d %s", status, body)
	}
}

// TestFailingDetectorHolds: each hostile guest that starts at all makes a payload hold, never pass.
func TestFailingDetectorHolds(t *testing.T) {
	for _, g := range hostile.All() {
		switch g.Name {
		case "spin", "exit-0", "trap-then-reuse", "unknown-enum", "undeclared-threat", "output-of-4-GiB", "empty-answer":
		default:
			continue
		}
		t.Run(g.Name, func(t *testing.T) {
			_, srv := newAPI(t, smallPolicy+"  hostile: { required: true }\n", guest.Builtin{Name: "hostile", Wasm: g.Wasm})
			for range 3 {
				_, body := post(t, srv.URL+"/v1/scan", `{"text":"hello"}`)
				if !strings.Contains(body, `"verdict":"hold"`) {
					t.Fatal(body)
				}
			}
		})
	}
}

func TestStatusAPI(t *testing.T) {
	_, srv := newAPI(t, smallPolicy, modelGuest())
	status, body := get(t, srv.URL+"/api/plugins")
	var st guest.Status
	if err := json.Unmarshal([]byte(body), &st); status != 200 || err != nil {
		t.Fatalf("%d %v %s", status, err, body)
	}
	if len(st.Plugins) == 0 || st.Generation != 1 {
		t.Errorf("%+v", st)
	}
	if status, body := get(t, srv.URL+"/readyz"); status != 200 {
		t.Errorf("%d %s", status, body)
	}
	if status, body := get(t, srv.URL+"/healthz"); status != 200 || !strings.Contains(body, `"status":"ok"`) {
		t.Errorf("%d %s", status, body)
	}
	post(t, srv.URL+"/v1/scan", `{"text":"hello","kind":"web"}`)
	if status, body := get(t, srv.URL+"/metrics"); status != 200 || !strings.Contains(body, `amygdala_decisions_total{kind="web",verdict="clear"} 1`) {
		t.Errorf("%d %s", status, body)
	}
	for _, path := range []string{"/api/plugins/nosuch/approve", "/api/plugins/nosuch/promote"} {
		if status, body := post(t, srv.URL+path, `{}`); status != 404 || !strings.Contains(body, `"kind":"not_found"`) {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

// TestBeforeReady: the service answers from the first moment and says that it cannot judge yet.
func TestBeforeReady(t *testing.T) {
	a := &api{log: slog.New(slog.DiscardHandler)}
	srv := httptest.NewServer(a.routes())
	defer srv.Close()
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/api/plugins": 503} {
		if status, body := get(t, srv.URL+path); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, body, want)
		}
	}
	if status, _ := post(t, srv.URL+"/v1/scan", `{"text":"x"}`); status != 503 {
		t.Errorf("scan: %d", status)
	}
}
