package structure

import (
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/finding"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/secret"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
)

// publishedOutside is the score of a documented example key that a request carries outside. It opens nothing, but nothing legitimate
// sends one either, and operators test their guards with it.
const publishedOutside = 0.82

// judgeHits weighs the signature hits that no parser above has explained.
func (j *judgement) judgeHits() {
	for _, h := range j.req.Hits {
		if int(h.View) >= len(j.req.Views) || h.Start >= h.End || int(h.End) > len(j.req.Views[h.View].Text) {
			continue
		}
		switch h.Threat {
		case v1.ThreatSecret:
			j.judgeSecret(h)
		case v1.ThreatExfiltration:
			j.judgeExfiltration(h)
		case v1.ThreatSSRF:
			j.judgeInside(h)
		}
	}
}

// judgeInside takes SSRF signatures of the operator at their word on requests; the built-in ones only add their name.
func (j *judgement) judgeInside(h *v1.Hit) {
	if !j.acts {
		return
	}
	at := finding.At(int(h.View), int(h.Start), int(h.End))
	if j.found.Name(v1.ThreatSSRF, at, h.Signature) {
		return
	}
	if !tagged(h, "check:url") {
		j.found.Add(v1.ThreatSSRF, h.Severity, h.Confidence, at, h.Signature, "matches a signature of requests that go inside")
	}
}

// judgeSecret grades a candidate.
func (j *judgement) judgeSecret(h *v1.Hit) {
	view := j.req.Views[h.View]
	if unlikelyCarrier(view.Name) {
		return
	}
	text := string(view.Text[h.Start:h.End])
	g, at := gradeHit(h, text)
	score := g.Score * min(h.Confidence/0.9, 1)
	if g.Published && score < 0.5 && j.acts && j.outside {
		score = publishedOutside
	}
	score = j.inURL(h, string(view.Text), score)
	if score <= 0 || tagged(h, "check:assign") && inHashList(string(view.Text), int(h.Start)) {
		return
	}
	at.View, at.Start, at.End = int(h.View), at.Start+int(h.Start), at.End+int(h.Start)
	j.found.Add(v1.ThreatSecret, v1.SeverityHigh, score, at, h.Signature, g.Why)
	j.leak(h, score, at)
}

// Scores of what unlocks nothing but the URL that it is a part of.
const (
	ownKey        = 0.45
	ownKeyRequest = 0.55
)

// keyIDs are parameters of signed URLs that name a key without giving it away. Source: the signing documentation of S3 and its kin.
var keyIDs = toolcall.SetOf("awsaccesskeyid xamzcredential xamzsecuritytoken googleaccessid xgoogcredential ossaccesskeyid accesskeyid xosscredential")

// inURL lowers the score of a value that is a parameter of a URL: reset links, signed addresses and access tokens of pictures belong to
// the URL itself. What only a vendor's generator writes stays what it is.
func (j *judgement) inURL(h *v1.Hit, text string, score float32) float32 {
	name, ok := parameterAt(text, int(h.Start), int(h.End))
	if !ok {
		return score
	}
	key := toolcall.PlainName(name)
	check := tagValue(h, "check:")
	switch {
	case keyIDs[key]:
		return 0
	case check == "assign" && j.acts:
		return min(score, ownKeyRequest)
	case check == "assign", check == "jwt" && accessKeys[key] && !j.acts:
		return min(score, ownKey)
	}
	return score
}

// parameterAt returns the name of the URL parameter that the range [start, end) belongs to.
func parameterAt(text string, start, end int) (string, bool) {
	from := max(0, start-lookBack*4)
	if i := strings.LastIndexAny(text[from:start], " \t\r\n\"'<>`"); i >= 0 {
		from += i + 1
	}
	if !strings.Contains(text[from:start], "://") || !strings.Contains(text[from:end], "?") {
		return "", false
	}
	pair := text[from:end]
	if i := strings.LastIndexAny(text[from:start], "?&;"); i >= 0 {
		pair = text[from+i+1 : end]
	} else if i := strings.LastIndexAny(pair, "?&"); i >= 0 {
		pair = pair[i+1:]
	}
	name, _, _ := strings.Cut(strings.TrimLeft(pair, "?&"), "=")
	return name, true
}

// leak adds the accusation that a request carries a credential outside.
func (j *judgement) leak(h *v1.Hit, score float32, at finding.Place) {
	if j.acts && j.outside && score >= 0.8 {
		j.found.Add(v1.ThreatExfiltration, v1.SeverityCritical, min(score, 0.9), at, h.Signature, "a request outside that carries a credential")
	}
}

// gradeHit grades the text of a hit by the check that its signature names. Without one, the signature's own confidence stands.
func gradeHit(h *v1.Hit, text string) (secret.Grade, finding.Place) {
	at := finding.Place{Start: 0, End: len(text)}
	switch tagValue(h, "check:") {
	case "token":
		return secret.Token(strip(text)), at
	case "assign":
		value, g := secret.Assignment(text)
		if i := strings.LastIndex(text, value); value != "" && i >= 0 {
			at.Start, at.End = i, i+len(value)
		}
		return g, at
	case "userinfo":
		return secret.UserInfo(text), at
	case "jwt":
		return secret.JWT(strip(text)), at
	case "pem":
		return secret.PEM(text), at
	case "netrc":
		_, g := secret.Assignment("password=" + text[strings.LastIndexAny(text, " \t")+1:])
		return g, at
	case "basic":
		return secret.Basic(text[strings.LastIndexAny(text, " \t:")+1:]), at
	}
	return secret.Grade{Score: h.Confidence, Why: "matches a signature of credentials"}, at
}

// strip drops what a pattern matched around a token to see its borders.
func strip(s string) string {
	return strings.Trim(s, " \t\r\n\"'`,;:()<>[]{}=|&")
}

// unlikelyCarrier reports readings in which a credential would not work.
func unlikelyCarrier(view string) bool {
	return strings.Contains(view, "leet") || strings.Contains(view, "rot13")
}

// inHashList reports a line of a lock file or checksum list, where long random strings are what they should be.
func inHashList(text string, at int) bool {
	from := strings.LastIndexByte(text[:at], '\n') + 1
	line := text[from:]
	if i := strings.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if len(line) > 2000 {
		return false
	}
	for _, mark := range []string{"sha512-", "sha256-", "sha384-", "sha1-", " h1:", "\"integrity\"", "checksum =", "--hash=sha256:", "sha256:",
		"@sha256", "resolved \"http"} {
		if i := strings.Index(line, mark); i >= 0 && from+i <= at {
			return true
		}
	}
	return false
}
