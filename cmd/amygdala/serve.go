package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amygdala-host/amygdala/host"
)

func newServe(io stdio) *cobra.Command {
	var flags hostFlags
	var configFile string
	cfg := defaultServeConfig()
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the inspection as an HTTP service that reloads plugins, signatures and policy by itself",
		Long: `Serves POST /v1/scan, GET /api/plugins, /healthz, /readyz and /metrics. Plugins, signature packs and the policy file are watched:
what changes takes over without a restart, and what is broken leaves the old generation serving and is explained in /api/plugins.
From this machine only, POST /api/plugins/NAME/approve lets in a plugin that waits because it asks for grants, and .../promote puts a
successor that runs in the shadow ("promote: manual") into service.

Settings come from the defaults, then --config FILE, then the flags given.`,
		Example: "  amygdala serve --plugins ./plugins\n  curl -s -d '{\"text\":\"hello\",\"kind\":\"web\"}' -H 'content-type: application/json' http://127.0.0.1:7433/v1/scan",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			final, err := cfg.resolve(cmd, configFile, &flags)
			if err != nil {
				return err
			}
			return serve(cmd.Context(), final, &flags, io)
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&cfg.Addr, "addr", cfg.Addr, "the `HOST:PORT` to listen on; port 0 picks a free one and logs it")
	f.StringVar(&configFile, "config", "", "a YAML `FILE` with the same settings (addr, plugins, signatures, policy, cache, log: {level, format}); paths in it start from its folder")
	f.StringVar(&cfg.Log.Format, "log-format", cfg.Log.Format, "text or json")
	f.StringVar(&cfg.Log.Level, "log-level", cfg.Log.Level, "debug, info, warn or error")
	_ = cmd.MarkFlagFilename("config", "yaml", "yml")
	return cmd
}

func serve(ctx context.Context, cfg serveConfig, flags *hostFlags, io stdio) error {
	log, err := cfg.Log.logger(io.err)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return fmt.Errorf("listen: %w; choose another address with --addr", err)
	}
	a := &api{log: log, local: loopback(ln.Addr()), started: time.Now()}
	srv := newServer(a.routes(), log)
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(ln) }()
	log.Info("listening", "addr", ln.Addr().String())
	opt := flags.options(log, io)
	opt.Watch = true
	h, err := host.New(ctx, opt)
	if err != nil {
		srv.Close()
		return err
	}
	defer h.Close()
	a.ready(h)
	log.Info("ready", "addr", ln.Addr().String(), "generation", h.Generation(), "after", time.Since(a.started).Round(time.Millisecond))
	select {
	case err = <-failed:
		return err
	case <-ctx.Done():
	}
	log.Info("stopping: finishing requests in flight")
	return shutdown(srv)
}

// newServer bounds what a client may send and how long it may take. Requests in flight outlive the signal that stops the service.
func newServer(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug)}
}

// shutdown gives requests in flight ten seconds, and cuts off what then still runs.
func shutdown(srv *http.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := srv.Shutdown(ctx); err != nil && !errors.Is(err, http.ErrServerClosed) {
		return errors.Join(fmt.Errorf("stop: requests were cut off: %w", err), srv.Close())
	}
	return nil
}

func loopback(a net.Addr) bool {
	t, ok := a.(*net.TCPAddr)
	return ok && t.IP.IsLoopback()
}

// localName reports whether a Host header names this machine, so that a web page whose name was re-bound to 127.0.0.1 cannot talk to a
// service that listens on loopback only.
func localName(hostport string) bool {
	name := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		name = h
	}
	name = strings.Trim(strings.ToLower(name), "[]")
	if name == "localhost" || name == "" {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}
