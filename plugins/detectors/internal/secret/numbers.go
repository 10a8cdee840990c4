package secret

import (
	"crypto/sha256"
	"strings"
)

// Card grades digits as a payment card number: the issuer's range, the length and the Luhn check digit must fit.
func Card(v string) Grade {
	d := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, v)
	if !issuer(d) || !luhn(d) || dullDigits(d) {
		return none
	}
	return Grade{Score: scoreShape, Why: "payment card number with a valid check digit"}
}

// issuer accepts the ranges of the large card networks. Source: ISO/IEC 7812 issuer ranges as the networks publish them.
func issuer(d string) bool {
	switch {
	case len(d) == 16 && d[0] == '4', len(d) == 13 && d[0] == '4':
		return true
	case len(d) == 16 && (d[:2] >= "51" && d[:2] <= "55" || d[:4] >= "2221" && d[:4] <= "2720" || d[:4] == "6011" || d[:2] == "65" || d[:2] == "35"):
		return true
	case len(d) == 15 && (d[:2] == "34" || d[:2] == "37"):
		return true
	case len(d) == 14 && (d[:2] == "36" || d[:2] == "38"):
		return true
	}
	return false
}

func luhn(d string) bool {
	sum := 0
	for i := range len(d) {
		n := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}

func dullDigits(d string) bool {
	for i := 1; i < len(d); i++ {
		if d[i] != d[0] {
			return false
		}
	}
	return true
}

// ibanLength is the length of an account number by country. Source: the IBAN registry of ISO 13616.
var ibanLength = map[string]int{
	"AT": 20, "BE": 16, "BG": 22, "CH": 21, "CZ": 24, "DE": 22, "DK": 18, "EE": 20, "ES": 24, "FI": 18, "FR": 27, "GB": 22, "GR": 27, "HR": 21, "HU": 28,
	"IE": 22, "IL": 23, "IS": 26, "IT": 27, "LI": 21, "LT": 20, "LU": 20,
	"LV": 21, "MC": 27, "NL": 18, "NO": 15, "PL": 28, "PT": 25, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24, "TR": 26, "UA": 29, "AE": 23,
	"BR": 29, "QA": 29, "KZ": 20,
}

// IBAN grades an international bank account number by its country's length and its check digits.
func IBAN(v string) Grade {
	v = strings.ReplaceAll(v, " ", "")
	if len(v) < 15 || ibanLength[v[:2]] != len(v) {
		return none
	}
	rem := 0
	for _, c := range []byte(v[4:] + v[:4]) {
		switch {
		case c >= '0' && c <= '9':
			rem = (rem*10 + int(c-'0')) % 97
		case c >= 'A' && c <= 'Z':
			rem = (rem*100 + int(c-'A') + 10) % 97
		default:
			return none
		}
	}
	if rem != 1 {
		return none
	}
	return Grade{Score: scoreShape, Why: "bank account number with valid check digits"}
}

const base58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// WIF grades a Bitcoin private key in wallet import format by its checksum.
func WIF(v string) Grade {
	if len(v) < 51 || len(v) > 52 {
		return none
	}
	b, ok := fromBase58(v)
	if !ok {
		return none
	}
	first := sha256.Sum256(b[:len(b)-4])
	second := sha256.Sum256(first[:])
	if string(second[:4]) != string(b[len(b)-4:]) {
		return none
	}
	return Grade{Score: scoreChecksum, Why: "private key of a wallet with a valid checksum"}
}

// fromBase58 decodes up to 38 bytes, big-endian, without leading zeros.
func fromBase58(v string) ([]byte, bool) {
	var b [38]byte
	top := len(b)
	for i := range len(v) {
		carry := strings.IndexByte(base58, v[i])
		if carry < 0 {
			return nil, false
		}
		j := len(b)
		for ; carry > 0 || j > top; j-- {
			if j == 0 {
				return nil, false
			}
			carry += 58 * int(b[j-1])
			b[j-1], carry = byte(carry), carry>>8
		}
		top = j
	}
	return b[top:], len(b)-top >= 37
}
