// Package structure judges what the parts of a payload would do, not what they say: where a request goes (ssrf), what a request or a
// link carries away (exfiltration), and which strings are working credentials (secret).
//
// Server-side request forgery is judged on URLs and tool calls only: a page that mentions localhost fetches nothing. Everything else
// rests on signature hits, which this package weighs with what stands around them.
package structure

import (
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/finding"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/shell"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// Detector judges payloads under one configuration. It keeps nothing between calls.
type Detector struct {
	cfg Config
}

// New returns a Detector for cfg.
func New(cfg Config) *Detector { return &Detector{cfg: cfg.withDefaults()} }

// Detect judges one payload.
func (d *Detector) Detect(req *v1.DetectRequest) *v1.Verdict {
	j := &judgement{cfg: d.cfg, req: req}
	j.acts = req.Kind == v1.PayloadKindURL || req.Kind == v1.PayloadKindToolCall
	if j.acts {
		j.fields = toolcall.Fields(req)
		j.findOutside()
		j.judgeRequests()
	}
	j.judgeCarriers()
	j.judgeCommands()
	j.judgeHits()
	j.judgeNumbers()
	j.judgeCalls()
	return j.found.Verdict()
}

// judgement is the state of judging one payload.
type judgement struct {
	cfg Config
	req *v1.DetectRequest
	// acts is set when the payload is itself a request: a URL to fetch or a tool call.
	acts bool
	// fields are the texts of such a request.
	fields []toolcall.Field
	// scripts are the fields that were read as command lines, by their index.
	scripts map[int]shell.Script
	// url is the URL at hand.
	url weburl.URL
	// outside is set when the request names a destination that is neither internal nor one of the operator's own.
	outside bool
	found   finding.List
}

// script reads field i as a command line, once.
func (j *judgement) script(i int) shell.Script {
	s, ok := j.scripts[i]
	if !ok {
		if j.scripts == nil {
			j.scripts = map[int]shell.Script{}
		}
		s = shell.Parse(j.fields[i].Text)
		j.scripts[i] = s
	}
	return s
}

// text returns the text of view i.
func (j *judgement) text(i int) string {
	if i < 0 || i >= len(j.req.Views) || j.req.Views[i] == nil {
		return ""
	}
	return string(j.req.Views[i].Text)
}
