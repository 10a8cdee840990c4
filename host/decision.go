package host

import (
	"time"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// Payload is one thing to inspect.
type Payload struct {
	// ID is handed back in the Decision; it means nothing to the host.
	ID string
	// Data is the payload as it arrived. It is read during Inspect and not kept.
	Data []byte
	// Kind says where it came from. Unspecified counts as doc.
	Kind v1.PayloadKind
	// Source names the sender: a URL, a tool, a mailbox. It is shown to detectors, never trusted.
	Source string
	// Topic is the bus topic it arrived on, if any.
	Topic string
}

// Verdict is what the host concludes about a payload.
type Verdict string

// The four verdicts, from harmless to worst. Hold is a failure to judge: the payload must not pass, and nobody is accused.
const (
	Clear     Verdict = "clear"
	Ambiguous Verdict = "ambiguous"
	Hold      Verdict = "hold"
	Threat    Verdict = "threat"
)

// Finding is one accusation, in the offsets of the original payload.
type Finding struct {
	Threat     v1.Threat   `json:"-"`
	Severity   v1.Severity `json:"-"`
	ThreatName string      `json:"threat"`
	Detector   string      `json:"detector"`
	// Signature is the signature it rests on, or empty.
	Signature string `json:"signature"`
	// View is the chain of decodings that revealed it; "text" is the payload as it came.
	View string `json:"view"`
	// Start and End are byte offsets into the original payload. For a decoded view they cover the encoded run.
	Start        int     `json:"start"`
	End          int     `json:"end"`
	Confidence   float64 `json:"confidence"`
	SeverityName string  `json:"severity"`
	Reason       string  `json:"reason,omitempty"`
}

// Decision explains one inspection. It holds no payload text.
type Decision struct {
	ID       string    `json:"id"`
	Verdict  Verdict   `json:"verdict"`
	Score    float64   `json:"score"` // the highest confidence of any finding, 0 to 1
	Findings []Finding `json:"findings"`
	// Held says why a payload could not be judged, one line each, with how to mend it.
	Held []string `json:"held,omitempty"`
	// Shadow lists signatures in maturity "shadow" that matched. They change nothing.
	Shadow []string `json:"shadow,omitempty"`
	// Called names the detectors that were woken.
	Called []string `json:"called,omitempty"`
	// Generation is the one set of policy, signatures and plugins that explains this verdict.
	Generation uint64 `json:"generation"`
	// Fuel is what the detectors used, in units of about one Wasm instruction. The same payload and generation use the same fuel.
	Fuel    uint64        `json:"fuel"`
	Elapsed time.Duration `json:"-"`
}

// verdictOf is the whole of combining, and pure: a threat stands whatever else failed, a failure to judge outranks doubt, doubt outranks
// silence.
func verdictOf(p *policies.Policy, kind v1.PayloadKind, findings []Finding, held bool) Verdict {
	v := Clear
	for _, f := range findings {
		band := p.Band(kind, f.Threat)
		switch {
		case f.Confidence >= band.Threat:
			return Threat
		case f.Confidence >= band.Ambiguous:
			v = Ambiguous
		}
	}
	if held {
		return Hold
	}
	return v
}

func score(findings []Finding) float64 {
	s := 0.0
	for _, f := range findings {
		s = max(s, f.Confidence)
	}
	return s
}
