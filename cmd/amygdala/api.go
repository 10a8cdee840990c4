package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
)

// api is the HTTP face of a host. It answers from the first moment; until the host is ready it says so with 503.
type api struct {
	log     *slog.Logger
	local   bool // listening on loopback only
	started time.Time
	host    atomic.Pointer[host.Host]
	metrics *prometheus.Registry
	gate    *gate
}

func (a *api) routes() http.Handler {
	a.metrics = prometheus.NewRegistry()
	a.gate = newGate()
	a.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", a.healthz)
	mux.HandleFunc("GET /readyz", a.readyz)
	mux.Handle("GET /metrics", promhttp.HandlerFor(a.metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("POST /v1/scan", a.withHost(a.scan))
	mux.HandleFunc("GET /api/plugins", a.withHost(a.plugins))
	mux.HandleFunc("POST /api/plugins/{name}/approve", a.withHost(a.decide("grants approved", (*host.Host).Approve)))
	mux.HandleFunc("POST /api/plugins/{name}/promote", a.withHost(a.decide("successor promoted", (*host.Host).Promote)))
	return a.guard(mux)
}

// ready opens the doors.
func (a *api) ready(h *host.Host) {
	a.metrics.MustRegister(h.Collector())
	a.host.Store(h)
}

// guard keeps web pages out: a browser on this machine may reach a loopback service, but not with our content type and not under a
// foreign name.
func (a *api) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.local && !localName(r.Host) {
			fail(w, http.StatusMisdirectedRequest, v1.ErrorKindDenied, "this service listens on loopback and answers to localhost, 127.0.0.1 and [::1] only, not to "+r.Host)
			return
		}
		if t, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Method == http.MethodPost && t != "application/json" {
			fail(w, http.StatusUnsupportedMediaType, v1.ErrorKindInvalid, "send content-type: application/json")
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

func (a *api) withHost(f func(http.ResponseWriter, *http.Request, *host.Host)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := a.host.Load()
		if h == nil {
			w.Header().Set("Retry-After", "1")
			fail(w, http.StatusServiceUnavailable, v1.ErrorKindUnavailable, "still loading plugins; ask /readyz")
			return
		}
		f(w, r, h)
	}
}

func (a *api) healthz(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{"status": "ok", "build": readBuildInfo(), "uptime_seconds": int(time.Since(a.started).Seconds())})
}

func (a *api) readyz(w http.ResponseWriter, _ *http.Request) {
	h := a.host.Load()
	if h == nil {
		answer(w, http.StatusServiceUnavailable, map[string]any{"status": "loading"})
		return
	}
	if missing := h.Missing(); len(missing) > 0 {
		answer(w, http.StatusServiceUnavailable, map[string]any{"status": "holding everything: required detectors are missing", "missing": missing})
		return
	}
	answer(w, http.StatusOK, map[string]any{"status": "ready", "generation": h.Generation()})
}

// scan judges one row; any verdict is a 200.
func (a *api) scan(w http.ResponseWriter, r *http.Request, h *host.Host) {
	body, free, err := a.gate.read(http.MaxBytesReader(w, r.Body, maxLine))
	defer free()
	if err != nil {
		failRead(w, err)
		return
	}
	leave, err := a.gate.turn(r.Context())
	if err != nil {
		busy(w, err)
		return
	}
	defer leave()
	x, err := decodeRow(body)
	if err != nil {
		fail(w, http.StatusBadRequest, v1.ErrorKindInvalid, `the body must be one JSON object such as {"text":"...","kind":"web"}: `+err.Error())
		return
	}
	p, err := x.payload()
	if err != nil {
		fail(w, http.StatusBadRequest, v1.ErrorKindInvalid, err.Error())
		return
	}
	d, err := h.Inspect(r.Context(), p)
	if err != nil {
		a.failErr(w, err)
		return
	}
	a.log.Debug("scan", "id", short(p.ID), "kind", p.Kind.String(), "source", short(p.Source), "bytes", len(p.Data), "verdict", d.Verdict, "score", d.Score,
		"findings", len(d.Findings), "generation", d.Generation, "fuel", d.Fuel, "elapsed", d.Elapsed)
	answer(w, http.StatusOK, d)
}

// failRead answers a body that could not be read.
func failRead(w http.ResponseWriter, err error) {
	tooBig := new(http.MaxBytesError)
	switch {
	case errors.Is(err, errBusy):
		busy(w, err)
	case errors.As(err, &tooBig):
		fail(w, http.StatusRequestEntityTooLarge, v1.ErrorKindLimit, fmt.Sprintf("the body has more than %d bytes, the most that is read", tooBig.Limit))
	default:
		fail(w, http.StatusBadRequest, v1.ErrorKindInvalid, "read body: "+err.Error())
	}
}

// busy sends a client away that may come again.
func busy(w http.ResponseWriter, err error) {
	w.Header().Set("Retry-After", "1")
	fail(w, http.StatusServiceUnavailable, v1.ErrorKindUnavailable, err.Error())
}

// short keeps what a client may choose freely from filling the log.
func short(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}

func (a *api) plugins(w http.ResponseWriter, _ *http.Request, h *host.Host) {
	answer(w, http.StatusOK, h.Status())
}

// decide carries out what only a person may decide about a plugin, so it is for people on this machine: nobody else is known here.
func (a *api) decide(done string, do func(*host.Host, context.Context, string) error) func(http.ResponseWriter, *http.Request, *host.Host) {
	return func(w http.ResponseWriter, r *http.Request, h *host.Host) {
		if !fromHere(r) {
			fail(w, http.StatusForbidden, v1.ErrorKindDenied, "plugins are approved and promoted from this machine only; or write it into the policy")
			return
		}
		name := r.PathValue("name")
		if err := do(h, r.Context(), name); err != nil {
			a.failErr(w, err)
			return
		}
		a.log.Info(done, "plugin", name, "by", r.RemoteAddr)
		answer(w, http.StatusOK, h.Status())
	}
}

// fromHere reports whether the client is on this machine and talks to it by a local name.
func fromHere(r *http.Request) bool {
	addr, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && addr.Addr().Unmap().IsLoopback() && localName(r.Host)
}

// failErr answers with the error's own kind.
func (a *api) failErr(w http.ResponseWriter, err error) {
	status := map[v1.ErrorKind]int{
		v1.ErrorKindInvalid: http.StatusBadRequest, v1.ErrorKindNotFound: http.StatusNotFound, v1.ErrorKindLimit: http.StatusRequestEntityTooLarge,
		v1.ErrorKindDenied: http.StatusForbidden, v1.ErrorKindConflict: http.StatusConflict, v1.ErrorKindUnavailable: http.StatusServiceUnavailable,
		v1.ErrorKindTimeout: http.StatusGatewayTimeout, v1.ErrorKindCanceled: 499,
	}[abi.KindOf(err)]
	if status == 0 {
		status = http.StatusInternalServerError
	}
	fail(w, status, abi.KindOf(err), err.Error())
}

func fail(w http.ResponseWriter, status int, kind v1.ErrorKind, message string) {
	answer(w, status, map[string]any{"error": map[string]string{"kind": kind.String(), "message": strings.TrimSpace(message)}})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // the client may be gone
}
