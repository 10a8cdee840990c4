// Command injection is the detector of prompt injection and jailbreaks. Its judgement is in plugins/detectors/internal/injection, what it
// judges in signatures/packs/injection-*.yaml and jailbreak-*.yaml; README.md says how both go together.
package main

import (
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/injection"
	"github.com/amygdala-host/amygdala/sdk"
)

func init() {
	sdk.Register(sdk.Detector{
		Manifest: &v1.Manifest{
			Name:     "injection",
			Version:  "1.0.0",
			Summary:  "Finds text that tries to steer the assistant reading it",
			License:  "Apache-2.0",
			Wake:     &v1.Wake{Threats: []v1.Threat{v1.ThreatPromptInjection, v1.ThreatJailbreak}},
			Threats:  []v1.Threat{v1.ThreatPromptInjection, v1.ThreatJailbreak},
			Excerpts: true,
			Limits:   &v1.Limits{MemoryPages: 256, Fuel: 400_000_000},
		},
		Detect: func(p *sdk.Payload) (*v1.Verdict, error) { return injection.Detect(p.DetectRequest), nil },
	})
}

func main() {}
