package sdk

import (
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// Detector is a plugin that judges payloads.
type Detector struct {
	// Manifest names the detector, what wakes it and the threats it may report. Kind, Ops, ABI and Encoding are filled in.
	Manifest *v1.Manifest
	// Configure receives the operator's settings once. nil accepts an empty configuration only.
	Configure func(*v1.ConfigureRequest) (warnings []string, err error)
	// Detect judges one payload. No findings means "nothing to add". An error holds the payload.
	Detect func(*Payload) (*v1.Verdict, error)
	// Judge receives the model's answer to a question Detect asked. nil: this detector never asks.
	Judge func(*v1.JudgeRequest) (*v1.Verdict, error)
}

func (d Detector) plugin() Plugin {
	if d.Manifest == nil || d.Detect == nil {
		panic("sdk: a Detector needs a Manifest and a Detect function")
	}
	m := *d.Manifest
	m.Kind = v1.PluginKindDetector
	m.Ops = []v1.Op{v1.OpDescribe, v1.OpConfigure, v1.OpDetect}
	if d.Judge != nil {
		m.Ops = append(m.Ops, v1.OpJudge)
	}
	return Plugin{Manifest: &m, Configure: d.Configure, Handle: d.handle, Warm: d.warm}
}

func (d Detector) handle(op v1.Op, req *v1.RequestHead) (v1.ResponseBody, error) {
	var v *v1.Verdict
	var err error
	switch {
	case op == v1.OpDetect:
		p := &v1.DetectRequest{}
		if err := Body(op, req, p); err != nil {
			return nil, err
		}
		v, err = d.Detect(&Payload{DetectRequest: p})
	case op == v1.OpJudge && d.Judge != nil:
		j := &v1.JudgeRequest{}
		if err := Body(op, req, j); err != nil {
			return nil, err
		}
		v, err = d.Judge(j)
	default:
		return nil, Unsupported(op)
	}
	if err != nil {
		return nil, err
	}
	if v == nil {
		v = &v1.Verdict{}
	}
	return v, nil
}

// warm judges an empty and a middling payload so that the snapshot holds a heap that has grown once.
func (d Detector) warm() {
	text := []byte("The quick brown fox jumps over the lazy dog. ")
	for len(text) < 8<<10 {
		text = append(text, text...)
	}
	for _, t := range [][]byte{nil, text} {
		p := &Payload{DetectRequest: &v1.DetectRequest{Kind: v1.PayloadKindDoc, Size: uint64(len(t)), Views: []*v1.View{{Name: "text", Text: t, Size: uint32(len(t)), Parent: -1}}}}
		_, _ = d.Detect(p) // a detector that cannot judge this says so when it is really asked
	}
}

// Payload is what Detect receives.
type Payload struct {
	*v1.DetectRequest
}

// Text returns views[i].text, or nil when there is no such view.
func (p *Payload) Text(i int) []byte {
	if i < 0 || i >= len(p.Views) {
		return nil
	}
	return p.Views[i].Text
}

// Around returns up to n bytes on each side of a hit within its view, cut on UTF-8 boundaries, and where the hit starts in it.
func (p *Payload) Around(h *v1.Hit, n int) (window []byte, at int) {
	t := p.Text(int(h.View))
	if int(h.Start) > len(t) || int(h.End) > len(t) || h.Start > h.End {
		return nil, 0
	}
	lo, hi := max(0, int(h.Start)-n), min(len(t), int(h.End)+n)
	for lo > 0 && t[lo]&0xC0 == 0x80 {
		lo--
	}
	for hi < len(t) && t[hi]&0xC0 == 0x80 {
		hi++
	}
	return t[lo:hi], int(h.Start) - lo
}

// Find makes a finding on a byte range of a view.
func Find(threat v1.Threat, severity v1.Severity, confidence float32, view, start, end int, reason string) *v1.Finding {
	return &v1.Finding{Threat: threat, Severity: severity, Confidence: confidence, View: uint32(view), Start: uint32(start), End: uint32(end), Reason: reason}
}

// IndexFold returns where want stands in text, ASCII letters compared without case, or -1. want must be lower-case.
func IndexFold(text []byte, want string) int {
	for i := 0; i+len(want) <= len(text); i++ {
		if hasPrefixFold(text[i:], want) {
			return i
		}
	}
	return -1
}

func hasPrefixFold(text []byte, want string) bool {
	for j := 0; j < len(want); j++ {
		c := text[j]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != want[j] {
			return false
		}
	}
	return true
}
