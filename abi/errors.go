package abi

import (
	"errors"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Error is a failure as data. It crosses packages, and the wire as v1.Error: callers decide by Kind, people read Error().
type Error struct {
	// Op is what was attempted, such as "detect" or "load".
	Op string
	// Kind is what sort of failure it is; the list in the contract only ever grows.
	Kind v1.ErrorKind
	// Subject is what it was attempted on: a plugin, a file, a field. May be empty.
	Subject string
	// Err is the cause: what was wrong and how to mend it. May be nil.
	Err error
}

// E makes an *Error. A cause that is an *Error itself gives its kind if kind is ErrorKindUnspecified.
func E(op string, kind v1.ErrorKind, subject string, err error) error {
	if kind == v1.ErrorKindUnspecified {
		kind = KindOf(err)
	}
	return &Error{Op: op, Kind: kind, Subject: subject, Err: err}
}

// Error reads "op subject: cause (kind)"; what is empty is left out. The kind is left out too if the cause already shows it.
func (e *Error) Error() string {
	text := e.Op
	if e.Subject != "" {
		if text != "" {
			text += " "
		}
		text += e.Subject
	}
	if e.Err != nil {
		if text != "" {
			text += ": "
		}
		text += e.Err.Error()
	}
	if cause := (*Error)(nil); errors.As(e.Err, &cause) && cause.Kind == e.Kind {
		return text
	}
	if text == "" {
		return e.Kind.String()
	}
	return text + " (" + e.Kind.String() + ")"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is lets errors.Is match by fields: every field of target that is not zero must be equal. The cause is compared only if target
// has one, by errors.Is.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	if !ok {
		return false
	}
	return (t.Op == "" || t.Op == e.Op) &&
		(t.Kind == v1.ErrorKindUnspecified || t.Kind == e.Kind) &&
		(t.Subject == "" || t.Subject == e.Subject) &&
		(t.Err == nil || errors.Is(e.Err, t.Err))
}

// KindOf returns the kind of the outermost *Error in err's chain. A *v1.DecodeError is ErrorKindProtocol, nil is
// ErrorKindUnspecified, and anything else is ErrorKindInternal.
func KindOf(err error) v1.ErrorKind {
	var e *Error
	var decode *v1.DecodeError
	switch {
	case err == nil:
		return v1.ErrorKindUnspecified
	case errors.As(err, &e):
		return e.Kind
	case errors.As(err, &decode):
		return v1.ErrorKindProtocol
	}
	return v1.ErrorKindInternal
}

// ToWire turns err into the message a guest answers with. Its text is cut to MaxErrorMessage bytes, op and subject to MaxIdentifier.
func ToWire(err error) *v1.Error {
	if err == nil {
		return nil
	}
	w := &v1.Error{Kind: KindOf(err), Message: []byte(err.Error())}
	var e *Error
	if errors.As(err, &e) {
		w.Op, w.Subject = identifier(e.Op), identifier(e.Subject)
		if e.Err != nil {
			w.Message = []byte(e.Err.Error())
		}
	}
	w.Message = w.Message[:min(len(w.Message), MaxErrorMessage)]
	return w
}

// identifier makes s fit for a string field: short, and UTF-8.
func identifier(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), MaxIdentifier)], "\uFFFD")
}

// FromWire turns a guest's error into an *Error; nil stays nil.
func FromWire(w *v1.Error) error {
	if w == nil {
		return nil
	}
	e := &Error{Op: w.Op, Kind: w.Kind, Subject: w.Subject}
	if len(w.Message) > 0 {
		e.Err = wireText(w.Message[:min(len(w.Message), MaxErrorMessage)])
	}
	return e
}

// wireText is the text of a guest's error.
type wireText string

func (t wireText) Error() string { return string(t) }
