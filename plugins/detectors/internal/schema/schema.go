// Package schema checks messages against the schema that the operator declared for their topic: JSON Schema for JSON and MessagePack,
// message descriptors for protobuf. A message on a topic without a declaration is none of its business.
package schema

import (
	"fmt"
	"unicode/utf8"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/tree"
)

// Detector checks messages. It never changes after New.
type Detector struct {
	topics []topic
}

// topic is one declaration.
type topic struct {
	match string
	check checker
}

// checker finds what breaks a schema. An error means that the message could not be judged.
type checker interface {
	check(data []byte) ([]violation, error)
}

// violation is one breach. Its text comes from the schema, never from the message.
type violation struct {
	what       string
	start, end int
}

// maxViolations is how many breaches of one message are reported.
const maxViolations = 8

// Detect checks one message against the first declaration whose topic matches.
func (d *Detector) Detect(req *v1.DetectRequest) (*v1.Verdict, error) {
	for _, t := range d.topics {
		if !Matches(t.match, req.Topic) {
			continue
		}
		data := payload(req)
		found, err := t.check.check(data)
		if err != nil {
			return nil, abi.E("detect", v1.ErrorKindLimit, t.match, err)
		}
		return verdict(req, data, found), nil
	}
	return &v1.Verdict{}, nil
}

// payload returns the message as it arrived; its first reading when the host sent no original.
func payload(req *v1.DetectRequest) []byte {
	if len(req.Original) > 0 || len(req.Views) == 0 || req.Views[0] == nil {
		return req.Original
	}
	return req.Views[0].Text
}

// verdict places the breaches in the first view: exactly where it equals the message, on all of it otherwise.
func verdict(req *v1.DetectRequest, data []byte, found []violation) *v1.Verdict {
	v := &v1.Verdict{}
	size := 0
	same := false
	if len(req.Views) > 0 && req.Views[0] != nil {
		size = len(req.Views[0].Text)
		same = size == len(data) && utf8.Valid(data)
	}
	for i, b := range found {
		if i == maxViolations {
			break
		}
		if !same || b.start >= b.end || b.end > size {
			b.start, b.end = 0, size
		}
		v.Findings = append(v.Findings, &v1.Finding{
			Threat: v1.ThreatSchemaViolation, Severity: v1.SeverityMedium, Confidence: 0.95, Start: uint32(b.start), End: uint32(b.end), Reason: clip(b.what,
				250),
		})
	}
	return v
}

func clip(s string, n int) string {
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s[:n+1])
		s = s[:n+1-size]
	}
	return s
}

// documentChecker checks JSON and MessagePack.
type documentChecker struct {
	parse  func(string, tree.Limits) (*tree.Tree, error)
	format string
	schema *node
}

func (c documentChecker) check(data []byte) ([]violation, error) {
	t, err := c.parse(string(data), tree.Limits{})
	if err != nil {
		se, _ := err.(*tree.SyntaxError) //nolint:errorlint // the parsers return nothing else
		if se != nil && se.Limit {
			return nil, fmt.Errorf("the %s document has %w; raise no limit, send less", c.format, err)
		}
		return []violation{{what: fmt.Sprintf("not well-formed %s: %v", c.format, err)}}, nil
	}
	run := &run{t: t, left: maxSteps}
	out := append(repeated(t), run.validate(c.schema, 0)...)
	if run.left <= 0 {
		return nil, fmt.Errorf("checking the document needs more than %d steps; simplify the schema's alternatives", maxSteps)
	}
	return out, nil
}

// repeated reports members that stand twice in an object: readers disagree about which of them counts.
func repeated(t *tree.Tree) []violation {
	var out []violation
	for _, n := range t.Nodes {
		if n.Repeated && len(out) < maxViolations {
			out = append(out, violation{"a member stands twice in its object", n.Start, n.End})
		}
	}
	return out
}
