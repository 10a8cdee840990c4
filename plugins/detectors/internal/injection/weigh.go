package injection

import (
	"math"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

// clue is one hit after its context was weighed.
type clue struct {
	role       role
	start, end int
	worth      float64 // log-odds above the prior; 0: nothing is left of it
	mention    bool
	copied     bool // found in an earlier view too
	signature  string
	threat     v1.Threat
}

// Distances, in bytes, over which clues speak of the same attack.
const (
	span       = 900  // documents: about two paragraphs
	promptSpan = 2600 // prompts: one person wrote all of it to one end
)

func spanOf(kind v1.PayloadKind) int {
	if kind == v1.PayloadKindUserPrompt {
		return promptSpan
	}
	return span
}

// What circumstances are worth, in log-odds.
const (
	hiddenWorth  = 1.6  // nobody but a machine reads it
	encodedWorth = 0.7  // somebody took the trouble to encode it
	unspokenCost = -1   // all of it is rather spoken about than spoken
	againWorth   = 0.45 // the share of further clues of a role that has one already
	againMost    = 1.2
)

// pair is a combination of roles that says more than its parts.
type pair struct {
	roles set
	worth float64
}

var pairs = []pair{
	{of(override, hijack), 0.7}, {of(override, action), 0.7}, {of(override, extract), 0.5}, {of(override, persona), 0.5},
	{of(secrecy, action), 1.2}, {of(secrecy, hijack), 0.6}, {of(secrecy, trigger), 0.4},
	{of(addressee, action), 0.9}, {of(addressee, hijack), 0.5}, {of(addressee, secrecy), 0.6}, {of(addressee, extract), 0.5}, {of(addressee, override), 0.5},
	{of(authority, action), 0.6}, {of(authority, extract), 0.7}, {of(authority, hijack), 0.4},
	{of(markup, action), 0.7}, {of(markup, override), 0.6}, {of(markup, hijack), 0.5}, {of(markup, extract), 0.5}, {of(markup, addressee), 0.3},
	{of(hijack, action), 0.5}, {of(trigger, action), 0.5}, {of(trigger, override), 0.4},
	{of(persona, unlock), 0.8}, {of(trigger, unlock), 0.3}, {of(override, unlock), 0.5},
}

// grave roles are those without which a text is no attack, however much it speaks to assistants: guidance for agents, prompts of
// role-players and manuals of chat interfaces are made of all the others.
var grave = of(override, extract, action, unlock, secrecy, other)

// graveHidden roles are grave too where nobody sees them.
var graveHidden = of(hijack, authority)

// graveWorth is what a persona must be worth to be grave by itself: names of known jailbreaks are, a tour guide is not.
const graveWorth = 2.4

// graveMarkup is the same for markup: a chat template's system turn in a message or a tool's answer, but not in a manual.
const graveMarkup = 3.0

// company counts the roles with strong evidence.
func (t *tally) company() (n int) {
	for r := range roles {
		if t.best[r] >= strongWorth {
			n++
		}
	}
	return n
}

// companyOf returns how many mild roles must come together to be grave. Documents are often guidance written for agents, so there it takes
// one more, unless they put on another voice than their author's.
func companyOf(kind v1.PayloadKind, has set) int {
	switch kind {
	case v1.PayloadKindUserPrompt:
		return int(roles)
	case v1.PayloadKindDoc, v1.PayloadKindCode:
		if !has.any(of(markup, authority)) {
			return 3
		}
	}
	return 2
}

// strongWorth is the least evidence that counts in company and in pairs.
const strongWorth = 0.9

// Caps on what a text without a grave role or a second one can reach.
const (
	mildCap       = 0.72 // ambiguous
	mildPromptCap = 0.45 // clear: users may ask for roles and formats
)

// tally is the sum of the clues in a window.
type tally struct {
	best   [roles]float64
	second [roles]float64
	sig    [roles]string
	has    set
	fresh  bool // something here was not seen in an earlier view
	spoken bool // something here is not just a mention
}

func (t *tally) add(c *clue) {
	t.fresh = t.fresh || !c.copied
	if c.worth <= 0 {
		return
	}
	t.spoken = t.spoken || !c.mention
	t.has = t.has.with(c.role)
	switch r := c.role; {
	case c.signature == t.sig[r]:
		t.best[r] = max(t.best[r], c.worth)
	case c.worth > t.best[r]:
		t.second[r], t.best[r], t.sig[r] = t.best[r], c.worth, c.signature
	default:
		t.second[r] = max(t.second[r], c.worth)
	}
}

// odds returns the log-odds that the window is an attack.
func (t *tally) odds(kind v1.PayloadKind, hidden, encoded bool) float64 {
	if t.has == 0 || !t.fresh {
		return math.Inf(-1)
	}
	sum, strong := prior, set(0)
	for r := range roles {
		if t.best[r] <= 0 {
			continue
		}
		sum += t.best[r] + min(againMost, againWorth*t.second[r])
		if t.best[r] >= strongWorth {
			strong = strong.with(r)
		}
	}
	for _, p := range pairs {
		if strong.all(p.roles) {
			sum += p.worth
		}
	}
	if hidden {
		sum += hiddenWorth
	}
	if !t.spoken {
		sum += unspokenCost
	}
	if encoded {
		sum += encodedWorth
	}
	return min(sum, t.ceiling(kind, hidden))
}

// ceiling is the most that a window can reach.
func (t *tally) ceiling(kind v1.PayloadKind, hidden bool) float64 {
	switch {
	case t.has.any(grave), t.best[persona] >= graveWorth && !hidden, t.best[markup] >= graveMarkup, hidden && (t.company() >= 2 || t.has.any(graveHidden)), t.company() >= companyOf(kind, t.has):
		return logit(0.99)
	case kind == v1.PayloadKindUserPrompt:
		return logit(mildPromptCap)
	}
	return logit(mildCap)
}

// threat names what the window is: a jailbreak if it is more about identity and rules than about orders.
func (t *tally) threat() v1.Threat {
	j := t.best[persona] + t.best[unlock]
	i := t.best[override] + t.best[extract] + t.best[action] + t.best[secrecy] + t.best[hijack] + t.best[addressee]
	if j > i {
		return v1.ThreatJailbreak
	}
	return v1.ThreatPromptInjection
}
