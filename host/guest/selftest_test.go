package guest

import (
	"strings"
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
)

func selftest(rows string) *v1.Asset { return &v1.Asset{Name: SelftestAsset, Data: []byte(rows)} }

func TestSelftest(t *testing.T) {
	const hit = `"hits":[{"signature":"s","threat":"secret","severity":"high","confidence":0.5,"start":0,"end":2,"tags":["a"]}]`
	for _, c := range []struct{ rows, want string }{
		{`{"kind":"web","text":"pure evil","expect":"threat","threat":"prompt_injection"}` + "\n\n" + `{"kind":"doc","text":"fine","expect":"none"}`, ""},
		{`{"kind":"web","text":"pure evil","expect":"threat"}`, ""},
		{`{"kind":"web","text":"pure evil","expect":"threat",` + hit + `}`, ""},
		{`{"kind":"web","views":[{"name":"text","text":"x"},{"name":"base64","text":"evil","encoded":true}],"expect":"threat"}`, "range"},
		{`{"kind":"web","text":"fine","expect":"none"}` + "\n" + `{"kind":"web","text":"fine","expect":"threat"}`, "selftest.jsonl:2: expected threat, found none"},
		{`{"kind":"web","text":"evil","expect":"none"}`, "selftest.jsonl:1: expected none, found prompt_injection"},
		{`{"kind":"web","text":"evil","expect":"threat","threat":"secret"}`, "expected secret, found prompt_injection"},
		{`{"kind":"webb","text":"evil","expect":"none"}`, `unknown kind "webb"`},
		{`{"kind":"web","text":"evil","expect":"nothing"}`, `use "threat" or "none"`},
		{`{"kind":"web","text":"evil","expect":"none","threat":"secret"}`, "names no threat"},
		{`{"kind":"web","txt":"evil","expect":"none"}`, "txt"},
		{`{"kind":"web","text":"","expect":"none"} {}`, "more than one value"},
		{`{"kind":"web","text":"a","views":[{"name":"text","text":"x"}],"expect":"none"}`, "not both"},
		{`{"kind":"web","text":"e",` + hit + `,"expect":"none"}`, "not inside view"},
		{`{"kind":"web","text":"evil",` + strings.ReplaceAll(hit, `"secret"`, `"sec"`) + `,"expect":"threat"}`, `unknown threat "sec"`},
		{`{"kind":"web","text":"evil",` + strings.ReplaceAll(hit, `"high"`, `"hi"`) + `,"expect":"threat"}`, `unknown severity "hi"`},
		{strings.Repeat(`{"kind":"web","text":"","expect":"none"}`+"\n", maxSelftestRows+1), "more than 1000 rows"},
	} {
		_, err := loadOne(t, packed(t, zebra("1.0.0"), script{}, selftest(c.rows)), "")
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%.80s: %v", c.rows, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || failure("?", err, nil).Stage != StageSelftest):
			t.Errorf("%.80s: got %v, want %s", c.rows, err, c.want)
		}
	}
}

func TestSelftestKeepsTheKindOfAFailedCall(t *testing.T) {
	_, err := loadOne(t, packed(t, zebra("1.0.0"), script{Detect: "trap", DetectOn: "now"}, selftest(`{"kind":"web","text":"now","expect":"none"}`)), "")
	wantError(t, err, v1.ErrorKindTrap, "selftest.jsonl:1")
	_, err = loadOne(t, packed(t, zebra("1.0.0"), script{}, selftest(`{"kind":"web","text":"evil","expect":"none"}`)), "")
	wantError(t, err, v1.ErrorKindRefused, "selftest.jsonl:1")
}

// A finding below the line counts as none, whatever an operator's bands say.
func TestSelftestConfidence(t *testing.T) {
	rows := selftest(`{"kind":"web","text":"evil","expect":"none"}`)
	_, err := loadOne(t, packed(t, zebra("1.0.0"), script{Word: "evil", Confidence: 0.4}, rows), "bands: {default: {ambiguous: 0.1, threat: 0.1}}")
	if err != nil {
		t.Error(err)
	}
}

func FuzzSelftestRow(f *testing.F) {
	f.Add([]byte(`{"kind":"web","text":"pure evil","expect":"threat","threat":"prompt_injection","hits":[{"signature":"s","threat":"secret","view":1}]}`))
	f.Add([]byte(`{"kind":"web","views":[{"name":"text"}],"expect":"none"}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		row, err := parseSelftest(line)
		if err != nil {
			return
		}
		req, err := row.request()
		if err != nil {
			return
		}
		for _, h := range req.Hits {
			if int(h.View) >= len(req.Views) || int(h.End) > len(req.Views[h.View].Text) || h.Start > h.End {
				t.Fatalf("a hit outside its view: %+v", h)
			}
		}
		_ = row.judge(&v1.Verdict{})
	})
}
