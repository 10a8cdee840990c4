package wasm

import (
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// goGuest is testdata/goguest, built once for all tests.
var goGuest = guestOnce(func(dir string) (string, *exec.Cmd, string) {
	out := filepath.Join(dir, "go.wasm")
	cmd := exec.Command("go", "build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-w", "-o", out, "./testdata/goguest")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	return out, cmd, ""
})

// cGuest is testdata/cguest, for machines with clang 19 and the WASI headers.
var cGuest = guestOnce(func(dir string) (string, *exec.Cmd, string) {
	clang, err := exec.LookPath("clang-19")
	if err != nil {
		return "", nil, "clang-19 is not installed (apt-get install clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32)"
	}
	out := filepath.Join(dir, "c.wasm")
	return out, exec.Command(clang, "--target=wasm32-wasi", "-O2", "-mexec-model=reactor", "-o", out, "testdata/cguest/guest.c"), ""
})

// asGuest is testdata/asguest, for machines with the AssemblyScript compiler on the path or named by $ASC.
var asGuest = guestOnce(func(dir string) (string, *exec.Cmd, string) {
	asc := os.Getenv("ASC")
	if asc == "" {
		asc = "asc"
	}
	asc, err := exec.LookPath(asc)
	if err != nil {
		return "", nil, "the AssemblyScript compiler is not installed (npm i assemblyscript@0.28, and set ASC or PATH)"
	}
	out := filepath.Join(dir, "as.wasm")
	return out, exec.Command(asc, "testdata/asguest/guest.ts", "-o", out, "-O3", "--runtime", "incremental", "--use", "abort="), ""
})

// guestOnce builds a guest the first time it is asked for.
func guestOnce(plan func(dir string) (out string, cmd *exec.Cmd, skip string)) func(testing.TB) []byte {
	type built struct {
		wasm []byte
		skip string
		err  string
	}
	build := sync.OnceValue(func() built {
		dir, err := os.MkdirTemp("", "guest")
		if err != nil {
			return built{err: err.Error()}
		}
		defer os.RemoveAll(dir)
		out, cmd, skip := plan(dir)
		if skip != "" {
			return built{skip: skip}
		}
		if text, err := cmd.CombinedOutput(); err != nil {
			return built{err: err.Error() + "\n" + string(text)}
		}
		wasm, err := os.ReadFile(out)
		if err != nil {
			return built{err: err.Error()}
		}
		return built{wasm: wasm}
	})
	return func(t testing.TB) []byte {
		t.Helper()
		b := build()
		if b.skip != "" {
			t.Skip(b.skip)
		}
		if b.err != "" {
			t.Fatal(b.err)
		}
		return b.wasm
	}
}
