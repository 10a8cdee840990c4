// Command structure is the detector of requests that go inside, data that goes outside, and credentials. README.md says how it weighs.
package main

import (
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/structure"
	"github.com/amygdala-host/amygdala/sdk"
)

// detector starts with the default settings; configure replaces it before the snapshot.
var detector = structure.New(structure.Config{})

func init() {
	sdk.Register(sdk.Detector{
		Manifest: &v1.Manifest{
			Name:    "structure",
			Version: "1.0.0",
			Summary: "Requests that go inside (SSRF), data carried outside, and credentials",
			License: "Apache-2.0",
			Wake: &v1.Wake{
				Kinds:   []v1.PayloadKind{v1.PayloadKindURL, v1.PayloadKindToolCall},
				Threats: []v1.Threat{v1.ThreatSSRF, v1.ThreatExfiltration, v1.ThreatSecret},
			},
			Threats:  []v1.Threat{v1.ThreatSSRF, v1.ThreatExfiltration, v1.ThreatSecret},
			Excerpts: true,
		},
		Configure: configure,
		Detect:    func(p *sdk.Payload) (*v1.Verdict, error) { return detector.Detect(p.DetectRequest), nil },
	})
}

func configure(req *v1.ConfigureRequest) ([]string, error) {
	cfg, err := structure.ParseConfig(req.Config)
	if err != nil {
		return nil, err
	}
	detector = structure.New(cfg)
	return nil, nil
}

func main() {}
