package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host/guest"
)

// The clock and seed of every call that does not test them. The clock is 2001-09-09T01:46:40Z; both are arbitrary and never change, so that
// reports can be compared.
const (
	fixedClock = 1_000_000_000_000_000_000
	fixedSeed  = 1
)

// call makes one call and counts it.
func (s *subject) call(ctx context.Context, m guest.Caller, op v1.Op, body []byte, clock int64, seed uint64) (guest.Answer, error) {
	a, err := m.Call(ctx, guest.Call{Op: op, Body: body, Clock: clock, Seed: seed})
	s.calls++
	s.fuel += a.Fuel
	return a, err
}

// encode writes a request in the plugin's encoding.
func (s *subject) encode(req *v1.Request) []byte {
	if s.json() {
		return req.AppendJSON(nil)
	}
	return req.AppendProto(nil)
}

func (s *subject) json() bool { return s.pkg != nil && s.pkg.Manifest.Encoding == v1.EncodingJSON }

// decode reads an answer with the host's own strict decoder.
func (s *subject) decode(body []byte) (*v1.Response, error) {
	encoding := v1.EncodingProtobuf
	if s.json() {
		encoding = v1.EncodingJSON
	}
	return guest.ReadAnswer(encoding, body)
}

// ask makes one call with a well-formed request and reads the answer.
func (s *subject) ask(ctx context.Context, m guest.Caller, op v1.Op, req *v1.Request) (*v1.Response, guest.Answer, error) {
	return s.askAt(ctx, m, op, req, fixedClock, fixedSeed)
}

func (s *subject) askAt(ctx context.Context, m guest.Caller, op v1.Op, req *v1.Request, clock int64, seed uint64) (*v1.Response, guest.Answer, error) {
	r := *req
	r.ClockUnixNanos, r.Seed = clock, seed
	a, err := s.call(ctx, m, op, s.encode(&r), clock, seed)
	if err != nil {
		return nil, a, err
	}
	resp, err := s.decode(a.Body)
	return resp, a, err
}

// detect asks for a verdict and checks it as the host would.
func (s *subject) detect(ctx context.Context, m guest.Caller, d *v1.DetectRequest) (guest.Answer, error) {
	resp, a, err := s.ask(ctx, m, v1.OpDetect, &v1.Request{Detect: d})
	if err != nil {
		return a, err
	}
	if resp.Error != nil {
		return a, fmt.Errorf("a well-formed payload was answered with an error: %w", abi.FromWire(resp.Error))
	}
	if resp.Verdict == nil {
		return a, errors.New("DETECT was answered with something else than a verdict")
	}
	return a, guest.CheckVerdict(s.pkg.Manifest, v1.OpDetect, d, resp.Verdict)
}

// wantError checks that an answer is an error of one of the kinds.
func wantError(resp *v1.Response, kinds ...v1.ErrorKind) error {
	if resp.Error == nil {
		return fmt.Errorf("answered as if it had been understood; answer an error of kind %s", kinds[0])
	}
	for _, k := range kinds {
		if resp.Error.Kind == k {
			return nil
		}
	}
	return fmt.Errorf("answered error kind %s, want %s", resp.Error.Kind, kinds[0])
}

// same compares two answers to the same question.
func same(a, b guest.Answer) error {
	if !bytes.Equal(a.Body, b.Body) {
		return errors.New("the answers differ")
	}
	if a.Fuel != b.Fuel {
		return fmt.Errorf("the answers are equal but cost %d and %d units of fuel", a.Fuel, b.Fuel)
	}
	return nil
}
