package main

import (
	"testing"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/sdk"
)

func TestCanary(t *testing.T) {
	if _, err := configure(&v1.ConfigureRequest{Config: []byte(`{"tokens":["zq-canary-41"]}`)}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{"GET /?x=ZQ-canary-41": 1, "GET /?x=42": 0} {
		v, err := detect(&sdk.Payload{DetectRequest: &v1.DetectRequest{Views: []*v1.View{{Name: "text", Text: []byte(text)}}}})
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Findings) != want {
			t.Errorf("%q: %d findings, want %d", text, len(v.Findings), want)
		}
	}
}

func TestBadSettingsAreRefused(t *testing.T) {
	for _, config := range []string{`{"tokens":["abc"]}`, `{"tokns":["zq-canary-41"]}`, `{"tokens":"zq-canary-41"}`} {
		if _, err := configure(&v1.ConfigureRequest{Config: []byte(config)}); err == nil {
			t.Errorf("%s was accepted", config)
		}
	}
}
