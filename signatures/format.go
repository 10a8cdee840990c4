package signatures

import (
	"crypto/sha256"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Limits of the format. They bound what a pack from a stranger can cost, and leave room beyond what the built-in packs use.
const (
	// MaxPackBytes is the size of a pack file.
	MaxPackBytes = 1 << 20
	// MaxWindow is the largest window, in bytes on each side of the anchor.
	MaxWindow = 1024
	// DefaultWindow is used by a signature that names none.
	DefaultWindow = 160
	// MaxGroups is how many groups of literals a signature may have, MaxLiterals how many literals are in one group.
	MaxGroups   = 8
	MaxLiterals = 200
	// MaxLiteralBytes is the length of one literal.
	MaxLiteralBytes = 120
	// MaxPatternBytes is the length of one pattern or exclude, MaxPatterns how many of each a signature may have.
	MaxPatternBytes = 2000
	MaxPatterns     = 16
	// MaxExampleBytes is the length of one example.
	MaxExampleBytes = 16 << 10
)

// Maturity says whether a signature's hits count.
type Maturity uint8

const (
	// Enforce: the hits are evidence for the detectors.
	Enforce Maturity = iota
	// Shadow: the hits are counted and shown, and change no verdict. New signatures start here.
	Shadow
)

// String returns "enforce" or "shadow".
func (m Maturity) String() string {
	if m == Shadow {
		return "shadow"
	}
	return "enforce"
}

// Pack is one file of signatures.
type Pack struct {
	// Name is the pack's own name; File is where it was read.
	Name, File string
	// Version is a semantic version, MAJOR.MINOR.PATCH.
	Version string
	// License is an SPDX expression, Description one line. Both may be empty.
	License, Description string
	// Threat is what the signatures mean unless they say otherwise; unspecified if the pack names none.
	Threat v1.Threat
	// Signatures are in the order of the file.
	Signatures []*Signature
	// Digest is the SHA-256 of the file.
	Digest [sha256.Size]byte

	lines lines
}

// Signature describes one kind of hostile text. It is read-only once parsed.
type Signature struct {
	// ID is unique over all packs; Version grows when the meaning changes. Pack is the name of the pack.
	ID      string
	Version int
	Pack    string
	// Threat is what a hit accuses the text of, Severity the harm if it is true, Confidence (0 to 1) how often it is, by the
	// author's measure.
	Threat     v1.Threat
	Severity   v1.Severity
	Confidence float64
	// Maturity says whether hits count.
	Maturity Maturity
	// Kinds are the payload kinds it applies to; empty means all.
	Kinds []v1.PayloadKind
	// Tags are free labels, such as "lang:de".
	Tags []string
	// References say where the knowledge comes from.
	References []string
	// Literals are required: one of every group. The first group is the anchor.
	Literals [][]string
	// Patterns are alternatives; empty means that the literals alone match. Excludes cancel matches that they overlap.
	Patterns, Excludes []string
	// Window is how far from the anchor the groups and patterns may reach, in bytes.
	Window int
	// Exact compares bytes as written instead of folding case, accents and typography.
	Exact bool
	// ExactSpaces takes a space to be one space.
	ExactSpaces bool
	// Word forbids a letter, mark or digit right before and after literals and matches.
	Word bool
	// Positive texts match, Negative texts do not.
	Positive, Negative []string
	// File and Line say where it is written.
	File string
	Line int

	lines lines
}

// Applies reports whether the signature is meant for payloads of kind k. Every signature applies to an unspecified kind.
func (s *Signature) Applies(k v1.PayloadKind) bool {
	if len(s.Kinds) == 0 || k == v1.PayloadKindUnspecified {
		return true
	}
	for _, have := range s.Kinds {
		if have == k {
			return true
		}
	}
	return false
}

// exampleKind is the kind of payload that the examples are tried as.
func (s *Signature) exampleKind() v1.PayloadKind {
	if len(s.Kinds) > 0 {
		return s.Kinds[0]
	}
	return v1.PayloadKindDoc
}

// lines remembers the line of each value, by a path such as "literals[0][2]".
type lines map[string]int

// of returns the line of path, or fallback.
func (l lines) of(path string, fallback int) int {
	if n, ok := l[path]; ok {
		return n
	}
	return fallback
}
