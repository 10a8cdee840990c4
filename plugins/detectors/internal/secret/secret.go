// Package secret tells real credentials from the many strings that only look like them: placeholders, references to a variable,
// published examples, hashes.
//
// Where a candidate is, the signature packs say; this package grades what was found. It keeps nothing and logs nothing.
package secret

import "strings"

// Grade is the judgement of one candidate.
type Grade struct {
	// Score is how likely the candidate is a working credential, 0 to 1.
	Score float32
	// Published is set for examples that vendors print in their documentation, and for values that call themselves fake. They open
	// nothing, but a payload that carries one outside is how operators test their guards.
	Published bool
	// Why is a short phrase for a person; it never holds the value.
	Why string
}

// Scores. A format that only a vendor's generator writes is near proof; a value next to the word "password" is a guess that its
// shape must support.
const (
	scoreChecksum = 0.99
	scoreFormat   = 0.93
	scoreShape    = 0.88
	scorePlain    = 0.55 // a value that a person could have made up for a document
)

// none is the grade of what is no secret.
var none = Grade{}

// Token grades a value in a vendor's format, such as "ghp_..." as a whole.
func Token(v string) Grade {
	v = strings.Trim(v, " \t\r\n\"'`,;:()<>[]{}=")
	switch {
	case published(v):
		return Grade{Published: true, Why: "published example of a credential"}
	case reference(v) || strings.ContainsAny(v, "<>{}()$ "):
		return none
	case githubChecksum(v):
		return Grade{Score: scoreChecksum, Why: "credential with a valid checksum"}
	case dull(body(v)):
		return Grade{Published: saysFake(v), Why: "placeholder in the format of a credential"}
	}
	return Grade{Score: scoreFormat, Why: "credential in a vendor's format"}
}

// body is what follows the vendor's prefix.
func body(v string) string {
	for i := 0; i < len(v) && i < 24; i++ {
		if c := v[i]; c == '_' || c == '-' || c == '.' {
			if rest := v[i+1:]; len(rest) >= 12 {
				v, i = rest, -1
			}
		}
	}
	return v
}

// fakeWords are what people write into a value to say that it is none. Chance puts one of them into a random token of 40 characters
// once in some thousands.
var fakeWords = []string{
	"example", "sample", "dummy", "placeholder", "changeme", "change_me", "change-me", "your_", "your-", "yourkey", "yourtoken", "yoursecret", "yourapi", "redacted", "insert", "replace",
	"fake", "xxxx", "....", "****", "foobar", "abcdefghijklmn", "0123456789", "1234567890", "deadbeef", "not-a-real", "notreal", "invalid", "masked", "removed", "_here", "-here", "mytoken", "mysecret", "my-secret",
}

// saysFake reports a value that calls itself an example.
func saysFake(v string) bool {
	v = strings.ToLower(v)
	for _, w := range fakeWords {
		if strings.Contains(v, w) {
			return true
		}
	}
	return false
}

// publishedParts are parts of credentials that vendors and standards print in their documentation.
var publishedParts = []string{
	"SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c", "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U", "POstGetfAytaZS82wHcjoTyoqhMyxXiWdR7Nn7A29DNSl0EiXLdwJ6xC6AfgZWF1bOsS", // jwt.io, RFC 7519
	"YWxhZGRpbjpvcGVuc2VzYW1l", "QWxhZGRpbjpvcGVuIHNlc2FtZQ", // RFC 7617
	"2YotnFZFEjr1zCsicMWpAA", "tGzv3JOkF0XG5Qx2TlKWIA", "SlAV32hkKG", "mF_9.B5f-4.1JqM", // RFC 6749, RFC 6750
	"TJVA95OrM7E2cBab30RMHrHDcEfxjoYZgeFONFh7HgQ", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", // jwt.io, RFC 7515
	"4eC39HqLyjWDarjtT1zdp7dc", "tGN0bIwXnHdwOa85VABjPdSn8nWY7G7I", // Stripe's documentation
}

// published reports a credential known from documentation.
func published(v string) bool {
	if strings.HasSuffix(v, "EXAMPLE") || strings.HasSuffix(v, "EXAMPLEKEY") {
		return true
	}
	for _, p := range publishedParts {
		if strings.Contains(v, p) {
			return true
		}
	}
	return false
}

// reference reports a value that names where the secret is kept instead of being one: a variable, a call, a template.
func reference(v string) bool {
	if v == "" || v[0] == '$' || v[0] == '<' || v[0] == '{' || v[0] == '[' {
		return true
	}
	for _, mark := range []string{"${", "$(", "{{", "%(", "...", "…", "***", "()", "(\"", "('"} {
		if strings.Contains(v, mark) {
			return true
		}
	}
	open := strings.IndexByte(v, '(')
	return open > 0 && isName(v[:open])
}

// dull reports a value without the variety that a generator gives: repeated characters, runs, words.
func dull(v string) bool {
	if len(v) < 8 {
		return true
	}
	var seen [256]bool
	distinct, runs := 0, 0
	for i := 0; i < len(v); i++ {
		if !seen[v[i]] {
			seen[v[i]] = true
			distinct++
		}
		if i > 0 && (v[i] == v[i-1] || v[i] == v[i-1]+1 || v[i]+1 == v[i-1]) {
			runs++
		}
	}
	return distinct < 6 || distinct*5 < min(len(v), 60) || runs*5 > len(v)*2 || saysFake(v)
}

// isName reports what a program could call: letters, digits, dots and underscores.
func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !(c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '.') {
			return false
		}
	}
	return true
}
