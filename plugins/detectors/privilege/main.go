// Command privilege is the detector of raised rights and of changes to what guards an assistant. README.md says how it weighs.
package main

import (
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/privilege"
	"github.com/amygdala-host/amygdala/sdk"
)

// detector starts with the default settings; configure replaces it before the snapshot.
var detector = privilege.New(privilege.Config{})

func init() {
	sdk.Register(sdk.Detector{
		Manifest: &v1.Manifest{
			Name:    "privilege",
			Version: "1.0.0",
			Summary: "Raised rights, and changes to the rules and settings of what guards an assistant",
			License: "Apache-2.0",
			Wake: &v1.Wake{
				Kinds:   []v1.PayloadKind{v1.PayloadKindToolCall},
				Threats: []v1.Threat{v1.ThreatPrivilegeEscalation},
			},
			Threats:  []v1.Threat{v1.ThreatPrivilegeEscalation},
			Excerpts: true,
		},
		Configure: configure,
		Detect:    func(p *sdk.Payload) (*v1.Verdict, error) { return detector.Detect(p.DetectRequest), nil },
	})
}

func configure(req *v1.ConfigureRequest) ([]string, error) {
	cfg, err := privilege.ParseConfig(req.Config)
	if err != nil {
		return nil, err
	}
	detector = privilege.New(cfg)
	return nil, nil
}

func main() {}
