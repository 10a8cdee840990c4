// Command injection is the detector of text that tries to steer the assistant reading it. README.md says how it weighs.
package main

import (
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/injection"
	"github.com/amygdala-host/amygdala/sdk"
)

func init() {
	threats := []v1.Threat{v1.ThreatPromptInjection, v1.ThreatJailbreak}
	sdk.Register(sdk.Detector{
		Manifest: &v1.Manifest{
			Name:     "injection",
			Version:  "1.0.0",
			Summary:  "Text that tries to steer the assistant that reads it",
			License:  "Apache-2.0",
			Wake:     &v1.Wake{Threats: threats},
			Threats:  threats,
			Excerpts: true,
		},
		Detect: func(p *sdk.Payload) (*v1.Verdict, error) { return injection.Detect(p.DetectRequest), nil },
	})
}

func main() {}
