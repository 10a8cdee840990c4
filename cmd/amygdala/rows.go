package main

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	v1 "github.com/amygdala-host/amygdala/abi/v1"
	"github.com/amygdala-host/amygdala/host"
)

// row is one line of JSONL input, for scan --jsonl, eval and POST /v1/scan. Unknown keys are allowed: data sets carry their own.
type row struct {
	ID     string  `json:"id"`
	Text   *string `json:"text"`
	Bytes  *string `json:"bytes"` // base64, for what is not UTF-8
	Kind   string  `json:"kind"`
	Source string  `json:"source"`
	Topic  string  `json:"topic"`
	Label  string  `json:"label"`
	Subset string  `json:"subset"`
}

// payload checks a row and turns it into what the host inspects.
func (r *row) payload() (host.Payload, error) {
	p := host.Payload{ID: r.ID, Source: r.Source, Topic: r.Topic}
	kind, err := parseKind(r.Kind)
	if err != nil {
		return p, err
	}
	p.Kind = kind
	switch {
	case r.Text != nil && r.Bytes != nil:
		return p, errors.New(`give "text" or "bytes", not both`)
	case r.Text != nil:
		p.Data = []byte(*r.Text)
	case r.Bytes != nil:
		data, err := base64.StdEncoding.DecodeString(*r.Bytes)
		if err != nil {
			return p, fmt.Errorf(`"bytes" must be standard base64: %w`, err)
		}
		p.Data = data
	default:
		return p, errors.New(`a "text" (UTF-8) or "bytes" (base64) is required`)
	}
	return p, nil
}

// kindNames lists the payload kinds for help texts and errors.
func kindNames() string {
	var names []string
	for k := v1.PayloadKindUserPrompt; k.Known(); k++ {
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}

// parseKind accepts a kind's name; empty is doc.
func parseKind(s string) (v1.PayloadKind, error) {
	if s == "" {
		return v1.PayloadKindDoc, nil
	}
	if k, ok := v1.ParsePayloadKind(s); ok && k != v1.PayloadKindUnspecified {
		return k, nil
	}
	return 0, fmt.Errorf("unknown kind %q; use one of %s", s, kindNames())
}

// maxLine bounds one JSONL line: the default payload cap of 4 MiB, escaped at worst six-fold, and some room.
const maxLine = 32 << 20
