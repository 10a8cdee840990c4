package injection

import (
	"bytes"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/text"
)

func words(list ...string) map[string]bool {
	m := make(map[string]bool, len(list))
	for _, w := range list {
		m[w] = true
	}
	return m
}

var (
	// negators turn an order into a prohibition when they stand right before it.
	negators = words("not", "never", "don't", "dont", "doesn't", "didn't", "shouldn't", "mustn't", "cannot", "can't", "won't", "without", "avoid", "nor", "neither", "refuse",
		// Of other languages, where they come before the verb.
		"nicht", "niemals", "nie", "keine", "ne", "jamais", "nunca", "não", "nao", "non", "mai", "не", "никогда", "niet", "nooit", "asla", "jangan", "nie")
	// doubles undo a negator: "do not forget to ignore ...".
	doubles = words("forget", "hesitate", "fail", "only", "just", "merely", "afraid")
	// speakers stand before an order that somebody else gives or might give: "a page may ignore ...", "they disregard ...".
	speakers = words("which", "who", "they", "could", "would", "can", "might", "may", "we", "i", "he", "she", "it", "attackers", "users", "attacker", "adversaries", "people", "someone",
		"cannot", "does", "did", "doing", "of", "or")
	// causing words before a speaker keep the order an order: "you will ...", "have it ...", "make them ...".
	causing = words("you", "have", "let", "make", "get", "ensure", "that")
	// commanding words before "to" keep an infinitive an order: "I want you to ...", "you need to ...", "your task is to ...".
	commanding = words("you", "need", "must", "have", "is", "be", "are", "required", "please", "forget", "hesitate", "sure", "instructed", "ordered", "supposed", "going", "ought", "now",
		"assistant", "ai", "remember", "permission", "allowed", "free", "authorized", "authorised")
	// cues say that words are being talked about.
	cues = words("example", "examples", "instance", "eg", "phrases", "phrase", "phrasing", "attacker", "attackers", "attack", "attacks", "adversary", "adversaries", "adversarial",
		"injection", "injections", "injected", "malicious", "detect", "detects", "detected", "detection", "detecting", "flag", "flags", "flagged", "blocks", "blocked", "pattern", "patterns", "regex",
		"tricks", "trick", "tricking", "tricked", "attempt", "attempts", "attempted", "attempting", "tries", "trying", "payload", "payloads", "instructing", "instructs", "technique", "techniques", "vulnerability", "exploit", "exploits", "mitigation", "classifier", "scanner", "quote", "quoted", "wrote",
		"convince", "convinces", "convincing", "manipulate", "manipulates", "manipulating", "coerce", "coercing", "suspicious", "hypothetical", "e.g",
		"beispiel", "angreifer", "exemple", "attaquant", "ejemplo", "atacante", "esempio", "exemplo", "пример", "например", "voorbeeld", "przykład", "örnek", "contoh")
	// afterCues are those of them that speak of what stands before them.
	afterCues = words("example", "examples", "phrases", "phrase", "attack", "attacks", "attacker", "attackers", "adversarial", "injection", "injections", "malicious", "detected", "flagged",
		"blocked", "pattern", "patterns", "payload", "payloads", "technique", "techniques", "vulnerability", "exploit", "suspicious")
	// ruleKeys are the keys of rules and lists of phrases. Keys whose values people and agents read, such as description, are none.
	ruleKeys = words("pattern", "patterns", "regex", "regexp", "match", "matches", "example", "examples", "payload", "payloads", "attack", "attacks", "rule", "rules", "signature", "signatures",
		"positive", "negative", "sample", "samples", "keyword", "keywords", "phrase", "phrases", "literal", "literals", "detect", "detects", "blocked", "flagged", "indicator", "indicators",
		"malicious", "true_positive", "true_positives", "false_positive", "expected", "adversarial", "injection", "jailbreak")
)

