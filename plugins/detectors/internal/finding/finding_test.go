package finding

import (
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

func add(l *List, score float32, start, end int, signature string) {
	l.Add(v1.ThreatSSRF, v1.SeverityHigh, score, At(0, start, end), signature, "why")
}

func TestOverlapsKeepTheStrongest(t *testing.T) {
	var l List
	add(&l, 0.5, 0, 10, "weak")
	add(&l, 0.9, 5, 15, "")
	add(&l, 0.3, 12, 14, "late")
	l.Add(v1.ThreatSecret, v1.SeverityLow, 0.4, At(0, 0, 10), "", "why")
	v := l.Verdict()
	if len(v.Findings) != 2 || v.Findings[0].Confidence != 0.9 || v.Findings[0].Signature != "weak" {
		t.Errorf("findings = %+v", v.Findings)
	}
}

func TestNothingIsNothing(t *testing.T) {
	var l List
	add(&l, 0, 0, 10, "")
	add(&l, 0.9, 5, 5, "")
	if len(l.Verdict().Findings) != 0 {
		t.Error("an empty accusation is kept")
	}
}

func TestTheWeakestGivesWay(t *testing.T) {
	var l List
	for i := range maxFindings {
		add(&l, 0.5, 2*i, 2*i+1, "")
	}
	add(&l, 0.9, 1000, 1001, "")
	add(&l, 0.1, 2000, 2001, "")
	v := l.Verdict()
	strong := 0
	for _, f := range v.Findings {
		if f.Confidence == 0.9 {
			strong++
		}
	}
	if len(v.Findings) != maxFindings || strong != 1 {
		t.Errorf("%d findings, %d strong", len(v.Findings), strong)
	}
}

func TestNameAndEnough(t *testing.T) {
	var l List
	add(&l, 0.9, 0, 10, "")
	if !l.Name(v1.ThreatSSRF, At(0, 9, 12), "sig") || l.Name(v1.ThreatSSRF, At(1, 9, 12), "x") || l.Name(v1.ThreatSecret, At(0, 0, 5),
		"x") || l.Verdict().Findings[0].Signature != "sig" {
		t.Error("Name gives the wrong finding a signature")
	}
	for i := range enough - 1 {
		if l.Enough(v1.ThreatSSRF) {
			t.Fatal("enough too early")
		}
		add(&l, 0.9, 100+2*i, 101+2*i, "")
	}
	if !l.Enough(v1.ThreatSSRF) || l.Enough(v1.ThreatSecret) {
		t.Error("Enough is wrong")
	}
}
