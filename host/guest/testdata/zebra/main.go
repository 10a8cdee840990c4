// Command zebra is the smallest real detector: it finds the word "evil".
package main

import (
	"bytes"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/sdk"
)

func init() {
	sdk.Register(sdk.Detector{
		Manifest: &v1.Manifest{Name: "zebra", Version: "1.0.0", Threats: []v1.Threat{v1.ThreatPromptInjection}, Wake: &v1.Wake{Always: true}},
		Detect:   detect,
	})
}

func detect(p *sdk.Payload) (*v1.Verdict, error) {
	v := &v1.Verdict{}
	if at := bytes.Index(p.Text(0), []byte("evil")); at >= 0 {
		v.Findings = append(v.Findings, sdk.Find(v1.ThreatPromptInjection, v1.SeverityHigh, 0.9, 0, at, at+4, "it says so"))
	}
	if bytes.Contains(p.Text(0), []byte("divide by nothing")) {
		panic("as asked")
	}
	return v, nil
}

func main() {}