// topics groups the words that texts about attacks and defence use; each group counts once.
var topics = func() map[string]uint {
	m := map[string]uint{}
	for i, group := range [][]string{
		{"injection", "injections", "injected", "injecting"}, {"jailbreak", "jailbreaks", "jailbreaking"}, {"attack", "attacks", "attacker", "attackers", "attacking"},
		{"adversarial", "adversary", "adversaries"}, {"malicious", "hostile", "harmful"}, {"detect", "detects", "detection", "detector", "detectors", "detecting", "detected"},
		{"vulnerability", "vulnerabilities", "vulnerable", "exploit", "exploits", "exploited"}, {"owasp", "atlas", "mitre", "cve", "nist"}, {"redteam", "red-team", "teaming", "pentest"},
		{"guardrail", "guardrails", "guard", "firewall"}, {"mitigation", "mitigations", "mitigate", "mitigates", "defense", "defenses", "defence", "defend", "defends", "prevention"},
		{"payload", "payloads"}, {"threat", "threats"}, {"security", "secure"}, {"phishing", "exfiltration", "exfiltrate", "exfiltrates"}, {"sanitize", "sanitization", "sanitise", "untrusted"},
		{"bypass", "bypasses", "evasion", "evade", "obfuscation"}, {"technique", "techniques"}, {"risk", "risks"}, {"scanner", "scan", "scanning", "scans"}, {"researchers", "researcher", "paper"},
		{"sicherheit", "angriff", "angriffe", "sécurité", "attaque", "seguridad", "ataque", "ataques", "segurança", "атака", "атаки", "безопасность"},
	} {
		for _, w := range group {
			m[w] = uint(i)
		}
	}
	return m
}()

// led judges the words right before start, as far as no sign separates them: is the order forbidden, or is it somebody else's?
func (p *page) led(start, low int) (negated, reported bool) {
	low = max(low, start-leadReach)
	var w, prev text.Word
	for at, n := start, 0; n < 4 && text.Before(p.text, at, low, &w); n++ {
		if bytes.ContainsAny(p.text[w.Start:at], ",;:()!?.\"") {
			break
		}
		at = w.Start
		switch {
		case w.In(doubles):
			return false, false
		case w.In(negators):
			return true, reported
		case n == 0 && w.Is("to"):
			reported = !text.Before(p.text, at, low, &prev) || !prev.In(commanding)
		case n == 0 && w.In(speakers):
			reported = !text.Before(p.text, at, low, &prev) || !prev.In(causing)
		}
	}
	return false, reported
}

// cued reports whether a word in [from, to) is one of set: it says that words are being talked about.
func (p *page) cued(from, to int, set map[string]bool) bool {
	var w text.Word
	for at := from; at < to; {
		if at = text.After(p.text, at, to, &w); at < 0 {
			return false
		}
		if w.In(set) && !p.inName(w.Start, at) {
			return true
		}
	}
	return false
}

// inName reports whether the word [from, to) is a part of an address, a path or an identifier: "example" in evil.example.com is no cue.
func (p *page) inName(from, to int) bool {
	t := p.text
	return from > 0 && bytes.IndexByte(nameSigns, t[from-1]) >= 0 ||
		to+1 < len(t) && bytes.IndexByte(nameSigns, t[to]) >= 0 && text.Letter(t[to+1])
}

var nameSigns = []byte("./@_-\\&=?%")

// listed reports whether the hit is an entry of a list of phrases, a table or a rule.
func (p *page) listed(start int, q text.Quote, quoted bool) bool {
	line := max(lineStart(p.text, start), start-sentenceReach)
	head := bytes.TrimLeft(p.text[line:start], " \t")
	if len(head) > 0 && head[0] == '|' {
		return true
	}
	if c := bytes.LastIndexByte(head, ':'); c > 0 {
		var w text.Word
		if text.Before(head, c, max(0, c-leadReach), &w) && w.In(ruleKeys) && len(bytes.Trim(head[:w.Start], " \t-\"'{,")) == 0 {
			return true
		}
	}
	if !quoted || q.Code || q.Open < line {
		return false
	}
	lead := bytes.TrimRight(p.text[line:q.Open], " \t")
	return len(lead) > 0 && bytes.IndexByte([]byte("-*,[."), lead[len(lead)-1]) >= 0
}

// topic counts the groups of words about attacks and defence around a hit.
func (p *page) topic(start, end int) int {
	low, high := max(0, start-topicReach), min(len(p.text), end+topicReach)
	var seen uint64
	n := 0
	var w text.Word
	for at := low; at < high && n < topicMost; {
		if at >= start && at < end {
			at = end // the hit's own words prove nothing
		}
		if at = text.After(p.text, at, high, &w); at < 0 {
			break
		}
		if i, ok := text.Key(&w, topics); ok && seen>>i&1 == 0 {
			seen |= 1 << i
			n++
		}
	}
	return n
}
