package guest

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/amygdala-host/amygdala/abi"
	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// asking is what the check of a verdict needs of the question: the lengths of the views. It outlives the payload's text.
type asking struct {
	views []int
	judge bool
}

func askingOf(req *v1.DetectRequest, judge bool) asking {
	a := asking{judge: judge}
	if req != nil {
		a.views = make([]int, len(req.Views))
		for i, v := range req.Views {
			a.views[i] = len(v.Text)
		}
	}
	return a
}

// checkVerdict is the second half of the strict check: what the schema cannot say. A verdict that breaks it is a failed call, never a
// clean one.
func checkVerdict(m *v1.Manifest, a asking, v *v1.Verdict) error {
	if len(v.Findings) > abi.MaxFindings {
		return fmt.Errorf("%d findings, at most %d are allowed", len(v.Findings), abi.MaxFindings)
	}
	for i, f := range v.Findings {
		if err := checkFinding(m, a, f); err != nil {
			return fmt.Errorf("findings[%d]: %w", i, err)
		}
	}
	if len(v.State) > abi.MaxState {
		return fmt.Errorf("the state has %d bytes, at most %d are allowed", len(v.State), abi.MaxState)
	}
	if v.Question == nil {
		return nil
	}
	return checkQuestion(m, a, v.Question)
}

func checkFinding(m *v1.Manifest, a asking, f *v1.Finding) error {
	switch {
	case !slices.Contains(m.Threats, f.Threat):
		return fmt.Errorf("the manifest does not declare the threat %v", f.Threat)
	case math.IsNaN(float64(f.Confidence)) || f.Confidence < 0 || f.Confidence > 1:
		return fmt.Errorf("confidence %v is not from 0 to 1", f.Confidence)
	case len(f.Reason) > abi.MaxReason || !utf8.ValidString(f.Reason):
		return fmt.Errorf("the reason must be valid UTF-8 of at most %d bytes", abi.MaxReason)
	case len(f.Signature) > abi.MaxIdentifier:
		return fmt.Errorf("the signature's id has %d bytes, at most %d are allowed", len(f.Signature), abi.MaxIdentifier)
	}
	length := 0
	switch {
	case int(f.View) < len(a.views):
		length = a.views[f.View]
	case f.View > 0 || len(a.views) > 0:
		return fmt.Errorf("view %d does not exist, there are %d", f.View, len(a.views))
	}
	if f.Start > f.End || int(f.End) > length {
		return fmt.Errorf("the range [%d, %d) is not inside view %d of %d bytes", f.Start, f.End, f.View, length)
	}
	return nil
}

func checkQuestion(m *v1.Manifest, a asking, q *v1.Question) error {
	switch {
	case a.judge:
		return fmt.Errorf("a question in answer to JUDGE; only DETECT may ask one")
	case !slices.Contains(m.Ops, v1.OpJudge):
		return fmt.Errorf("a question, but the manifest does not declare the op judge that would take the answer")
	case len(q.Prompt) > abi.MaxQuestion:
		return fmt.Errorf("the question has %d bytes, at most %d are allowed", len(q.Prompt), abi.MaxQuestion)
	case q.MaxAnswerBytes > abi.MaxAnswer:
		return fmt.Errorf("max_answer_bytes is %d, at most %d are allowed", q.MaxAnswerBytes, abi.MaxAnswer)
	}
	return nil
}
