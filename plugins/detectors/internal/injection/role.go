package injection

import (
	"math"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// role is what a hit contributes to an attack. Signatures carry it as a tag, "role:override"; the packs injection-* and jailbreak-*
// describe each role.
type role uint8

const (
	other     role = iota // a hit without a role tag: it stands for itself
	override              // cancels earlier instructions
	extract               // asks for prompts, rules, secrets
	persona               // makes the assistant somebody else
	unlock                // takes rules and refusals away
	secrecy               // keeps the user in the dark
	action                // commands that misuse tools
	markup                // pretends to be a role label or the end of the data
	addressee             // speaks to the assistant that reads
	authority             // speaks as developer, operator or system
	hijack                // takes over the output
	trigger               // makes orders last, or sleep
	roles                 // how many there are
)

var roleNames = [roles]string{"other", "override", "extract", "persona", "unlock", "secrecy", "action", "markup", "addressee", "authority", "hijack", "trigger"}

// says is each role in the words of a finding's reason.
var says = [roles]string{
	"matches a signature of this kind", "cancels earlier instructions", "asks for hidden instructions or secrets", "gives the assistant another identity",
	"takes away rules or refusals", "hides something from the user", "orders a harmful use of tools", "imitates chat markup or a boundary",
	"speaks to the assistant", "claims authority", "takes over the answer", "sets a lasting or sleeping order",
}

// roleOf reads the role tag of a hit.
func roleOf(tags []string) role {
	for _, t := range tags {
		name, ok := strings.CutPrefix(t, "role:")
		if !ok {
			continue
		}
		for r := range roles {
			if roleNames[r] == name {
				return r
			}
		}
	}
	return other
}

// set is a set of roles.
type set uint16

func of(rs ...role) (s set) {
	for _, r := range rs {
		s |= 1 << r
	}
	return s
}

func (s set) has(r role) bool  { return s>>r&1 != 0 }
func (s set) any(of set) bool  { return s&of != 0 }
func (s set) all(of set) bool  { return s&of == of }
func (s set) with(r role) set  { return s | 1<<r }
func logit(p float64) float64  { return math.Log(p / (1 - p)) }
func chance(l float64) float64 { return 1 / (1 + math.Exp(-l)) }

// described roles are told of in the third person by nature: "Zed never refuses", "any agent that reads this".
var described = of(persona, unlock, markup, addressee, authority)

// prior is the log-odds of an attack before any evidence: one text in ten of those that wake this detector.
var prior = logit(0.1)

// evidence is how far a hit of this confidence moves the log-odds away from the prior. A signature's confidence says how often its match
// alone is an attack, so a single plain hit ends up at exactly that.
func evidence(confidence float32) float64 {
	return max(0, logit(min(max(float64(confidence), 0.02), 0.98))-prior)
}

// weights scale a role's evidence by the kind of payload. What a user types to an assistant is full of requests, roles and formats, and
// those are for the assistant; in a document, a page or a tool's answer the same words have no business there.
var weights = map[v1.PayloadKind][roles]float64{
	v1.PayloadKindUserPrompt: {other: 1, override: 1, extract: 1, persona: 0.75, unlock: 1, secrecy: 0.4, action: 0.25, markup: 0.8, addressee: 0.35, authority: 0.8, hijack: 0.5, trigger: 0.5},
	v1.PayloadKindDoc:        {other: 1, override: 1, extract: 0.85, persona: 0.8, unlock: 0.9, secrecy: 1, action: 1, markup: 0.8, addressee: 0.9, authority: 1, hijack: 0.9, trigger: 0.9},
	v1.PayloadKindCode:       {other: 1, override: 1, extract: 0.8, persona: 0.8, unlock: 0.9, secrecy: 1, action: 0.8, markup: 0.6, addressee: 0.8, authority: 0.8, hijack: 0.7, trigger: 0.8},
}

// everyRole is the weight of all roles in the other kinds.
var everyRole = func() (w [roles]float64) {
	for r := range w {
		w[r] = 1
	}
	return w
}()

func weightsOf(kind v1.PayloadKind) *[roles]float64 {
	if w, ok := weights[kind]; ok {
		return &w
	}
	return &everyRole
}
