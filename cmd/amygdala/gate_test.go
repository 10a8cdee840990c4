package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestGateBoundsMemory(t *testing.T) {
	g := newGate()
	g.most = gateShare + 1000
	_, free, err := g.read(strings.NewReader(strings.Repeat("a", 1000)))
	if err != nil || g.held.Load() != g.most {
		t.Fatalf("%v, %d held", err, g.held.Load())
	}
	if _, free2, err := g.read(strings.NewReader("b")); !errors.Is(err, errBusy) {
		t.Errorf("%v, want busy", err)
	} else {
		free2()
	}
	free()
	data, free, err := g.read(strings.NewReader("c"))
	if err != nil || string(data) != "c" {
		t.Errorf("%q %v", data, err)
	}
	free()
	_, free, err = g.read(io.MultiReader(strings.NewReader(strings.Repeat("a", 900)), strings.NewReader(strings.Repeat("a", 900))))
	if !errors.Is(err, errBusy) {
		t.Errorf("%v, want busy in the middle of a body", err)
	}
	free()
	if n := g.held.Load(); n != 0 {
		t.Errorf("%d bytes are still held", n)
	}
}

func TestGateTurns(t *testing.T) {
	g := newGate()
	var leave []func()
	for range cap(g.turns) {
		l, err := g.turn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, l)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := g.turn(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("a client that is gone got %v", err)
	}
	leave[0]()
	l, err := g.turn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l()
}

// TestBusy: a service at its limit says so at once, and recovers.
func TestBusy(t *testing.T) {
	a, srv := newAPI(t, smallPolicy, modelGuest())
	a.gate.held.Store(a.gate.most)
	if status, body := post(t, srv.URL+"/v1/scan", `{"text":"hello"}`); status != 503 || !strings.Contains(body, "busy") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := get(t, srv.URL+"/healthz"); status != 200 {
		t.Errorf("healthz: %d", status)
	}
	a.gate.held.Store(0)
	for range 3 {
		if status, body := post(t, srv.URL+"/v1/scan", `{"text":"hello"}`); status != 200 {
			t.Errorf("%d %s", status, body)
		}
	}
	if held, taken := a.gate.held.Load(), len(a.gate.turns); held != 0 || taken != 0 {
		t.Errorf("%d bytes and %d turns are still held", held, taken)
	}
}

// TestApproveFromHereOnly: whoever may ask for verdicts may not widen a plugin's grants.
func TestApproveFromHereOnly(t *testing.T) {
	for _, c := range []struct {
		from, host string
		want       bool
	}{
		{"127.0.0.1:5", "127.0.0.1:7433", true},
		{"[::1]:5", "localhost", true},
		{"[::ffff:127.0.0.1]:5", "localhost", true},
		{"192.0.2.7:5", "localhost", false},
		{"127.0.0.1:5", "evil.example", false},
		{"nonsense", "localhost", false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/api/plugins/x/approve", nil)
		r.RemoteAddr, r.Host = c.from, c.host
		if got := fromHere(r); got != c.want {
			t.Errorf("from %s to %s: %t", c.from, c.host, got)
		}
	}
}

// TestShutdownFinishesRequests: a request in flight is answered, although the service was told to stop.
func TestShutdownFinishesRequests(t *testing.T) {
	started, stopping := make(chan struct{}), make(chan struct{})
	a, _ := newAPI(t, smallPolicy)
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = newServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(started)
		<-stopping
		if err := r.Context().Err(); err != nil {
			t.Errorf("the request was canceled: %v", err)
		}
		answer(w, http.StatusOK, "done")
	}), a.log)
	srv.Start()
	defer srv.Close()
	go func() {
		<-started
		srv.Config.RegisterOnShutdown(func() { close(stopping) })
		if err := shutdown(srv.Config); err != nil {
			t.Error(err)
		}
	}()
	if status, body := get(t, srv.URL); status != 200 || !strings.Contains(body, "done") {
		t.Errorf("%d %s", status, body)
	}
}
