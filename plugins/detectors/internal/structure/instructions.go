package structure

import (
	"encoding/base64"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/finding"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/secret"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/weburl"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/words"
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

// memoryMarks are names that stored conversations use.
var memoryMarks = words.New(`"memory"`, `"memories"`, `"messages":[`, `"messages": [`, "\nassistant:", "\nuser:", `"conversation"`, `"embedding"`)

// memory reports the marks of a conversation or of stored memory.
func memory(lower string) bool {
	return leakMarks.In(lower) || memoryMarks.In(lower) || dialogue(lower)
}

// describing are stems of words by which a text talks about attacks instead of being one.
var describing = words.New("attack", "malicious", "malware", "adversar", "threat actor", "exploit", "vulnerab", "detect", "scanner", "for example", "e.g", "technique", "red team", "victim", "hacker", "pentest", "infostealer", "compromised")

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
	told := tells(text[max(0, start-near):start], tells(text[end:min(len(text), end+near)], nil))
	switch {
	case len(told) >= 2:
		return weight * weightDescribe
	case len(told) == 1:
		return weight * weightMention
	}
	return weight
}

// tells adds the stems that begin a word of the text, which is not a part of a host name: attacker.example describes nothing.
func tells(text string, told []string) []string {
	for from := 0; len(told) < 2; {
		i, stem := describing.Find(text[from:])
		if i < 0 {
			break
		}
		i += from
		from = i + len(stem)
		end := from
		for end < len(text) && (isAlnum(text[end]) || text[end] == '-') {
			end++
		}
		host := end+1 < len(text) && text[end] == '.' && isAlnum(text[end+1]) || i > 0 && strings.IndexByte("./@-", text[i-1]) >= 0
		if !host && (i == 0 || !isAlnum(text[i-1])) && (len(told) == 0 || told[0] != stem) {
			told = append(told, stem)
		}
	}
	return told
}
