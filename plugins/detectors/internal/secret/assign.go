package secret

import "strings"

// maxValue bounds how much of a value is looked at.
const maxValue = 512

// Assignment grades "key = value" text as a pattern found it, key first: "DB_PASSWORD=...", "password: '...'", "--token ...",
// "<secret>...</secret>". It returns the value too, as a part of text, so that a caller can point at it.
func Assignment(text string) (value string, g Grade) {
	key, value := cutAssignment(text)
	if value == "" {
		return "", none
	}
	return value, gradeValue(strings.ToLower(key), value)
}

// cutAssignment splits at the separator and takes the quotes off the value.
func cutAssignment(text string) (key, value string) {
	i := strings.IndexAny(text, "=:>")
	if j := strings.Index(text, "："); j >= 0 && (i < 0 || j < i) {
		return text[:j], unquote(text[j+len("："):])
	}
	if i < 0 {
		i = strings.IndexAny(text, " \t")
	}
	if i < 0 {
		return text, ""
	}
	return text[:i], unquote(strings.TrimLeft(text[i:], "=:> \t"))
}

// unquote returns the inside of the quotes that v starts with, or v up to where an unquoted value ends.
func unquote(v string) string {
	v = strings.TrimLeft(v, " \t\\")
	if len(v) > maxValue {
		v = v[:maxValue]
	}
	for _, escape := range []string{`\n`, `\r`, `\t`, `\"`} { // the text may stand inside a quoted string
		if i := strings.Index(v, escape); i > 0 {
			v = v[:i]
		}
	}
	if v == "" {
		return ""
	}
	if q := v[0]; q == '"' || q == '\'' || q == '`' {
		v = v[1:]
		if i := strings.IndexByte(v, q); i >= 0 {
			v = v[:i]
		}
		return strings.TrimRight(v, `\`)
	}
	if i := strings.IndexAny(v, " \t\r\n\"'`,;<|&"); i >= 0 {
		v = v[:i]
	}
	return strings.TrimRight(v, ".)]}\\")
}

// dullValues are what documents and development set-ups put next to "password".
var dullValues = map[string]bool{
	"password": true, "passwd": true, "secret": true, "token": true, "admin": true, "root": true, "test": true, "testing": true, "guest": true,
	"user": true, "postgres": true, "mysql": true, "redis": true,
	"none": true, "null": true, "nil": true, "true": true, "false": true, "undefined": true, "empty": true, "string": true, "required": true,
	"optional": true, "default": true, "letmein": true, "hunter2": true, "qwerty": true,
	"passw0rd": true, "password1": true, "password123": true, "secret123": true, "test1234": true, "admin123": true, "mypassword": true,
	"mysecretpassword": true, "p@ssw0rd": true, "p@ssword": true, "pass": true,
}

func gradeValue(key, v string) Grade {
	switch {
	case published(v):
		return Grade{Published: true, Why: "published example of a credential"}
	case reference(v) || len(v) < 6 || dullValues[strings.ToLower(v)]:
		return none
	case code(v):
		return gradeWord(key, v)
	case saysFake(v):
		return Grade{Published: true, Why: "placeholder where a credential belongs"}
	}
	s := shapeOf(v)
	if s.space || s.wide && s.len() < 6 {
		return none
	}
	if forPassword(key) {
		return gradePassword(v, s)
	}
	return gradeKey(v, s)
}

// forPassword reports a key that asks for a password; the words of other languages all do.
func forPassword(key string) bool {
	return strings.Contains(key, "pass") || strings.Contains(key, "pwd") || !isASCII(key)
}

// gradeWord: letters alone are a name or a word, unless their capitals follow no convention.
func gradeWord(key, v string) Grade {
	if forPassword(key) && len(v) >= 10 && wordsOnly(v) && mixedCase(v, 3) && !saysFake(v) {
		return Grade{Score: scoreShape - 0.06, Why: "password of random letters"}
	}
	return none
}

// code reports an expression that reads the secret from somewhere: os.environ["X"], config.password, env.X, %s.
func code(v string) bool {
	lower := strings.ToLower(v)
	for _, p := range []string{"os.", "env.", "env[", "process.", "config.", "self.", "this.", "settings.", "secrets.", "vault:", "vault://", "op://",
		"ssm:", "arn:", "ref+", "!ref", "!sub", "%s", "%d", "%(", "@", "/", "./", "~/", "http://", "https://", "file:", "env:", "var.", "local.", "data.",
		"&"} {
		if strings.HasPrefix(lower, p) {
			return true
		}
	}
	return strings.ContainsAny(v, "[]") || wordsOnly(v)
}

// wordsOnly reports letters joined by separators, as identifiers and prose are.
func wordsOnly(v string) bool {
	for i := 0; i < len(v); i++ {
		c := v[i]
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '-' || c == '.' || c == '/' || c == ':') {
			return false
		}
	}
	return true
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// gradePassword: people choose passwords, so a mixture of classes is enough.
func gradePassword(v string, s shape) Grade {
	switch {
	case isUUID(v) || len(v) > 128:
		return none
	case len(v) >= 8 && s.random() && !dull(v) && (s.symbol > 0 || !wordy(v, 80)) && (s.digit > 0 || mixedCase(v, 1)):
		return Grade{Score: scoreShape, Why: "password with the variety of a generated one"}
	case len(v) >= 8 && s.classes() >= 4:
		return Grade{Score: scoreShape - 0.08, Why: "password that mixes letters, digits and symbols"}
	case len(v) >= 8 && s.digit > 0 && s.classes() >= 2:
		return Grade{Score: scorePlain, Why: "value where a password belongs"}
	}
	return none
}

// gradeKey: keys and tokens are generated, so they are long and varied.
func gradeKey(v string, s shape) Grade {
	switch {
	case dull(v), wordy(v, 55) && !isHex(v):
		return none
	case isUUID(v):
		return Grade{Score: scorePlain - 0.1, Why: "identifier where a key belongs"}
	case s.digit == 0:
		return none
	case len(v) >= 24 && isHex(v), len(v) >= 20 && s.random(), len(v) >= 16 && s.random() && s.classes() >= 3:
		return Grade{Score: scoreShape, Why: "key with the variety of a generated one"}
	case len(v) >= 12 && s.random():
		return Grade{Score: scorePlain, Why: "value where a key belongs"}
	}
	return none
}
