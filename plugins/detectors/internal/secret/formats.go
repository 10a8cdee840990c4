package secret

import (
	"encoding/base64"
	"encoding/hex"
	"hash/crc32"
	"strings"
)

// UserInfo grades scheme://user:password@host as a pattern found it.
func UserInfo(text string) Grade {
	_, rest, ok := strings.Cut(text, "://")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return none
	}
	user, pass, ok := strings.Cut(rest[:at], ":")
	pass = unescape(pass)
	if !ok || pass == "" || reference(pass) || wordLike(user, pass) {
		return none
	}
	if published(pass) || saysFake(pass) {
		return Grade{Published: true, Why: "placeholder for a password in a URL"}
	}
	host := strings.ToLower(rest[at+1:])
	local := strings.HasPrefix(host, "localhost") || strings.HasPrefix(host, "127.") || strings.HasPrefix(host, "host")
	s := shapeOf(pass)
	switch {
	case len(pass) >= 8 && s.random() && !dull(pass), len(pass) >= 10 && s.classes() >= 3 && s.digit > 0, len(pass) >= 10 && mixedCase(pass, 2):
		return Grade{Score: scoreFormat, Why: "password in a URL"}
	case local || s.digit == 0 && s.symbol == 0:
		return Grade{Score: scorePlain - 0.25, Why: "plain password in a URL"}
	}
	return Grade{Score: scorePlain + 0.05, Why: "plain password in a URL"}
}

// unescape decodes %XX; malformed escapes stay.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := hex.DecodeString(s[i+1 : i+3]); err == nil {
				b.Write(c)
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// wordLike reports user:password pairs that documents use.
func wordLike(user, pass string) bool {
	lower := strings.ToLower(pass)
	return dullValues[lower] || strings.EqualFold(user, pass) || strings.HasPrefix(lower,
		"pass") && len(lower) < 12 || lower == "pw" || lower == "pwd" || len(pass) < 3 || strings.Contains(pass, "[")
}

// longPayload is from where a token is believed without its signature, which stands too far away to be seen.
const longPayload = 480

// JWT grades header.payload.signature: the header must decode to a JSON object that names an algorithm.
func JWT(v string) Grade {
	header, rest, ok := strings.Cut(v, ".")
	if !ok || published(v) {
		return Grade{Published: ok, Why: "published example of a token"}
	}
	raw, err := base64.RawURLEncoding.DecodeString(header)
	head := string(raw)
	if err != nil || !strings.HasPrefix(head, "{") || !strings.Contains(head, `"alg"`) && !strings.Contains(head, `"enc"`) {
		return none
	}
	payload, sig, _ := strings.Cut(rest, ".")
	if len(payload) >= longPayload && strings.HasPrefix(payload, "eyJ") && !dull(payload) {
		return Grade{Score: scoreFormat, Why: "long token"}
	}
	if dull(payload) || len(sig) < 16 || dull(sig) {
		return Grade{Score: scorePlain, Published: saysFake(sig), Why: "token without a full signature"}
	}
	return Grade{Score: scoreFormat, Why: "signed token"}
}

// minKeyBody is how many base64 characters make a private key: an Ed25519 key has 64.
const minKeyBody = 60

// armour is what stands between the lines of a key, also where it is quoted.
var armour = strings.NewReplacer(`\n`, "", `\r`, "", "\n", "", "\r", "", " ", "", `"`, "", "\t", "", ">", "", "#", "")

// PEM grades an armoured private key: the body must be there.
func PEM(text string) Grade {
	start := strings.Index(text, "-----BEGIN")
	if start < 0 {
		return none
	}
	_, rest, ok := strings.Cut(text[start+10:], "-----")
	if !ok {
		return none
	}
	if i := strings.Index(rest, "-----END"); i >= 0 {
		rest = rest[:i]
	}
	keep := armour.Replace(rest)
	n := 0
	for n < len(keep) && isBase64(keep[n]) {
		n++
	}
	switch {
	case n < minKeyBody:
		return Grade{Score: 0.3, Why: "header of a private key without the key"}
	case dull(keep[:n]) && !strings.HasPrefix(keep, "b3BlbnNzaC1rZXk"):
		return Grade{Published: true, Why: "private key block with a placeholder in it"}
	}
	return Grade{Score: scoreFormat + 0.04, Why: "private key"}
}

func isBase64(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_' || c == '='
}

// Basic grades the base64 of user:password from an Authorization header.
func Basic(v string) Grade {
	raw, err := base64.StdEncoding.DecodeString(padded(v))
	if err != nil {
		return none
	}
	user, pass, ok := strings.Cut(string(raw), ":")
	if !ok || !printable(raw) {
		return none
	}
	if published(v) || wordLike(user, pass) || reference(pass) || saysFake(pass) {
		return Grade{Published: true, Why: "placeholder in a basic authorization header"}
	}
	if wordsOnly(pass) && !mixedCase(pass, 2) {
		return Grade{Score: scorePlain, Why: "user and plain password in a basic authorization header"}
	}
	return Grade{Score: scoreShape, Why: "user and password in a basic authorization header"}
}

func padded(v string) string {
	v = strings.TrimRight(v, "=")
	return v + strings.Repeat("=", (4-len(v)%4)%4)
}

func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// githubChecksum verifies the last six characters of a GitHub token: the CRC-32 of the rest in base 62.
//
// Source: "Behind GitHub's new authentication token formats", github.blog, 2021.
func githubChecksum(v string) bool {
	if len(v) != 40 || v[:2] != "gh" || v[3] != '_' {
		return false
	}
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	sum := crc32.ChecksumIEEE([]byte(v[4:34]))
	var want [6]byte
	for i := 5; i >= 0; i-- {
		want[i] = alphabet[sum%62]
		sum /= 62
	}
	return v[34:] == string(want[:])
}
