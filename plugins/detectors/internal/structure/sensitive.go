package structure

import (
	"strings"

	"github.com/amygdala-host/amygdala/plugins/detectors/internal/secret"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/words"
)

// sensitiveWords name what should not leave: an assistant's instructions and memory, credentials, personal and business data. The lists
// are words of many languages because the data is in the user's language.
var sensitiveWords = words.New(strings.FieldsFunc(`
system prompt|systemprompt|system message|developer message|you are helper|you are an ai|you are a helpful|conversation|chat history|chat log|previous messages|user said|user:|assistant:|"role"|memory:|memories|context:
password|passwd|pwd=|passphrase|api key|api_key|apikey|secret|credential|private key|access key|token=|session=|cookie|bearer |ssh-rsa|begin rsa|begin openssh|aws_|authorization
iban|ssn|social security|credit card|card number|cvv|passport|date of birth|dob=|phone=|phone:|address=|salary|balance|account number|diagnosis|patient|medical|confidential|internal only|do not share|not public|layoff|merger|acquisition|unreleased|budget|revenue|invoice
user=|username|email=|e-mail|mail=|login|hostname|whoami|uid=|root:x:|/etc/|home/|.env|database|postgres://|mongodb://|internal
passwort|kennwort|zugangsdaten|vertraulich|kontostand|gehalt|geheim|contraseña|contrasena|clave|confidencial|nómina|saldo|mot de passe|confidentiel|salaire|solde|identifiant|senha|salário|parola|riservato|stipendio|wachtwoord|vertrouwelijk|hasło|poufne|heslo|şifre|gizli|mật khẩu|kata sandi|rahasia
пароль|секрет|конфиденциаль|зарплат|логин|переписк|системный промпт|密码|口令|机密|薪|账号|系统提示|对话|パスワード|機密|秘密|給与|会話|비밀번호|기밀|급여|대화|كلمة المرور|سري|گذرواژه|רמז|סיסמה|पासवर्ड|गोपनीय
`, func(r rune) bool { return r == '|' || r == '\n' })...)

// sensitive reports a text that names what should not leave, or is such a thing.
func sensitive(s string) bool {
	lower := strings.ToLower(s)
	return sensitiveWords.In(lower) || len(numbersIn(s)) > 0 || hasMailbox(lower)
}

// hasMailbox reports an e-mail address.
func hasMailbox(s string) bool {
	at := strings.IndexByte(s, '@')
	return at > 1 && at+4 < len(s) && isNameByte(s[at-1]) && isNameByte(s[at+1]) && strings.Contains(s[at:], ".")
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// number is a bank account or payment card number in a text.
type number struct {
	start, end int
	grade      secret.Grade
}

// numbersIn finds payment card and bank account numbers with valid check digits.
func numbersIn(s string) []number {
	var out []number
	for i := 0; i < len(s) && len(out) < 8; i++ {
		if i > 0 && isAlnum(s[i-1]) || !isAlnum(s[i]) {
			continue
		}
		end := runOf(s, i)
		if g := gradeNumber(s[i:end]); g.Score > 0 {
			out = append(out, number{i, end, g})
		}
		if end > i {
			i = end - 1
		}
	}
	return out
}

// runOf returns the end of a run of digits and capitals that single spaces or hyphens may group, at most 40 bytes.
func runOf(s string, i int) int {
	end := i
	for end < len(s) && end-i < 40 {
		c := s[end]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' {
			end++
			continue
		}
		if (c == ' ' || c == '-') && end > i && end+1 < len(s) && isAlnum(s[end-1]) && s[end+1] >= '0' && s[end+1] <= '9' {
			end++
			continue
		}
		break
	}
	if end < len(s) && isAlnum(s[end]) {
		for end < len(s) && isAlnum(s[end]) {
			end++
		}
	}
	return end
}

func gradeNumber(s string) secret.Grade {
	if len(s) < 13 || len(s) > 42 {
		return secret.Grade{}
	}
	if s[0] >= 'A' {
		return secret.IBAN(s)
	}
	for i := range len(s) {
		if c := s[i]; !(c >= '0' && c <= '9' || c == ' ' || c == '-') {
			return secret.Grade{}
		}
	}
	return secret.Card(s)
}

func isAlnum(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
