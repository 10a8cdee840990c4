package structure

import (
	"encoding/base64"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/finding"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/secret"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
)

// judgeExfiltration weighs a hit of an exfiltration signature.
func (j *judgement) judgeExfiltration(h *v1.Hit) {
	text := j.text(int(h.View))
	at := finding.At(int(h.View), int(h.Start), int(h.End))
	switch tagValue(h, "check:") {
	case "link", "command":
		return // judged by what carries them
	case "data":
		j.judgeDataURI(h, text, at)
	case "drop":
		if j.acts {
			j.found.Add(v1.ThreatExfiltration, h.Severity, h.Confidence, at, h.Signature, "goes to a service that takes anything from anybody")
		}
	default:
		j.found.Add(v1.ThreatExfiltration, h.Severity, h.Confidence*j.weightAt(text, at.Start, at.End), at, h.Signature, "asks to carry data outside")
	}
}

// maxURI is how much of a data URI is read.
const maxURI = 16 << 10

// judgeDataURI reads what a data URI holds: text that an assistant remembers, or text dressed up as a picture.
func (j *judgement) judgeDataURI(h *v1.Hit, text string, at finding.Place) {
	raw := text[at.Start:]
	if end := strings.IndexAny(raw, " \t\r\n\"'`<>)"); end >= 0 {
		raw = raw[:end]
	}
	raw = clip(raw, maxURI)
	head, body, ok := strings.Cut(raw, ",")
	if !ok {
		return
	}
	content := dataContent(head, body)
	score, why := gradeData(strings.ToLower(head), content)
	at.End = at.Start + len(raw)
	j.found.Add(v1.ThreatExfiltration, h.Severity, score, at, h.Signature, why)
}

func dataContent(head, body string) string {
	if !strings.Contains(head, ";base64") {
		return weburl.Unescape(body)
	}
	body = strings.TrimRight(weburl.Unescape(body), "=")
	b, err := base64.RawStdEncoding.DecodeString(body[:len(body)&^3])
	if err != nil {
		b, _ = base64.RawURLEncoding.DecodeString(body[:len(body)&^3])
	}
	return string(b)
}

func gradeData(head, content string) (float32, string) {
	if len(content) < 12 || strings.Contains(content, `"mappings"`) {
		return 0, "" // source maps are data URIs by custom
	}
	start := []byte(clip(content, 4096))
	text := readable(start) || document(start)
	lower := strings.ToLower(content)
	if at, g := secret.Find(content); at >= 0 && g.Score > 0 {
		return 0.9, "a data URI that holds a credential"
	}
	switch {
	case !text:
		return 0, ""
	case memory(lower):
		return 0.88, "a data URI that holds a conversation or an assistant's memory"
	case strings.Contains(head, "image/") && !strings.Contains(head, "svg") || strings.Contains(head, "audio/") || strings.Contains(head, "font"):
		return 0.82, "text dressed up as a picture in a data URI"
	case prose(content) && sensitive(content) && !strings.Contains(head, "text/html") && !markup(content):
		return 0.8, "a data URI that holds sensitive text"
	}
	return 0, ""
}

// memory reports the marks of a conversation or of stored memory.
func memory(lower string) bool {
	for _, m := range leakMarks {
		if strings.Contains(lower, m) {
			return true
		}
	}
	return dialogue(lower) || hasAny(lower, `"memory"`, `"memories"`, `"messages":[`, `"messages": [`, "\nassistant:", "\nuser:", `"conversation"`, `"embedding"`)
}

// describing are stems of words by which a text talks about attacks instead of being one.
var describing = []string{"attack", "malicious", "malware", "adversar", "threat actor", "exploit", "vulnerab", "detect", "scanner", "for example", "e.g", "technique", "red team", "victim", "hacker", "pentest", "infostealer", "compromised"}

// near is how far around a hit its context is read.
const near = 300

// Weights of commands and instructions in a text.
const (
	weightDoc      = 0.95 // a document, or the user's own words: nobody else is addressed
	weightMention  = 0.85 // one word about attacks nearby
	weightDescribe = 0.5  // several
)

// weightAt says how much a command or an instruction in a text counts: less where the text talks about attacks.
func (j *judgement) weightAt(text string, start, end int) float32 {
	weight := float32(1)
	if j.req.Kind == v1.PayloadKindDoc || j.req.Kind == v1.PayloadKindUserPrompt {
		weight = weightDoc
	}
	around := strings.ToLower(text[max(0, start-near):start] + "\n" + text[end:min(len(text), end+near)])
	told := 0
	for _, stem := range describing {
		if says(around, stem) {
			told++
		}
	}
	switch {
	case told >= 2:
		return weight * weightDescribe
	case told == 1:
		return weight * weightMention
	}
	return weight
}

// says reports a word that starts with stem and is not a part of a host name: attacker.example describes nothing.
func says(text, stem string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], stem)
		if i < 0 {
			return false
		}
		i += from
		from = i + len(stem)
		end := from
		for end < len(text) && (isAlnum(text[end]) || text[end] == '-') {
			end++
		}
		host := end+1 < len(text) && text[end] == '.' && isAlnum(text[end+1]) || i > 0 && (text[i-1] == '.' || text[i-1] == '/' || text[i-1] == '@' || text[i-1] == '-')
		if !host && (i == 0 || !isAlnum(text[i-1])) {
			return true
		}
	}
}
