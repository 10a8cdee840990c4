package secret

import "strings"

// format is a vendor's prefix with what must follow it.
type format struct {
	prefix string
	least  int  // characters after the prefix
	exact  bool // no more than least
	in     func(byte) bool
}

// formats are the prefixes that are searched in decoded data, where no signature has looked. The packs know many more.
var formats = []format{
	{"AKIA", 16, true, isUpperDigit}, {"ASIA", 16, true, isUpperDigit}, {"ghp_", 30, false, isWord}, {"gho_", 30, false, isWord}, {"ghs_", 30, false,
		isWord}, {"github_pat_", 40, false, isWord},
	{"glpat-", 20, false, isToken}, {"sk-ant-", 20, false, isToken}, {"sk-proj-", 20, false, isToken}, {"sk-or-", 20, false, isToken}, {"sk-", 32, false,
		isToken}, {"xoxb-", 20, false, isToken}, {"xoxp-", 20, false, isToken},
	{"sk_live_", 16, false, isWord}, {"sk_test_", 16, false, isWord}, {"AIza", 35, false, isToken}, {"hf_", 30, false, isWord}, {"npm_", 36, false,
		isWord}, {"SG.", 30, false, isDotted}, {"eyJ", 40, false, isDotted},
}

// Find reports the first credential in text that was decoded from something else, and its grade.
func Find(text string) (at int, g Grade) {
	if strings.Contains(text, "PRIVATE KEY-----") {
		return strings.Index(text, "PRIVATE KEY-----"), Grade{Score: scoreFormat, Why: "private key"}
	}
	for _, f := range formats {
		if i, v := f.find(text); i >= 0 {
			if g := f.grade(v); g.Score > 0 || g.Published {
				return i, g
			}
		}
	}
	return -1, none
}

// Begins reports whether text holds the prefix of a format that Find knows, so that a credential may begin in it.
func Begins(text string) bool {
	for _, f := range formats {
		if strings.Contains(text, f.prefix) {
			return true
		}
	}
	return false
}

func (f format) grade(v string) Grade {
	if f.prefix == "eyJ" {
		return JWT(v)
	}
	return Token(v)
}

// find returns the first place where the format holds. Work is linear: the scan for the end never crosses the next prefix twice.
func (f format) find(text string) (int, string) {
	from := 0
	for {
		i := strings.Index(text[from:], f.prefix)
		if i < 0 {
			return -1, ""
		}
		i += from
		end := i + len(f.prefix)
		for end < len(text) && f.in(text[end]) {
			end++
		}
		n := end - i - len(f.prefix)
		if n >= f.least && (!f.exact || n == f.least) && (i == 0 || !isWord(text[i-1])) {
			return i, text[i:end]
		}
		from = end
	}
}

func isUpperDigit(c byte) bool { return c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' }

func isWord(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' }

func isToken(c byte) bool { return isWord(c) || c == '-' }

func isDotted(c byte) bool { return isToken(c) || c == '.' }
