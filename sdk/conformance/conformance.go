// Package conformance is the definition of "a plugin": the one suite that built-in and third-party plugins run alike. It loads a packed
// module on the host's real engine and tries to catch it out.
//
// Authors call Test from a Go test, or run `amygdala conform FILE.wasm`. Cases are derived from what the plugin says of itself; a case
// that does not apply is listed as skipped with its reason, and a required case that could not run counts as failed.
package conformance

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
	"github.com/amygdala-host/amygdala/host/guest"
)

// Options of Run. nil means the defaults.
type Options struct {
	// File names the plugin in the report.
	File string
	// Level is the highest level to prove. 0: all.
	Level Level
	// Driver runs the plugin. nil: the host's engine, without a disk cache.
	Driver guest.Driver
	// Wall bounds one call. 0: one second. Budgets are checked in fuel, not in time.
	Wall time.Duration
}

// Run proves one packed plugin. The error is non-nil only when the suite itself could not run; what is wrong with the plugin is in the
// report.
func Run(ctx context.Context, wasm []byte, opt *Options) (*Report, error) {
	o := Options{}
	if opt != nil {
		o = *opt
	}
	if o.Level == 0 {
		o.Level = LevelBudget
	}
	if o.Level < LevelLoads || o.Level > LevelBudget {
		return nil, abi.E("conform", v1.ErrorKindInvalid, o.File, fmt.Errorf("level %d: use %d to %d", o.Level, LevelLoads, LevelBudget))
	}
	if o.Wall <= 0 {
		o.Wall = time.Second
	}
	if o.Driver == nil {
		engine, err := host.NewEngine("")
		if err != nil {
			return nil, err
		}
		defer engine.Close()
		o.Driver = engine
	}
	sum := sha256.Sum256(wasm)
	s := &subject{opt: o, wasm: wasm, report: &Report{File: o.File, SHA256: hex.EncodeToString(sum[:]), ABI: abi.Version}}
	defer s.close()
	for _, c := range cases {
		if c.level > o.Level {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		s.report.Results = append(s.report.Results, s.run(ctx, c))
	}
	s.report.finish(o.Level)
	return s.report, nil
}

// Test runs the suite over a plugin file, one subtest a case.
func Test(t *testing.T, path string) {
	t.Helper()
	wasm, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(t.Context(), wasm, &Options{File: path})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Results {
		t.Run(c.ID, func(t *testing.T) {
			switch {
			case c.Status == Fail, c.Status == Skip && c.Required:
				t.Errorf("%s: %s", c.Title, c.Message)
			case c.Status == Skip:
				t.Skip(c.Message)
			case c.Status == Note:
				t.Logf("%s: %s", c.Title, c.Message)
			}
		})
	}
}

// A testCase is one question put to a plugin.
type testCase struct {
	id       string
	level    Level
	title    string
	optional bool
	// needs says whether the case applies; the reason why not is shown. nil: always.
	needs func(s *subject) (why string)
	run   func(ctx context.Context, s *subject) error
}

// subject is the plugin under test and what is known of it so far.
type subject struct {
	opt    Options
	wasm   []byte
	report *Report
	pkg    *guest.Package
	// module resets between calls, as in service; keeps does not, so that what the engine hides shows.
	module, keeps guest.Module
	fatal         string // set when nothing further can run
	calls         int
	fuel          uint64
}

// notRun begins the message of a case that an earlier failure made impossible.
const notRun = "not run: "

// errSkip marks a case that turned out not to apply.
type errSkip string

func (e errSkip) Error() string { return string(e) }

func (s *subject) run(ctx context.Context, c testCase) Result {
	r := Result{ID: c.id, Level: c.level, Title: c.title, Required: !c.optional, Status: Pass}
	if s.fatal != "" {
		r.Status, r.Message = Skip, notRun+s.fatal
		return r
	}
	if c.needs != nil {
		if why := c.needs(s); why != "" {
			r.Status, r.Message, r.Required = Skip, why, false
			return r
		}
	}
	s.calls, s.fuel = 0, 0
	start := time.Now()
	err := c.run(ctx, s)
	r.Calls, r.Fuel, r.Elapsed = s.calls, s.fuel, time.Since(start)
	var skip errSkip
	switch {
	case errors.As(err, &skip):
		r.Status, r.Message, r.Required = Skip, string(skip), false
	case err != nil && c.optional:
		r.Status, r.Message = Note, err.Error()
	case err != nil:
		r.Status, r.Message = Fail, err.Error()
		if c.level == LevelLoads {
			s.fatal = c.id + " failed"
		}
	}
	return r
}

func (s *subject) close() {
	for _, m := range []guest.Module{s.module, s.keeps} {
		if m != nil {
			_ = m.Close() // the report says what matters
		}
	}
}

// limits are what the plugin asks for, or the contract's defaults.
func (s *subject) limits() guest.Limits {
	l := guest.Limits{MemoryPages: abi.DefaultMemoryPages, Fuel: abi.DefaultFuel, Wall: s.opt.Wall, Input: abi.DefaultInputBytes,
		Output: abi.DefaultOutputBytes, Log: abi.DefaultLogBytes}
	ask := &v1.Limits{}
	if s.pkg != nil && s.pkg.Manifest.Limits != nil {
		ask = s.pkg.Manifest.Limits
	}
	if ask.MemoryPages > 0 {
		l.MemoryPages = min(ask.MemoryPages, 16*abi.DefaultMemoryPages)
	}
	if ask.Fuel > 0 {
		l.Fuel = min(ask.Fuel, 4*abi.DefaultFuel)
	}
	for _, x := range []struct {
		to  *int
		ask uint32
	}{{&l.Input, ask.InputBytes}, {&l.Output, ask.OutputBytes}, {&l.Log, ask.LogBytes}} {
		if x.ask > 0 {
			*x.to = int(x.ask)
		}
	}
	return l
}
