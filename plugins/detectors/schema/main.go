// Command schema is the detector of messages that break the declared schema of their topic. README.md says how schemas are declared.
package main

import (
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/schema"
	"github.com/amygdala-host/amygdala/sdk"
)

// detector knows no topics until configure replaces it, before the snapshot.
var detector = &schema.Detector{}

func init() {
	sdk.Register(sdk.Detector{
		Manifest: &v1.Manifest{
			Name:     "schema",
			Version:  "1.0.0",
			Summary:  "Messages that break the declared JSON, MessagePack or protobuf schema of their topic",
			License:  "Apache-2.0",
			Wake:     &v1.Wake{}, // the policy wakes it for the topics it declares
			Threats:  []v1.Threat{v1.ThreatSchemaViolation},
			Original: true,
		},
		Configure: configure,
		Detect:    func(p *sdk.Payload) (*v1.Verdict, error) { return detector.Detect(p.DetectRequest) },
	})
}

func configure(req *v1.ConfigureRequest) ([]string, error) {
	d, err := schema.Parse(req.Config)
	if err != nil {
		return nil, err
	}
	detector = d
	return nil, nil
}

func main() {}
