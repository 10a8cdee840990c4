package structure

import (
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/secret"
	"github.com/amygdala-host/amygdala/plugins/detectors/internal/toolcall"
)

// judgeNumbers looks for account numbers and wallet keys that a request carries outside, and for credentials cut into pieces.
func (j *judgement) judgeNumbers() {
	if !j.acts || !j.outside {
		return
	}
	for i := range j.fields {
		f := &j.fields[i]
		if f.Opened {
			continue
		}
		for _, n := range numbersIn(f.Text) {
			score := n.grade.Score
			if f.Role != toolcall.Target && f.Text[n.start] >= 'A' {
				score = 0.6 // people do write their account number to others
			}
			j.found.Add(v1.ThreatSecret, v1.SeverityHigh, score, f.At(n.start, n.end), "", n.grade.Why)
		}
		j.judgeWallet(f)
	}
	j.judgePieces()
}

// judgeWallet looks for the private key or the recovery words of a wallet.
func (j *judgement) judgeWallet(f *toolcall.Field) {
	for i, tries := 0, 0; i < len(f.Text) && tries < 16; i++ {
		end := i
		for end < len(f.Text) && isAlnum(f.Text[end]) {
			end++
		}
		if n := end - i; n == 51 || n == 52 {
			tries++
			g := secret.WIF(f.Text[i:end])
			j.found.Add(v1.ThreatSecret, v1.SeverityCritical, g.Score, f.At(i, end), "", g.Why)
		}
		i = max(i, end)
	}
	if recoveryWords(f.Text) {
		j.found.Add(v1.ThreatSecret, v1.SeverityCritical, 0.6, f.Whole, "", "looks like the recovery words of a wallet")
	}
}

// functionWords are words of English sentences that no wallet's word list holds. Source: BIP 39, english.txt.
var functionWords = toolcall.SetOf("the and for with are was were have has from not but they his her its our your their been which would should could than then into over")

// recoveryWords reports a text of exactly 12, 15, 18, 21 or 24 short words in small letters that is no sentence.
func recoveryWords(s string) bool {
	if len(s) > 260 || len(s) < 40 {
		return false
	}
	list := strings.Fields(s)
	if n := len(list); n < 12 || n > 24 || n%3 != 0 {
		return false
	}
	for _, w := range list {
		if len(w) < 3 || len(w) > 8 || functionWords[w] {
			return false
		}
		for i := range len(w) {
			if w[i] < 'a' || w[i] > 'z' {
				return false
			}
		}
	}
	return true
}

// Limits of the search for credentials in pieces.
const (
	maxPieces = 4
	maxPiece  = 80
)

// judgePieces joins neighbouring short texts and looks for a credential that none of them holds alone.
func (j *judgement) judgePieces() {
	for i := 0; i+1 < len(j.fields); i++ {
		joined := j.fields[i].Text
		if len(joined) > maxPiece || !secret.Begins(joined) || holdsCredential(joined) {
			continue
		}
		for k := i + 1; k < len(j.fields) && k-i < maxPieces && len(j.fields[k].Text) <= maxPiece; k++ {
			next := j.fields[k].Text
			if holdsCredential(next) {
				break
			}
			joined += next
			if _, g := secret.Find(joined); g.Score > 0 || g.Published {
				j.found.Add(v1.ThreatSecret, v1.SeverityHigh, max(g.Score*0.95, publishedOutside), j.fields[i].Whole, "", "credential cut into pieces")
				return
			}
		}
	}
}

func holdsCredential(s string) bool {
	at, _ := secret.Find(s)
	return at >= 0
}
