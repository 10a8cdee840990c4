package v1

import "strconv"

// DecodeError says why bytes are not the message they should be.
type DecodeError struct {
	// Path leads to the field at fault, such as "verdict.findings[2].threat". Empty: the message itself.
	Path string
	// Reason is what is wrong there, without the path.
	Reason string
}

// Error joins path and reason.
func (e *DecodeError) Error() string {
	if e.Path == "" {
		return e.Reason
	}
	return e.Path + ": " + e.Reason
}

// under moves the error one level out: into field name, element i of it if i is not negative.
func (e *DecodeError) under(name string, i int) *DecodeError {
	if i >= 0 {
		name += "[" + strconv.Itoa(i) + "]"
	}
	if e.Path != "" {
		name += "." + e.Path
	}
	return &DecodeError{Path: name, Reason: e.Reason}
}
