// Command canary is a detector written outside amygdala's own module: it finds canary tokens, strings that exist nowhere but in data that
// must not leave. It shows settings, views and a test.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/sdk"
)

func init() {
	sdk.Register(sdk.Detector{
		Manifest: &v1.Manifest{
			Name:    "canary",
			Version: "1.0.0",
			Summary: "Finds canary tokens in what is about to leave",
			License: "Apache-2.0",
			Wake:    &v1.Wake{Kinds: []v1.PayloadKind{v1.PayloadKindToolCall, v1.PayloadKindURL}},
			Threats: []v1.Threat{v1.ThreatExfiltration},
		},
		Configure: configure,
		Detect:    detect,
	})
}

// tokens are set once, before the snapshot that every call starts from.
var tokens []string

// shortest is the least a token may have: anything shorter is in some payload by chance.
const shortest = 8

func configure(req *v1.ConfigureRequest) ([]string, error) {
	if len(req.Config) == 0 {
		return []string{`no tokens: add config: {tokens: ["..."]} for canary to the policy`}, nil
	}
	var c struct {
		Tokens []string `json:"tokens"`
	}
	d := json.NewDecoder(bytes.NewReader(req.Config))
	d.DisallowUnknownFields() // a misspelt setting without effect would deceive its operator
	if err := d.Decode(&c); err != nil {
		return nil, fmt.Errorf(`config must be {"tokens": ["..."]}: %w`, err)
	}
	for _, t := range c.Tokens {
		if len(t) < shortest {
			return nil, errors.New("a token needs at least 8 bytes, or it is found everywhere")
		}
	}
	tokens = c.Tokens
	return nil, nil
}

// detect looks in every view, so that a token in base64 or percent-encoding is found too.
func detect(p *sdk.Payload) (*v1.Verdict, error) {
	var v v1.Verdict
	for i, view := range p.Views {
		for _, t := range tokens {
			if at := sdk.IndexFold(view.Text, t); at >= 0 {
				v.Findings = append(v.Findings, sdk.Find(v1.ThreatExfiltration, v1.SeverityCritical, 1, i, at, at+len(t), "carries a canary token"))
			}
		}
	}
	return &v, nil
}

func main() {}
