package injection

import (
	"bytes"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/text"
)

// Words that tell an agent to do something. Signatures know the telling phrases; these single verbs count only right behind wording that
// speaks to the assistant, where whatever is ordered is ordered of it.
var (
	harmful = words("send", "forward", "email", "e-mail", "upload", "post", "submit", "transfer", "wire", "pay", "buy", "purchase", "delete", "remove", "erase", "wipe", "drop",
		"disable", "grant", "approve", "merge", "accept", "unlock", "invite", "share", "leak", "reveal", "click", "visit", "navigate", "download", "install", "execute", "call", "invoke",
		"enter", "recommend", "praise", "promote", "rate", "rank", "claim", "insist", "convince", "persuade", "lie", "hide", "conceal", "ignore", "disregard", "forget", "skip",
		"override", "bypass", "pretend", "exfiltrate", "transmit", "overwrite", "reset", "change", "hire", "endorse", "favor", "favour", "deny", "steal", "redirect", "subscribe", "donate", "export", "cancel", "book", "omit", "import", "retry", "attach", "archive", "sign", "assign", "withhold")
	steering = words("say", "state", "respond", "reply", "answer", "output", "print", "write", "include", "append", "insert", "add", "end", "begin", "start", "mention", "tell", "translate", "act",
		"open", "run", "read", "follow", "obey", "treat", "repeat", "stop", "fetch", "switch", "give", "use", "put")
	// nouning words make a noun or a statement of what follows: "the call", "your answer", "issues you submit".
	nouning = words("the", "a", "an", "this", "that", "your", "my", "its", "of", "our", "their", "any", "no", "each", "every", "in", "on", "for", "with", "by", "from", "at", "first", "last", "next",
		"you", "we", "they", "i")
)

// What an order is worth, in log-odds.
const (
	harmfulWorth  = 1.5
	steeringWorth = 0.9
	orderReach    = 260 // bytes behind the address in which it is looked for
	addressWorth  = 1.5 // what the address itself must be worth: "you are an AI agent" describes, "note to AI agents" addresses
)

// order looks for a verb that orders something in and behind [start, end), which speaks to the assistant, within the same paragraph.
func (p *page) order(start, end int) (r role, from, to int, worth float64) {
	high := end + p.orderEnd(end)
	var w text.Word
	for at := start; at < high; {
		next := text.After(p.text, at, high, &w)
		if next < 0 {
			break
		}
		at = next
		kind, gain := other, 0.0
		switch {
		case w.In(harmful):
			kind, gain = action, harmfulWorth
		case w.In(steering):
			kind, gain = hijack, steeringWorth
		}
		if gain <= worth || p.nouned(w.Start, start) || p.inName(w.Start, next) {
			continue
		}
		if negated, reported := p.led(w.Start, start); negated || reported {
			continue
		}
		r, from, to, worth = kind, w.Start, next, gain
	}
	return r, from, to, worth
}

// orderEnd returns how many bytes behind at belong to what is said there: to the end of the comment, element or paragraph.
func (p *page) orderEnd(at int) int {
	t := p.text[at:min(len(p.text), at+orderReach)]
	for _, stop := range [...]string{"-->", "</", "*/"} {
		if i := bytes.Index(t, []byte(stop)); i >= 0 {
			t = t[:i]
		}
	}
	if i := bytes.Index(t, []byte("\n\n")); i > 40 { // an address may be a heading
		t = t[:i]
	}
	return len(t)
}

// nouned reports whether the word before at makes a noun of the one at at.
func (p *page) nouned(at, low int) bool {
	var w text.Word
	return text.Before(p.text, at, low, &w) && w.In(nouning) && !bytes.ContainsAny(p.text[w.Start:at], ",;:.!?")
}
