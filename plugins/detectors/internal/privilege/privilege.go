// Package privilege judges whether a payload raises somebody's rights: of the process, of an account, or of the assistant itself, by
// loosening its sandbox, its approvals, its instructions, or the rules and settings of the system that guards it.
//
// Tool calls are judged by what they would do. Other payloads are judged only by signatures of texts that ask an assistant to do such
// things, since documents about administration are full of the commands themselves.
package privilege

import (
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/finding"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/shell"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
)

// Detector judges payloads. It keeps nothing between calls.
type Detector struct {
	cfg Config
}

// New returns a Detector for cfg.
func New(cfg Config) *Detector { return &Detector{cfg: cfg} }

// Detect judges one payload.
func (d *Detector) Detect(req *v1.DetectRequest) *v1.Verdict {
	j := &judgement{cfg: d.cfg, req: req}
	if req.Kind == v1.PayloadKindToolCall {
		j.judgeCall(toolcall.Fields(req))
	}
	for _, h := range req.Hits {
		j.judgeHit(h)
	}
	return j.found.Verdict()
}

// judgement is the state of judging one payload.
type judgement struct {
	cfg Config
	req *v1.DetectRequest
	// changes is set when a call names an HTTP method that changes something.
	changes bool
	found   finding.List
}

// evidence is one reason with its weight.
type evidence struct {
	score float32
	why   string
}

// or returns the stronger evidence.
func (e evidence) or(o evidence) evidence {
	if o.score > e.score {
		return o
	}
	return e
}

// decodedWeight lowers what only a decoding brought to light.
const decodedWeight = 0.95

func (j *judgement) add(e evidence, at finding.Place, severity v1.Severity) {
	j.found.Add(v1.ThreatPrivilegeEscalation, severity, e.score, at, "", e.why)
}

// judgeCall judges every field of a tool call by what the tool does with it.
func (j *judgement) judgeCall(fields []toolcall.Field) {
	for i := range fields {
		if toolcall.PlainName(fields[i].Key) == "method" {
			j.changes = j.changes || contains(strings.ToLower(fields[i].Text), []string{"put", "post", "delete", "patch"})
		}
	}
	for i := range fields {
		f := &fields[i]
		if f.Role == toolcall.Command {
			j.judgeScript(f)
		}
		e := settingEvidence(f).or(j.pathEvidence(f)).or(grantEvidence(f)).or(j.ruleEvidence(f)).or(documentEvidence(f))
		if f.Decoded {
			e.score *= decodedWeight
		}
		j.add(e, f.Whole, v1.SeverityHigh)
	}
}

// judgeScript judges each command of a command line.
func (j *judgement) judgeScript(f *toolcall.Field) {
	script := shell.Parse(f.Text)
	for k := range script.Commands {
		c := &script.Commands[k]
		if j.found.Enough(v1.ThreatPrivilegeEscalation) {
			return
		}
		if j.cfg.allowsCommand(c.Name()) {
			continue
		}
		start, end := c.Range()
		e := commandEvidence(c)
		if f.Decoded {
			e.score *= decodedWeight
		}
		j.add(e, f.At(start, end), v1.SeverityHigh)
	}
}

// contains reports whether s holds one of the words.
func contains(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}
