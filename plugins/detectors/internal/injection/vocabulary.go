package injection

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/text"
)

// What a word near a hit can mean. A word can be several of it.
const (
	negator    text.Meaning = 1 << iota // turns an order into a prohibition when it stands right before it
	double                              // undoes a negator: "do not forget to ignore ..."
	speaker                             // stands before what somebody else does or might do: "a page which ignores", "they may disregard"
	causing                             // makes an order of it again: "you will ...", "have it ..."
	commanding                          // before "to" keeps an infinitive an order: "I want you to ..."
	cue                                 // says that words are being talked about
	afterCue                            // does so behind them
	ruleKey                             // is a key of rules and lists of phrases. Keys whose values people and agents read, such as description, are none
	harmful                             // orders something that does harm, right behind an address
	steering                            // orders something that steers the answer, there
	nouning                             // makes a noun or a statement of the verb behind it: "the call", "issues you submit"
	infinitive                          // is the word "to"
)

// topicShift is where a word's topic group stands in its meaning: 0 for none, else the group's number plus one.
const topicShift = 16

// vocabulary knows the words of all lists below.
var vocabulary = func() text.Vocabulary {
	v := text.Vocabulary{"to": infinitive}
	for meaning, list := range lists {
		for w := range strings.FieldsSeq(list) {
			v[w] |= meaning
		}
	}
	for i, group := range topics {
		for w := range strings.FieldsSeq(group) {
			v[w] |= text.Meaning(i+1) << topicShift
		}
	}
	return v
}()

var lists = map[text.Meaning]string{
	negator: `not never don't dont doesn't didn't shouldn't mustn't cannot can't won't without avoid nor neither refuse nicht niemals nie keine ne jamais nunca não
		nao non mai не никогда niet nooit asla jangan`,
	double:  `forget hesitate fail only just merely afraid`,
	speaker: `which who they could would can might may we i he she it attackers users attacker adversaries people someone cannot does did doing of or`,
	causing: `you have let make get ensure that`,
	commanding: `you need must have is be are required please forget hesitate sure instructed ordered supposed going ought now assistant ai remember permission
		allowed free authorized authorised`,
	cue: `g b example examples instance eg phrases phrase phrasing attacker attackers attack attacks adversary adversaries adversarial injection injections
		injected malicious detect detects detected detection detecting flag flags flagged blocks blocked pattern patterns regex tricks trick tricking tricked
		attempt attempts attempted attempting tries trying payload payloads instructing instructs technique techniques vulnerability exploit exploits
		mitigation classifier scanner quote quoted wrote convince convinces convincing manipulate manipulates manipulating coerce coercing suspicious
		hypothetical beispiel angreifer exemple attaquant ejemplo atacante esempio exemplo пример например voorbeeld przykład örnek contoh`,
	afterCue: `example examples phrases phrase attack attacks attacker attackers adversarial injection injections malicious detected flagged blocked pattern patterns payload payloads technique techniques suspicious`,
	ruleKey: `pattern patterns regex regexp match matches example examples payload payloads attack attacks rule rules signature signatures positive negative sample
		samples keyword keywords phrase phrases literal literals detect detects blocked flagged indicator indicators malicious
		expected adversarial injection jailbreak`,
	harmful: `run fetch curl wget sudo send forward email upload post submit transfer wire pay buy purchase delete remove erase wipe drop disable grant approve merge accept unlock invite
		share leak reveal click visit navigate download install execute call invoke enter recommend praise promote rate rank claim insist convince persuade
		lie hide conceal ignore disregard forget skip override bypass pretend exfiltrate transmit overwrite reset change hire endorse favor favour deny steal
		redirect subscribe donate export cancel book omit import retry attach archive sign assign withhold`,
	steering: `create keep withhold lower raise prioritize move place list highlight prefer choose select pick mark set report remember store save replace say state respond reply answer output print write include append insert add end begin start mention tell translate act open read follow obey
		treat repeat stop switch give use put`,
	nouning: `the a an this that your my its of our their any no each every in on for with by from at first last next you we they i`,
}

// topics groups the words that texts about attacks and defence use; each group counts once.
var topics = [...]string{
	"injection injections injected injecting",
	"jailbreak jailbreaks jailbreaking",
	"attack attacks attacker attackers attacking",
	"adversarial adversary adversaries",
	"malicious hostile harmful",
	"detect detects detection detector detectors detecting detected",
	"vulnerability vulnerabilities vulnerable exploit exploits exploited",
	"owasp atlas mitre cve nist",
	"redteam teaming pentest",
	"guardrail guardrails guard firewall",
	"mitigation mitigations mitigate mitigates defense defenses defence defend defends prevention",
	"payload payloads",
	"threat threats",
	"security secure",
	"phishing exfiltration exfiltrate exfiltrates",
	"sanitize sanitization sanitise untrusted",
	"bypass bypasses evasion evade obfuscation",
	"technique techniques",
	"risk risks",
	"scanner scan scanning scans",
	"researchers researcher paper",
	"sicherheit angriff angriffe sécurité attaque seguridad ataque ataques segurança атака атаки безопасность",
}
