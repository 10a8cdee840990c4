package guest

import (
	"fmt"
	"slices"
	"sync"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// codec is the encoding a guest speaks.
type codec v1.Encoding

// buffers keeps the memory of encoded questions. A driver does not hold a question after its call.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// keepBuffer is the largest buffer that is kept for later calls, in bytes.
const keepBuffer = 1 << 20

func release(b *[]byte) {
	if cap(*b) <= keepBuffer {
		buffers.Put(b)
	}
}

func (c codec) encode(dst []byte, req *v1.Request) []byte {
	if c == codec(v1.EncodingJSON) {
		return req.AppendJSON(dst)
	}
	return req.AppendProto(dst)
}

// decode accepts an answer only if every byte of it is understood. The message may alias b.
func (c codec) decode(b []byte) (*v1.Response, error) {
	resp := &v1.Response{}
	if c == codec(v1.EncodingJSON) {
		if err := v1.CheckStrictResponseJSON(b); err != nil {
			return nil, err
		}
		return resp, resp.UnmarshalJSON(b)
	}
	if err := v1.CheckStrictResponse(b); err != nil {
		return nil, err
	}
	return resp, resp.UnmarshalProto(b)
}

// read decodes an answer to any op. A guest's own error is an answer too, if it is of a kind that a guest may use.
func (c codec) read(b []byte) (*v1.Response, error) {
	if len(b) == 0 {
		return nil, protocol(fmt.Errorf("the answer is empty"))
	}
	resp, err := c.decode(b)
	if err != nil {
		return nil, protocol(err)
	}
	if resp.Error != nil && !slices.Contains(guestKinds, resp.Error.Kind) {
		return nil, protocol(fmt.Errorf("the plugin answered an error of kind %v, which only the host may give", resp.Error.Kind))
	}
	return resp, nil
}

// open reads an answer to op. The guest's own error becomes a *guestError; everything that is not an answer to op is kind protocol.
func (c codec) open(op v1.Op, b []byte) (*v1.Response, error) {
	resp, err := c.read(b)
	if err != nil {
		return nil, err
	}
	if resp.Error != nil {
		return nil, &guestError{abi.FromWire(resp.Error)}
	}
	spec, ok := abi.SpecOf(op)
	if !ok || resp.BodyField() != spec.Response {
		return nil, protocol(fmt.Errorf("the answer's body is field %d, which does not answer %v", resp.BodyField(), op))
	}
	return resp, nil
}

// guestKinds are the error kinds a plugin may use. The others are the host's: a plugin that calls its own failure a time-out or a
// cancellation must not be mistaken for one.
var guestKinds = []v1.ErrorKind{v1.ErrorKindInvalid, v1.ErrorKindUnsupported, v1.ErrorKindNotFound, v1.ErrorKindLimit, v1.ErrorKindInternal}

// guestError is what the guest itself answered: a failed call, but a well-formed one.
type guestError struct{ err error }

func (e *guestError) Error() string { return "the plugin answered: " + e.err.Error() }
func (e *guestError) Unwrap() error { return e.err }

func protocol(err error) error {
	return abi.E("check answer", v1.ErrorKindProtocol, "", err)
}
