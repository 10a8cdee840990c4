package wasm

import (
	"bytes"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/internal/wasm/meter"
)

const (
	// maxFrames is how many of the guest's functions an error names, maxTail how much of its output.
	maxFrames = 8
	maxTail   = 1 << 10
)

// A trap is how a guest ended: the cause, the guest's functions innermost first, and the end of what it wrote.
type trap struct {
	cause  string
	frames []string
	tail   []byte
	err    error
}

func (t *trap) Unwrap() error { return t.err }

// Error reads: cause in main.f < main.g; the guest wrote: "...".
func (t *trap) Error() string {
	var b strings.Builder
	b.WriteString(t.cause)
	if len(t.frames) > 0 {
		b.WriteString(" in " + strings.Join(t.frames, " < "))
	}
	if len(t.tail) > 0 {
		b.WriteString("; the guest wrote: " + strconv.Quote(string(t.tail)))
	}
	return b.String()
}

// describe turns the error of a wazero call into a kind and a trap.
func (c *call) describe(err error) (v1.ErrorKind, error) {
	cause, stack, _ := strings.Cut(err.Error(), "\nwasm stack trace:\n")
	cause = startFailed.ReplaceAllString(cause, "")
	t := &trap{frames: frames(stack), tail: tail(c.log.bytes())}
	kind := v1.ErrorKindTrap
	switch {
	case c.halted != nil:
		kind, t.cause, t.err = c.halted.kind, c.halted.text, c.halted
	case strings.HasPrefix(cause, "wasm error: "), cause == "stack overflow":
		t.cause = strings.TrimPrefix(cause, "wasm error: ")
	default:
		kind, t.cause, t.err = v1.ErrorKindInternal, "the engine failed: "+cause, err
	}
	if kind == v1.ErrorKindTrap && c.refused > 0 {
		kind = v1.ErrorKindLimit
		t.cause += "; memory may not grow to " + strconv.FormatUint(c.refused/pageBytes, 10) + " pages (the cap is " + itoa(c.limits.MemoryPages) + ")"
	}
	return kind, t
}

// startFailed matches what wazero puts before an error of a start section.
var startFailed = regexp.MustCompile(`^start \S+ failed: `)

// signature matches what wazero appends to a function's name.
var signature = regexp.MustCompile(`^(.*?)\([a-z0-9,]*\)( .*)?$`)

// plumbing are the functions that say nothing about a guest: what metering added, WASI, and the Go runtime, deep inside which a Go
// guest that panics ends.
var plumbing = []string{meter.DefaultModule + ".", abi.ImportModule + ".", "runtime.", "syscall.", "wasm_pc_f_loop", "wasm_export_", "_rt0_wasm"}

// frames picks the guest's functions out of wazero's stack trace, without the plumbing if there are others.
func frames(stack string) []string {
	stack, _, _ = strings.Cut(stack, "\n\n")
	var all, own []string
	for line := range strings.Lines(stack) {
		name, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "\t")
		if !ok || strings.HasPrefix(name, "\t") || strings.HasPrefix(name, "...") {
			continue
		}
		if m := signature.FindStringSubmatch(name); m != nil {
			name = m[1]
		}
		name = strings.TrimPrefix(name, ".")
		all = append(all, name)
		if !slices.ContainsFunc(plumbing, func(p string) bool { return strings.HasPrefix(name, p) }) {
			own = append(own, name)
		}
	}
	if len(own) > 0 {
		all = own
	}
	return all[:min(len(all), maxFrames)]
}

// tail cuts a log to what explains an end: from the line with which Go announces a panic, or else the last lines.
func tail(log []byte) []byte {
	log = bytes.TrimSpace(log)
	for _, mark := range []string{"panic: ", "fatal error: "} {
		if i := bytes.LastIndex(log, []byte("\n"+mark)); i >= 0 || bytes.HasPrefix(log, []byte(mark)) {
			log = log[i+1:]
			return log[:min(len(log), maxTail)]
		}
	}
	if len(log) <= maxTail {
		return log
	}
	log = log[len(log)-maxTail:]
	if i := bytes.IndexByte(log, '\n'); i >= 0 && i < maxTail/2 {
		log = log[i+1:]
	}
	return log
}

func itoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

var errNoMemory = errors.New("the operating system gave no memory for the guest")
