// Package policies reads what an operator decides: how sure a detector must be before a payload is stopped, what happens when
// judging fails, what everything may cost, and what each detector is given.
//
// A policy is YAML. The embedded default (default.yaml, which documents every setting) is complete; an operator's file is laid over
// it field by field and says only what differs. Keys are strict: an unknown or repeated key, a wrong unit or a number out of range is
// an error with file and line. A Policy never changes once made; looking things up in it takes no allocation.
package policies

import (
	_ "embed"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Version is the version of the policy format. Every file states it.
const Version = 1

//go:embed default.yaml
var defaultYAML []byte

// DefaultName is how the embedded default is named in errors.
const DefaultName = "default.yaml"

// Band holds the two edges that turn a finding's confidence (0 to 1) into a verdict: below Ambiguous nothing, from Ambiguous on
// ambiguous, from Threat on a threat. 0 <= Ambiguous <= Threat <= 1.
type Band struct {
	Ambiguous float64 `json:"ambiguous"`
	Threat    float64 `json:"threat"`
}

// FailureMode says what becomes of a payload that could not be judged.
type FailureMode uint8

const (
	// FailureHold keeps the payload back. It is the zero value: what nobody decided fails closed.
	FailureHold FailureMode = iota
	// FailureFlag lets the payload pass, at best as ambiguous, with the failure noted in the verdict.
	FailureFlag
)

// String returns the name used in a policy: "hold" or "flag".
func (m FailureMode) String() string {
	if m == FailureFlag {
		return "flag"
	}
	return "hold"
}

// MarshalText lets JSON show the name.
func (m FailureMode) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// Limits bound the work on one payload. What exceeds a limit counts as a failure to judge.
type Limits struct {
	// PayloadBytes is the largest payload that is looked at.
	PayloadBytes int `json:"payload_bytes"`
	// Deadline and DeadlinePerMiB bound the time of one inspection; see Policy.Deadline.
	Deadline       time.Duration `json:"deadline_ns"`
	DeadlinePerMiB time.Duration `json:"deadline_per_mib_ns"`
	Views          ViewLimits    `json:"views"`
	// MatchWork is how many bytes the signatures' patterns may verify for each byte of payload; see MatchBudget.
	MatchWork int `json:"match_work"`
	// Hits is how many signature matches of one payload are kept.
	Hits int `json:"hits"`
	// Plugin is the most that one call of a plugin may use, unless the policy names the plugin.
	Plugin PluginLimits `json:"plugin"`
}

// ViewLimits bound the decodings of one payload.
type ViewLimits struct {
	// Depth is how many decodings may be chained.
	Depth int `json:"depth"`
	// Count is how many readings of one payload are made.
	Count int `json:"count"`
	// Growth is the size of all decodings together, as a multiple of the payload's; see Bytes.
	Growth int `json:"growth"`
}

// What a limit that grows with the payload leaves to a very short one, in bytes.
const (
	viewSlack  = 16 << 10
	matchSlack = 512 << 10
)

// Bytes is how large all decodings of a payload of size bytes may be together.
func (l ViewLimits) Bytes(size int) int { return viewSlack + l.Growth*max(size, 0) }

// MatchBudget is how many bytes the signatures' patterns may verify in a payload of size bytes, all views together.
func (l Limits) MatchBudget(size int) int64 {
	return matchSlack + int64(l.MatchWork)*int64(max(size, 0))
}

// PluginLimits bound one call of a plugin. All fields are greater than zero.
type PluginLimits struct {
	// MemoryPages counts pages of 64 KiB.
	MemoryPages uint32 `json:"memory_pages"`
	// Fuel is in units of about one Wasm instruction.
	Fuel uint64 `json:"fuel"`
	// Wall is real time.
	Wall time.Duration `json:"wall_ns"`
	// Input, Output and Log are in bytes.
	Input  int `json:"input_bytes"`
	Output int `json:"output_bytes"`
	Log    int `json:"log_bytes"`
}

// Fuse takes a plugin out of service when Failures of its last Window calls failed.
type Fuse struct {
	Failures int `json:"failures"`
	Window   int `json:"window"`
}

// Shadow says how a successor of a plugin proves itself.
type Shadow struct {
	// Calls is how many calls a new version runs beside the old one before it takes over; 0: it takes over at once.
	Calls int `json:"calls"`
	// Manual leaves the take-over to a person, however many calls there were.
	Manual bool `json:"manual"`
}

// Detector is what the policy says of one plugin.
type Detector struct {
	// Name is empty in the answer for a plugin that the policy does not list.
	Name string `json:"name"`
	// Enabled is false for a plugin that must not be loaded.
	Enabled bool `json:"enabled"`
	// Required makes the plugin's absence a failure to judge. (A call that fails always is one.)
	Required bool   `json:"required"`
	Shadow   Shadow `json:"shadow"`
	// Wake lists reasons to call the plugin beyond its manifest's own; nil: none.
	Wake *v1.Wake `json:"wake,omitempty"`
	// Limits are the most that one call may use.
	Limits PluginLimits `json:"limits"`
	// Grants are what the plugin may ask for.
	Grants []*v1.Grant `json:"grants,omitempty"`
	// Config is the plugin's own settings as canonical JSON: no white space, sorted keys. nil: none.
	Config []byte `json:"-"`
}

// SignatureMode is what the policy makes of one signature.
type SignatureMode uint8

const (
	// SignatureAsIs leaves it to the signature's own maturity. It is the zero value.
	SignatureAsIs SignatureMode = iota
	// SignatureOff ignores its matches.
	SignatureOff
	// SignatureShadow counts and shows its matches, and lets them change nothing.
	SignatureShadow
	// SignatureEnforce makes its matches evidence.
	SignatureEnforce
)

var signatureModes = map[string]SignatureMode{"off": SignatureOff, "shadow": SignatureShadow, "enforce": SignatureEnforce}

// MarshalText lets JSON show the name.
func (m SignatureMode) MarshalText() ([]byte, error) {
	for name, mode := range signatureModes {
		if mode == m {
			return []byte(name), nil
		}
	}
	return []byte("as is"), nil
}

// Policy is one complete set of decisions. Safe for concurrent use; treat everything it returns as read-only.
type Policy struct {
	// Limits and Fuse hold for all payloads and plugins.
	Limits Limits
	Fuse   Fuse

	bands      [][]Band // by kind, then threat; index 0 is the default
	failure    []FailureMode
	signatures map[string]SignatureMode
	detectors  map[string]*Detector
	unlisted   *Detector
	names      []string
	digest     [32]byte
}

var parsedDefault = sync.OnceValues(func() (*Policy, error) {
	d := newDraft()
	if err := d.apply(DefaultName, defaultYAML); err != nil {
		return nil, err
	}
	return d.policy(DefaultName)
})

// Default returns the embedded policy.
func Default() *Policy {
	p, err := parsedDefault()
	if err != nil {
		panic("policies: the embedded default is broken: " + err.Error()) // a test parses it
	}
	return p
}

// DefaultYAML returns a copy of the embedded policy's text, comments included: the reference of all settings.
func DefaultYAML() []byte { return append([]byte(nil), defaultYAML...) }

// Parse lays an operator's policy over the embedded default. name is the file's name, for errors.
//
// Errors are *abi.Error of kind invalid, one line for each thing that is wrong (at most ten), each with file, line, the path of the
// setting and how to mend it.
func Parse(name string, data []byte) (*Policy, error) {
	d := newDraft()
	if err := d.apply(DefaultName, defaultYAML); err != nil {
		return nil, abi.E("parse policy", v1.ErrorKindInternal, DefaultName, err)
	}
	if err := d.apply(name, data); err != nil {
		return nil, err
	}
	return d.policy(name)
}

// Band returns the edges for a finding of this threat in a payload of this kind. Values outside the contract get the default band.
func (p *Policy) Band(kind v1.PayloadKind, threat v1.Threat) Band {
	k, t := 0, 0
	if kind > 0 && int(kind) < len(p.bands) {
		k = int(kind)
	}
	if threat > 0 && int(threat) < len(p.bands[k]) {
		t = int(threat)
	}
	return p.bands[k][t]
}

// Failure returns what becomes of a payload of this kind that could not be judged. A kind outside the contract is held.
func (p *Policy) Failure(kind v1.PayloadKind) FailureMode {
	if kind < 0 || int(kind) >= len(p.failure) {
		return FailureHold
	}
	return p.failure[kind]
}

// Deadline is how long the inspection of a payload of size bytes may take, the local model's time not counted.
func (p *Policy) Deadline(size int) time.Duration {
	return p.Limits.Deadline + time.Duration(float64(p.Limits.DeadlinePerMiB)*float64(max(size, 0))/(1<<20))
}

// Signature returns what the policy makes of the signature with this id.
func (p *Policy) Signature(id string) SignatureMode { return p.signatures[id] }

// Signatures returns the ids of all listed signatures in order.
func (p *Policy) Signatures() []string { return slices.Sorted(maps.Keys(p.signatures)) }

// Detector returns what the policy says of a plugin, by its manifest's name. A plugin that is not listed is enabled, not required,
// and gets no grants and no configuration.
func (p *Policy) Detector(name string) *Detector {
	if d, ok := p.detectors[name]; ok {
		return d
	}
	return p.unlisted
}

// Detectors returns the names of all listed plugins in order.
func (p *Policy) Detectors() []string { return append([]string(nil), p.names...) }

// Digest identifies what the policy decides. Comments, order and layout do not change it.
func (p *Policy) Digest() [32]byte { return p.digest }

// DigestString is Digest in hexadecimal.
func (p *Policy) DigestString() string { return hex.EncodeToString(p.digest[:]) }
