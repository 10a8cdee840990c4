package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/plugins"
)

// reload measures from the moment a plugin file is written to the moment its generation serves. The module is a Go guest that was never
// compiled before, so compiling is part of it.
func (b *bench) reload(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "amygdala-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	opt := b.flags.options(nil, b.stdio)
	opt.PluginDirs, opt.Watch, opt.Cache = append(opt.PluginDirs, dir), true, b.flags.cache
	h, err := host.New(ctx, opt)
	if err != nil {
		return err
	}
	defer h.Close()
	shipped, err := plugins.Open(ctx, plugins.Options{})
	if err != nil {
		return err
	}
	var times []time.Duration
	for range 5 {
		packed, err := repack(ctx, shipped[0])
		if err != nil {
			return err
		}
		d, err := swap(ctx, h, filepath.Join(dir, shipped[0].Name+".wasm"), packed)
		if err != nil {
			return err
		}
		times = append(times, d)
	}
	b.add(figure{Name: "reload.swap_ms", Value: ms(median(sorted(times))), Unit: "ms", N: len(times),
		Baseline: fmt.Sprintf("%.2f MB Go guest, never compiled before; 100 ms of it wait for the writer to finish", float64(len(shipped[0].Wasm))/1e6)})
	return nil
}

// repack gives a module new bytes that change nothing, so that no cache knows it.
func repack(ctx context.Context, g plugins.Guest) ([]byte, error) {
	nonce := make([]byte, 16)
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	section := append([]byte{0, 23, 6}, "nonce."...)
	return packModule(ctx, g.Name, append(append(bytes.Clone(g.Wasm), section...), nonce...), nil)
}

// swap writes the file as an editor would and waits for its digest to serve.
func swap(ctx context.Context, h *host.Host, file string, packed []byte) (time.Duration, error) {
	before := h.Generation()
	start := time.Now()
	if err := writeAtomic(file, packed); err != nil {
		return 0, err
	}
	for time.Since(start) < time.Minute && ctx.Err() == nil {
		if h.Generation() > before {
			return time.Since(start), nil
		}
		time.Sleep(time.Millisecond)
	}
	for _, p := range h.Status().Plugins {
		if p.LastError != nil {
			return 0, errors.New(p.LastError.Message)
		}
	}
	return 0, errors.New("the new generation did not come within a minute")
}

// serve starts this program as a service, with a warm cache, and waits for it to be ready.
func (b *bench) serve(ctx context.Context) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if _, err := startServe(ctx, exe, b.flags); err != nil { // warms the cache
		return err
	}
	var times []time.Duration
	for range 5 {
		d, err := startServe(ctx, exe, b.flags)
		if err != nil {
			return err
		}
		times = append(times, d)
	}
	b.add(figure{Name: "serve.ready_ms", Value: ms(median(sorted(times))), Unit: "ms", N: len(times), Baseline: "from exec to 200 on /readyz, warm cache"})
	return nil
}

func startServe(ctx context.Context, exe string, flags hostFlags) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	args := []string{"serve", "--addr", "127.0.0.1:0"}
	if flags.cache != "" {
		args = append(args, "--cache", flags.cache)
	}
	cmd := exec.CommandContext(ctx, exe, args...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return 0, err
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	addr, err := listening(stderr)
	if err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		resp, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				return time.Since(start), nil
			}
		}
		time.Sleep(5 * time.Millisecond) // asking more often would take the time from what is asked
	}
	return 0, ctx.Err()
}

// listening reads the address from the log and lets the rest go by.
func listening(log io.Reader) (string, error) {
	sc := bufio.NewScanner(log)
	for sc.Scan() {
		if _, addr, ok := strings.Cut(sc.Text(), "msg=listening addr="); ok {
			go func() { _, _ = io.Copy(io.Discard, log) }()
			return addr, nil
		}
	}
	return "", errors.New("serve ended before it listened")
}
