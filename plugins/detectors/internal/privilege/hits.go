package privilege

import (
	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/finding"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/words"
)

// Weights of a text that asks for more rights.
const (
	weightHidden   = 1.08 // nobody but a machine reads it
	weightAddress  = 1    // something the assistant reads as data speaks to it
	weightDocument = 0.8  // a document: its reader may be a person
	weightUser     = 0.62 // the user may ask for what the user owns
	weightMention  = 0.85
	weightTalk     = 0.5
)

// judgeHit weighs a signature hit with who speaks to whom.
func (j *judgement) judgeHit(h *v1.Hit) {
	if h.Threat != v1.ThreatPrivilegeEscalation || int(h.View) >= len(j.req.Views) {
		return
	}
	view := j.req.Views[h.View]
	if h.Start >= h.End || int(h.End) > len(view.Text) {
		return
	}
	at := finding.At(int(h.View), int(h.Start), int(h.End))
	if j.found.Name(v1.ThreatPrivilegeEscalation, at, h.Signature) {
		return
	}
	score := h.Confidence * j.kindWeight(view) * talkWeight(string(view.Text), int(h.Start), int(h.End))
	if view.Hidden {
		score *= weightHidden
	}
	j.found.Add(v1.ThreatPrivilegeEscalation, h.Severity, score, at, h.Signature, "asks to loosen what holds the assistant back")
}

func (j *judgement) kindWeight(view *v1.View) float32 {
	switch j.req.Kind {
	case v1.PayloadKindUserPrompt:
		return weightUser
	case v1.PayloadKindDoc, v1.PayloadKindCode, v1.PayloadKindToolCall:
		if view.Hidden {
			return weightAddress
		}
		return weightDocument
	}
	return weightAddress
}

// talking are stems of words by which a text talks about such requests.
var talking = words.New("attack", "malicious", "adversar", "exploit", "vulnerab", "detect", "for example", "e.g", "technique", "red team", "injection",
	"warning", "never ", "should not", "do not", "don't", "must not", "prevent", "risk", "option", "flag", "documentation")

// around is how far the context of a hit is read.
const around = 240

// talkWeight lowers a request that the text around it describes.
func talkWeight(text string, start, end int) float32 {
	told := talking.Count(text[max(0, start-around):start]+"\n"+text[end:min(len(text), end+around)], 2)
	switch {
	case told >= 2:
		return weightTalk
	case told == 1:
		return weightMention
	}
	return 1
}
