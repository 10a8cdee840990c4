package guest

import (
	"context"
	"sync/atomic"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/policies"
)

// shadowSlots is how many calls of one shadow may run at a time. Traffic beyond that is not compared: a shadow must not slow down what
// it stands behind.
const shadowSlots = 2

// shadow is a successor that runs beside the plugin that serves. Its answers change nothing; they are compared.
type shadow struct {
	plugin  *Plugin
	setting atomic.Pointer[policies.Shadow]
	policy  atomic.Pointer[policies.Policy]
	slots   chan struct{}
	ctx     context.Context
	// onDone is told once when the trial has ended well.
	onDone func()
	done   atomic.Bool

	calls, same, stricter, laxer, failed, skipped atomic.Uint64
}

// observe shows the shadow a question that the serving plugin has answered with v or err. The question is copied before it returns.
func (s *shadow) observe(req *v1.DetectRequest, opt CallOptions, v *v1.Verdict, err error) {
	select {
	case s.slots <- struct{}{}:
	default:
		s.skipped.Add(1)
		return
	}
	if s.ctx.Err() != nil || !s.plugin.retain() {
		<-s.slots
		return
	}
	question := &v1.DetectRequest{} // the payload's memory belongs to the caller, and may be reused after the call
	if question.UnmarshalProto(req.AppendProto(nil)) != nil {
		s.plugin.release()
		<-s.slots
		return
	}
	go func() { // ends within the plugin's own limits; closing waits for the reference
		defer func() { <-s.slots }()
		defer s.plugin.release()
		s.compare(question, opt, v, err)
	}()
}

// compare asks the shadow and counts how its verdict differs under the policy's bands.
func (s *shadow) compare(req *v1.DetectRequest, opt CallOptions, v *v1.Verdict, err error) {
	opt.Limits = Limits{}
	mine, _, myErr := s.plugin.Detect(s.ctx, req, opt)
	if s.ctx.Err() != nil {
		return // the trial was cut short
	}
	switch policy := s.policy.Load(); {
	case myErr != nil:
		s.failed.Add(1)
	default:
		s.count(levels(policy, req.Kind, v, err), levels(policy, req.Kind, mine, nil))
	}
	setting := s.setting.Load()
	if n := s.calls.Add(1); n >= uint64(setting.Calls) && !setting.Manual && s.failed.Load() == 0 && !s.done.Swap(true) {
		s.onDone()
	}
}

// count compares threat by threat.
func (s *shadow) count(old, mine [maxThreat]level) {
	stricter, laxer := false, false
	for t := range old {
		stricter = stricter || mine[t] > old[t]
		laxer = laxer || mine[t] < old[t]
	}
	if stricter {
		s.stricter.Add(1)
	}
	if laxer {
		s.laxer.Add(1)
	}
	if !stricter && !laxer {
		s.same.Add(1)
	}
}

// level is what a verdict says of one threat: nothing, ambiguous, threat.
type level uint8

// maxThreat is beyond every threat of the contract; index 0 stands for a call that failed.
const maxThreat = 64

// levels reduces a verdict to what the policy makes of it. A failed call is as strict as a threat, since it holds.
func levels(policy *policies.Policy, kind v1.PayloadKind, v *v1.Verdict, err error) (out [maxThreat]level) {
	if err != nil {
		out[0] = 2
		return out
	}
	for _, f := range v.Findings {
		band := policy.Band(kind, f.Threat)
		l := level(0)
		switch {
		case f.Confidence >= float32(band.Threat):
			l = 2
		case f.Confidence >= float32(band.Ambiguous):
			l = 1
		}
		t := uint(f.Threat) % maxThreat
		out[t] = max(out[t], l)
	}
	return out
}

// ShadowStatus tells how a successor does beside the plugin that serves.
type ShadowStatus struct {
	Version string `json:"version"`
	SHA256  string `json:"sha256"`
	Source  string `json:"source"`
	// Calls were compared so far; the successor takes over after Target of them, unless Manual is true or one of its own calls Failed.
	Calls  uint64 `json:"calls"`
	Target int    `json:"target"`
	Manual bool   `json:"manual"`
	// Same, Stricter and Laxer count verdicts by what the policy makes of them; one verdict may be both stricter and laxer.
	Same     uint64 `json:"same"`
	Stricter uint64 `json:"stricter"`
	Laxer    uint64 `json:"laxer"`
	Failed   uint64 `json:"failed"`
	// Skipped calls were not compared, because the successor was busy.
	Skipped uint64 `json:"skipped"`
}

func (s *shadow) status() *ShadowStatus {
	setting := s.setting.Load()
	return &ShadowStatus{
		Version: s.plugin.manifest.Version, SHA256: s.plugin.plan.pkg.Digest(), Source: sourceOf(s.plugin.plan.pkg),
		Calls: s.calls.Load(), Target: setting.Calls, Manual: setting.Manual,
		Same: s.same.Load(), Stricter: s.stricter.Load(), Laxer: s.laxer.Load(), Failed: s.failed.Load(), Skipped: s.skipped.Load(),
	}
}
